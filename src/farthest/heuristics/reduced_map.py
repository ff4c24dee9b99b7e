"""Distances kept by representatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.representatives import Representatives
    from farthest.heuristics.half_bytes import HalfBytes


@dataclass(frozen=True, slots=True)
class ReducedMap:
    """``entries``: the distances by entry, uint8, 255 where there is none. ``representatives``: of the keys."""

    entries: NDArray[numpy.uint8] | HalfBytes
    representatives: Representatives

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return int(self.entries.nbytes) + self.representatives.nbytes

    @property
    def dtype(self) -> numpy.dtype[numpy.uint8]:
        """Of what ``[]`` gives."""
        return numpy.dtype(numpy.uint8)

    def __len__(self) -> int:
        return self.representatives.kernel.keys

    def __getitem__(self, codes: NDArray[numpy.integer]) -> NDArray[numpy.uint8]:
        """The distances of codes, uint8; 255 where there is none."""
        return self.entries[self.representatives.entries(codes)]
