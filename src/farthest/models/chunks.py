"""Chunks of a distance map: some keys with their distances, encoded as the payload of a row; the digests of results.

A payload is one zstd frame of the distances of consecutive keys, in key order: one byte per key
(``zstd:uint8``, 255 = no distance) or two, little endian (``zstd:uint16``, 65535 = no distance). Its checksum is the
SHA-256 of the payload, in hexadecimal, so that any tool can check a chunk without decompressing it.

In a *sparse* map the keys of a chunk are numbers of states, and the states' codes come before the distances
(``zstd:codes8:uint8``). A code has a fixed number of bytes, its ``width``. Codes of eight bytes are unsigned 64-bit
numbers, little endian in memory; others are byte strings. They are ordered as numbers, or as strings byte by byte: both
is the order of the *written form*, which for numbers is big endian. A state's *number* is its place in that order, from
0. In a payload the codes are *planes*: the first byte of every code, the second byte of every code, and so on, of the
written form. For numbers the differences from the number before are written (for the first, from 0). Planes compress
several times better, and faster, than codes one after the other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

from farthest import _kernel, frames
from farthest.errors import StorageError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.models.records import ChunkRecord

Unit = Literal["uint8", "uint16"]

WIDTHS: dict[Unit, int] = {"uint8": 1, "uint16": 2}
UNREACHED: dict[Unit, int] = {"uint8": 255, "uint16": 65535}
"""What stands for a key without a distance: the unit's greatest number."""

CHUNK_KEYS = 2**19
"""Chunk i of a dense map holds keys i * CHUNK_KEYS to (i + 1) * CHUNK_KEYS - 1; the last chunk may be shorter."""

CHUNK_BYTES = 2**22
"""Most bytes of the codes of a chunk of a sparse map."""

MAX_WIDTH = 1024
"""Most bytes of a code."""

LEAST_STATES = CHUNK_BYTES // MAX_WIDTH
"""A chunk that is not the last one of its map has at least so many keys or states."""

MOST_BYTES = 2**24
"""Most bytes of an unpacked chunk: this program writes no row with more keys or states."""

MOST_PAYLOAD = MOST_BYTES + 2**18
"""Most bytes of a payload: data that cannot be compressed becomes a little longer."""

_CODEC = re.compile(r"zstd:(?:codes([1-9][0-9]{0,3}):)?(uint8|uint16)")


def kind_of(width: int, unit: Unit) -> str:
    """What a payload holds, as its codec says it; ``width``: of codes, 0 in a dense map."""
    return f"codes{width}:{unit}" if width else unit


