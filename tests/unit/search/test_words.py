"""Solutions by words of a chain of stabilisers: of any group, with equal pieces and turns that do not count."""

from itertools import pairwise

import pytest

import farthest
from farthest.search.contract import Problem
from farthest.search.plain import target_test
from farthest.search.solvable import random_boards
from farthest.search.walking import boards_along
from farthest.search.words import word_answers


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("mathieu-m12", marks=pytest.mark.slow),
        pytest.param("cube-2x2x2-htm", marks=pytest.mark.night),
        pytest.param("hungarian-rings", marks=pytest.mark.night),
        pytest.param("cube-3x3x3-three-colours", marks=pytest.mark.slow),
        pytest.param("megaminx", marks=pytest.mark.night),
    ],
)
def test_every_board_is_solved(name: str) -> None:
    puzzle = farthest.load_puzzle(name)
    boards = random_boards(puzzle, 6, seed=2)
    for board, target in pairwise(boards):
        problem = Problem(puzzle, board, puzzle.definition.format_board(target), "zero")
        words = word_answers(problem)
        assert words is not None
        ways = [words.search(tries, lambda: False) for tries in (0, 200)]
        for way in ways:
            assert way is not None
            boards_along(puzzle, board, way, target_test(problem))
        assert len(ways[1] or ()) <= len(ways[0] or ())


def test_a_puzzle_that_is_no_group_has_none() -> None:
    puzzle = farthest.load_puzzle("8-puzzle")
    goals, _ = puzzle.definition.origin_boards
    assert word_answers(Problem(puzzle, goals[0], "goal", "zero")) is None
