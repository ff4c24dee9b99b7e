"""Lower bounds for sliding puzzles from the distances of pieces: linear conflict, and least matchings.

*Linear conflict*: distances, and two moves more for each piece that must leave the row or column of its goal cell.
Source: O. Hansson, A. Mayer, M. Yung, Criticizing solutions to relaxed models yields powerful admissible heuristics,
1992, who prove it admissible and consistent. Of the pieces whose goal cells are in their line, those that never leave
it keep their order. So all but an ascending sequence leave it, and each that does makes two moves in addition to its
distance. Walls cut a line into several.

*Matching*: the least sum of distances from the pieces of each kind to different cells of that kind. A move changes one
piece's distances by one, so the sum too changes by at most one. Kinds are matched separately; where the goal has
wildcards, each kind covers its own cells and may also use any wildcard.
"""

from __future__ import annotations

from itertools import groupby
from math import comb
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import Component, Heuristic, LinearConflict, Matching
from farthest.heuristics.counts import (
    NO_WAY,
    heuristic_values,
    least,
    nearest_table,
    piece_distances,
    sums,
    wanted,
)
from farthest.puzzles.definition import WILDCARD, Board

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.sliding.definition import Sliding
    from farthest.spaces.contract import Boards

    Line = tuple[tuple[int, ...], NDArray[numpy.int8]]
    """Cells in a row without walls, and for each label the place of its goal cell among them, -1: elsewhere."""


class Conflicts(Heuristic):
    """For a grid with distinct pieces; the least over the goals."""

    name = "linear-conflict"

    def __init__(self, definition: Sliding, goals: Sequence[Board]) -> None:
        self._rows = definition.rows
        self._goals = goals
        self._tables = [nearest_table(definition, goal) for goal in goals]
        self._lines = [
            [_line(cells, goal, len(definition.tokens)) for cells in _lines(definition)] for goal in goals
        ]

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        totals = [sums(table, boards) for table in self._tables]
        for total, lines in zip(totals, self._lines, strict=True):
            for cells, place_of in lines:
                total += 2 * _leaving([place_of[boards[:, cell]] for cell in cells])
        return heuristic_values(least(totals))

    def terms(self) -> list[list[Component]] | None:
        """Where there is one goal without wildcards, and the grid has no walls."""
        if len(self._goals) > 1 or WILDCARD in self._goals[0] or any(-1 in row for row in self._rows):
            return None
        return [[LinearConflict(self._rows, self._goals[0])]]


def _lines(definition: Sliding) -> list[tuple[int, ...]]:
    columns = zip(*definition.rows, strict=True)
    runs = [
        tuple(cells)
        for line in (*definition.rows, *columns)
        for open_, cells in groupby(line, key=lambda cell: cell >= 0)
        if open_
    ]
    return [run for run in runs if len(run) > 1]


def _line(cells: tuple[int, ...], goal: Board, labels: int) -> Line:
    places = numpy.full(labels, -1, dtype=numpy.int8)
    for place, cell in enumerate(cells):
        if goal[cell] > 0:
            places[goal[cell]] = place
    return cells, places


def _leaving(places: Sequence[NDArray[numpy.int8]]) -> NDArray[numpy.int32]:
    """How many of a line's pieces leave it: those with a goal place in it, less the longest ascending sequence."""
    at_home = [each >= 0 for each in places]
    longest: list[NDArray[numpy.int8]] = []
    for i, place in enumerate(places):
        best = numpy.zeros(len(place), dtype=numpy.int8)
        for before in range(i):
            numpy.maximum(best, numpy.where(places[before] < place, longest[before], 0), out=best)
        longest.append(numpy.where(at_home[i], best + numpy.int8(1), numpy.int8(0)))
    kept = numpy.maximum.reduce(longest)
    leaving: NDArray[numpy.int32] = numpy.sum(at_home, axis=0, dtype=numpy.int32) - kept
    return leaving


PROBLEMS = 2**16
"""Problems solved at a time, to bound the memory."""

_FAR = 2**40