@dataclass(frozen=True, slots=True)
class Chunk:
    """The distances of the keys ``first`` to ``last``, both included: one value of ``unit`` (little endian) for each,
    in key order, as contiguous bytes.

    ``codes``: in a sparse map ``width`` bytes for each state, ascending. ``depth``: of a stored chunk, the depth that
    it is known up to; else -1.
    """

    first: int
    last: int
    unit: Unit
    distances: Buffer
    width: int = 0
    codes: Buffer = b""
    depth: int = field(default=-1, compare=False)

    @property
    def kind(self) -> str:
        """What the payload holds, as its codec says it."""
        return kind_of(self.width, self.unit)

    @property
    def nbytes(self) -> int:
        """The bytes of its codes and distances."""
        return memoryview(self.codes).nbytes + memoryview(self.distances).nbytes

    def distance_array(self) -> NDArray[numpy.uint8] | NDArray[numpy.uint16]:
        """The distances as an array, which shares their memory."""
        import numpy

        return numpy.frombuffer(memoryview(self.distances), dtype=f"<u{WIDTHS[self.unit]}")

    @property
    def states(self) -> int:
        """How many keys have a distance: with numpy 20 times as fast as ``bytes.count`` where many have none, 0.03 ms
        for 2**19 keys."""
        import numpy

        return int(numpy.count_nonzero(self.distance_array() != UNREACHED[self.unit]))

    def states_of(self, kernel: _kernel.Space) -> int:
        """How many states of the space the keys stand for that have a distance."""
        if kernel.states == kernel.keys:
            return self.states
        import numpy

        reached = self.distance_array() != UNREACHED[self.unit]
        each, states = kernel.keys // kernel.shards, 0
        for shard in range(self.first // each, self.last // each + 1):
            of_shard = reached[max(shard * each - self.first, 0) : (shard + 1) * each - self.first]
            states += kernel.weight(shard) * int(numpy.count_nonzero(of_shard))
        return states

    def code_array(self) -> NDArray[Any] | None:
        """The codes as an array with the same order; None in a dense map."""
        return code_array(self.codes, self.width) if self.width else None

    def written_codes(self) -> NDArray[numpy.uint8]:
        """The codes in their written form, uint8, shape (states, width)."""
        import numpy

        rows = numpy.frombuffer(memoryview(self.codes), dtype=numpy.uint8).reshape(-1, self.width)
        return rows[:, ::-1] if self.width == 8 else rows

    def digest(self) -> str:
        """Its line in the digest of the whole map, where that has a line for just these keys or states."""
        codes = self.written_codes().tobytes() if self.width else None
        return chunk_digest(self.distances, codes)

    def problem(self) -> str | None:
        """What is wrong with it: lengths that differ, codes that do not ascend; None if nothing is."""
        number = self.last - self.first + 1
        if not 0 <= self.width <= MAX_WIDTH:
            return f"codes of {self.width} bytes; 1 to {MAX_WIDTH} are possible"
        held = memoryview(self.codes).nbytes, memoryview(self.distances).nbytes
        if number < 1 or held != (number * self.width, number * WIDTHS[self.unit]):
            return f"{held[0]} bytes of codes and {held[1]} of distances ({self.unit}) for {number} states"
        wrong = descent(code_array(self.codes, self.width)) if self.width else None
        if wrong is not None:
            return f"the code of state {self.first + wrong} is not greater than the one before"
        return None


def checked(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Passes chunks on that follow each other from key 0, all of one kind. Raises ValueError where one does not.
    ``encode`` checks what is in each.
    """
    expected, kind_of_all, last_code = 0, None, b""
    for one in chunks:
        if one.first != expected or one.last < one.first:
            raise ValueError(f"chunk of keys {one.first} to {one.last}: expected it from key {expected}")
        if kind_of_all not in (None, one.kind):
            raise ValueError(
                f"chunk of keys {one.first} to {one.last} is {one.kind}, those before it {kind_of_all}"
            )
        if one.width:
            codes = one.written_codes()
            if last_code and codes[0].tobytes() <= last_code:
                raise ValueError(
                    f"chunk of states {one.first} to {one.last}: its codes do not follow those before it"
                )
            last_code = codes[-1].tobytes()
        expected, kind_of_all = one.last + 1, one.kind
        yield one


# Codes


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


def _planes(codes: Buffer, width: int) -> bytes:
    import numpy

    if width != 8:
        return numpy.frombuffer(memoryview(codes), dtype=numpy.uint8).reshape(-1, width).T.tobytes()
    numbers = numpy.frombuffer(memoryview(codes), dtype="<u8")
    steps = numpy.diff(numbers, prepend=numpy.uint64(0))
    return steps.astype("<u8").view(numpy.uint8).reshape(-1, 8)[:, ::-1].T.tobytes()


def _from_planes(planes: Buffer, width: int) -> bytes:
    import numpy

    rows = numpy.frombuffer(memoryview(planes), dtype=numpy.uint8).reshape(width, -1).T
    if width != 8:
        return rows.tobytes()
    steps = numpy.ascontiguousarray(rows[:, ::-1]).view("<u8")[:, 0]
    return steps.cumsum(dtype="<u8").tobytes()


# Payloads


@dataclass(frozen=True, slots=True)
class Payload:
    """What is stored of the chunk of keys ``first`` to ``last``; ``checksum`` is the SHA-256 of ``payload`` in
    hexadecimal.

    ``lead``: the written form of the first code in a sparse map, else None.
    """

    first: int
    last: int
    unit: Unit
    codec: str
    checksum: str
    payload: bytes
    lead: bytes | None = None


@dataclass(frozen=True, slots=True)
class MadeChunk(Payload):
    """An encoded chunk with its ``digest`` (``Chunk.digest``)."""

    digest: str = ""


@dataclass(frozen=True, slots=True)
class StoredDraft:
    """A chunk whose draft is stored under ``nonce``; the rest as of ``Payload``."""

    first: int
    last: int
    unit: Unit
    codec: str
    checksum: str
    nonce: str
    lead: bytes | None = None


def encode(one: Chunk) -> Payload:
    """Compresses a chunk. Raises ValueError where ``Chunk.problem`` finds one."""
    problem = one.problem()
    if problem:
        raise ValueError(f"chunk of keys {one.first} to {one.last}: {problem}")
    held, lead = one.distances, None
    if one.width:
        held = _planes(one.codes, one.width) + memoryview(one.distances).cast("B")
        lead = one.written_codes()[0].tobytes()
    payload = frames.frame_of(held)
    checksum = hashlib.sha256(payload).hexdigest()
    return Payload(one.first, one.last, one.unit, f"zstd:{one.kind}", checksum, payload, lead)


def open_chunk(row: ChunkRecord) -> Chunk:
    """The chunk of a row, decoded. Raises StorageError where the row is not what was written."""
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
        return Chunk(row.first_key, row.last_key, unit, held, depth=row.depth)
    codes, distances = _from_planes(memoryview(held)[: states * width], width), held[states * width :]
    wrong = descent(code_array(codes, width))
    if wrong is not None:
        raise _damaged(row, f"the code of state {row.first_key + wrong} is not greater than the one before")
    if row.lead != (codes[7::-1] if width == 8 else codes[:width]):
        raise _damaged(row, "its lead is not its first code")
    return Chunk(row.first_key, row.last_key, unit, distances, width, codes, row.depth)


def _unpacked(row: ChunkRecord, expected: int) -> bytes:
    if not 0 < expected <= MOST_BYTES:
        raise _damaged(row, f"its keys would have {expected} bytes, expected 1 to {MOST_BYTES}")
    if hashlib.sha256(row.payload).hexdigest() != row.checksum:
        raise _damaged(row, f"its {len(row.payload)} bytes do not match their checksum")
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


# Digests


class MapDigest:
    """The SHA-256 that names a map, fed with all of its chunks in order. ``layers``: the states of each layer.

    Of a dense map it covers the line ``farthest map 2``, a line with the states of each layer in decimal, a line with
    the unit, and a line for each CHUNK_KEYS keys (``chunk_digest``), unreached keys included; of a sparse map the line
    ``farthest sparse map 2``, the same, a line with the width of codes, and a line for each ``line_keys`` states.
    Only the last line may be of fewer, however the chunks were cut.
    """

    def __init__(self, layers: Sequence[int]) -> None:
        self._layers = layers
        self._head: bytes | None = None
        self._digests: list[str] = []  # whole lines
        self._codes, self._distances = hashlib.sha256(), hashlib.sha256()  # of the line under way
        self._each = self._missing = 0  # keys of a line, and of the one under way

    def passed(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Passes the chunks on, each after it was added to the digest."""
        for one in chunks:
            self.add(one)
            yield one

    def add(self, one: Chunk) -> None:
        """Adds the keys that follow."""
        if self._head is None:
            self._head = _head(self._layers, one.unit, one.width)
            self._each = self._missing = line_keys(one.width)
        unit, width = WIDTHS[one.unit], one.width
        codes = memoryview(one.written_codes().tobytes() if width else b"")
        distances = memoryview(one.distances).cast("B")
        while distances:
            part, distances = distances[: self._missing * unit], distances[self._missing * unit :]
            self._distances.update(part)
            self._codes.update(codes[: self._missing * width])
            codes = codes[self._missing * width :]
            self._missing -= len(part) // unit
            if not self._missing:
                self._digests.append(self._line(width))
                self._codes, self._distances = hashlib.sha256(), hashlib.sha256()
                self._missing = self._each

    def _line(self, sparse: int) -> str:
        return _line(self._distances, self._codes if sparse else None)

    def hexdigest(self) -> str:
        """The digest of all that was added, a whole map."""
        assert self._head is not None
        last = [self._line(self._head.startswith(_SPARSE))] if self._missing < self._each else []
        return _digest(self._head, self._digests + last)


_SPARSE = b"farthest sparse map 2\n"


def line_keys(width: int) -> int:
    """Keys, or states with codes of so many bytes, of a chunk, and of a line of a map's digest."""
    return min(CHUNK_KEYS, chunk_states(width)) if width else CHUNK_KEYS


def map_digest(layers: Iterable[int], unit: Unit, chunks: Iterable[str], width: int = 0) -> str:
    """What ``MapDigest`` gives of a map, from the lines of its chunks (``chunk_digest``), in order; ``width``: of the
    codes of a sparse one."""
    return _digest(_head(layers, unit, width), chunks)


def chunk_digest(distances: Buffer, codes: Buffer | None = None) -> str:
    """The line of a chunk: the SHA-256, in hexadecimal, of its distances (little endian), unreached keys included. In a
    sparse map that of two SHA-256, of its ``codes`` in their written form and of its distances."""
    return _line(hashlib.sha256(distances), None if codes is None else hashlib.sha256(codes))


def _line(distances: hashlib._Hash, codes: hashlib._Hash | None) -> str:
    if codes is None:
        return distances.hexdigest()
    return hashlib.sha256(codes.digest() + distances.digest()).hexdigest()


def layers_digest(layers: Sequence[int]) -> str:
    """The digest of a result that is only a histogram: the states of each layer."""
    return hashlib.sha256(b"farthest layers 1\n%s\n" % _decimals(layers)).hexdigest()


def _head(layers: Iterable[int], unit: Unit, width: int) -> bytes:
    lines = b"%s\n%s\n" % (_decimals(layers), unit.encode())
    return b"%s%s%d\n" % (_SPARSE, lines, width) if width else b"farthest map 2\n" + lines


def _digest(head: bytes, lines: Iterable[str]) -> str:
    whole = hashlib.sha256(head)
    for line in lines:
        whole.update(b"%s\n" % line.encode("ascii"))
    return whole.hexdigest()


def _decimals(layers: Iterable[int]) -> bytes:
    return " ".join(str(int(states)) for states in layers).encode()


def digest_of(layers: Sequence[int], chunks: Iterable[Chunk]) -> str:
    """The digest of a whole map, given chunk by chunk in order."""
    digest = MapDigest(layers)
    for one in chunks:
        digest.add(one)
    return digest.hexdigest()
