"""Inverses that are looked up, and maps that are tied, leave lengths and numbers of solutions as they are."""

from pathlib import Path

import pytest

import farthest
from farthest.families.permutation.definition import permutation
from farthest.families.user_input import board_given
from farthest.heuristics.contract import Heuristic
from farthest.heuristics.registry import open_heuristic
from farthest.models.database import open_database
from farthest.puzzles.puzzle import Puzzle
from farthest.queries import pattern_maps
from farthest.queries.pattern_maps import PatternMaps
from farthest.random_source import RandomSource
from farthest.search.arrangement_engine import ArrangementEngine, arrangement_engine
from farthest.search.contract import Problem
from farthest.search.deepening import deepen

PATTERNS = ("turns:edges", "turns:corners", "places:FR=FL=BL=BR")
TEXT = "sym:" + ",sym:".join(f"@{pattern}" for pattern in PATTERNS)


@pytest.fixture(scope="module")
def cube() -> Puzzle:
    """Whose patterns have few states."""
    return farthest.load_puzzle("cube-3x3x3")


@pytest.fixture(scope="module")
def heuristics(cube: Puzzle, tmp_path_factory: pytest.TempPathFactory) -> tuple[Heuristic, Heuristic]:
    """Three maps, each in three directions; and by tables of two bits."""
    path = str(tmp_path_factory.mktemp("maps") / "maps.db")
    for pattern in PATTERNS:
        farthest.enumerate(f"cube-3x3x3@{pattern}", database=path).close()
    with open_database(Path(path), create=False) as database, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pattern_maps, "TABLE_KEYS", 0)
        whole, few = (PatternMaps(database), PatternMaps(database, tables=True, bits=2))
        goals = permutation(cube).goals
        return open_heuristic(TEXT, cube, goals, whole), open_heuristic(TEXT, cube, goals, few)


@pytest.fixture(scope="module")
def heuristic(heuristics: tuple[Heuristic, Heuristic]) -> Heuristic:
    """By the whole maps."""
    return heuristics[0]


def engine(cube: Puzzle, moves: str, heuristic: Heuristic | None) -> ArrangementEngine:
    problem = Problem(cube, board_given(cube, f"moves: {moves}"), "goal", TEXT if heuristic else "zero")
    rated = heuristic or open_heuristic("zero", cube, problem.targets())
    found = arrangement_engine(problem, rated)
    assert found is not None
    return found


def scrambles(count: int, turns: int) -> list[list[str]]:
    names = [move.name for move in permutation(farthest.load_puzzle("cube-3x3x3")).generators]
    source = RandomSource(3)
    return [[names[source.below(len(names))] for _ in range(turns)] for _ in range(count)]


def back(moves: list[str]) -> list[str]:
    return [move if move[1:] == "2" else move[0] + ("" if move[1:] else "'") for move in reversed(moves)]


def test_lengths_and_solutions_are_those_of_plain_deepening(cube: Puzzle, heuristic: Heuristic) -> None:
    for moves in scrambles(6, 4):
        found, plain = (engine(cube, " ".join(moves), each) for each in (heuristic, None))
        assert (found.walk.kernel.tied, found.walk.kernel.inverses) == (2, 9)
        assert (plain.walk.kernel.tied, plain.walk.kernel.inverses) == (0, 0)
        here, there = (deepen(each, each.problem.board, first=False, limit=100) for each in (found, plain))
        assert (here.length, here.solutions, set(here.listed)) == (
            there.length,
            there.solutions,
            set(there.listed),
        )


def test_tables_of_two_bits_do_not_tie_more_maps(
    cube: Puzzle, heuristics: tuple[Heuristic, Heuristic]
) -> None:
    assert [each.consistent for each in heuristics] == [True, False]
    for moves in scrambles(4, 5):
        whole, few = (engine(cube, " ".join(moves), each) for each in heuristics)
        assert (few.walk.kernel.tied, few.walk.kernel.inverses) == (2, 9)
        one, other = (deepen(each, each.problem.board, first=False, limit=0) for each in (whole, few))
        assert (one.length, one.solutions) == (other.length, other.solutions)


def test_a_board_and_its_inverse_are_equally_far(cube: Puzzle, heuristic: Heuristic) -> None:
    for moves in scrambles(3, 7):
        both = [engine(cube, " ".join(each), heuristic) for each in (moves, back(moves))]
        one, other = (deepen(each, each.problem.board, first=False, limit=0) for each in both)
        assert (one.length, one.solutions) == (other.length, other.solutions)


def test_what_is_split_is_searched_in_another_order_with_the_same_result(
    cube: Puzzle, heuristic: Heuristic
) -> None:
    for moves in scrambles(2, 6):
        whole, split = (engine(cube, " ".join(moves), heuristic) for _ in range(2))
        split.split_from, split.parts = 1, 30
        one, other = (deepen(each, each.problem.board, first=False, limit=500) for each in (whole, split))
        assert (one.length, one.solutions, set(one.listed)) == (
            other.length,
            other.solutions,
            set(other.listed),
        )
        first = deepen(split, split.problem.board, first=True, limit=1)
        assert first.listed[0] in one.listed
