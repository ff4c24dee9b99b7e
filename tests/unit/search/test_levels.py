"""The breadth-first split: exact numbers of ways, what is cut off, and what is left to search."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy
import pytest

import farthest
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.search.contract import Problem
from farthest.search.expansion import forward_space
from farthest.search.levels import Levels, breadth_first_split, nearest_goal
from search_models import Zero, answer, play, reached

if TYPE_CHECKING:
    from farthest.spaces.contract import Boards


def split(problem: Problem, bound: int, parts: int, most: int = 0) -> Levels:
    space = forward_space(problem.puzzle, problem.board)
    return breadth_first_split(space, problem, Zero(), bound, parts, most=most)


@pytest.fixture(scope="module")
def puzzle() -> Puzzle:
    return farthest.load_puzzle("sliding-2x3")


def problem_of(puzzle: Puzzle, text: str, target: str = "goal") -> Problem:
    return Problem(puzzle, puzzle.definition.parse_board(text), target, "zero")


@pytest.fixture(scope="module")
def problem(puzzle: Puzzle) -> Problem:
    return problem_of(puzzle, "4 5 0 / 1 2 3")


def test_all_solutions_of_a_small_puzzle(problem: Problem) -> None:
    found = reached(problem.puzzle, problem.board)
    whole = answer(problem, found)
    assert whole is not None
    length, solutions = whole
    before = split(problem, length - 1, 10**6)
    assert (before.solutions, before.roots, before.next_bound) == (0, [], length)
    at_last = split(problem, length, 10**6)
    assert (at_last.solutions, at_last.roots) == (solutions, [])
    ways = list(at_last.listed())
    assert len(set(ways)) == len(ways) == solutions
    goal = problem.targets()[0]
    assert all(len(way) == length and play(problem.puzzle, problem.board, way) == goal for way in ways)


def test_roots_and_the_ways_to_them(problem: Problem) -> None:
    found = reached(problem.puzzle, problem.board)
    begun = split(problem, 30, 12)
    depth = begun.roots[0].depth
    layer = {board for board, at in found.depths.items() if at == depth}
    assert len(layer) >= 12 > sum(at == depth - 1 for at in found.depths.values())
    assert {root.board for root in begun.roots} == layer
    assert [root.last for root in begun.roots] == [-1] * len(layer)
    for number, root in enumerate(begun.roots):
        ways = list(begun.ways_to(number))
        assert len(set(ways)) == len(ways) == begun.ways[number] == found.ways[root.board]
        assert all(play(problem.puzzle, problem.board, way) == root.board for way in ways)
    again = split(problem, 30, 12)
    assert (again.roots, again.ways, again.nodes) == (begun.roots, begun.ways, begun.nodes)


def test_every_child_is_counted(problem: Problem) -> None:
    """2x3: two moves from a corner, three from another cell; the first blank is in a corner."""
    assert [split(problem, bound, 10**6).nodes for bound in (1, 2, 3)] == [2, 2 + 5, 2 + 5 + 8]


def test_a_split_that_may_go_on(problem: Problem) -> None:
    """Where a level grows too wide it ends where it would have ended; else it goes to the end."""
    short = split(problem, 30, 12)
    assert split(problem, 30, 12, most=20).roots == short.roots
    assert split(problem, 30, 12, most=20).ways == short.ways
    assert split(problem, 30, 12, most=20).nodes > short.nodes
    whole = split(problem, 30, 12, most=10**6)
    assert not whole.roots
    assert whole.solutions == split(problem, 30, 10**6).solutions


def test_a_split_keeps_no_more_boards_than_it_may(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    depths = sorted(reached(problem.puzzle, problem.board).depths.values())
    monkeypatch.setattr("farthest.search.levels.MOST_BOARDS", 30)
    begun = split(problem, 30, 10**6)
    assert begun.roots[0].depth == depths[29]
    assert len(begun.roots) == depths.count(depths[29])
    assert nearest_goal(forward_space(problem.puzzle, problem.board), problem, 10**6) == depths[29]
    short = split(problem, 30, 3, most=10**6)
    assert short.roots == split(problem, 30, 3).roots


def test_a_goal_at_once(puzzle: Puzzle) -> None:
    begun = split(problem_of(puzzle, "0 1 2 / 3 4 5"), 0, 100)
    assert (begun.solutions, list(begun.listed()), begun.roots, begun.nodes) == (1, [()], [], 0)


def test_one_node_is_a_split_too(problem: Problem) -> None:
    begun = split(problem, 5, 1)
    assert [root.board for root in begun.roots] == [problem.board]
    assert (begun.ways, list(begun.ways_to(0)), begun.nodes) == ([1], [()], 0)


def test_the_last_move_of_roots_with_one_predecessor(problem: Problem) -> None:
    def blank(before: Boards, after: Boards) -> numpy.typing.NDArray[numpy.intp]:
        assert before.shape == after.shape
        return numpy.flatnonzero(before.reshape(-1) == 0) % 6

    space = forward_space(problem.puzzle, problem.board)
    begun = breadth_first_split(space, problem, Zero(), 30, 2, last=blank)
    assert sorted((root.board.index(0), root.last) for root in begun.roots) == [(1, 2), (5, 2)]
    begun = breadth_first_split(space, problem, Zero(), 30, 120, last=blank)
    for number, root in enumerate(begun.roots):
        cells_before = {way[-1][1] for way in begun.ways_to(number)}
        assert root.last == (cells_before.pop() if len(cells_before) == 1 else -1)


def test_more_ways_than_64_bits_hold() -> None:
    text = 'name = "parallel"\nfamily = "python"\n[python]\nclass = "python_spaces:Parallel"\n'
    puzzle = parse_puzzle(text, "parallel.toml")
    problem = Problem(puzzle, puzzle.definition.parse_board("0"), "40", "zero")
    found = split(problem, 40, 10**6)
    assert found.solutions == 4**40
    assert found.nodes == 160
    assert list(islice(found.listed(), 5))[1:3] == [("b", *"a" * 39), ("c", *"a" * 39)]
    assert split(problem, 35, 10**6).next_bound == 36


def test_no_goal_is_nearer(puzzle: Puzzle, problem: Problem) -> None:
    space = forward_space(puzzle, problem.board)
    found = answer(problem, reached(puzzle, problem.board))
    assert found is not None
    assert nearest_goal(space, problem, 10**6) == found[0]
    assert nearest_goal(space, problem, 2) == 1
    assert nearest_goal(space, problem_of(puzzle, "1 2 3 / 5 4 0"), 10**6) is None
