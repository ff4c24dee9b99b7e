"""The engine for any family: breadth first as long as the levels are small, below that depth first, many boards at a
time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy

from farthest.search.contract import Node, PieceResult
from farthest.search.expansion import MoveNumbers, children, forward_space, judged, least
from farthest.search.splitting import Splitter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.heuristics.contract import Heuristic
    from farthest.puzzles.definition import Board, MoveName
    from farthest.search.contract import Split
    from farthest.search.problem import Problem
    from farthest.spaces.contract import Boards

BATCH = 512
"""Boards expanded at once: many enough for numpy, few enough that the search stays depth first."""


class BatchEngine:
    """An ``Engine`` over ``Space.neighbours``. Each iteration is split; where no level of it is wide, the split is the
    whole iteration.

    A node of ``rest`` stands for all boards of one depth that are left: it holds these boards, and their ways, one
    after the other.
    """

    split_from = 0
    parts = 1 << 12
    budget = 1 << 18
    widest = 1 << 17
    """A split whose levels all have fewer boards is the whole iteration: equal boards are merged there."""
    probed = 1 << 17
    """The search for a lower bound of the distance to the nearest goal ends at a level with so many boards: it costs
    less than a few more iterations."""

    def __init__(self, problem: Problem, heuristic: Heuristic) -> None:
        """Raises PuzzleError, BoardError or ResourceError as `compile_space` does."""
        self.problem = problem
        self.heuristic = heuristic
        self.space = forward_space(problem.puzzle, problem.board)
        self._splitter = Splitter(self.space, problem, heuristic)

    def lower_bound(self, board: Board) -> int:
        """See Engine."""
        row = numpy.array([board], dtype=numpy.uint8)
        return 0 if self.problem.at_target(row)[0] else max(1, int(self.heuristic.values(row)[0]))

    def split(self, board: Board, bound: int) -> Split:
        """See Engine."""
        assert board == self.problem.board, "the problem's board is split"
        return self._splitter.split(bound, self.parts, widest=self.widest, probed=self.probed)

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
        """See Engine."""
        return _Below(self, bound).search(node, first=first, limit=limit)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Boards of one depth, uint8 (N, cells), and where they come from: board i from row ``rows[i]`` of ``before`` by
    ``moves[i]``; or, where the search began, by ``ways[rows[i]]``, a way of the node."""

    boards: Boards
    depth: int
    before: _Batch | None
    rows: NDArray[numpy.intp]
    moves: NDArray[numpy.intp]
    ways: tuple[tuple[MoveName, ...], ...] = ()

    def part(self, chosen: slice | NDArray[numpy.bool_]) -> _Batch:
        """Some of the boards."""
        rows, moves = self.rows[chosen], self.moves[chosen]
        return _Batch(self.boards[chosen], self.depth, self.before, rows, moves, self.ways)


class _Below:
    """One call of ``run``."""

    def __init__(self, engine: BatchEngine, bound: int) -> None:
        self._engine = engine
        self._bound = bound
        self._numbers = MoveNumbers()
        self._nodes = 0
        self._solutions = 0
        self._listed: list[tuple[MoveName, ...]] = []
        self._next_bound: int | None = None
        self._stack: list[_Batch] = []  # at most one of each depth, the deepest last

    def search(self, node: Node, *, first: bool, limit: int) -> PieceResult:
        most = 1 if first else limit
        self._judge(self._begin(node), most)
        while self._stack and self._nodes < self._engine.budget and not (first and self._solutions):
            batch = self._stack.pop()
            if len(batch.boards) > BATCH:
                self._stack.append(batch.part(slice(BATCH, None)))
                batch = batch.part(slice(BATCH))
            self._judge(self._below(batch), most)
        if first and self._solutions:
            return PieceResult(self._nodes, 1, tuple(self._listed), self._next_bound, ())
        rest = tuple(self._node(batch) for batch in reversed(self._stack))
        return PieceResult(self._nodes, self._solutions, tuple(self._listed), self._next_bound, rest)

    def _begin(self, node: Node) -> _Batch:
        boards = numpy.array(node.board, dtype=numpy.uint8).reshape(-1, self._engine.space.cells)
        length = len(node.way) // len(boards)
        ways = tuple(node.way[i * length : (i + 1) * length] for i in range(len(boards)))
        rows = numpy.arange(len(boards))
        return _Batch(boards, node.depth, None, rows, rows, ways)

    def _node(self, batch: _Batch) -> Node:
        """What is left of a batch, as one node."""
        ways = (self._way(batch, row) for row in range(len(batch.boards)))
        return Node(
            tuple(batch.boards.reshape(-1).tolist()), batch.depth, way=tuple(chain.from_iterable(ways))
        )

    def _below(self, batch: _Batch) -> _Batch:
        """The boards one move away, without those that take back the move before."""
        found = children(self._engine.space, batch.boards, self._numbers)
        if batch.before is not None:
            grandparents = batch.before.boards[batch.rows[found.rows]]
            found = found.only((found.boards != grandparents).any(axis=1))
        self._nodes += len(found.boards)
        return _Batch(found.boards, batch.depth + 1, batch, found.rows, found.moves)

    def _judge(self, batch: _Batch, most: int) -> None:
        """Counts and lists the goals among the boards, and puts the open boards on the stack."""
        engine = self._engine
        seen = judged(engine.problem, engine.heuristic, batch.boards, batch.depth, self._bound)
        self._next_bound = least(self._next_bound, seen.next_bound)
        goals = numpy.flatnonzero(seen.goals).tolist()
        self._solutions += len(goals)
        self._listed += [self._way(batch, row) for row in goals[: most - len(self._listed)]]
        if seen.open.any():
            self._stack.append(batch.part(seen.open))

    def _way(self, batch: _Batch, row: int) -> tuple[MoveName, ...]:
        moves = []
        while batch.before is not None:
            moves.append(self._numbers.names[batch.moves[row]])
            row = int(batch.rows[row])
            batch = batch.before
        return (*batch.ways[batch.rows[row]], *reversed(moves))
