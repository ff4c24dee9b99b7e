"""Chunks of a distance map: distances as a row's payload and back; the digests of results.

A payload is one zstd frame of the distances of consecutive keys, in key order: one byte a key
(``zstd:uint8``, 255 = no distance) or two, little endian (``zstd:uint16``, 65535 = no distance). Its checksum
is the SHA-256 of the payload, in hexadecimal, so that any tool can check a chunk without decompressing it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from farthest.errors import StorageError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from typing_extensions import Buffer

Unit = Literal["uint8", "uint16"]

WIDTHS: dict[Unit, int] = {"uint8": 1, "uint16": 2}
CODECS: dict[str, Unit] = {"zstd:uint8": "uint8", "zstd:uint16": "uint16"}
UNREACHED: dict[Unit, int] = {"uint8": 255, "uint16": 65535}
"""What stands for a key without a distance: the unit's greatest number."""

CHUNK_KEYS = 2**19
"""Chunk i of a map holds keys i * CHUNK_KEYS to (i + 1) * CHUNK_KEYS - 1; the last chunk may be shorter."""

LEVEL = 1


@dataclass(frozen=True, slots=True)
class Payload:
    """What is stored of one chunk's distances; ``checksum`` is the SHA-256 of ``payload`` in hexadecimal."""

    codec: str
    payload: bytes
    checksum: str


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """One row of ``chunk``: keys ``first_key`` to ``last_key`` inclusive, as they were known at ``depth``."""

    job_id: int
    first_key: int
    last_key: int
    depth: int
    codec: str
    payload: bytes
    checksum: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A decoded chunk: one value of ``unit`` (little endian) for each key, in key order."""

    job_id: int
    first_key: int
    last_key: int
    depth: int
    unit: Unit
    distances: bytes


def encode_chunk(distances: Buffer, unit: Unit) -> Payload:
    """Compresses distances given as contiguous bytes (little endian where ``unit`` is ``uint16``)."""
    payload = zstd.compress(distances, level=LEVEL)
    return Payload(f"zstd:{unit}", payload, hashlib.sha256(payload).hexdigest())


def decode_chunk(row: ChunkRecord) -> bytes:
    """Gives back the distances of a chunk, or raises StorageError where the row is not what was written."""
    if row.codec not in CODECS:
        raise _damaged(row, f"its codec is {row.codec!r}, expected {' or '.join(CODECS)}")
    expected = (row.last_key - row.first_key + 1) * WIDTHS[CODECS[row.codec]]
    if hashlib.sha256(row.payload).hexdigest() != row.checksum:
        raise _damaged(row, f"its {len(row.payload)} bytes do not match their checksum")
    try:
        # Looked up first, so that a forged frame cannot make the program allocate more than the chunk's size.
        held = zstd.get_frame_info(row.payload).decompressed_size
        if held == expected:
            distances = zstd.decompress(row.payload)
            held = len(distances)
    except zstd.ZstdError as error:
        raise _damaged(row, f"its payload is not one whole zstd frame ({error})") from error
    if held != expected:
        raise _damaged(
            row, f"it holds {held or 'an unknown number of'} bytes of distances, expected {expected}"
        )
    return distances


def open_chunk(row: ChunkRecord) -> Chunk:
    """The decoded form of a row; raises StorageError as ``decode_chunk`` does."""
    distances = decode_chunk(row)
    return Chunk(row.job_id, row.first_key, row.last_key, row.depth, CODECS[row.codec], distances)


def _damaged(row: ChunkRecord, what: str) -> StorageError:
    return StorageError(
        f"job {row.job_id}: the chunk of keys {row.first_key} to {row.last_key} is damaged: {what}; restore "
        f"the database from a copy, or remove the job with `farthest delete {row.job_id}` and enumerate again"
    )


class MapDigest:
    """The SHA-256 that names a distance map, fed chunk by chunk in key order.

    It covers the line ``farthest map 1``, a line with the states of each layer in decimal, a line with the
    unit, and then every distance in key order (little endian), unreachable keys included.
    """

    def __init__(self, layers: Iterable[int], unit: Unit) -> None:
        self._hash = hashlib.sha256(b"farthest map 1\n%s\n%s\n" % (_decimals(layers), unit.encode()))

    def update(self, distances: Buffer) -> None:
        self._hash.update(distances)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def map_digest(layers: Iterable[int], unit: Unit, buffers: Iterable[Buffer]) -> str:
    """The digest of a whole map (see ``MapDigest``)."""
    digest = MapDigest(layers, unit)
    for buffer in buffers:
        digest.update(buffer)
    return digest.hexdigest()


def layers_digest(layers: Sequence[int]) -> str:
    """The digest of a result that is only a histogram: the states of each layer."""
    return hashlib.sha256(b"farthest layers 1\n%s\n" % _decimals(layers)).hexdigest()


def _decimals(layers: Iterable[int]) -> bytes:
    return " ".join(str(int(states)) for states in layers).encode()
