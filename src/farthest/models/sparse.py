"""Pieces of a sparse map: its reached codes in ascending order with their distances.

A code has a fixed number of bytes, its ``width``. Codes of eight bytes are unsigned 64-bit numbers, little endian in
memory; others are byte strings. Their order is that of the numbers, and of the strings byte by byte: that of the
*written form* either way, which for numbers is big endian. A state's *number* is its place in that order, from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.models.chunks import WIDTHS, Unit

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from typing_extensions import Buffer

MAX_WIDTH = 1024
"""Bytes of a code at most."""

CHUNK_BYTES = 2**22
"""The codes of a chunk take as many bytes at most."""


@dataclass(frozen=True, slots=True)
class SparsePiece:
    """The states of a sparse map with the numbers ``first`` to ``last``, both included.

    ``codes``: (last - first + 1) * width bytes, ascending: uint64 little endian if ``width`` is 8, else byte strings.
    ``distances``: one value of ``unit`` for each, little endian. Each buffer is contiguous bytes.
    """

    first: int
    last: int
    width: int
    codes: Buffer
    unit: Unit
    distances: Buffer

    def written_codes(self) -> NDArray[numpy.uint8]:
        """The codes in their written form, uint8, shape (states, width)."""
        import numpy

        rows = numpy.frombuffer(self.codes, dtype=numpy.uint8).reshape(-1, self.width)
        return rows[:, ::-1] if self.width == 8 else rows

    def problem(self) -> str | None:
        """What is wrong with the piece: lengths that differ, codes that do not ascend; None where it is right."""
        states = self.last - self.first + 1
        held = memoryview(self.codes).nbytes, memoryview(self.distances).nbytes
        if states < 1 or held != (states * self.width, states * WIDTHS[self.unit]):
            return f"{held[0]} bytes of codes and {held[1]} of distances for {states} states"
        codes = code_array(self.codes, self.width)
        wrong = (codes[1:] <= codes[:-1]).nonzero()[0]
        if wrong.size:
            return f"the code of state {self.first + int(wrong[0]) + 1} is not greater than the one before"
        return None


def code_array(codes: Buffer, width: int) -> NDArray[numpy.generic]:
    """Codes, given as bytes, as an array that compares as they do: uint64, or byte strings of ``width``."""
    import numpy

    return numpy.frombuffer(codes, dtype="<u8" if width == 8 else f"S{width}")


def chunk_states(width: int) -> int:
    """States of a chunk of a sparse map: as many as its codes fit CHUNK_BYTES."""
    return CHUNK_BYTES // width
