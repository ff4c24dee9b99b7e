"""The fewest presses that lead to a goal, by linear algebra over the integers modulo the number of colours, a prime.

The order of presses does not matter, so a solution says how often each lamp is pressed. One solution is a linear map of
the lamps' differences from the goal; all are this one and a sum of those presses that change nothing. Of two colours
these are the words of a code, and the solution with the fewest presses is a word of its coset with the least weight.
Source: M. Anderson, T. Feil, Turning lights out with linear algebra, Mathematics Magazine 71, 1998.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import UNREACHABLE, Heuristic
from farthest.puzzles.definition import WILDCARD, Board

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.lights.definition import Lights
    from farthest.spaces.contract import Boards

    Matrix = NDArray[numpy.int64]

MOST_COMPARED = 2**14
"""Solutions of a board that are compared."""

ENTRIES = 2**22
"""Weights that are worked out together."""


class Presses(Heuristic):
    """The distance itself. In the metric ``multi`` all presses of a lamp are one move."""

    name = "presses"

    def __init__(self, definition: Lights, goals: Sequence[Board], metric: str) -> None:
        self._goals = [_Goal(definition, goal, multi=metric == "multi") for goal in goals]

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        values: NDArray[numpy.int32] = numpy.minimum.reduce([goal.values(boards) for goal in self._goals])
        return values


def presses_problem(definition: Lights) -> str | None:
    """Why ``Presses`` is not for a puzzle; None: it is."""
    colours = definition.colours
    if any(colours % divisor == 0 for divisor in range(2, colours)):
        return f"it needs a prime number of colours, this has {colours}"
    for goal in definition.goals:
        nothing = len(_solution(definition, goal)[2])
        if colours**nothing > MOST_COMPARED:
            return f"it would compare {colours}^{nothing} solutions of a board, more than {MOST_COMPARED:,}"
    return None


class _Goal:
    def __init__(self, definition: Lights, goal: Board, *, multi: bool) -> None:
        colours = definition.colours
        self._colours = colours
        self._lamps = [lamp for lamp, colour in enumerate(goal) if colour != WILDCARD]
        self._wanted = numpy.array(goal)[self._lamps]
        times, checks, nothing = _solution(definition, goal)
        # Floating-point products are fast, and exact for such small numbers.
        self._times, self._checks = times.astype(numpy.float32), checks.astype(numpy.float32)
        sums = list(product(range(colours), repeat=len(nothing)))
        added = numpy.array(sums, dtype=numpy.int64).reshape(len(sums), len(nothing)) @ nothing % colours
        weights = (added.T[:, None, :] + numpy.arange(colours)[:, None]) % colours
        self._weights = (weights > 0 if multi else weights).reshape(-1, len(sums)).astype(numpy.float32)
        """By press and how often the solution has it, and by what is added: how many moves that is."""

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        values = numpy.full(len(boards), UNREACHABLE, dtype=numpy.int32)
        changes = ((self._wanted - boards[:, self._lamps]) % self._colours).astype(numpy.float32)
        rows = numpy.flatnonzero(~(changes @ self._checks % self._colours).any(axis=1))
        step = max(1, ENTRIES // max(self._weights.shape))
        for some in (rows[first : first + step] for first in range(0, len(rows), step)):
            times = changes[some] @ self._times % self._colours
            chosen = times[:, :, None] == numpy.arange(self._colours, dtype=numpy.float32)
            flat = chosen.reshape(len(some), -1).astype(numpy.float32)
            values[some] = (flat @ self._weights).min(axis=1)
        return values


@lru_cache(maxsize=8)
def _solution(definition: Lights, goal: Board) -> tuple[Matrix, Matrix, Matrix]:
    """By lamps without ``WILDCARD`` and presses that change any: the linear map that gives a solution for the changes
    of the lamps; by these lamps and columns, what is 0 of changes that have a solution; and a basis of the presses that
    change nothing, a row each. By Gauss and Jordan."""
    colours = definition.colours
    presses = [press for press in definition.presses if press]
    lamps = [lamp for lamp, colour in enumerate(goal) if colour != WILDCARD]
    changed = numpy.array([[lamp in press for press in presses] for lamp in lamps], dtype=numpy.int64)
    rows = numpy.hstack([changed.reshape(len(lamps), len(presses)), numpy.eye(len(lamps), dtype=numpy.int64)])
    pivots: list[int] = []
    for column in range(len(presses)):
        at = len(pivots)
        found = at + numpy.flatnonzero(rows[at:, column])
        if len(found):
            rows[[at, found[0]]] = rows[[found[0], at]]
            rows[at] = rows[at] * pow(int(rows[at, column]), -1, colours) % colours
            others = rows[:, column].copy()
            others[at] = 0
            rows = (rows - numpy.outer(others, rows[at])) % colours
            pivots.append(column)
    rank, free = len(pivots), [column for column in range(len(presses)) if column not in pivots]
    times = numpy.zeros((len(lamps), len(presses)), dtype=numpy.int64)
    times[:, pivots] = rows[:rank, len(presses) :].T
    nothing = numpy.zeros((len(free), len(presses)), dtype=numpy.int64)
    nothing[numpy.arange(len(free)), free] = 1
    nothing[:, pivots] = -rows[:rank, free].T % colours
    return times, rows[rank:, len(presses) :].T, nothing
