"""The boards at distance 0: goals, sets of goals, wildcards, the start, and other boards."""

import re
from pathlib import Path

import pytest
from hypothesis import given

import farthest
import naive
from arrangements import arrangement_space
from cases import for_each
from farthest.errors import BoardError, PuzzleError
from farthest.families.sliding.definition import sliding
from farthest.families.sliding.space import origin_boards
from farthest.families.user_input import origin_given
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.origin import MAX_ORIGINS
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from strategies import grid_rows, make_puzzle, puzzles


@given(puzzles(most=720))
def test_origins_are_those_of_the_naive_model(puzzle: Puzzle) -> None:
    boards = arrangement_space(puzzle).origins
    assert len(set(boards)) == len(boards)
    assert set(boards) == naive.origin_boards(puzzle, puzzle.origin)


def test_the_origin_may_be_the_goal_the_start_or_a_board() -> None:
    puzzle = load("3-puzzle")
    assert origin_boards(puzzle, Origin("to", "goal")) == [(0, 1, 2, 3)]
    start = sliding(puzzle).start
    assert start is not None
    assert origin_boards(puzzle, Origin("from", "start")) == [start]
    assert origin_boards(puzzle, Origin("to", "3 2 / 1 0")) == [
        tuple(sliding(puzzle).tokens.index(token) for token in "3210")
    ]


def test_wildcards_stand_for_every_piece_that_is_left() -> None:
    rows = grid_rows(2, 3)
    goal = (1, WILDCARD, WILDCARD, WILDCARD, 0, 2)
    puzzle = make_puzzle(rows=rows, goals=[goal], counts=[1, 1, 2, 2])
    boards = origin_boards(puzzle, Origin())
    assert boards == [(1, 2, 3, 3, 0, 2), (1, 3, 2, 3, 0, 2), (1, 3, 3, 2, 0, 2)]


def test_goals_that_overlap_are_counted_once() -> None:
    goals = [(0, WILDCARD, WILDCARD, 3), (0, 1, WILDCARD, WILDCARD)]
    puzzle = make_puzzle(rows=grid_rows(2, 2), goals=goals, counts=[1, 1, 1, 1])
    assert origin_boards(puzzle, Origin()) == [(0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3)]


def test_first_row_has_its_120_goals() -> None:
    assert len(arrangement_space(load("first-row")).origins) == 120


def test_too_many_goals_are_refused_before_they_are_made() -> None:
    goal = (0, *[WILDCARD] * 15)
    puzzle = make_puzzle(rows=grid_rows(4, 4), goals=[goal], counts=[1] * 16)
    with pytest.raises(PuzzleError, match=re.escape(f"{MAX_ORIGINS:,}")):
        arrangement_space(puzzle)


def test_a_missing_start_is_told() -> None:
    puzzle = make_puzzle(rows=grid_rows(2, 2), goals=[(0, 1, 2, 3)])
    with pytest.raises(PuzzleError, match="start"):
        arrangement_space(puzzle, Origin("to", "start"))


@for_each("where", ["", "nowhere", "0 1 / 2", "0 1 / 2 2", "0 1 2 3 0"])
def test_an_origin_that_is_not_a_board_is_told(where: str) -> None:
    with pytest.raises(BoardError):
        arrangement_space(load("3-puzzle"), Origin("to", where))


@for_each("name", ["3-puzzle", "hakoiri-musume-step", "hanoi-3-2", "pegs-triangle-15", "pancake-4"])
def test_an_origin_that_is_not_a_board_is_told_alike_in_all_families(name: str) -> None:
    with pytest.raises(BoardError, match=f"nowhere.*{name}"):
        compile_space(load(name), Origin("to", "nowhere"))


@pytest.mark.parametrize(
    ("name", "boards"),
    [
        ("sliding-2x3", ["goal", "3 4 5 / 0 1 2", "moves: U L"]),
        ("hanoi-4-4", ["goal", "start", "1 2 3 1"]),
        ("jugs-8-5-3", ["start", "5 0 3"]),
        ("8-puzzle@1-3", ["goal", "3 · · / · · · / 2 1 ·"]),
    ],
)
def test_a_set_is_as_near_as_the_nearest_of_its_boards(name: str, boards: list[str], tmp_path: Path) -> None:
    puzzle = load(name)
    told = [enumerate_(puzzle, origin, tmp_path) for origin in ("to " + each for each in boards)]
    ours = enumerate_(puzzle, origin_given(puzzle, Origin("to", "\n".join(boards))), tmp_path)
    nearest: dict[str, int] = {}
    for distances in told:
        for board, distance in distances.items():
            nearest[board] = min(distance, nearest.get(board, distance))
    assert ours == nearest


def test_a_set_that_is_empty_or_too_large_is_told() -> None:
    puzzle = load("3-puzzle")
    with pytest.raises(BoardError, match="0 labels, expected 4"):
        origin_given(puzzle, [[], []])
    with pytest.raises(BoardError, match="a set of 10,001 boards; expected 1 to 10,000"):
        origin_given(puzzle, ["goal"] * 10_001)
    with pytest.raises(BoardError, match="nowhere"):
        origin_given(puzzle, ["goal", "nowhere"])


def test_equal_sets_are_the_same_origin() -> None:
    puzzle = load("3-puzzle")
    first = origin_given(puzzle, ["3 2 / 1 0", "goal"])
    assert first == origin_given(puzzle, ("goal", "32/10", (3, 2, 1, 0), "goal"))
    assert first is not None
    assert str(first) == "to 2 boards (goal, ...)"


def enumerate_(puzzle: Puzzle, origin: Origin | str | None, folder: Path) -> dict[str, int]:
    with farthest.enumerate(puzzle, origin=origin, database=folder / "farthest.db") as found:
        return {board: depth for depth in range(found.depth + 1) for board in found.states_at(depth)}