def least_assignments(costs: NDArray[numpy.int32]) -> NDArray[numpy.int64]:
    """For each problem the least sum of one cost a row, in different columns. ``costs``: (problems, rows, columns),
    as many columns as rows or more.

    The Hungarian method (Kuhn 1955) with potentials, a row at a time along a shortest path (Edmonds, Karp 1972), for
    all problems together.
    """
    found = [_solved(costs[at : at + PROBLEMS]) for at in range(0, len(costs), PROBLEMS)]
    return numpy.concatenate(found) if found else numpy.empty(0, dtype=numpy.int64)


def _solved(costs: NDArray[numpy.int32]) -> NDArray[numpy.int64]:
    problems, rows, columns = costs.shape
    # One more column, the last, stands for the row that is being added; row -1 is never read.
    u = numpy.zeros((problems, rows), dtype=numpy.int64)
    v = numpy.zeros((problems, columns + 1), dtype=numpy.int64)
    row_of = numpy.full((problems, columns + 1), -1, dtype=numpy.intp)
    for row in range(rows):
        row_of[:, columns] = row
        _add(costs, u, v, row_of)
    total = numpy.zeros(problems, dtype=numpy.int64)
    for column in range(columns):
        used = numpy.flatnonzero(row_of[:, column] >= 0)
        total[used] += costs[used, row_of[used, column], column]
    return total


def _add(
    costs: NDArray[numpy.int32],
    u: NDArray[numpy.int64],
    v: NDArray[numpy.int64],
    row_of: NDArray[numpy.intp],
) -> None:
    """Assigns a column to the row in the last column; other rows may change theirs."""
    problems, _, columns = costs.shape
    every = numpy.arange(problems)
    slack = numpy.full((problems, columns), _FAR, dtype=numpy.int64)
    way = numpy.full((problems, columns), columns, dtype=numpy.intp)
    seen = numpy.zeros((problems, columns + 1), dtype=bool)
    last = numpy.full(problems, columns, dtype=numpy.intp)
    active = every
    while active.size:
        seen[active, last[active]] = True
        rows = row_of[active, last[active]]
        reduced = costs[active, rows] - u[active, rows][:, None] - v[active, :columns]
        shorter = (reduced < slack[active]) & ~seen[active, :columns]
        slack[active] = numpy.where(shorter, reduced, slack[active])
        way[active] = numpy.where(shorter, last[active][:, None], way[active])
        open_slack = numpy.where(seen[active, :columns], _FAR, slack[active])
        column = open_slack.argmin(axis=1)
        delta = open_slack[numpy.arange(len(active)), column]
        _shift(u, v, slack, row_of, seen, active, delta)
        last[active] = column
        active = active[row_of[active, column] >= 0]
    active = every
    while active.size:
        before = way[active, last[active]]
        row_of[active, last[active]] = row_of[active, before]
        last[active] = before
        active = active[before < columns]


def _shift(
    u: NDArray[numpy.int64],
    v: NDArray[numpy.int64],
    slack: NDArray[numpy.int64],
    row_of: NDArray[numpy.intp],
    seen: NDArray[numpy.bool_],
    active: NDArray[numpy.intp],
    delta: NDArray[numpy.int64],
) -> None:
    """Moves the potentials so that a column not seen before costs nothing more."""
    columns = slack.shape[1]
    reached = seen[active]
    v[active] -= numpy.where(reached, delta[:, None], 0)
    slack[active] -= numpy.where(reached[:, :columns], 0, delta[:, None])
    places, column = numpy.nonzero(reached)
    u[active[places], row_of[active[places], column]] += delta[places]


TABLE_ENTRIES = 2**17
"""For a kind with at most so many placements all are computed at the first look-up."""

COVERING = 2**16
"""Subtracted from the cost of a cell that must be covered: more than any sum of distances, less than NO_WAY."""


class LeastMatching(Heuristic):
    """The sum over kinds of the least assignment, least over the goals."""

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
        totals = [numpy.zeros(len(boards), dtype=numpy.int32) for _ in self._goals]
        for kinds in self._kinds:
            ranks = kinds[0].ranks(boards)
            for total, kind in zip(totals, kinds, strict=True):
                total += kind.costs(ranks)
        return heuristic_values(least(totals))

    def terms(self) -> list[list[Component]] | None:
        """Where there is one goal without wildcards, and every piece has a way to every cell."""
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
    """The least assignments of a kind's placements by rank: the sum of C(cell, i), cells ascending, i from 1."""

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
