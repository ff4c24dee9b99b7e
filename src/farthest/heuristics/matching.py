"""The least sum of distances from the pieces of each kind to different cells of that kind.

A move changes one piece's distances by one, so the sum too changes by at most one. Kinds are matched separately; where
the goal has wildcards, each kind covers its own cells and may also use any wildcard.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.assignment import least_assignments
from farthest.heuristics.cell_sums import NO_WAY, least, told
from farthest.heuristics.contract import Matching
from farthest.heuristics.passages import piece_distances, wanted
from farthest.puzzles.definition import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.sliding.definition import Sliding
    from farthest.heuristics.contract import Component
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Boards

TABLE_ENTRIES = 2**17
"""For a kind with at most so many placements all are computed at the first look-up."""

COVERING = 2**16
"""Subtracted from the cost of a cell that must be covered: more than any sum of distances, less than NO_WAY."""


class LeastMatching:
    """The sum over kinds of the least assignment, least over the goals."""

    admissible = True
    consistent = True
    name = "matching"

    def __init__(self, definition: Sliding, goals: Sequence[Board]) -> None:
        self._distances = piece_distances(definition)
        self._goals = goals
        self._kinds = [
            [
                _Kind(label, definition.counts[label], *_costs(self._distances, definition, goal, label))
                for goal in goals
            ]
            for label in range(1, len(definition.tokens))
        ]

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        totals = [numpy.zeros(len(boards), dtype=numpy.int32) for _ in self._goals]
        for kinds in self._kinds:
            ranks = kinds[0].ranks(boards)
            for total, kind in zip(totals, kinds, strict=True):
                total += kind.costs(ranks)
        return told(least(totals))

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: where there is one goal without wildcards, and every piece has a way to every cell."""
        if len(self._goals) > 1 or WILDCARD in self._goals[0] or self._distances.max() >= NO_WAY:
            return None
        distances = tuple(tuple(row) for row in self._distances.tolist())
        return [[Matching(distances, self._goals[0])]]


def _costs(
    distances: NDArray[numpy.int32], definition: Sliding, goal: Board, label: int
) -> tuple[NDArray[numpy.int32], int]:
    """The cost from each cell to each goal cell that takes the label, minus COVERING where that must be covered; and
    the number of cells that must be covered."""
    columns = numpy.flatnonzero(wanted(definition, goal)[label])
    covered = numpy.array(goal)[columns] == label
    return distances[:, columns] - COVERING * covered.astype(numpy.int32), int(covered.sum())


class _Kind:
    """The least assignments of the placements of one kind, by their ranks: the sum of C(cell, i) over the cells in
    ascending order, i from 1."""

    def __init__(self, label: int, pieces: int, costs: NDArray[numpy.int32], covered: int) -> None:
        self._label = label
        self._pieces = pieces
        self._costs = costs
        self._covered = covered
        cells = len(costs)
        self._binomials = numpy.array(
            [[comb(cell, i) for i in range(pieces + 1)] for cell in range(cells)], dtype=numpy.int64
        )
        self._placements = comb(cells, pieces)
        self._table: NDArray[numpy.int32] | None = None

    def ranks(self, boards: Boards) -> NDArray[numpy.int64]:
        """The rank of the kind's cells in each board."""
        total = numpy.zeros(len(boards), dtype=numpy.int64)
        before = numpy.zeros(len(boards), dtype=numpy.intp)
        for cell in range(boards.shape[1]):
            here = boards[:, cell] == self._label
            before += here
            total += numpy.where(here, self._binomials[cell][before], 0)
        return total

    def costs(self, ranks: NDArray[numpy.int64]) -> NDArray[numpy.int32]:
        """The least assignment of each placement."""
        if self._placements > TABLE_ENTRIES:
            asked, places = numpy.unique(ranks, return_inverse=True)
            return self._solved(asked)[places]
        if self._table is None:
            self._table = self._solved(numpy.arange(self._placements, dtype=numpy.int64))
        return self._table[ranks]

    def _solved(self, ranks: NDArray[numpy.int64]) -> NDArray[numpy.int32]:
        found = least_assignments(self._costs[self._cells(ranks)]) + COVERING * self._covered
        return numpy.where(found >= COVERING, NO_WAY, found).astype(numpy.int32)

    def _cells(self, ranks: NDArray[numpy.int64]) -> NDArray[numpy.intp]:
        """The cells of placements: shape (placements, pieces)."""
        cells = numpy.empty((len(ranks), self._pieces), dtype=numpy.intp)
        left = ranks.copy()
        for i in range(self._pieces, 0, -1):
            column = numpy.searchsorted(self._binomials[:, i], left, side="right") - 1
            cells[:, i - 1] = column
            left -= self._binomials[column, i]
        return cells
