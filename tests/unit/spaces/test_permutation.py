"""Permutation spaces against a plain model, every board of small puzzles."""

from __future__ import annotations

from dataclasses import replace
from math import factorial
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import for_each
from farthest import _kernel
from farthest.errors import BoardError, PuzzleError, ResourceError, StorageError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.gather_space import PermutationSpace, origin_boards
from farthest.families.permutation.scatter_space import SlotwiseSpace
from farthest.puzzles.catalogue import load
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import NO_KEY, ScatterSpace, Space, gather, scatter
from farthest.stores.contract import step
from farthest.stores.memory.gather_store import MemoryStore
from permutations import Board, distances, moved, pieces, puzzle_of, random_moves, samples, unmoved

SAMPLES = samples()


def found_by_gathering(space: Space, isa: str = "") -> dict[int, int]:
    """The distance of each key that is reached, by the kernel."""
    own = gather(space)
    kernel = own.compile_kernel(2, isa)
    store = MemoryStore(kernel, own.keys_of(own.origins), distances=True)
    depth = 0
    while store.counts(depth):
        depth += 1
        step(store, depth, store.begin(depth, range(kernel.shards)), 2)
    return {key: d for key, d in enumerate(store.distances(depth)) if d != 255}


def found_by_scattering(space: ScatterSpace) -> dict[int, int]:
    """The distance of each code that is reached, layer by layer."""
    found = dict.fromkeys(np.frombuffer(memoryview(space.origin_codes()), dtype=np.uint64).tolist(), 0)
    layer, depth = list(found), 0
    while layer:
        depth += 1
        after = space.successors(np.array(layer, dtype=np.uint64).data, 1)
        layer = sorted(set(np.frombuffer(memoryview(after), dtype=np.uint64).tolist()) - set(found))
        found |= dict.fromkeys(layer, depth)
    return found


def check(puzzle: Puzzle) -> None:
    space = compile_space(puzzle)
    expected = distances(puzzle)
    boards = np.array(sorted(expected), dtype=np.uint8)
    keys = space.encode(boards)
    assert space.keys is not None
    assert keys.dtype == np.uint64
    assert len(set(keys.tolist())) == len(boards)
    assert keys.max() < space.keys
    assert (space.decode(keys) == boards).all()
    found = found_by_gathering(space) if space.engine == "gather" else found_by_scattering(scatter(space))
    assert found == {
        key: expected[tuple(board)] for key, board in zip(keys.tolist(), boards.tolist(), strict=True)
    }
    again = compile_space(puzzle, layout=space.layout_fields())
    assert (again.encode(boards) == keys).all()
    assert all(space.why_unreachable(board) is None for board in boards[::7].tolist())


@pytest.mark.parametrize("name", SAMPLES)
def test_distances_are_those_of_the_plain_model(name: str) -> None:
    check(SAMPLES[name])


@for_each("name", ["pancake-6", "burnt-pancake-4", "reversals-5", "topspin-6-4", "topspin-7-4-free", "lrx-6"])
def test_puzzles_of_any_size(name: str) -> None:
    check(load(name))


@for_each(("size", "width"), [(3, 3), (5, 4), (6, 4), (7, 3), (7, 4), (8, 4)])
def test_a_ring_that_is_turned_freely(size: int, width: int) -> None:
    """Any pieces beside each other may be reversed; rings that are one another turned are one board."""
    ring = tuple(range(1, size + 1))
    found, queue = {ring: 0}, [ring]
    for each in queue:
        for first in range(size):
            turned = each[first:] + each[:first]
            after = turned[:width][::-1] + turned[width:]
            held = after.index(1)
            after = after[held:] + after[:held]
            if after not in found:
                found[after] = found[each] + 1
                queue.append(after)
    puzzle = load(f"topspin-{size}-{width}-free")
    texts = {puzzle.definition.format_board(board): depth for board, depth in distances(puzzle).items()}
    assert texts == {" ".join(map(str, after[1:])): depth for after, depth in found.items()}


