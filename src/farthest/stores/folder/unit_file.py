"""Files of units: the blobs of the states that a unit's shards have at a depth.

    magic     16 bytes
    blobs     of the shards, in the unit's order (kernel/include/farthest/unit_step.hpp)
    table     for each shard two uint64: bytes of its blob, number of its states
    trailer   BLAKE2b (16 bytes) of table and place; the place: depth, unit and shards, uint64 each, 16 bytes that
              tell the enumeration (its folder's header), and the kind, 8 bytes

All numbers little endian. A file gets its name once it is complete and on the disk: a file with that name is the
commit of its unit. Blobs have checksums of their own.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from farthest.errors import LostStateError

if TYPE_CHECKING:
    from typing_extensions import Buffer


MAGIC = b"farthest layer 1"
PLACE = struct.Struct("<QQQ16s8s")
KINDS = ("L", "V", "O")
"""Files of a layer's states, of all states up to a depth, of what is sent to the shards of the layer at a depth."""
DIGEST_BYTES = 16
AT_ONCE = 512
"""Buffers that are written in one call of the system, which takes 1024 at most."""


@dataclass(frozen=True, slots=True)
class UnitPlace:
    """Which file: the unit of the layer at a depth, of the enumeration that ``key`` stands for (16 bytes). ``kind``:
    one of KINDS."""

    depth: int
    unit: int
    key: bytes
    kind: str = "L"

    @property
    def name(self) -> str:
        """The file's name."""
        return f"{self.kind}{self.depth}.{self.unit}"

    def packed(self, shards: int) -> bytes:
        """As the trailer has it."""
        return PLACE.pack(self.depth, self.unit, shards, self.key, self.kind.encode())


@dataclass(frozen=True, slots=True)
class UnitTable:
    """What a unit's file holds: for each shard the first byte and the bytes of its blob, and its states."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    states: tuple[int, ...]

    @property
    def end(self) -> int:
        """The first byte behind the blobs."""
        return self.starts[-1] + self.sizes[-1]

    @property
    def total(self) -> int:
        """The unit's states."""
        return sum(self.states)

    @property
    def file_bytes(self) -> int:
        """Bytes of the whole file."""
        return self.end - len(MAGIC) + file_bytes(len(self.sizes))


def file_bytes(shards: int) -> int:
    """Bytes of a file of a unit of so many shards, besides their blobs."""
    return len(MAGIC) + 16 * shards + DIGEST_BYTES + PLACE.size


def table_of(sizes: Sequence[int], states: Sequence[int]) -> UnitTable:
    """The table of a file with blobs of these sizes."""
    starts, at = [], len(MAGIC)
    for size in sizes:
        starts.append(at)
        at += size
    return UnitTable(tuple(starts), tuple(sizes), tuple(states))


def write_unit(folder: Path, place: UnitPlace, shards: Sequence[tuple[bytes, int]]) -> UnitTable:
    """Writes a unit's file, of each shard the blob and its states, and waits until it is on the disk. Raises OSError;
    then there is no such file."""
    blobs = [blob for blob, _ in shards]
    table = table_of([len(blob) for blob in blobs], [states for _, states in shards])
    packed = struct.pack(f"<{2 * len(shards)}Q", *(n for blob, states in shards for n in (len(blob), states)))
    trailer = place.packed(len(shards))
    digest = blake2b(packed + trailer, digest_size=DIGEST_BYTES).digest()
    final = folder / place.name
    unfinished = final.with_suffix(f"{final.suffix}.part")
    file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        try:
            _write_all(file, [MAGIC, *blobs, packed, digest, trailer])
            os.fdatasync(file) if hasattr(os, "fdatasync") else os.fsync(file)
        finally:
            os.close(file)
        unfinished.rename(final)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    return table


def _write_all(file: int, buffers: Sequence[Buffer]) -> None:
    rest = [memoryview(buffer).cast("B") for buffer in buffers if memoryview(buffer).nbytes]
    while rest:
        written = os.writev(file, rest[:AT_ONCE])
        done = 0
        while done < len(rest) and written >= rest[done].nbytes:
            written -= rest[done].nbytes
            done += 1
        rest = rest[done:]
        if written:
            rest[0] = rest[0][written:]


def read_table(folder: Path, place: UnitPlace, shards: int | None) -> UnitTable:
    """The table of a unit's file, which has so many shards, or with None as many as it says. Raises LostStateError
    where it is damaged or another's, FileNotFoundError where there is none, and OSError."""
    path = folder / place.name
    with path.open("rb", buffering=0) as file:
        whole = os.fstat(file.fileno()).st_size
        if shards is None:
            last = os.pread(file.fileno(), PLACE.size, max(whole - PLACE.size, 0))
            said = PLACE.unpack(last)[2] if len(last) == PLACE.size else 0
            shards = max(1, min(said, whole // 16))
        trailer = place.packed(shards)
        size = 16 * shards + DIGEST_BYTES + len(trailer)
        found = os.pread(file.fileno(), size, max(whole - size, 0))
    packed, digest = found[: 16 * shards], found[16 * shards : 16 * shards + DIGEST_BYTES]
    if found[16 * shards + DIGEST_BYTES :] != trailer or (
        blake2b(packed + trailer, digest_size=DIGEST_BYTES).digest() != digest
    ):
        raise LostStateError(f"{path}: the file is damaged, cut off, or of another enumeration")
    numbers = struct.unpack(f"<{2 * shards}Q", packed)
    table = table_of(numbers[::2], numbers[1::2])
    if table.file_bytes != whole:
        raise LostStateError(f"{path}: the file has {whole:,} bytes, expected {table.file_bytes:,}")
    return table


# --- Memory for what is read, used again unit by unit: the system would clear new memory each time.

SLAB = 2**23
"""Bytes that memory is asked for at once, as a rule; longer pieces have memory of their own size."""


class Room:
    """Gives out memory until ``clear`` takes all of it back. ``slab``: bytes that are asked for at once."""

    def __init__(self, slab: int = SLAB) -> None:
        self._size = slab
        self._slabs: list[memoryview] = []
        self._slab = 0
        self._used = 0

    def take(self, size: int) -> memoryview:
        """``size`` bytes that hold anything."""
        while self._slab < len(self._slabs):
            rest = self._slabs[self._slab][self._used :]
            if len(rest) >= size:
                self._used += size
                return rest[:size]
            self._slab += 1
            self._used = 0
        self._slabs.append(memoryview(bytearray(max(size, self._size))))
        self._used = size
        return self._slabs[-1][:size]

    def clear(self) -> None:
        """All that was given out is used no more."""
        self._slab = self._used = 0
