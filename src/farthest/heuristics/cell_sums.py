"""Heuristics that are a sum over cells: each content adds its own distance to its place in the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import UNREACHABLE, Component, Contents, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.spaces.contract import Boards

    Costs = NDArray[numpy.int32]
    """The value that each content adds in each cell: shape (contents, cells)."""

NO_WAY = 2**20
"""An entry where the content cannot get to the goal. Larger than any sum of numbers of moves, small enough to be added
up."""


class CellSums:
    """The least over goals of the sum over cells of ``tables[goal][content, cell]``, by ``divisor``, rounded up.

    ``divisor``: how much of the sum one move can take away at most. ``turns``: as in ``slot_contents``.
    """

    admissible = True
    consistent = True

    def __init__(self, name: str, tables: Sequence[Costs], divisor: int = 1, turns: int = 1) -> None:
        self.name = name
        self._tables = tables
        self._divisor = divisor
        self._turns = turns

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        contents = slot_contents(boards, self._turns)
        return told(least([sums(table, contents) for table in self._tables]), self._divisor)

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: where there is one goal."""
        if len(self._tables) > 1 or self._tables[0].max() > 255:
            return None
        table = self._tables[0].astype(numpy.uint8).tobytes()
        if self._divisor == self._turns == 1:
            return [[Table(table)]]
        return [[Contents(self._turns, table, self._divisor)]]


def slot_contents(boards: Boards, turns: int) -> NDArray[numpy.integer]:
    """The content of each slot of boards that have labels and then orientations: label * ``turns`` + orientation; with
    1, for boards without orientations, the boards themselves."""
    if turns == 1:
        return boards
    slots = boards.shape[1] // 2
    return boards[:, :slots].astype(numpy.uint16) * numpy.uint16(turns) + boards[:, slots:]


def sums(table: Costs, boards: NDArray[numpy.integer]) -> NDArray[numpy.int32]:
    """For each board the sum of its cells' entries: int32 (N,)."""
    total = numpy.zeros(len(boards), dtype=numpy.int32)
    for cell in range(boards.shape[1]):
        total += table[:, cell][boards[:, cell]]
    return total


def least(values: Sequence[NDArray[numpy.int32]]) -> NDArray[numpy.int32]:
    """The least of each board's values."""
    return values[0] if len(values) == 1 else numpy.minimum.reduce(values)


def told(sums: NDArray[numpy.int32], divisor: int = 1) -> NDArray[numpy.int32]:
    """Sums as a heuristic's values: divided, rounded up, ``UNREACHABLE`` where they hold ``NO_WAY``."""
    values = sums if divisor == 1 else -(-sums // divisor)
    return numpy.where(sums >= NO_WAY, numpy.int32(UNREACHABLE), values).astype(numpy.int32, copy=False)
