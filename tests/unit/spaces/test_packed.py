"""Packed spaces against plain models: every board of small puzzles, the first layers of large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import naive
from cases import for_each
from farthest.errors import MemoryUsedUpError, ResourceError, StorageError
from farthest.families.permutation.definition import permutation
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import KnownAnswer, Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import NO_KEY, PACKED
from farthest.spaces.packed import PackedSpace, packed_fields
from farthest.stores.contract import step
from farthest.stores.memory import scatter_store as candidates
from farthest.stores.memory.scatter_store import ScatterMemoryStore
from farthest.stores.scattering import Candidates
from farthest.verify.models import LayoutError, model_of
from permutations import distances, pieces, puzzle_of, random_moves, samples, unmoved
from strategies import puzzles

SAMPLES = samples()


def packed(puzzle: Puzzle) -> PackedSpace:
    space = compile_space(puzzle, None, dict(PACKED))
    assert isinstance(space, PackedSpace)
    return space


def layers(store: ScatterMemoryStore, most: int = 10_000) -> list[int]:
    """The states at each depth, up to the last one or a limit."""
    found = [sum(store.counts(0).values())]
    while found[-1] and len(found) <= most:
        depth = len(found)
        step(store, depth, store.begin(depth, store.reachable(depth)), 2)
        found.append(sum(store.counts(depth).values()))
    return found if found[-1] else found[:-1]


def check(puzzle: Puzzle, expected: dict[Board, int]) -> None:
    space = packed(puzzle)
    boards = np.array(sorted(expected), dtype=np.uint8)
    codes = space.encode(boards)
    assert len(set(codes.tolist())) == len(boards)
    assert (space.decode(codes) == boards).all()
    model = model_of(puzzle, puzzle.origin, dict(PACKED))
    assert model.code_bytes == space.code_bytes
    assert (model.codes(boards) == codes).all()
    assert (model.boards(codes) == boards).all()
    store = ScatterMemoryStore(space, distances=True)
    found = layers(store)
    assert found == np.bincount(list(expected.values())).tolist()
    pieces: list[Any] = list(store.chunks(len(found) - 1, 10**6))
    assert sum(piece.last - piece.first + 1 for piece in pieces) == len(expected)
    kind = "<u8" if space.code_bytes == 8 else f"S{space.code_bytes}"
    known = {
        tuple(board): int(distance)
        for piece in pieces
        for board, distance in zip(
            space.decode(np.frombuffer(memoryview(piece.codes), dtype=kind)).tolist(),
            np.frombuffer(memoryview(piece.distances), dtype=np.uint8).tolist(),
            strict=True,
        )
    }
    assert known == expected


@for_each("name", [name for name in SAMPLES if not name.startswith("many slots")])
def test_permutation_puzzles(name: str) -> None:
    check(SAMPLES[name], distances(SAMPLES[name]))


@settings(max_examples=12)
@given(puzzles(most=500))
def test_sliding_puzzles(puzzle: Puzzle) -> None:
    check(puzzle, naive.distances(puzzle))


def first_layers(starts: Iterable[Board], after: Callable[[Board], Iterable[Board]], most: int) -> list[int]:
    seen = set(starts)
    layer, found = set(seen), [len(seen)]
    for _ in range(most):
        layer = {reached for board in layer for reached in after(board)} - seen
        seen |= layer
        found.append(len(layer))
    return found


def wide() -> Puzzle:
    """Sixty pieces that are turned: more bits than any other."""
    sets = [pieces("".join(chr(0x4E00 + i) for i in range(60)), 3)]
    return replace(puzzle_of(sets, random_moves(sets, 3, 5)), known=(KNOWN,))


KNOWN = KnownAnswer(None, None, None, None, "three moves without relations", first_layers=(1, 3, 9, 27))


@for_each(
    ("name", "width", "depth"),
    [
        ("sliding-4x4", 8, 8),
        ("24-puzzle", 16, 7),
        ("cube-3x3x3", 13, 2),
        ("cube-3x3x3-qtm", 13, 3),
        ("megaminx", 40, 1),
        ("", 61, 3),
    ],
)
def test_first_layers_of_large_puzzles(name: str, width: int, depth: int) -> None:
    puzzle = load(name) if name else wide()
    space = packed(puzzle)
    assert space.code_bytes == width
    if puzzle.family == "sliding":
        wanted = first_layers(space.origins, lambda board: [b for b, _ in naive.moves(puzzle, board)], depth)
    else:
        body = permutation(puzzle)
        wanted = first_layers(
            space.origins, lambda board: [unmoved(body, move, board) for move in body.generators], depth
        )
    assert layers(ScatterMemoryStore(space, distances=False, last=depth), depth) == wanted
    known = max((one.layers or one.first_layers or () for one in puzzle.known), key=len)
    assert tuple(wanted)[: len(known)] == known[: depth + 1]


@pytest.mark.parametrize("name", ["two orbits, from", "3x3"])
def test_a_layer_found_in_parts_is_the_layer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = load("8-puzzle") if name == "3x3" else SAMPLES[name]
    whole = ScatterMemoryStore(packed(puzzle), distances=False)
    wanted = layers(whole, 14)
    monkeypatch.setattr(candidates, "THIN", 0)
    for constant in ("LEAST_ROOM", "ROOM", "BOX_BYTES", "SHARD_BYTES", "LEAST_SHARD_BYTES"):
        monkeypatch.setattr(candidates, constant, 1)
    monkeypatch.setattr(candidates, "PASSES", 5)
    parts = ScatterMemoryStore(packed(puzzle), distances=False, last=len(wanted) - 1)
    turns, put = set[Any](), Candidates.put

    def put_too(*given: Any) -> None:
        turns.add(given[-1])
        put(*given)

    monkeypatch.setattr(Candidates, "put", put_too)
    assert layers(parts, len(wanted) - 1) == wanted
    if name == "3x3":
        assert len(turns) > 4
    assert parts.keys(len(wanted) - 1, 1000) == whole.keys(len(wanted) - 1, 1000)


def test_turns_are_few_and_the_last_does_not_spoil_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    for constant, value in (("LEAST_ROOM", 2**19), ("ROOM", 2**19), ("PASSES", 5), ("SHARD_BYTES", 2**17)):
        monkeypatch.setattr(candidates, constant, value)
    store = ScatterMemoryStore(packed(load("cube-2x2x2-qtm")), distances=False)
    layers(store, 8)
    turns, put = list[Any](), Candidates.put

    def put_too(*given: Any) -> None:
        turns.append(given[-1])
        put(*given)

    monkeypatch.setattr(Candidates, "put", put_too)
    step(store, 9, store.begin(9, store.reachable(9)))
    assert turns == [(0, 7), (7, 14), (14, 21), (21, 28), (28, 32)]
    assert store._successor_bytes == pytest.approx(6 * 8, rel=0.1)


def test_memory_short_while_older_states_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "THIN", 0)
    space = packed(load("8-puzzle"))
    whole, store = (ScatterMemoryStore(space, distances=True) for _ in range(2))
    layers(whole, 5)
    layers(store, 5)

    def short(*given: Any) -> Any:
        raise MemoryError

    for constant in ("SHARD_BYTES", "LEAST_SHARD_BYTES"):
        monkeypatch.setattr(candidates, constant, 16)
    monkeypatch.setattr(ScatterMemoryStore, "_parts", short)
    with pytest.raises(MemoryError):
        step(store, 6, store.begin(6, store.reachable(6)))
    store.give_up(6)
    assert list(store.chunks(5, 10**6)) == list(whole.chunks(5, 10**6))
    assert store.held_bytes == whole.held_bytes


@pytest.mark.parametrize(("kept", "slices"), [(True, candidates.SLICE), (False, 1000)])
def test_a_layer_that_is_given_up_leaves_those_before(
    kept: bool, slices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once when it is kept, once while its states are found."""
    monkeypatch.setattr(candidates, "SLICE", slices)
    space = packed(load("8-puzzle"))
    store = ScatterMemoryStore(space, distances=True, memory=300_000)
    with pytest.raises(MemoryUsedUpError):
        layers(store)
    depth = max(store._counts)
    assert depth > 5
    assert bool(store._layers[depth].runs) is kept
    store.give_up(depth)
    whole = ScatterMemoryStore(space, distances=True)
    assert layers(whole, depth - 1)[-1] == sum(store.counts(depth - 1).values())
    assert store.keys(depth - 1, 50) == whole.keys(depth - 1, 50)
    assert list(store.chunks(depth - 1, 10**6)) == list(whole.chunks(depth - 1, 10**6))


