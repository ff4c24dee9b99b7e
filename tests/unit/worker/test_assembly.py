"""Maps put together from a checkpoint and blobs: what is read when, and what does not fit."""

from collections.abc import Iterator

import pytest

from cases import for_each
from farthest.errors import LostStateError, StorageError
from farthest.models.chunks import Chunk
from farthest.stores.blobs.blob import encode_blob
from farthest.stores.blocks import Bitmap, Blocks
from farthest.stores.contract import Base
from farthest.stores.redis.map_parts import BitmapAssembly, parts
from farthest.stores.redis.records import NO_BASE, NO_JOB, Fold
from run_cases import base_of, distances_of
from store_cases import case

OF = case("slides", 2)
KEYS = OF.kernel.keys


def assembled(
    per_block: int, depth: int, base: Base | None, size: int, threads: int = 1, *blobs: tuple[int, bytes]
) -> Iterator[Chunk]:
    fold = Fold(depth, NO_BASE, (1,) * (depth + 1), -1, NO_JOB, "")
    made = BitmapAssembly(OF.kernel, Blocks(OF.kernel.shards, per_block), fold, lambda block: blobs)
    return made.chunks(size, threads, base)


@for_each("size", [1, 7, 64, KEYS - 1, KEYS])
def test_parts_are_cut_from_the_chunks_that_hold_them(size: int) -> None:
    whole, base = distances_of(OF, 5), base_of(OF, 5, size)
    for first, end in ((0, KEYS), (3, 4), (size // 2, min(KEYS, 3 * size)), (KEYS - 1, KEYS), (5, 5)):
        found = list(parts(base, first, end))
        assert b"".join(bytes(part) for _, part in found) == whole[first:end]
        assert [key for key, _ in found] == sorted({key for key, _ in found})


@for_each("per_block", [1, 2, 5, 30])
@for_each("size", [13, 100, 360])
def test_the_base_is_not_read_behind_what_was_given(per_block: int, size: int) -> None:
    """What has been given may have been replaced: see Maps.checkpoint."""
    given, base = 0, base_of(OF, 5, size)

    def careful(key: int) -> Chunk:
        chunk = base(key)
        assert chunk.first >= given
        return chunk

    whole = b""
    for one in assembled(per_block, 7, careful, size):
        assert one.first == given
        given = one.last + 1
        whole += bytes(memoryview(one.distances))
    assert whole == distances_of(OF, 5)


def test_a_base_of_two_bytes_a_distance_is_read_and_written() -> None:
    """Once a map is deeper than one byte can tell, chunks of the last checkpoint may still be of one."""
    whole = distances_of(OF, 5)
    wide = b"".join((65535 if byte == 255 else byte).to_bytes(2, "little") for byte in whole)
    half = KEYS // 2

    def base(key: int) -> Chunk:
        if key < half:
            return Chunk(0, half - 1, "uint8", whole[:half], depth=5)
        return Chunk(half, KEYS - 1, "uint16", wide[2 * half :], depth=5)

    assert list(assembled(3, 300, base, KEYS, 2)) == [Chunk(0, KEYS - 1, "uint16", wide)]
    assert list(assembled(3, 254, base, KEYS)) == [Chunk(0, KEYS - 1, "uint8", whole)]


def test_a_base_that_is_deeper_than_the_map_is_damaged() -> None:
    with pytest.raises(StorageError):
        list(assembled(3, 2, base_of(OF, 5, 100), 50))


def test_a_damaged_blob_is_not_left_out() -> None:
    blob = encode_blob(OF.kernel, 1, 0, 0, Bitmap(OF.kernel, range(3)))
    for depth, wrong in ((1, blob[:-1]), (2, blob), (1, b"")):
        with pytest.raises(LostStateError):
            list(assembled(3, 5, None, 50, 1, (depth, wrong)))
