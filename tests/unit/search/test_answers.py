"""Answers before the optimum is proven: beams, efforts, and what searches make of them."""

import farthest
from farthest.heuristics.registry import open_heuristic
from farthest.search.answers import FIRST_EFFORTS, FROM, MOST_EFFORT, SHARE, Answers
from farthest.search.contract import Problem


def test_efforts_are_made_again_by_a_search_that_goes_on() -> None:
    puzzle = farthest.load_puzzle("8-puzzle")
    problem = Problem(puzzle, puzzle.definition.parse_board("867254301"), "goal", "manhattan")
    heuristic = open_heuristic("manhattan", puzzle, problem.targets(), None)
    nodes = [5, FROM, 3, 1 << 40]
    at_once = Answers(problem, heuristic).efforts(nodes, shortest=False)
    one_by_one = Answers(problem, heuristic)
    found = [effort for last in range(5) for effort in one_by_one.efforts(nodes[:last], shortest=False)]
    assert found == at_once == [*FIRST_EFFORTS, FROM // SHARE, FROM // SHARE, MOST_EFFORT]
    assert Answers(problem, heuristic).efforts([5], shortest=True) == []


def test_within_proves_what_it_says() -> None:
    shortest = farthest.solve("8-puzzle", "867254301", store=False)
    assert shortest.length == shortest.bound == 31
    found = farthest.solve("8-puzzle", "867254301", within=1.2, heuristic="misplaced", store=False)
    assert found.length is not None
    assert found.bound is not None
    assert found.bound <= 31 <= found.length <= 1.2 * found.bound
    assert found.optimal == (found.bound == found.length)


def test_the_first_solution_is_enough() -> None:
    found = farthest.solve("8-puzzle", "867254301", first=True, heuristic="misplaced", store=False)
    assert found.length is not None
    assert found.bound is not None
    assert found.bound <= 8 < 31 <= found.length
    assert (found.optimal, found.iterations) == (False, ())
    assert found.path is not None  # its moves can be made
    assert len(found.path) == found.length + 1
