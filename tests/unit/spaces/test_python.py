"""Spaces of users' classes: every form against a search in dictionaries, and what is refused."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import python_spaces
from cases import for_each
from farthest import _kernel
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.errors import BoardError, PuzzleError, StorageError
from farthest.families.python.definition import Python
from farthest.families.python.space import UserMoves
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import scatter
from farthest.stores.scattering import map_of_runs
from farthest.verify.models import model_of
from space_battery import check_dense


def puzzle_of(name: str, module: str = "python_spaces", options: str = "") -> Puzzle:
    text = f'name = "p"\nfamily = "python"\n[python]\nclass = "{module}:{name}"\n'
    return parse_puzzle(text + (f"options = {options}\n" if options else ""), "p.toml")


def board(key: int) -> Board:
    return tuple(key.to_bytes(8, "big"))


def number(board: Board) -> int:
    return int.from_bytes(bytes(board), "big")


@pytest.mark.parametrize("direction", ["from", "to"])
def test_dense_batches(direction: str) -> None:
    origin = Origin(direction, "start")  # type: ignore[arg-type]
    ring = puzzle_of("Ring", options="{ n = 12 }")
    layers = check_dense(
        ring,
        lambda at: [("up", board((number(at) + 1) % 12)), ("down", board((number(at) - 1) % 12))],
        origin,
    )
    assert layers == [1, 2, 2, 2, 2, 2, 1]

    def doubling(at: Board) -> list[tuple[str, Board]]:
        n = number(at)
        return ([("double", board(2 * n))] if 2 * n < 40 else []) + ([("less", board(n - 1))] if n else [])

    check_dense(puzzle_of("Doubling"), doubling, origin)


@for_each(
    "name, layers",
    [("Columns", [1, 2, 2, 2, 2, 2, 1]), ("Reused", [1, 2, 2, 2, 2, 2, 1]), ("Line", [1] * 12)],
)
def test_answers_that_are_views_or_empty(name: str, layers: list[int]) -> None:
    outcome = enumerate_puzzle(puzzle_of(name), None, Settings(threads=1))
    assert list(outcome.layers) == layers


def test_dense_by_rank() -> None:
    puzzle = puzzle_of("Sorting")
    user = python_spaces.Sorting()

    def moves(at: Board) -> list[tuple[str, Board]]:
        state = user.unrank(number(at))
        return [(name, board(user.rank(after))) for name, after in user.successors_of(state)]

    assert check_dense(puzzle, moves) == [1, 3, 5, 6, 5, 3, 1]  # inversions
    definition = puzzle.defined_as(Python)
    reverse = definition.parse_board(" 3210 ")
    assert number(reverse) == 23
    assert definition.format_board(reverse) == "3210"
    assert definition.draw_board(reverse) == ["####", "###", "##", "#"]
    assert definition.arrangements() == 24
    with pytest.raises(BoardError, match="board '3211': expected each of 0 to 3 once; write it like '0123'"):
        definition.parse_board("3211")
    with pytest.raises(BoardError, match="key 24, expected one from 0 to 23"):
        definition.check_board(board(24))


@pytest.mark.parametrize(
    "name", ["Frogs", "Words", "Wide", "WideOne", "Sparse", "OneWay", "Ring", "Called", "Doubling"]
)
@pytest.mark.parametrize("direction", ["from", "to"])
def test_all_forms(name: str, direction: str) -> None:
    """Codes, neighbours both ways and layers agree with the class asked state by state, and with verify's model."""
    puzzle = puzzle_of(name)
    origin = Origin(direction, "start")  # type: ignore[arg-type]
    if direction == "to" and name in ("Frogs", "OneWay"):
        with pytest.raises(PuzzleError, match="write predecessors, or undirected = True"):
            compile_space(puzzle, origin)
        return
    space = scatter(compile_space(puzzle, origin))
    model = model_of(puzzle, origin, space.layout_fields())
    assert (model.keys, model.code_bytes) == (space.keys, space.code_bytes)
    dtype = np.uint64 if space.code_bytes == 8 else np.dtype(f"S{space.code_bytes}")
    layer = np.unique(np.frombuffer(memoryview(space.origin_codes()), dtype=dtype))
    assert {tuple(row) for row in model.origins().tolist()} == set(space.origins)
    found = layer
    while layer.size:
        reached = np.frombuffer(memoryview(space.successors(layer.tobytes(), 2)), dtype=dtype)
        boards = space.decode(layer)
        assert np.array_equal(space.encode(boards), layer)
        assert np.array_equal(model.codes(boards), layer)
        assert np.array_equal(model.boards(layer), boards)
        rows, modelled = model.successors(boards)
        assert Counter(model.codes(modelled).tolist()) == Counter(reached.tolist())
        away = Counter(
            (row, bytes(after))
            for _, made, afters in space.neighbours(boards, toward=False)
            for row, after in zip(made.tolist(), afters, strict=True)
        )
        assert set(away) == {(row, bytes(after)) for row, after in zip(rows.tolist(), modelled, strict=True)}
        layer = np.setdiff1d(reached, found)
        found = np.union1d(found, reached)
    boards = space.decode(found)
    listed = [tuple(row) for row in boards.tolist()]
    links = {}
    for toward in (False, True) if space.moves_both_ways else (False,):
        links[toward] = Counter(
            (listed[row], name, tuple(after))
            if toward == (direction == "to")
            else (tuple(after), name, listed[row])
            for name, made, afters in space.neighbours(boards, toward=toward)
            for row, after in zip(made.tolist(), afters.tolist(), strict=True)
        )
    if space.moves_both_ways:
        inside = {
            way: Counter({move: n for move, n in moves.items() if {move[0], move[2]} <= set(listed)})
            for way, moves in links.items()
        }
        assert inside[True] == inside[False]


