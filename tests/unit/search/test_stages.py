"""Solutions by two stages: in every direction they are solutions, and searched to the end they are shortest ones."""

import numpy
import pytest

import farthest
from cases import for_each
from farthest.families.permutation.definition import permutation
from farthest.families.user_input import board_given
from farthest.search.contract import Problem
from farthest.search.plain import breadth_first, target_test
from farthest.search.solvable import random_boards
from farthest.search.stages import stages_of
from farthest.search.walking import boards_along


def never() -> bool:
    return False


@pytest.mark.parametrize("name", ["cube-2x2x2-htm", "cube-2x2x2-qtm"])
def test_a_search_to_the_end_finds_a_shortest_way(name: str) -> None:
    puzzle = farthest.load_puzzle(name)
    moves = [move.name for move in permutation(puzzle).generators]
    for seed in range(4):
        word = " ".join(moves[(seed * 5 + 7 * i * i) % len(moves)] for i in range(4))
        problem = Problem(puzzle, board_given(puzzle, f"moves: {word}"), "goal", "zero")
        stages = stages_of(problem)
        assert stages is not None
        way, _ = stages.search(1 << 22, None, never)
        assert way is not None
        assert len(way) == breadth_first(problem, 2**30).length
        assert stages.search(1 << 22, len(way), never)[0] is None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("cube-3x3x3", marks=pytest.mark.slow),
        pytest.param("cube-3x3x3-qtm", marks=pytest.mark.night),
    ],
)
def test_each_direction_solves_the_board(name: str) -> None:
    puzzle = farthest.load_puzzle(name)
    board, target = random_boards(puzzle, 2, seed=4)
    problem = Problem(puzzle, board, puzzle.definition.format_board(target), "zero")
    stages = stages_of(problem)
    assert stages is not None
    solver = stages._solver
    assert len(solver.directions) == 6
    row = numpy.array([board], dtype=numpy.uint8)
    for direction in solver.directions:
        _, found = solver.kernel.search(solver.own(direction.images(row)), 1 << 20, 1 << 21)
        assert found is not None
        boards_along(puzzle, board, direction.way(found), target_test(problem))


@for_each("name", ["megaminx", "cube-3x3x3-edges", "cube-3x3x3-three-colours", "15-puzzle"])
def test_puzzles_without_stages(name: str) -> None:
    puzzle = farthest.load_puzzle(name)
    goals, _ = puzzle.definition.origin_boards
    assert stages_of(Problem(puzzle, goals[0], "goal", "zero")) is None
