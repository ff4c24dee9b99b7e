"""Least assignments of many small problems at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
