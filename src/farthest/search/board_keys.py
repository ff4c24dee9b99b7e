"""Boards as values that numpy can sort: to find equal ones, and those that were found before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.spaces.contract import Boards

    Keys = NDArray[Any]


def board_keys(boards: Boards) -> Keys:
    """For boards, uint8 (N, cells), values (N,) that are equal where the boards are: uint64 up to 8 cells, else
    ``S<cells>``. They exist for spaces too large for codes too."""
    cells = boards.shape[1]
    if cells > 8:
        # Numpy drops zero bytes at the end of byte strings; strings of equal length stay different.
        return numpy.ascontiguousarray(boards).view(f"S{cells}").reshape(-1)
    padded = numpy.zeros((len(boards), 8), dtype=numpy.uint8)
    padded[:, :cells] = boards
    return padded.view(numpy.uint64).reshape(-1)


class ClosedSet:
    """The boards found so far, as sorted runs of keys, each less than half as long as the one before: many small levels
    cost little more than one large one."""

    def __init__(self) -> None:
        self._runs: list[Keys] = []

    def add(self, ascending: Keys) -> None:
        """Adds keys that it does not hold, ascending."""
        while self._runs and len(self._runs[-1]) <= 2 * len(ascending):
            ascending = numpy.sort(numpy.concatenate([self._runs.pop(), ascending]), kind="stable")
        self._runs.append(ascending)

    def holds(self, keys: Keys) -> NDArray[numpy.bool_]:
        """Which of the keys it holds."""
        found = numpy.zeros(len(keys), dtype=numpy.bool_)
        for run in self._runs:
            if len(run):
                places = numpy.searchsorted(run, keys)
                places[places == len(run)] = 0
                found |= run[places] == keys
        return found
