"""Chunks of a distance map: distances encoded as the payload of a row; the digests of results.

A payload is one zstd frame of the distances of consecutive keys, in key order: one byte a key
(``zstd:uint8``, 255 = no distance) or two, little endian (``zstd:uint16``, 65535 = no distance). In a sparse map the
states' codes come before the distances (``zstd:codes8:uint8``; see ``models.sparse``). Its checksum is the SHA-256 of
the payload, in hexadecimal, so that any tool can check a chunk without decompressing it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from farthest import frames

if TYPE_CHECKING:
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
