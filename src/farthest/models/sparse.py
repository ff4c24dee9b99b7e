"""Pieces of a sparse map: its reached codes in ascending order with their distances.

A code has a fixed number of bytes, its ``width``. Codes of eight bytes are unsigned 64-bit numbers, little endian in
memory; others are byte strings. They are ordered as numbers, or as strings byte by byte: both is the order of the
*written form*, which for numbers is big endian. A state's *number* is its place in that order, from 0.

In a chunk's payload the codes come first, as planes: the first byte of every code, the second byte of every code, and
so on, of the written form. For numbers the differences from the number before are written (for the first, from 0). The
distances follow. Planes compress several times better, and faster, than codes one after the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.models.chunks import WIDTHS, Chunk, Payload, Unit, compressed, decimals

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from typing_extensions import Buffer

MAX_WIDTH = 1024
"""Most bytes of a code."""

CHUNK_BYTES = 2**22
"""Most bytes of the codes of a chunk."""


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

        rows = numpy.frombuffer(memoryview(self.codes), dtype=numpy.uint8).reshape(-1, self.width)
        return rows[:, ::-1] if self.width == 8 else rows

    def problem(self) -> str | None:
        """What is wrong with the piece: lengths that differ, codes that do not ascend; None if nothing is."""
        states = self.last - self.first + 1
        if not 1 <= self.width <= MAX_WIDTH:
            return f"codes of {self.width} bytes; 1 to {MAX_WIDTH} are possible"
        held = memoryview(self.codes).nbytes, memoryview(self.distances).nbytes
        if states < 1 or held != (states * self.width, states * WIDTHS[self.unit]):
            return f"{held[0]} bytes of codes and {held[1]} of distances ({self.unit}) for {states} states"
        wrong = descent(code_array(self.codes, self.width))
        if wrong is not None:
            return f"the code of state {self.first + wrong} is not greater than the one before"
        return None


def chunk_states(width: int) -> int:
    """States of a chunk of a sparse map: as many as have codes of CHUNK_BYTES together."""
    return CHUNK_BYTES // width


def code_array(codes: Buffer, width: int) -> NDArray[Any]:
    """Codes, given as bytes, as an array with the same order: uint64, or byte strings of ``width``."""
    import numpy

    return numpy.frombuffer(memoryview(codes), dtype="<u8" if width == 8 else f"S{width}")


def written(code: int | bytes, width: int) -> bytes:
    """The written form of one code: ``width`` bytes (numpy drops zero bytes at the end of a byte string)."""
    return code.to_bytes(8, "big") if isinstance(code, int) else code.ljust(width, b"\0")


def descent(codes: NDArray[Any]) -> int | None:
    """The place of the first code that is not greater than the one before it; None where all ascend."""
    wrong = (codes[1:] <= codes[:-1]).nonzero()[0]
    return int(wrong[0]) + 1 if wrong.size else None


def encode_piece(piece: SparsePiece) -> Payload:
    """The payload of a piece. Raises ValueError where ``problem`` finds one."""
    problem = piece.problem()
    if problem:
        raise ValueError(f"chunk of states {piece.first} to {piece.last}: {problem}")
    held = _planes(piece.codes, piece.width) + memoryview(piece.distances).cast("B")
    lead = piece.written_codes()[0].tobytes()
    return compressed(held, f"zstd:codes{piece.width}:{piece.unit}", lead)


def piece_of(chunk: Chunk) -> SparsePiece:
    """A chunk of a sparse map as a piece."""
    return SparsePiece(chunk.first_key, chunk.last_key, chunk.width, chunk.codes, chunk.unit, chunk.distances)


def _planes(codes: Buffer, width: int) -> bytes:
    import numpy

    if width != 8:
        return numpy.frombuffer(memoryview(codes), dtype=numpy.uint8).reshape(-1, width).T.tobytes()
    numbers = numpy.frombuffer(memoryview(codes), dtype="<u8")
    steps = numpy.diff(numbers, prepend=numpy.uint64(0))
    return steps.astype("<u8").view(numpy.uint8).reshape(-1, 8)[:, ::-1].T.tobytes()


def from_planes(planes: Buffer, width: int) -> bytes:
    """The codes of a piece from the planes of a payload."""
    import numpy

    rows = numpy.frombuffer(memoryview(planes), dtype=numpy.uint8).reshape(width, -1).T
    if width != 8:
        return rows.tobytes()
    steps = numpy.ascontiguousarray(rows[:, ::-1]).view("<u8")[:, 0]
    return steps.cumsum(dtype="<u8").tobytes()


class SparseDigest:
    """The SHA-256 that names a sparse map, fed piece by piece in the order of codes.

    It covers the line ``farthest sparse map 1``, a line with the states of each layer in decimal, a line with the
    unit, a line with the width of codes, and two lines with SHA-256 in hexadecimal: of all codes in their written form,
    and of all distances (little endian).
    """

    def __init__(self, layers: Iterable[int], unit: Unit, width: int) -> None:
        head = b"farthest sparse map 1\n%s\n%s\n%d\n"
        self._hash = hashlib.sha256(head % (decimals(layers), unit.encode(), width))
        self._codes, self._distances = hashlib.sha256(), hashlib.sha256()

    def update(self, piece: SparsePiece) -> None:
        """Adds the states that follow."""
        self._codes.update(piece.written_codes().tobytes())
        self._distances.update(piece.distances)

    def hexdigest(self) -> str:
        """The digest of all that was added."""
        whole = self._hash.copy()
        whole.update(f"{self._codes.hexdigest()}\n{self._distances.hexdigest()}\n".encode())
        return whole.hexdigest()
