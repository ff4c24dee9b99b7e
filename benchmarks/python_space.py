"""A user's class that answers in batches, as docs/python.md has it: the sliding puzzle of two rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthest import PuzzleSpace

Keys = NDArray[np.uint64]


class TwoRows(PuzzleSpace):
    """Four bits a cell in reading order, the lowest first; the blank is 0. No key says that it is a state."""

    columns: int = 5
    undirected = True

    def __post_init__(self) -> None:
        columns = self.columns
        cells = self.cells = range(2 * columns)
        self.start = sum(cell << 4 * cell for cell in cells)
        self.ways = [
            (a, b)
            for a in cells
            for b in cells
            if abs(a - b) == columns or (abs(a - b) == 1 and a // columns == b // columns)
        ]

    def initial(self) -> list[int]:
        """The blank first, the pieces in order."""
        return [self.start]

    def successors(self, keys: Keys) -> list[tuple[NDArray[np.intp], Keys]]:
        """A pair for each way of the blank."""
        cell = [keys >> np.uint64(4 * place) & np.uint64(15) for place in self.cells]
        found = []
        for blank, piece in self.ways:
            rows = np.flatnonzero(cell[blank] == 0)
            moved = cell[piece][rows]
            found.append(
                (rows, keys[rows] + (moved << np.uint64(4 * blank)) - (moved << np.uint64(4 * piece)))
            )
        return found