def test_known_sizes() -> None:
    space = scatter(compile_space(puzzle_of("Words")))
    seen = {b"aaa"}
    layer, sizes = seen, []
    while layer:
        sizes.append(len(layer))
        reached = bytes(space.successors(b"".join(sorted(layer)), 1))
        layer = {reached[at : at + 3] for at in range(0, len(reached), 3)} - seen
        seen = seen | layer
    assert sizes == [1, 3, 6, 10, 15, 18, 19, 18, 15, 10, 6, 3, 1]


def test_texts_of_keys() -> None:
    ring, words, wide = (puzzle_of(name).defined_as(Python) for name in ("Ring", "Words", "Wide"))
    assert ring.format_board(ring.parse_board(" 11 ")) == "11"
    assert words.format_board(words.parse_board("616263")) == "616263"
    assert wide.format_board(wide.parse_board(str(1 << 70))) == str(1 << 70)
    for definition, text, message in (
        (ring, "12", "expected a key, a number from 0 to 11, such as '0'"),
        (ring, "-1", "expected a key"),
        (ring, "x", "expected a key"),
        (words, "6162", "expected the 3 bytes of a key in hexadecimal digits, such as '616161'"),
        (words, "zz", "expected the 3 bytes"),
        (wide, "9" * 40, "expected a key"),
    ):
        with pytest.raises(BoardError, match=message):
            definition.parse_board(text)


def test_stored_puzzles_need_no_class(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = puzzle_of("Ring", options="{ n = 12 }")
    text = puzzle.to_json()
    assert Puzzle.from_json(text) == puzzle
    elsewhere = Puzzle.from_json(text.replace("python_spaces", "not_installed_here"))
    assert elsewhere.definition.size() == "not_installed_here:Ring"
    monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", "not_installed_here")
    with pytest.raises(
        PuzzleError, match=r"puzzle class missing on .*no module not_installed_here.*install it"
    ):
        compile_space(elsewhere)


def test_changed_class() -> None:
    with pytest.raises(StorageError, match="the class has changed, enumerate it again"):
        compile_space(puzzle_of("Ring"), None, {"version": 1, "size": 13, "bytes": 8})


@pytest.mark.parametrize("names", ["true", "false"])
def test_states_that_look_like_a_name_and_a_state(names: str) -> None:
    puzzle = puzzle_of("TwoWords", options=f"{{ names = {names} }}")
    with_names = names == "true"
    space = compile_space(puzzle)
    moves = [move for move, _, _ in space.neighbours(np.array(space.origins, dtype=np.uint8), toward=False)]
    assert moves == (["first", "between", "second"] if with_names else ["move 0", "move 1", "move 2"])
    outcome = enumerate_puzzle(puzzle, None, Settings(histogram_only=True, threads=1))
    assert outcome.layers == (1, 3, 5, 6, 5, 3, 1)
    model = model_of(puzzle, puzzle.origin, space.layout_fields())
    _, after = model.successors(model.origins())
    assert after.tolist() == [list(b"bacd"), list(b"acbd"), list(b"abdc")]


@pytest.mark.parametrize("dense", ["true", "false"])
def test_moves_that_cannot_be_taken_back_far_from_the_start(
    dense: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle = puzzle_of("Lasso", options=f"{{ dense = {dense} }}")
    settings = Settings(threads=1, max_depth=120)
    with pytest.raises(
        PuzzleError, match=r"undirected is True, but from [0-9]+ a move leads to [0-9]+ and none back"
    ):
        enumerate_puzzle(puzzle, None, settings)
    # Where the states that are asked for are others.
    monkeypatch.setattr(UserMoves, "check_return", lambda *_, **__: None)
    with pytest.raises(PuzzleError, match="found at two depths"):
        enumerate_puzzle(puzzle, None, settings)


@for_each("size", [1, 2, 5])
def test_a_state_at_two_depths_is_told_wherever_chunks_meet(size: int) -> None:
    space: Any = compile_space(puzzle_of("Lasso", options="{ dense = false }"))
    layers = [np.array(codes, dtype=np.uint64).tobytes() for codes in ([3], [1, 4], [2, 4])]
    runs = [(depth, _kernel.run_of(8, codes)[1]) for depth, codes in enumerate(layers)]
    with pytest.raises(PuzzleError, match="found at two depths"):
        list(map_of_runs(space, 1, 2, lambda shard: runs, size, 1))