@for_each(
    "name",
    [
        "cube-2x2x2-htm@turns:all",
        "cube-2x2x2-htm@URF=UFL",
        "pyraminx@UL=UR.turns:edges",
        "pyraminx@places:UL=UR=UB.turns:axes",
        "burnt-pancake-5@1=2=3",
        "burnt-pancake-5@1=2.turns:all",
    ],
)
def test_patterns_of_alike_pieces(name: str) -> None:
    assert compile_space(load(name)).engine == "gather"
    check(load(name))


@given(st.data())
@settings(max_examples=15)
def test_any_pattern_of_small_puzzles(data: st.DataObject) -> None:
    letters, modulus = "abcd"[: data.draw(st.integers(2, 4))], data.draw(st.integers(1, 3))
    sets = [pieces(letters, modulus), pieces("xy", 2)]
    moves = list(random_moves(sets, 2, data.draw(st.integers(0, 99))))
    puzzle = puzzle_of(sets, moves, data.draw(st.sampled_from(["to", "from"])))
    # Which class each letter is in: two with orientations, one without, or none.
    of = data.draw(st.tuples(*[st.sampled_from(["", "", "", "places:", None]) for _ in letters]))
    of_class = data.draw(st.tuples(*[st.integers(0, 1) for _ in letters]))
    parts = {(head, number): "" for head in ("", "places:") for number in (0, 1)}
    for letter, head, number in zip(letters, of, of_class, strict=True):
        if head is not None:
            parts[head, number] += letter
    named = [head + "=".join(group) for (head, _), group in parts.items() if group]
    text = ".".join([*named, *data.draw(st.sampled_from([["turns:all"], []]))])
    pattern = pattern_of(puzzle, text or "turns:all").puzzle
    check(replace(pattern, origin=puzzle.origin))


@for_each(
    "name",
    [
        "two orbits, to",
        "moduli mixed, from",
        "some ignored, to",
        "even moves, from",
        "equal pieces turned, to",
        "equal pieces turned, some ignored, from",
        "sums, by slot",
    ],
)
def test_every_instruction_set_finds_the_same(name: str) -> None:
    space = compile_space(SAMPLES[name])
    expected = found_by_gathering(space)
    for isa in _kernel.available_isas():
        assert found_by_gathering(space, isa) == expected


