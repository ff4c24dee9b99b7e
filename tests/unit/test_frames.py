"""zstd frames: what was compressed comes back, and a frame that others made takes no more room than is expected."""

from __future__ import annotations

import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.frames import frame_of, unpacked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@for_each("size", [0, 1, 2**16 - 1, 2**16, 3 * 2**16 + 1])
@for_each("checksum", [False, True])
def test_what_was_compressed_comes_back(size: int, checksum: bool) -> None:
    data = bytes(index * index % 251 for index in range(size))
    frame = frame_of(data, checksum=checksum)
    assert unpacked(frame, size, size) == data
    assert zstd.decompress(frame) == data
    assert unpacked(frame, size + 10) == data


def lying(frame: bytes, size: int) -> bytes:
    """A frame of 2^16 + 256 bytes or more whose header says ``size``, in the field of four bytes that it has."""
    descriptor = frame[4]
    assert descriptor >> 6 == 2, "four bytes for the size"
    at = 5 if descriptor & 0x20 else 6
    return frame[:at] + size.to_bytes(4, "little") + frame[at + 4 :]


SIZE = 10**5
GOOD = frame_of(bytes(SIZE))
LARGE = frame_of(bytes(2**26))
HOSTILE = {
    "larger": LARGE,
    "smaller": frame_of(bytes(SIZE - 1)),
    "another after it": GOOD + LARGE,
    "itself after it": GOOD + GOOD,
    "a byte after it": GOOD + b"x",
    "an empty frame before it": frame_of(b"") + GOOD,
    "a frame to be skipped before it": b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + GOOD,
    "cut off": GOOD[:-1],
    "only its head": GOOD[:9],
    "empty": b"",
    "no frame": b"nonsense",
    "larger than it says": lying(LARGE, SIZE),
    "smaller than it says": lying(frame_of(bytes(SIZE + 1)), SIZE),
    "of no stated size": zstd.ZstdCompressor().compress(bytes(SIZE), mode=zstd.ZstdCompressor.FLUSH_FRAME)[:4]
    + b"\0\x58"
    + b"\1\0\0",
    "of a window of 2 GiB": GOOD[:4] + b"\x80\xa8" + SIZE.to_bytes(4, "little") + b"\1\0\0",
}


@for_each("name", HOSTILE)
def test_no_frame_takes_more_room_than_is_expected(name: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"bytes|frame"):
            unpacked(HOSTILE[name], SIZE, SIZE)
        assert tracemalloc.get_traced_memory()[1] < 10 * SIZE
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=40), st.integers(0, 60))
def test_any_bytes_are_read_or_a_value_error(data: bytes, place: int) -> None:
    frame = bytearray(frame_of(b"abcabcabcd" * 5, checksum=True))
    frame[place % len(frame) : place % len(frame) + len(data)] = data
    try:
        held = unpacked(frame, 100)
    except ValueError:
        return
    assert len(held) <= 100
