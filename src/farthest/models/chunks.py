"""Chunks of a distance map: distances encoded as the payload of a row; the digests of results.

A payload is one zstd frame of the distances of consecutive keys, in key order: one byte a key
(``zstd:uint8``, 255 = no distance) or two, little endian (``zstd:uint16``, 65535 = no distance). In a sparse map the
states' codes come before the distances (``zstd:codes8:uint8``; see ``models.sparse``). Its checksum is the SHA-256 of
the payload, in hexadecimal, so that any tool can check a chunk without decompressing it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

from farthest import frames
from farthest.errors import StorageError

if TYPE_CHECKING:
    import numpy
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer


Unit = Literal["uint8", "uint16"]

WIDTHS: dict[Unit, int] = {"uint8": 1, "uint16": 2}
UNREACHED: dict[Unit, int] = {"uint8": 255, "uint16": 65535}
"""What stands for a key without a distance: the unit's greatest number."""


CHUNK_KEYS = 2**19
"""Chunk i of a map holds keys i * CHUNK_KEYS to (i + 1) * CHUNK_KEYS - 1; the last chunk may be shorter."""

MOST_BYTES = 2**24
"""Most bytes of an unpacked chunk: this program writes no row with more keys or states."""


MOST_PAYLOAD = MOST_BYTES + 2**18
"""Most bytes of a payload: data that cannot be compressed becomes a little longer."""


