"""Distances and two moves more for each piece that must leave the row or column of its goal cell.

Source: O. Hansson, A. Mayer, M. Yung, Criticizing solutions to relaxed models yields powerful admissible heuristics,
1992, who prove it admissible and consistent. Of the pieces whose goal cells are in their line, those that never leave
it keep their order. So all but an ascending sequence leave it, and each that does makes two moves in addition to its
distance. Walls cut a line into several.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.cell_sums import least, sums, told
from farthest.heuristics.contract import LinearConflict
from farthest.heuristics.passages import nearest_table
from farthest.puzzles.definition import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.sliding.definition import Sliding
    from farthest.heuristics.cell_sums import Costs
    from farthest.heuristics.contract import Component
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Boards

    Line = tuple[tuple[int, ...], NDArray[numpy.int8]]
    """Cells in a row without walls, and for each label the place of its goal cell among them, -1: elsewhere."""


class Conflicts:
    """For a grid with distinct pieces; the least over the goals."""

    admissible = True
    consistent = True
    name = "linear-conflict"

    def __init__(self, definition: Sliding, goals: Sequence[Board]) -> None:
        self._rows = definition.rows
        self._goals = goals
        self._tables = [nearest_table(definition, goal) for goal in goals]
        self._lines = [
            [_line(cells, goal, len(definition.tokens)) for cells in _lines(definition)] for goal in goals
        ]

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        each = zip(self._tables, self._lines, strict=True)
        return told(least([_value(boards, table, lines) for table, lines in each]))

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: where there is one goal without wildcards, and the grid has no walls."""
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


def _value(boards: Boards, table: Costs, lines: Sequence[Line]) -> NDArray[numpy.int32]:
    total = sums(table, boards)
    for cells, place_of in lines:
        total += 2 * _leaving([place_of[boards[:, cell]] for cell in cells])
    return total


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
