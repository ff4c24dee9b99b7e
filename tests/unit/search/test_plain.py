"""Breadth first, depth first and A* of any family: lengths, counts, and what they refuse."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy
import pytest
from numpy.typing import NDArray

import farthest
from cases import for_each
from families import PUZZLES, a_board
from farthest.errors import PuzzleError, ResourceError
from farthest.heuristics.contract import UNREACHABLE
from farthest.puzzles.definition import Board
from farthest.search.beam import Beam
from farthest.search.contract import Problem
from farthest.search.plain import a_star, breadth_first, depth_first, search_plain
from farthest.search.walking import boards_along
from search_models import Zero, answer, play, reached

MEMORY = 2**30
EIGHT = farthest.load_puzzle("8-puzzle")
S4 = "6 2 7 / 3 8 1 / 4 5 0"


@dataclass
class Rated(Zero):
    """A heuristic by a function of a board."""

    of: Callable[[Board], int] = lambda board: 0

    def values(self, boards: NDArray[numpy.uint8]) -> NDArray[numpy.int32]:
        return numpy.array([self.of(tuple(board)) for board in boards.tolist()], dtype=numpy.int32)


def manhattan(board: Board) -> int:
    """Of the 8-puzzle whose goal is 1 2 3 / 4 5 6 / 7 8 0."""
    return sum(
        abs(cell // 3 - (label - 1) // 3) + abs(cell % 3 - (label - 1) % 3)
        for cell, label in enumerate(board)
        if label
    )


def misplaced_and_manhattan(board: Board) -> int:
    """S4's, which may be more than the distance."""
    return manhattan(board) + sum(label not in (0, cell + 1) for cell, label in enumerate(board))


def eight(text: str) -> Problem:
    return Problem(EIGHT, EIGHT.definition.parse_board(text), "goal", "zero")


def test_the_example_of_the_seed() -> None:
    problem = eight(S4)
    found = a_star(problem, Rated(of=manhattan), MEMORY)
    assert (found.length, len(found.moves), found.optimal) == (24, 24, True)
    assert play(EIGHT, problem.board, found.moves) == problem.targets()[0]
    assert found.expanded < 5000
    greedy = a_star(problem, Rated(admissible=False, of=misplaced_and_manhattan), MEMORY)
    assert (greedy.length, greedy.optimal) == (26, False)  # 27 boards, as S4's program found


@pytest.mark.slow
def test_the_example_breadth_and_depth_first() -> None:
    problem = eight(S4)
    broad = breadth_first(problem, MEMORY)
    assert (broad.length, broad.optimal) == (24, True)
    deep = depth_first(problem, MEMORY)
    assert deep.length is not None
    assert deep.length > 1000
    assert not deep.optimal
    is_goal = problem.targets()[0].__eq__
    assert len(boards_along(EIGHT, problem.board, deep.moves, is_goal)) == deep.length + 1


@for_each("name", PUZZLES)
def test_every_family(name: str) -> None:
    """From one board to one of the farthest of those nearest to it, and to all with that many moves."""
    puzzle = PUZZLES[name]()
    board = a_board(puzzle)
    near = {board: 0}
    for here, depth in near.items():
        if len(near) > 60:
            break
        for _, after in farthest.copies(puzzle, here):
            if after not in near:
                near = {**near, after: depth + 1}
    target = list(near)[-1]
    problem = Problem(puzzle, board, puzzle.definition.format_board(target), "zero")
    broad = breadth_first(problem, MEMORY)
    assert broad.length is not None
    assert broad.optimal
    assert play_one(problem, broad.moves) == target
    deep = depth_first(problem, MEMORY)
    assert deep.length is not None
    assert deep.length >= broad.length
    assert play_one(problem, deep.moves) == target
    best = a_star(problem, Rated(), MEMORY)
    assert (best.length, best.optimal) == (broad.length, True)
    beam = Beam(problem, Rated())
    way, _ = beam.search(1 << 10, 1 << 20, None, lambda: False)
    assert way is not None
    assert len(way) == broad.length
    assert play_one(problem, way) == target
    assert beam.search(1 << 10, 1 << 20, len(way), lambda: False)[0] is None


def play_one(problem: Problem, moves: tuple[object, ...]) -> Board:
    board = problem.board
    for move in moves:
        board = next(after for name, after in farthest.copies(problem.puzzle, board) if name == move)
    return board


def test_counts_are_those_of_a_plain_program() -> None:
    """Of a breadth-first search the boards taken are all nearer ones, some as near as the target, and it."""
    puzzle = farthest.load_puzzle("sliding-2x3")
    problem = Problem(puzzle, puzzle.definition.parse_board("4 5 0 / 1 2 3"), "goal", "zero")
    model = reached(puzzle, problem.board)
    found = breadth_first(problem, MEMORY)
    assert answer(problem, model) == (found.length, model.ways[problem.targets()[0]])
    depths = list(model.depths.values())
    nearer = sum(depth < (found.length or 0) for depth in depths)
    assert nearer < found.expanded <= nearer + depths.count(found.length or 0)
    assert breadth_first(problem, MEMORY).generated == found.generated
    solved = Problem(puzzle, problem.targets()[0], "goal", "zero")
    for algorithm in ("bfs", "dfs", "astar"):
        at_once = search_plain(algorithm, solved, Zero(), MEMORY)
        assert (at_once.length, at_once.moves, at_once.expanded, at_once.generated) == (0, (), 1, 0)


def test_what_cannot_be_solved() -> None:
    puzzle = farthest.load_puzzle("sliding-2x3")
    problem = Problem(puzzle, puzzle.definition.parse_board("0 2 1 / 3 4 5"), "goal", "zero")
    for found in (
        breadth_first(problem, MEMORY),
        depth_first(problem, MEMORY),
        a_star(problem, Zero(), MEMORY),
    ):
        assert (found.length, found.moves, found.expanded) == (None, (), 360)
    told = a_star(problem, Rated(of=lambda board: UNREACHABLE), MEMORY)
    assert (told.length, told.expanded) == (None, 0)


def test_a_heuristic_that_is_not_consistent_opens_boards_again() -> None:
    """Distances, but 0 at some boards: never too much, so the way is a shortest one all the same."""
    puzzle = farthest.load_puzzle("sliding-2x3")
    goal = puzzle.definition.origin_boards[0][0]
    depths = reached(puzzle, goal).depths  # moves can be taken back
    hardest = max(depths, key=lambda board: depths[board])
    rated = Rated(consistent=False, of=lambda board: 0 if sum(board[::2]) % 3 else depths[board])
    found = a_star(Problem(puzzle, hardest, "goal", "zero"), rated, MEMORY)
    assert (found.length, found.optimal) == (21, True)


def test_too_little_memory() -> None:
    problem = eight("8 6 7 / 2 5 4 / 3 0 1")
    for algorithm in ("bfs", "dfs", "astar"):
        with pytest.raises(ResourceError, match=r"first [\d,]+ boards, which take the 100.0 KiB of memory"):
            search_plain(algorithm, problem, Zero(), 100 * 2**10)


def test_no_goal() -> None:
    puzzle = PUZZLES["python, dense"]()
    problem = Problem(puzzle, a_board(puzzle), "goal", "zero")
    with pytest.raises(PuzzleError, match="no goal"):
        breadth_first(problem, MEMORY)