@dataclass(frozen=True, slots=True)
class Payload:
    """What is stored of one chunk; ``checksum`` is the SHA-256 of ``payload`` in hexadecimal.

    ``lead``: the written form of the first code in a sparse map, else None.
    """

    codec: str
    payload: bytes
    checksum: str
    lead: bytes | None = None


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """One row of ``chunk``: keys ``first_key`` to ``last_key`` inclusive, known up to ``depth``.

    In a sparse map a key is a state's number, and ``lead`` the written form of the first state's code.
    """

    job_id: int
    first_key: int
    last_key: int
    depth: int
    codec: str
    payload: bytes
    checksum: str
    lead: bytes | None = None
    record_digest: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A decoded chunk: one value of ``unit`` (little endian) for each key, in key order. ``codes``: in a sparse map,
    the code of each state, ``width`` bytes each, as ``SparsePiece`` has them.
    """

    job_id: int
    first_key: int
    last_key: int
    depth: int
    unit: Unit
    distances: bytes
    width: int = 0
    codes: bytes = b""


def encode_chunk(distances: Buffer, unit: Unit) -> Payload:
    """Compresses distances given as contiguous bytes (little endian where ``unit`` is ``uint16``)."""
    return compressed(distances, f"zstd:{unit}")


def compressed(held: Buffer, codec: str, lead: bytes | None = None) -> Payload:
    """The payload that holds these bytes."""
    payload = frames.frame_of(held)
    return Payload(codec, payload, hashlib.sha256(payload).hexdigest(), lead)


class MapDigest:
    """The SHA-256 that names a dense distance map, fed with all distances in key order, unreachable keys included.

    The pieces that it is fed with may be cut anywhere. See ``map_digest`` for what it covers.
    """

    def __init__(self, layers: Iterable[int], unit: Unit) -> None:
        self._hash = hashlib.sha256(_head(layers, unit))
        self._chunk_bytes = self._missing = CHUNK_KEYS * WIDTHS[unit]
        self._chunk = hashlib.sha256()

    def update(self, distances: Buffer) -> None:
        """Adds the distances that follow: contiguous bytes (little endian where the unit is ``uint16``)."""
        rest = memoryview(distances).cast("B")
        while rest:
            part, rest = rest[: self._missing], rest[self._missing :]
            self._chunk.update(part)
            self._missing -= len(part)
            if not self._missing:
                self._hash.update(_line(self._chunk.hexdigest()))
                self._chunk, self._missing = hashlib.sha256(), self._chunk_bytes

    def hexdigest(self) -> str:
        """The digest of all that was added."""
        whole = self._hash.copy()
        if self._missing < self._chunk_bytes:
            whole.update(_line(self._chunk.hexdigest()))
        return whole.hexdigest()


def map_digest(layers: Iterable[int], unit: Unit, chunks: Iterable[str]) -> str:
    """The SHA-256 that names a dense distance map, from the SHA-256 of its chunks (``chunk_digest``), in key order.

    It covers the line ``farthest map 2``, a line with the states of each layer in decimal, a line with the unit, and a
    line for each chunk of ``CHUNK_KEYS`` keys. Only the last chunk may have fewer keys.
    """
    whole = hashlib.sha256(_head(layers, unit))
    for digest in chunks:
        whole.update(_line(digest))
    return whole.hexdigest()


def chunk_digest(distances: Buffer) -> str:
    """The SHA-256, in hexadecimal, of the distances of a chunk (little endian), unreachable keys included."""
    return hashlib.sha256(distances).hexdigest()


def _head(layers: Iterable[int], unit: Unit) -> bytes:
    return b"farthest map 2\n%s\n%s\n" % (decimals(layers), unit.encode())


def _line(digest: str) -> bytes:
    return b"%s\n" % digest.encode("ascii")


def layers_digest(layers: Sequence[int]) -> str:
    """The digest of a result that is only a histogram: the states of each layer."""
    return hashlib.sha256(b"farthest layers 1\n%s\n" % decimals(layers)).hexdigest()


def decimals(layers: Iterable[int]) -> bytes:
    """The states of each layer as digests have them: in decimal, one space between."""
    return " ".join(str(int(states)) for states in layers).encode()


# --- Pieces of a sparse map: its reached codes in ascending order with their distances.
#
# A code has a fixed number of bytes, its ``width``. Codes of eight bytes are unsigned 64-bit numbers, little endian
# in memory; others are byte strings. They are ordered as numbers, or as strings byte by byte: both is the order of
# the *written form*, which for numbers is big endian. A state's *number* is its place in that order, from 0.
#
# In a chunk's payload the codes come first, as planes: the first byte of every code, the second byte of every code,
# and so on, of the written form. For numbers the differences from the number before are written (for the first,
# from 0). The distances follow. Planes compress several times better, and faster, than codes one after the other.

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


# --- Decodes chunks from the database; a row that is not what was written raises StorageError.

_CODEC = re.compile(r"zstd:(?:codes([1-9][0-9]{0,3}):)?(uint8|uint16)")


def open_chunk(row: ChunkRecord) -> Chunk:
    """The chunk of a row, decoded; raises StorageError where the row is not what was written."""
    form = _CODEC.fullmatch(row.codec)
    if form is None:
        raise _damaged(
            row,
            f"its codec is {row.codec!r}, expected zstd:uint8 or zstd:uint16, or such as zstd:codes8:uint8",
        )
    width, unit = int(form[1] or 0), cast("Unit", form[2])
    states = row.last_key - row.first_key + 1
    held = _unpacked(row, states * (width + WIDTHS[unit]))
    if not width:
        return Chunk(row.job_id, row.first_key, row.last_key, row.depth, unit, held)
    codes, distances = from_planes(memoryview(held)[: states * width], width), held[states * width :]
    wrong = descent(code_array(codes, width))
    if wrong is not None:
        raise _damaged(row, f"the code of state {row.first_key + wrong} is not greater than the one before")
    if row.lead != (codes[7::-1] if width == 8 else codes[:width]):
        raise _damaged(row, "its lead is not its first code")
    return Chunk(row.job_id, row.first_key, row.last_key, row.depth, unit, distances, width, codes)


def unpack_into(row: ChunkRecord, unit: Unit, out: NDArray[np.uint8]) -> None:
    """Writes the distances of a row of a dense map, as bytes, to ``out``; raises StorageError where the row is not what
    was written."""
    if row.codec != f"zstd:{unit}":
        raise _damaged(row, f"its codec is {row.codec!r}, expected zstd:{unit}")
    _check_sum(row)
    try:
        frames.unpack_into(row.payload, out)
    except ValueError as error:
        raise _damaged(row, f"its payload: {error}") from error


def _check_sum(row: ChunkRecord) -> None:
    if hashlib.sha256(row.payload).hexdigest() != row.checksum:
        raise _damaged(row, f"its {len(row.payload)} bytes do not match their checksum")


def _unpacked(row: ChunkRecord, expected: int) -> bytes:
    if not 0 < expected <= MOST_BYTES:
        raise _damaged(row, f"its keys would have {expected} bytes, expected 1 to {MOST_BYTES}")
    _check_sum(row)
    try:
        return (_unpack_again if len(row.payload) <= _SHORT else _unpack)(row.payload, expected)
    except ValueError as error:
        raise _damaged(row, f"its payload: {error}") from error


def _unpack(payload: bytes, expected: int) -> bytes:
    return frames.unpacked(payload, expected, expected)


_SHORT = 64
"""Bytes of a payload at most that is likely to occur again: of a chunk without states, for one."""

_unpack_again = lru_cache(maxsize=2)(_unpack)


def _damaged(row: ChunkRecord, what: str) -> StorageError:
    return StorageError(
        f"job {row.job_id}: the chunk of keys {row.first_key} to {row.last_key} is damaged: {what}; restore "
        f"the database from a copy, or remove the job with `farthest delete {row.job_id}` and enumerate again"
    )