@pytest.mark.parametrize("name", ["equal pieces turned, to", "one kind turned, from", "sums, by slot"])
def test_maps_of_orientations_by_slot_that_were_scattered(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = SAMPLES[name]
    space = SlotwiseSpace(puzzle, puzzle.origin, origin_boards(puzzle, puzzle.origin), None)
    assert compile_space(puzzle, layout=space.layout_fields()).engine == "scatter"
    expected = distances(puzzle)
    keys = space.encode(np.array(list(expected), dtype=np.uint8)).tolist()
    assert found_by_scattering(space) == dict(zip(keys, expected.values(), strict=True))
    codes = np.array(keys, dtype=np.uint64).data
    monkeypatch.setattr("farthest.spaces.packed.BLOCK", 7)
    one_thread = bytes(memoryview(space.successors(codes, 1)))
    assert bytes(memoryview(space.successors(codes, 3))) == one_thread


def test_equal_pieces_that_are_turned_are_gathered_where_they_fit_a_line() -> None:
    others = ("many slots", "equal pieces turned, beside one")  # the last has three states
    few = [puzzle for name, puzzle in SAMPLES.items() if not name.startswith(others)]
    assert {compile_space(puzzle).engine for puzzle in few} == {"gather"}
    round_and_over = ([*range(1, 20), 0], [1, *[0] * 19])
    assert compile_space(puzzle_of([pieces("a" * 20, 2)], [round_and_over])).engine == "scatter"


def test_few_kinds_on_many_slots_are_scattered() -> None:
    turn = [([*range(1, 20), 0], [0] * 20)]
    two = compile_space(puzzle_of([pieces("a" * 10 + "b" * 10)], turn))
    assert (two.engine, two.keys) == ("scatter", 184756)
    assert found_by_scattering(scatter(two)).keys() == set(
        two.encode(np.array(sorted(distances(two.puzzle)), dtype=np.uint8)).tolist()
    )
    assert compile_space(puzzle_of([pieces("a" * 15 + "b" * 5)], turn)).engine == "gather"


def test_what_never_changes_spares_keys() -> None:
    def keys(name: str) -> int | None:
        return compile_space(SAMPLES[name]).keys

    assert keys("even moves, to") == 360
    assert keys("sums, by piece") == 24 * 27
    assert keys("sums, by slot") == 4 * 27
    assert keys("some ignored, to") == 24 * 9
    assert keys("all ignored, to") == 12 * 2 * 4
    assert keys("equal ones ignored, to") == 20 * 9
    assert keys("slots apart") == 24 * 27 * 4


@for_each("name", ["moduli mixed, to", "some ignored, from", "two orbits, from", "one kind turned, to"])
def test_neighbours_are_named_as_the_player_moves(name: str) -> None:
    puzzle = SAMPLES[name]
    definition, space = permutation(puzzle), compile_space(puzzle)
    boards = sorted(distances(puzzle))[:50]
    for toward in (True, False):
        ahead = toward == (puzzle.origin.direction == "to")
        found = list(space.neighbours(np.array(boards, dtype=np.uint8), toward=toward))
        assert [move for move, _, _ in found] == [move.name for move in definition.generators]
        for move, (_, rows, after) in zip(definition.generators, found, strict=True):
            assert rows.tolist() == list(range(len(boards)))
            assert [tuple(row) for row in after.tolist()] == [
                (moved if ahead else unmoved)(definition, move, board) for board in boards
            ]


def test_boards_out_of_reach_have_no_key_and_a_reason() -> None:
    def reason(name: str, board: Board) -> tuple[int, str]:
        space = compile_space(SAMPLES[name])
        if space.engine == "gather":
            assert gather(space).keys_of([board]) == space.encode(np.array([board], dtype=np.uint8)).tolist()
        return int(space.encode(np.array([board], dtype=np.uint8))[0]), space.why_unreachable(board) or ""

    key, why = reason("even moves, to", (1, 0, 2, 3, 4, 5))
    assert key == NO_KEY
    assert why.startswith("parity: every move permutes the pieces evenly")
    key, why = reason("sums, by piece", (0, 1, 2, 3, 1, 1, 0, 0))
    assert key == NO_KEY
    assert "sum of those of the pieces modulo 3, which is 0" in why
    key, why = reason("sums, by slot", (0, 1, 1, 1, 0, 0, 0, 2))
    assert key == NO_KEY
    assert "sum" in why
    key, why = reason("sums, even moves", (1, 0, 2, 3, 4, 5, 6, *[0] * 7))
    assert key != NO_KEY
    assert "parity" in why
    assert reason("turned, to", (0, 1, 2, 3, 0, 0, 3, 0))[0] == NO_KEY
    assert reason("one kind turned, to", (0, 0, 0, 0, 0, 0, 2, 0))[0] == NO_KEY


def test_several_goals_and_other_origins() -> None:
    base = permutation(SAMPLES["turned, to"])
    goals = (base.goals[0], (1, 0, 2, 3, 0, 0, 1, 0))
    fields = {name: getattr(base, name) for name in base.__dataclass_fields__}
    definition = Permutation(**(fields | {"goals": goals, "start": goals[1]}))
    puzzle = Puzzle("sample", "", "", "permutation", "generator", Origin(), (), definition)
    check(puzzle)
    assert compile_space(puzzle, Origin("from", "start")).origins == [goals[1]]
    named = compile_space(puzzle, Origin("to", definition.format_board(goals[1])))
    assert named.origins == [goals[1]]
    with pytest.raises(BoardError):
        compile_space(puzzle, Origin("to", "a b c"))
    with pytest.raises(PuzzleError, match="no start"):
        compile_space(SAMPLES["turned, to"], Origin("from", "start"))


def test_stored_layouts_that_are_damaged_are_refused() -> None:
    for name in ("turned, to", "one kind turned, to"):
        fields = compile_space(SAMPLES[name]).layout_fields()
        for wrong in (
            {**fields, "version": 2},
            {**fields, "twisted": [0, 0]},
            {**fields, "twisted": [9]},
            {**fields, "counts": [1, 2]},
            {**fields, "orbits": [[0, 1]]},
            {**fields, "moduli": [5]},
            {**fields, "parity": [0]},
            {k: v for k, v in fields.items() if k != "twisted"},
            {},
        ):
            with pytest.raises(StorageError):
                compile_space(SAMPLES[name], layout=wrong)
    for turned in (None, [4], [1, 1], ["a"]):
        with pytest.raises(StorageError, match="damaged"):
            compile_space(SAMPLES["one kind turned, to"], layout={**fields, "turned": turned})


def test_few_reachable_boards_are_numbered_by_a_base() -> None:
    space = compile_space(SAMPLES["few in reach, to"])
    assert space.keys == 110  # of 11!
    assert space.puzzle.definition.reachable(space.origins) == 110
    swapped = [1, 0, *range(2, 11)]
    assert gather(space).keys_of([swapped]) == [NO_KEY]
    assert "reach 110 boards" in (space.why_unreachable([2, 1, 0, *range(3, 11)]) or "")
    fields = space.layout_fields()
    for damaged in ([], [{"slot": 0}], [{"slot": 90, "elements": []}], [*fields["base"], *fields["base"]]):
        with pytest.raises(StorageError, match="stored key layout is damaged"):
            compile_space(space.puzzle, layout={**fields, "base": damaged})


def test_elements_are_numbered_where_slots_are_too_many() -> None:
    space = compile_space(SAMPLES["many slots, to"])
    assert (space.engine, space.keys) == ("scatter", 132)
    swapped = np.array([[1, 0, *range(2, 66)]], dtype=np.uint8)
    assert space.encode(swapped).tolist() == [NO_KEY]
    with pytest.raises(ValueError, match="no such key"):
        space.decode(np.array([132], dtype=np.uint64))
    with pytest.raises(StorageError, match="version 2, expected 1"):
        compile_space(space.puzzle, layout={**space.layout_fields(), "version": 2})
    turn = next(move for move in permutation(space.puzzle).generators if move.to[0] == 1)
    swap = replace(turn, name="swap", to=(1, 0, *range(2, 66)))
    all_of_them = replace(permutation(space.puzzle), generators=(turn, swap))
    with pytest.raises(ResourceError, match="66 slots; with more than 64"):
        compile_space(replace(space.puzzle, definition=all_of_them))


def test_origins_in_several_cosets_have_no_base() -> None:
    puzzle = SAMPLES["few in reach, to"]
    goals = permutation(puzzle).goals
    joined, apart = tuple(goals[0][(i + 1) % 11] for i in range(11)), (1, 0, *range(2, 11))
    for other, keys in ((joined, 110), (apart, factorial(11))):
        space = compile_space(replace(puzzle, definition=replace(permutation(puzzle), goals=(*goals, other))))
        assert space.keys == keys


def test_too_many_keys_are_refused() -> None:
    with pytest.raises(ResourceError, match="too large"):
        compile_space(load("pancake-21"))
    forty = pieces("ab" * 20, 3)
    with pytest.raises(ResourceError, match="too large"):
        compile_space(puzzle_of([forty], [([*range(1, 40), 0], [1] * 40)]))


def test_codes_out_of_range_are_refused() -> None:
    for name in ("turned, to", "one kind turned, to", "equal pieces turned, to"):
        space = compile_space(SAMPLES[name])
        with pytest.raises(ValueError, match="no such key"):
            space.decode(np.array([space.keys], dtype=np.uint64))


def test_shards_are_the_places_of_the_first_labels() -> None:
    space = cast(PermutationSpace, compile_space(SAMPLES["moduli mixed, to"]))
    for classes in (1, 2, 3, 4, 9):
        assert space.compile_kernel(classes).shards == space.shards_at(classes)
    assert [space.shards_at(classes) for classes in (1, 2, 3, 4)] == [3, 6, 6, 12]
