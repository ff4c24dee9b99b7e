"""Iterative deepening in one process: which iterations are split, and what becomes of what pieces give back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from farthest.heuristics.contract import UNREACHABLE
from farthest.search.contract import Node, PieceResult
from farthest.search.deepening import Iteration, deepen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.puzzles.definition import Board, MoveName

BOARD = (0, 1)


@dataclass
class Begun:
    """A split with two roots, of two ways and of three."""

    nodes: int = 5
    next_bound: int | None = None
    roots: list[Node] = field(default_factory=lambda: [Node((1, 0), 1), Node((1, 1), 1)])
    ways: list[int] = field(default_factory=lambda: [2, 3])
    solutions: int = 0

    def ways_to(self, root: int) -> Iterator[tuple[MoveName, ...]]:
        return iter([(f"to {root}", str(way)) for way in range(self.ways[root])])

    def listed(self) -> Iterator[tuple[MoveName, ...]]:
        return iter(())


class Scripted:
    """An engine that finds what it is told to: the solutions are below the second root, at bound 5."""

    split_from = 100
    parts = 2
    budget = 10
    in_a_second = 10**6

    def __init__(self, first_bound: int = 1) -> None:
        self.first_bound = first_bound
        self.split_at: list[int] = []
        self.ran: list[tuple[Board, int]] = []

    def lower_bound(self, board: Board) -> int:
        assert board == BOARD
        return self.first_bound

    def split(self, board: Board, bound: int) -> Begun:
        self.split_at.append(bound)
        return Begun()

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
        self.ran.append((node.board, bound))
        if bound < 5:  # 10 nodes, 200 nodes, and few where it is split
            return PieceResult({1: 10, 2: 200}.get(bound, 1), 0, (), bound + 1, ())
        if node.board == (1, 1) and not node.way:
            return PieceResult(10, 0, (), None, (Node((1, 1), 2, way=("x",)), Node((1, 1), 2, way=("y",))))
        if node.way:
            ways = ((*node.way, "end"),)
            return PieceResult(4, 1 if first else 2, ways[:limit], None, ())
        return PieceResult(7, 0, (), 9, ())


def test_after_a_large_iteration_all_are_split() -> None:
    engine = Scripted()
    found = deepen(engine, BOARD, first=False, limit=4)
    assert engine.split_at == [3, 4, 5]
    assert engine.ran[:4] == [(BOARD, 1), (BOARD, 2), ((1, 0), 3), ((1, 1), 3)]
    assert found.iterations == (
        Iteration(1, 10, 0, 1, 0.0),
        Iteration(2, 200, 0, 1, 0.0),
        Iteration(3, 7, 0, 2, 0.0),
        Iteration(4, 7, 0, 2, 0.0),
        Iteration(5, 5 + 7 + 10 + 4 + 4, 3 * 4, 4, 0.0),
    )
    assert found.nodes == sum(step.nodes for step in found.iterations)
    assert found.solutions == 3 * 4
    assert found.listed == (
        ("to 1", "0", "x", "end"),
        ("to 1", "1", "x", "end"),
        ("to 1", "2", "x", "end"),
        ("to 1", "0", "y", "end"),
    )


def test_the_first_solution_ends_it() -> None:
    found = deepen(Scripted(), BOARD, first=True, limit=4)
    assert (found.solutions, found.length, found.listed) == (1, 4, (("to 1", "0", "x", "end"),))
    assert found.iterations[-1] == Iteration(5, 5 + 7 + 10 + 4, 1, 3, 0.0)


def test_a_board_without_a_way_is_not_searched() -> None:
    engine = Scripted(UNREACHABLE)
    assert deepen(engine, BOARD, first=True, limit=1).length is None
    assert not engine.ran
