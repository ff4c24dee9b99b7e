"""The engine for boards that are arrangements: permutation puzzles, and sliding puzzles with any number of blanks in
any metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.search.contract import Node, PieceResult
from farthest.search.splitting import Splitter
from farthest.search.walk_problem import WalkProblem, walk_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.heuristics.contract import Heuristic
    from farthest.puzzles.definition import Board
    from farthest.search.contract import Split
    from farthest.search.problem import Problem
    from farthest.spaces.contract import Boards

DEEPEST = 1 << 20
"""The kernel's greatest bound: a search with a greater one would never end."""


SAMPLED = 1 << 21
"""Nodes with which the roots of a split are told apart; the next bound would take some ten times as many."""

MOST = 1 << 62
"""A budget that no walk spends."""


class ArrangementEngine:
    """An ``Engine``. ``Node.last``: the number of the move that led to the node; its exact inverse is left out. With
    maps of patterns, left out are also moves that make one move with the last, and all orders but one of moves that
    commute; ``solutions`` counts and ``listed`` has the other orders all the same.

    Solutions with different moves are different solutions, also where several moves have the same effect, two moves are
    made in the other order, or equal pieces are exchanged.
    """

    split_from = 1 << 22
    parts = 1 << 10
    budget = 1 << 24
    widest = 1 << 17
    probed = 1 << 15

    def __init__(self, problem: Problem, heuristic: Heuristic, walk: WalkProblem) -> None:
        self.problem = problem
        self.walk = walk
        if walk.kernel.by_coordinates:
            self.widest = 0  # pieces are searched faster than numpy finds equal boards
            self.split_from = 1 << 19  # each node has more of a tree below it
        self._numbers = {name: number for number, name in enumerate(walk.names)}
        self._splitter = Splitter(walk.space, problem, heuristic, self._last_moves)

    def lower_bound(self, board: Board) -> int:
        """See Engine: 0 for a goal, else at least 1."""
        return self.walk.kernel.bound(bytes(board))

    def split(self, board: Board, bound: int) -> Split:
        """See Engine."""
        assert board == self.problem.board, "the problem's board is split"
        found = self._splitter.split(bound, self.parts, widest=self.widest, probed=self.probed)
        if self.walk.kernel.by_coordinates:
            nodes = self._sampled(found.roots, bound)
            found.arrange(sorted(range(len(nodes)), key=lambda root: -nodes[root]))
        return found

    def _sampled(self, roots: Sequence[Node], bound: int) -> list[int]:
        """How many nodes there are below each root with a smaller bound: a solution is most likely where there are
        most. The bounds are so small that all these nodes are few beside the iteration's."""
        nodes = [0] * len(roots)
        for less in (4, 3, 2):
            nodes = [self._below(root, bound - less) for root in roots]
            if sum(nodes) >= SAMPLED:
                break
        return nodes

    def _below(self, root: Node, bound: int) -> int:
        return self.walk.kernel.walk(bytes(root.board), root.depth, root.last, [], bound, MOST, False, 0)[0]

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
        """See Engine."""
        nodes, solutions, listed, next_bound, rest = self.walk.kernel.walk(
            bytes(node.board),
            node.depth,
            node.last,
            [self._numbers[move] for move in node.way],
            min(bound, DEEPEST),
            self.budget,
            first,
            1 if first else limit,
        )
        way = self.walk.way
        return PieceResult(
            nodes,
            solutions,
            tuple(way(moves) for moves in listed),
            next_bound,
            tuple(
                Node(tuple(board), node.depth + len(moves) - len(node.way), moves[-1], way(moves))
                for board, moves in rest
            ),
        )

    def _last_moves(self, before: Boards, after: Boards) -> NDArray[numpy.intp]:
        """The first move that leads from each board to the one after it."""
        found = numpy.full(len(before), -1, dtype=numpy.intp)
        for name, rows, boards in self.walk.space.neighbours(before, toward=False):
            led = rows[(boards == after[rows]).all(axis=1)]
            found[led[found[led] < 0]] = self._numbers[name]
        return found


def arrangement_engine(problem: Problem, heuristic: Heuristic) -> ArrangementEngine | None:
    """The engine, or None where it cannot search these boards or use this heuristic. Raises PuzzleError, BoardError."""
    walk = walk_problem(problem, heuristic)
    return None if walk is None else ArrangementEngine(problem, heuristic, walk)