def test_fields_do_not_cross_words() -> None:
    assert packed_fields([16] * 15) == ([(0, 56 - 4 * i, 4) for i in range(15)], 8)
    assert packed_fields([2, 1, 3]) == ([(0, 3, 1), (0, 2, 1), (0, 0, 2)], 8)
    assert packed_fields([16] * 16)[1] == 9  # a number of 64 bits might be NO_KEY
    fields, width = packed_fields([24] * 20)
    assert (fields[11:13], width) == ([(0, 4, 5), (1, 59, 5)], 13)
    assert packed_fields([256] * 16)[1] == 17


def test_boards_without_codes() -> None:
    sliding, cube = packed(load("sliding-4x4")), packed(load("cube-3x3x3"))
    assert sliding.encode(np.zeros((1, 16), dtype=np.uint8)).tolist() == [NO_KEY]
    board = np.array(cube.origins, dtype=np.uint8)
    for wrong in (255, 19):
        board[0, 0] = wrong
        assert cube.encode(board).tobytes() == b"\xff" * 13
    with pytest.raises(ValueError, match="of no board"):
        cube.decode(np.array([b"\xff" * 13]))
    with pytest.raises(ValueError, match="of no board"):
        sliding.decode(np.array([2**60 - 1], dtype=np.uint64))


def test_wrong_layouts_and_puzzles() -> None:
    for name in ("sliding-4x4", "cube-3x3x3"):
        with pytest.raises(StorageError, match="version 2, expected 1"):
            compile_space(load(name), None, {"version": 2, "kind": "packed"})
        with pytest.raises(LayoutError, match="packed"):
            model_of(load(name), load(name).origin, {"version": 2, "kind": "packed"})
    with pytest.raises(ResourceError, match="320 kinds and turns"):
        packed(puzzle_of([pieces("abcde", 64)], random_moves([pieces("abcde", 64)], 2, 1)))
