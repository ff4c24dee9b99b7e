"""The codec of bitmaps: there and back, the same blob by every instruction set, and what is no blob."""

import math
import random
from typing import Any

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cases import for_each
from farthest import _kernel

ISAS = _kernel.available_isas()
TRAILER = 9  # bytes of a blob behind its array: the number of the format, the checksum


def random_bitmap(seed: int, size: int, density: float, run: int = 0) -> NDArray[np.uint8]:
    """Independent bits; with ``run`` a quarter of the runs of so many bytes have them, and the others none."""
    rng = np.random.default_rng(seed)
    bitmap = np.packbits(rng.random(8 * size) < density, bitorder="little")
    if run:
        bitmap[np.repeat(rng.random(-(-size // run)) < 0.75, run)[:size]] = 0
    return bitmap


def encoded(bitmap: NDArray[np.uint8]) -> bytes:
    """The blob, which all instruction sets write and read."""
    blob = _kernel.encode_bitmap(bitmap)
    for isa in ISAS:
        assert _kernel.encode_bitmap(bitmap, isa) == blob
        out = np.full(len(bitmap), 255, np.uint8)
        _kernel.decode_bitmap(blob, out, isa)
        assert np.array_equal(out, bitmap)
    return blob


def with_checksum(blob: bytes) -> bytes:
    """The blob with its checksum made right."""
    return blob[:-8] + xxhash.xxh3_64_intdigest(blob[:-8]).to_bytes(8, "little")


def entropy(density: float, size: int) -> float:
    """Bytes that a bitmap of independent bits has at least."""
    return -size * (density * math.log2(density) + (1 - density) * math.log2(1 - density))


DENSITIES = [1e-6, 1e-4, 0.001, 0.01, 0.03, 0.07, 0.12, 0.17, 0.25, 0.5, 0.76, 0.99, 1.0]


@for_each("density", DENSITIES)
@for_each("run", [0, 5, 512])
def test_bitmaps_come_back(density: float, run: int) -> None:
    for size in (64, 128, 4096 + 64, 200_000 // 64 * 64):
        bitmap = random_bitmap(size, size, density, run)
        blob = encoded(bitmap)
        assert (blob == b"") == (not bitmap.any())
        assert len(blob) <= size + 1 + TRAILER


def test_a_mebibyte_comes_back() -> None:
    encoded(random_bitmap(1, 2**20, 0.04, 64))


@given(st.integers(0, 2**32), st.integers(1, 40), st.floats(0, 1), st.sampled_from([0, 1, 3, 16, 100]))
def test_any_bitmap_comes_back(seed: int, blocks: int, density: float, run: int) -> None:
    encoded(random_bitmap(seed, 64 * blocks, density**3, run))


@given(st.sets(st.integers(0, 8 * 6400 - 1), max_size=40))
def test_few_ones_come_back_from_little(ones: set[int]) -> None:
    bits = np.zeros(8 * 6400, np.uint8)
    bits[list(ones)] = 1
    blob = encoded(np.packbits(bits, bitorder="little"))
    if len(ones) <= 32:
        assert len(blob) <= 12 + 2.25 * len(ones)


def test_a_bitmap_without_ones_has_no_bytes() -> None:
    assert encoded(np.zeros(0, np.uint8)) == b""
    assert encoded(np.zeros(6400, np.uint8)) == b""
    with pytest.raises(ValueError, match="damaged"):
        _kernel.decode_bitmap(bytes(TRAILER), bytearray(64))


@for_each(
    ("density", "most"), [(0.001, 1.05), (0.005, 1.05), (0.03, 1.05), (0.12, 1.06), (0.17, 1.1), (0.97, 1.05)]
)
def test_independent_bits_take_little_more_than_their_entropy(density: float, most: float) -> None:
    size = 2**19
    blob = _kernel.encode_bitmap(random_bitmap(5, size, density))
    assert 0.98 < len(blob) / entropy(density, size) < most


def one_at(*places: int) -> NDArray[np.uint8]:
    bits = np.zeros(512, np.uint8)
    bits[list(places)] = 1
    return np.packbits(bits, bitorder="little")


@for_each(
    ("bitmap", "array"),
    [
        # 512 bits, a one: 9 bits of the Rice code are as they are.
        (one_at(0), b"\1\1" + 0b1.to_bytes(2, "little")),
        (one_at(300), b"\1\1" + (300 << 1 | 1).to_bytes(2, "little")),
        # Three ones: 7 bits.
        (one_at(1, 2, 511), b"\1\3" + (1 << 1 | 1 | 1 << 8 | 0b1000 << 16 | 124 << 20).to_bytes(4, "little")),
        (np.full(64, 85, np.uint8), b"\2" + b"\x55" * 64),
        # The zeros of what is mostly ones.
        (np.full(64, 255, np.uint8), b"\6\0"),
        (~one_at(300), b"\6\1\1" + (300 << 1 | 1).to_bytes(2, "little")),
    ],
)
def test_blobs_are_as_described(bitmap: NDArray[np.uint8], array: bytes) -> None:
    assert encoded(bitmap) == with_checksum(array + b"\1" + bytes(8))


def test_split_bitmaps_are_as_described() -> None:
    # Bytes with 1, 2 and 3 ones in turn at every eighth place.
    bitmap = np.zeros(512, np.uint8)
    bitmap[::8] = np.resize(np.array([0x10, 0x21, 0x07], np.uint8), 64)
    kinds = np.resize([1, 2, 3], 64)
    several = kinds[kinds > 0] > 1
    many = kinds[kinds > 1] > 2
    places, width = 0, 0
    for kind in kinds:
        # The pair 0x21: 4 times the place in the high nibble plus that in the low one.
        places |= {1: 4, 2: 4 * 1 + 0, 3: 0x07}[int(kind)] << width
        width += {1: 3, 2: 5, 3: 8}[int(kind)]
    raw = [np.packbits(part, bitorder="little").tobytes() for part in (several, many)]
    # The mask has a one in each eighth bit, so it is split by pairs: of every fourth it is the first.
    mask = b"\4" + b"\2" + b"\x11" * 32 + b"\0" + bytes(8)
    body = b"\3" + mask + b"".join(b"\2" + part for part in raw) + places.to_bytes(-(-width // 8), "little")
    assert encoded(bitmap) == with_checksum(body + b"\1" + bytes(8))


def altered(rng: random.Random, blob: bytes) -> bytes:
    """Cut, extended, or with other bits."""
    kind = rng.randrange(4)
    if kind == 0:
        return blob[: rng.randrange(len(blob))]
    if kind == 1:
        at = len(blob) - rng.randrange(12)
        return blob[:at] + rng.randbytes(rng.randrange(1, 10)) + blob[at:]
    out = bytearray(blob)
    for _ in range(1 if kind == 2 else rng.randrange(1, 9)):
        out[rng.randrange(len(blob) if rng.random() < 0.5 else min(24, len(blob)))] ^= 1 << rng.randrange(8)
    return bytes(out)


def taken(blob: bytes, size: int, isa: str) -> bool:
    """Whether a blob is decoded. The memory has its exact size, so that sanitizers see what is beyond it."""
    out = np.empty(size, np.uint8)
    try:
        _kernel.decode_bitmap(np.frombuffer(blob, np.uint8).copy(), out, isa)
    except ValueError:
        return False
    return True


def check_altered(count: int, seed: int) -> tuple[int, int]:
    """Alters blobs. Returns how many were taken, and how many with their checksum made right."""
    rng = random.Random(seed)
    blobs = [
        (_kernel.encode_bitmap(random_bitmap(seed + i, size, density, run)), size)
        for i, (size, density, run) in enumerate(
            (size, density, run)
            for size in (64, 1024, 8192)
            for density in (0.002, 0.01, 0.05, 0.12, 0.2, 0.6)
            for run in (0, 20)
        )
    ]
    plain = right = 0
    for i in range(count):
        blob, size = rng.choice([one for one in blobs if one[0]])
        other = altered(rng, blob)
        isa = ISAS[i % len(ISAS)]
        if other not in (blob, b""):
            plain += taken(other, size, isa)
        if len(other) >= 8:
            right += taken(with_checksum(other), size, isa)
    return plain, right


def check_random(count: int, seed: int) -> tuple[int, int]:
    """Random bytes, which begin and end as blobs do. Returns how many were taken, and with the right checksum."""
    rng = random.Random(seed)
    plain = right = 0
    for i in range(count):
        body = bytearray(rng.randbytes(rng.randrange(1, 300)))
        if rng.random() < 0.7:
            body[0] = rng.randrange(5)
            sparse = rng.randbytes(len(body))
            body = bytearray(a & b for a, b in zip(body, sparse, strict=True)) if rng.random() < 0.5 else body
        blob = bytes(body) + b"\1" + bytes(8)
        size = rng.choice([64, 128, 1024, 4096, 65536])
        isa = ISAS[i % len(ISAS)]
        plain += taken(rng.randbytes(rng.randrange(1, 300)), size, isa)
        right += taken(with_checksum(blob), size, isa)
    return plain, right


def test_altered_blobs_are_refused() -> None:
    plain, right = check_altered(1000, 1)
    assert plain == 0
    assert 0 < right < 1000


def test_random_blobs_are_refused() -> None:
    plain, right = check_random(1000, 2)
    assert plain == 0
    assert right < 1000


@pytest.mark.night
def test_100_000_altered_and_as_many_random_blobs() -> None:
    plain, right = check_altered(100_000, 11)
    random_plain, random_right = check_random(100_000, 12)
    print(f"taken: altered {plain}, with the right checksum {right}; random {random_plain}, {random_right}")
    assert plain == random_plain == 0
    assert 0 < right < 100_000


def test_parts_that_do_not_fit_are_refused() -> None:
    rng = random.Random(7)
    for density in (0.003, 0.03, 0.1, 0.2, 0.7):
        blob = _kernel.encode_bitmap(random_bitmap(7, 4096, density))
        body = blob[:-TRAILER]
        for wrong in (body[:-1], body + b"\0", body + rng.randbytes(5), b"\5" + body[1:], b"\1\0", b"\1\x21"):
            with pytest.raises(ValueError, match="damaged"):
                _kernel.decode_bitmap(with_checksum(wrong + b"\1" + bytes(8)), bytearray(4096))
        for size in (0, 64, 4032, 4160):
            with pytest.raises(ValueError, match="damaged"):
                _kernel.decode_bitmap(blob, bytearray(size))
        with pytest.raises(ValueError, match="damaged"):
            _kernel.decode_bitmap(with_checksum(body + b"\2" + bytes(8)), bytearray(4096))


def test_bitmaps_have_whole_blocks() -> None:
    with pytest.raises(ValueError, match="64 bytes"):
        _kernel.encode_bitmap(bytes(65))
    with pytest.raises(ValueError, match="64 bytes"):
        _kernel.decode_bitmap(b"", bytearray(63))
    with pytest.raises(ValueError, match="instruction set"):
        _kernel.encode_bitmap(bytes(64), "mmx")


def test_buffers_are_of_any_items() -> None:
    bitmap = random_bitmap(8, 6400, 0.01)
    out = np.zeros(800, np.uint64)
    _kernel.decode_bitmap(memoryview(_kernel.encode_bitmap(bitmap.view(np.uint64))), out)
    assert np.array_equal(out.view(np.uint8), bitmap)


@for_each("wrong", [None, "text", np.zeros(128, np.uint8)[::2]])
def test_what_is_no_buffer_is_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        _kernel.encode_bitmap(wrong)
    with pytest.raises((TypeError, ValueError, BufferError)):
        _kernel.decode_bitmap(b"", wrong)


def test_blobs_are_not_decoded_into_what_cannot_be_written() -> None:
    with pytest.raises(BufferError):
        _kernel.decode_bitmap(b"", bytes(64))


@for_each("isa", ISAS)
def test_xxh3_is_that_of_the_published_library(isa: str) -> None:
    data = random.Random(9).randbytes(5000)
    for size in [*range(301), 1023, 1024, 1025, 1087, 1088, 1089, 2048, 2049, 4999]:
        assert _kernel.xxh3(data[:size], isa) == xxhash.xxh3_64_intdigest(data[:size])


@for_each("isa", ISAS)
@for_each("size", [2**16, 2**20 + 1, 2**22 - 63])
def test_xxh3_of_much(size: int, isa: str) -> None:
    data = random.Random(size).randbytes(size)
    for view in (memoryview(data), memoryview(data)[1:]):
        assert _kernel.xxh3(view, isa) == xxhash.xxh3_64_intdigest(view)
