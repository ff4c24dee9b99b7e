"""The engine for sliding puzzles with one blank in the metric ``step``: the kernel's depth-first search."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.families.sliding.definition import sliding
from farthest.heuristics.contract import LinearConflict, Matching, PatternTable, Table
from farthest.search.contract import Node, PieceResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from farthest.families.sliding.definition import Sliding
    from farthest.heuristics.contract import Component, Heuristic
    from farthest.puzzles.definition import Board, MoveName
    from farthest.search.contract import Split
    from farthest.search.expansion import MoveSource
    from farthest.search.problem import Problem
    from farthest.spaces.contract import Boards

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

    def __init__(self, problem: Problem, heuristic: Heuristic, space: MoveSource) -> None:
        """``space``: the problem's `forward_space`; ``heuristic`` with terms. Raises PuzzleError, BoardError."""
        self.problem = problem
        self.heuristic = heuristic
        self.space = space
        terms = heuristic.terms()
        assert terms is not None, f"the heuristic {heuristic.name} has no terms"
        self.budget = piece_budget(terms, len(problem.board))
        self._search = kernel_search(sliding(problem.puzzle), problem.targets(), terms)

    def lower_bound(self, board: Board) -> int:
        """See Engine."""
        found = self._search.run(bytes(board), 0, -1, 0, 0, True, 0)
        _, solutions, _, next_bound, _ = found
        assert solutions or next_bound is not None, "the board is a goal, or it cannot be solved"
        return next_bound or 0

    def split(self, board: Board, bound: int) -> Split:
        """See Engine."""
        from farthest.search.levels import breadth_first_split

        assert board == self.problem.board, "the problem's board is split"
        return breadth_first_split(self.space, self.problem, self.heuristic, bound, self.parts, last=_blanks)

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
        """See Engine."""
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
