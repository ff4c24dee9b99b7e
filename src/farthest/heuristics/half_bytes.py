"""Distances of at most 14 in half a byte each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

HALF = 15
"""What half a byte has where there is no distance."""


@dataclass(frozen=True, slots=True)
class HalfBytes:
    """``packed``: uint8, two distances in a byte, that of the even key in the low half; ``keys`` of them."""

    packed: NDArray[numpy.uint8]
    keys: int

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return int(self.packed.nbytes)

    @property
    def dtype(self) -> numpy.dtype[numpy.uint8]:
        """Of what ``[]`` gives."""
        return numpy.dtype(numpy.uint8)

    def __len__(self) -> int:
        return self.keys

    def __getitem__(self, codes: NDArray[numpy.integer]) -> NDArray[numpy.uint8]:
        """The distances of codes, uint8; 255 where there is none."""
        odd = (codes % 2).astype(numpy.uint8)
        found: NDArray[numpy.uint8] = self.packed[codes // 2] >> odd * numpy.uint8(4) & numpy.uint8(HALF)
        found[found == HALF] = 255
        return found
