"""The engine of a problem: the kernel's if it has one for the family and the heuristic, else the one for any family.

``SlidingEngine`` is the kernel's depth-first search of sliding puzzles with one blank in the metric ``step``. For any
family ``BatchEngine`` searches breadth first as long as the levels are small, below that depth first, many boards at a
time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.families.sliding.definition import Sliding, sliding
from farthest.heuristics.contract import LinearConflict, Matching, PatternTable, Table
from farthest.heuristics.registry import open_heuristic
from farthest.puzzles.puzzle import MARK
from farthest.search.contract import Engine, Node, PieceResult, Problem, Split
from farthest.search.expansion import MoveNumbers, children, forward_space, judged, least

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from farthest.heuristics.contract import Component, Heuristic, LoadMap
    from farthest.puzzles.definition import Board, MoveName
    from farthest.spaces.contract import Boards


def open_engine(problem: Problem, load_map: LoadMap | None) -> Engine:
    """The engine, with its heuristic. ``load_map`` gives the stored maps that the heuristic looks up.

    Raises as `open_heuristic` and `compile_space` do.
    """
    heuristic = open_heuristic(problem.heuristic, problem.puzzle, problem.targets(), load_map)
    return engine_with(problem, heuristic)


def engine_with(problem: Problem, heuristic: Heuristic) -> Engine:
    """The engine of a problem whose heuristic is open."""
    if _one_blank(problem, heuristic):
        return SlidingEngine(problem, heuristic)
    from farthest.search.arrangement_engine import arrangement_engine

    return arrangement_engine(problem, heuristic) or BatchEngine(problem, heuristic)


def _one_blank(problem: Problem, heuristic: Heuristic) -> bool:
    """Whether the kernel's search for sliding puzzles with one blank can be used."""
    definition, terms = problem.puzzle.definition, heuristic.terms()
    return (
        isinstance(definition, Sliding)
        and definition.counts[0] == 1
        and problem.puzzle.metric == "step"
        and terms is not None
        and all(
            isinstance(part, Table | PatternTable | LinearConflict | Matching)
            for term in terms
            for part in term
        )
    )


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
    in_a_second = 1 << 21
    widest = 1 << 17
    """A split whose levels all have fewer boards is the whole iteration: equal boards are merged there."""
    probed = 1 << 17
    """The search for a lower bound of the distance to the nearest goal ends at a level with so many boards: it costs
    less than a few more iterations."""

    def __init__(self, problem: Problem, heuristic: Heuristic) -> None:
        """Raises PuzzleError, BoardError or ResourceError as `compile_space` does."""
        self.problem = problem
        self.heuristic = heuristic
        from farthest.search.levels import MOST_BOARDS, Splitter

        self.space = forward_space(problem.puzzle, problem.board)
        self._splitter = Splitter(self.space, problem, heuristic)
        if MARK in problem.heuristic:  # patterns cut so much off that memory is the limit
            self.widest = MOST_BOARDS
        elif problem.heuristic == "presses":  # the distance itself: there is a solution below each board
            self.widest = self.parts

    def lower_bound(self, board: Board) -> int:
        row = numpy.array([board], dtype=numpy.uint8)
        return 0 if self.problem.at_target(row)[0] else max(1, int(self.heuristic.values(row)[0]))

    def split(self, board: Board, bound: int) -> Split:
        assert board == self.problem.board, "the problem's board is split"
        return self._splitter.split(bound, self.parts, widest=self.widest, probed=self.probed)

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
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


if TYPE_CHECKING:
    Part = _kernel.CellTable | _kernel.PatternTable | _kernel.LinearConflict | _kernel.Matching

TABLED_CELLS = 16
"""Boards of at most so many cells have tables for all matchings; on larger ones each matching is computed."""


def kernel_search(
    definition: Sliding, targets: Sequence[Board], terms: list[list[Component]]
) -> _kernel.SlidingSearch:
    """The kernel's search of the puzzle. Raises ValueError for a component that it does not have."""
    passages = (
        {(a, b) for a, b in definition.edges} | {(b, a) for a, b in definition.edges} | set(definition.arcs)
    )
    sources = [sorted(a for a, b in passages if b == cell) for cell in range(definition.cells)]
    parts = [[_part(component) for component in term] for term in terms]
    return _kernel.SlidingSearch(sources, definition.counts, targets, parts)


class SlidingEngine:
    """An ``Engine``; nodes of ``rest`` are single boards, and ``Node.last`` is the cell that was blank before."""

    split_from = 1 << 22
    parts = 1 << 10
    in_a_second = 1 << 24

    def __init__(self, problem: Problem, heuristic: Heuristic) -> None:
        """``heuristic`` with terms. Raises PuzzleError, BoardError."""
        self.problem = problem
        self.heuristic = heuristic
        terms = heuristic.terms()
        assert terms is not None, f"the heuristic {heuristic.name} has no terms"
        self.budget = piece_budget(terms, len(problem.board))
        self._search = kernel_search(sliding(problem.puzzle), problem.targets(), terms)

    def lower_bound(self, board: Board) -> int:
        found = self._search.run(bytes(board), 0, -1, 0, 0, True, 0)
        _, solutions, _, next_bound, _ = found
        assert solutions or next_bound is not None, "the board is a goal, or it cannot be solved"
        return next_bound or 0

    def split(self, board: Board, bound: int) -> Split:
        from farthest.search.levels import breadth_first_split

        assert board == self.problem.board, "the problem's board is split"
        space = forward_space(self.problem.puzzle, board)
        return breadth_first_split(space, self.problem, self.heuristic, bound, self.parts, last=_blanks)

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
        nodes, solutions, listed, next_bound, rest = self._search.run(
            bytes(node.board), node.depth, node.last, bound, self.budget, first, limit
        )
        blank = node.board.index(0)
        return PieceResult(
            nodes,
            solutions,
            tuple(node.way + _moves(blank, way) for way in listed),
            next_bound,
            tuple(
                Node(tuple(board), depth, last, node.way + _moves(blank, way))
                for board, depth, last, way in rest
            ),
        )


def piece_budget(terms: list[list[Component]], cells: int) -> int:
    """Nodes of one piece, so that it takes some tenths of a second at most."""
    parts = [part for term in terms for part in term]
    if any(isinstance(part, Matching) for part in parts):
        return 1 << 20 if cells <= TABLED_CELLS else 1 << 16
    return 1 << 22 if len(terms) > 1 or any(not isinstance(part, Table) for part in parts) else 1 << 24


def _moves(blank: int, way: bytes) -> tuple[MoveName, ...]:
    """The moves of the pieces, from the cells that the blank moves to."""
    return tuple((to, cell) for cell, to in pairwise((blank, *way)))


def _blanks(before: Boards, after: Boards) -> NDArray[np.intp]:
    """The cells that are blank in boards (N, cells)."""
    del after
    cells: NDArray[np.intp] = before.argmin(axis=1)
    return cells


def _part(component: Component) -> Part:
    match component:
        case Table(table):
            return _kernel.CellTable(table)
        case PatternTable(labels, distances, cell_of):
            return _kernel.PatternTable(labels, distances, cell_of)
        case LinearConflict(rows, goal):
            return _kernel.LinearConflict(rows, goal)
        case Matching(distances, goal):
            return _kernel.Matching(distances, goal)
    raise ValueError(f"the search on sliding puzzles has no {type(component).__name__}")
