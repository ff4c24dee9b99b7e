"""Payloads and digests: round trips, what they are byte for byte, and every kind of damage."""

from __future__ import annotations

import hashlib
import random
import sys
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.errors import StorageError
from farthest.models.chunks import (
    WIDTHS,
    Chunk,
    Payload,
    Unit,
    chunk_digest,
    digest_of,
    encode,
    layers_digest,
    map_digest,
    open_chunk,
)
from farthest.models.records import ChunkRecord

if TYPE_CHECKING:
    from typing_extensions import Buffer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

UNITS: list[Unit] = ["uint8", "uint16"]


def encoded(distances: Buffer, unit: Unit, first: int = 0) -> Payload:
    return encode(Chunk(first, first + memoryview(distances).nbytes // WIDTHS[unit] - 1, unit, distances))


def record(distances: bytes, unit: Unit = "uint8", first_key: int = 0) -> ChunkRecord:
    one = encoded(distances, unit, first_key)
    return ChunkRecord(7, one.first, one.last, 3, one.codec, one.payload, one.checksum)


@given(st.binary(min_size=1, max_size=300), st.sampled_from(UNITS), st.integers(0, 2**62))
def test_distances_come_back_as_they_were(data: bytes, unit: Unit, first_key: int) -> None:
    distances = data * WIDTHS[unit]
    row = record(distances, unit, first_key)
    assert open_chunk(row).distances == distances
    chunk = open_chunk(row)
    assert (chunk.unit, chunk.first, chunk.depth, chunk.distances) == (unit, first_key, 3, distances)


def test_a_view_of_a_larger_buffer_is_encoded_without_a_copy() -> None:
    whole = bytearray(range(200))
    assert encoded(memoryview(whole)[50:60], "uint8") == encoded(bytes(range(50, 60)), "uint8")


def test_a_chunk_is_readable_without_the_program() -> None:
    row = record(b"\x00\x01\x02\xff")
    assert row.codec == "zstd:uint8"
    assert zstd.decompress(row.payload) == b"\x00\x01\x02\xff"
    assert row.checksum == hashlib.sha256(row.payload).hexdigest()


def checksummed(row: ChunkRecord, payload: bytes) -> ChunkRecord:
    """Damage that the checksum cannot show."""
    return replace(row, payload=payload, checksum=hashlib.sha256(payload).hexdigest())


GOOD = record(bytes(range(100)) * 3, first_key=1000)
DAMAGED = {
    "flipped bit": (replace(GOOD, payload=bytes([GOOD.payload[0] ^ 1]) + GOOD.payload[1:]), "checksum"),
    "truncated": (replace(GOOD, payload=GOOD.payload[:-3]), "checksum"),
    "empty": (replace(GOOD, payload=b""), "checksum"),
    "wrong checksum": (replace(GOOD, checksum="0" * 64), "checksum"),
    "unknown codec": (
        replace(GOOD, codec="lzma:uint8"),
        "codec is 'lzma:uint8', expected zstd:uint8 or zstd:uint16, or such",
    ),
    "other unit": (replace(GOOD, codec="zstd:uint16"), "300 bytes, expected 600"),
    "too many keys": (replace(GOOD, last_key=1399), "300 bytes, expected 400"),
    "too few keys": (replace(GOOD, last_key=1200), "300 bytes, expected 201"),
    "truncated, checksum renewed": (checksummed(GOOD, GOOD.payload[:-3]), "zstd frame"),
    "not zstd, checksum renewed": (checksummed(GOOD, b"nonsense"), "zstd frame"),
    "empty, checksum renewed": (checksummed(GOOD, b""), "zstd frame"),
    "two frames, checksum renewed": (checksummed(GOOD, GOOD.payload * 2), "bytes follow its zstd frame"),
    "frame of no stated size": (
        checksummed(GOOD, zstd.ZstdCompressor().compress(b"a" * 300) + zstd.ZstdCompressor().flush()),
        "damaged",
    ),
}


@for_each("name", DAMAGED)
def test_a_damaged_chunk_is_told_with_its_place_and_a_mend(name: str) -> None:
    row, told = DAMAGED[name]
    with pytest.raises(StorageError) as caught:
        open_chunk(row)
    message = str(caught.value)
    assert told in message
    assert f"job 7: the chunk of keys 1000 to {row.last_key} is damaged" in message
    assert "farthest delete 7" in message


BOMB = zstd.compress(bytes(1 << 24))
HUGE_CLAIMS = {
    "a large frame": (checksummed(GOOD, BOMB), "16777216 bytes, expected 300"),
    "a large frame after another": (checksummed(GOOD, GOOD.payload + BOMB), "bytes follow its zstd frame"),
    "a row of 2^60 keys": (replace(checksummed(GOOD, BOMB), last_key=999 + 2**60), "expected 1 to 16777216"),
    "a row of no keys": (replace(GOOD, last_key=999), "would have 0 bytes"),
    "a row of fewer": (replace(GOOD, last_key=-(2**60)), "would have -"),
    "wide codes": (replace(GOOD, last_key=2**20, codec="zstd:codes1024:uint8"), "expected 1 to 16777216"),
}


@for_each("name", HUGE_CLAIMS)
def test_what_claims_to_be_huge_is_refused_before_room_is_made_for_it(name: str) -> None:
    row, told = HUGE_CLAIMS[name]
    tracemalloc.start()
    try:
        with pytest.raises(StorageError, match=told):
            open_chunk(row)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@for_each(("unit", "width"), WIDTHS.items())
@for_each("keys", [5, 2**19, 2**20 + 3])
def test_the_map_digest_is_what_the_documentation_says(unit: Unit, width: int, keys: int) -> None:
    distances = random.Random(keys).randbytes(keys * width)
    chunks = [
        hashlib.sha256(distances[first : first + 2**19 * width]).hexdigest()
        for first in range(0, keys * width, 2**19 * width)
    ]
    lines = "".join(f"{chunk}\n" for chunk in chunks)
    expected = hashlib.sha256(f"farthest map 2\n1 2 1\n{unit}\n{lines}".encode()).hexdigest()
    assert map_digest([1, 2, 1], unit, chunks) == expected
    assert chunk_digest(memoryview(distances)[: 2**19 * width]) == chunks[0]
    for cut in (1, 3) if keys == 5 else (10_007, 2**18, 2**19, 2**19 + 1, 2**21):
        parts = (distances[at : at + cut * width] for at in range(0, len(distances), cut * width))
        chunks_cut = (Chunk(0, len(part) // width - 1, unit, part) for part in parts)
        assert digest_of([1, 2, 1], chunks_cut) == expected, cut


def test_the_map_digest_depends_on_layers_unit_and_distances() -> None:
    digests = {
        map_digest([1, 1], "uint8", [chunk_digest(b"\x00\x01")]),
        map_digest([1, 2], "uint8", [chunk_digest(b"\x00\x01")]),
        map_digest([1, 1], "uint16", [chunk_digest(b"\x00\x01")]),
        map_digest([1, 1], "uint8", [chunk_digest(b"\x01\x00")]),
        layers_digest([1, 1]),
    }
    assert len(digests) == 5


def test_the_layers_digest_is_what_the_documentation_says() -> None:
    expected = hashlib.sha256(b"farthest layers 1\n1 2 4 239500800\n").hexdigest()
    assert layers_digest([1, 2, 4, 239_500_800]) == expected
