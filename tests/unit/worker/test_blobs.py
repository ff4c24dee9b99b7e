"""Blobs, blocks, records and the cache: what stores in Redis are made of."""

import random
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrangements import arrangement_space
from cases import for_each
from farthest import _kernel
from farthest.errors import LostStateError, StorageError
from farthest.puzzles.catalogue import load
from farthest.stores.blobs import blob
from farthest.stores.blobs.blob import FOUND, VISITED, BlobCache, decode_blob, encode_blob
from farthest.stores.blocks import MOST_SHARDS, Bitmap, Blocks, cut, zeros
from farthest.stores.redis.records import FoundBlob, Pointer, Record
from store_cases import case

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

OF = case("two colours", 2)
SHARDS = range(3, 6)


def bitmap_of(keys: list[int], shards: range = SHARDS) -> Bitmap:
    bitmap = Bitmap(OF.kernel, shards)
    for key in keys:
        _kernel.insert(OF.kernel, bitmap.layer, key)
    return bitmap


def some_keys(number: int) -> list[int]:
    per_shard = OF.kernel.keys // OF.kernel.shards
    return sorted(
        random.Random(number).sample(range(SHARDS.start * per_shard, SHARDS.stop * per_shard), number)
    )


@for_each("number", [0, 1, 5, 17])
def test_what_was_encoded_is_decoded_into_each_bitmap(number: int) -> None:
    keys = some_keys(number)
    blob = encode_blob(OF.kernel, 7, 1, number, bitmap_of(keys))
    one, other = bitmap_of([]), bitmap_of(some_keys(2))
    assert decode_blob(OF.kernel, 7, 1, blob, [one, other]) == number
    assert _kernel.keys_of(OF.kernel, one.layer, 1000) == keys
    assert _kernel.keys_of(OF.kernel, other.layer, 1000) == sorted({*keys, *some_keys(2)})


def test_any_byte_changed_and_any_length_is_noticed() -> None:
    blob = encode_blob(OF.kernel, 7, 1, 9, bitmap_of(some_keys(9)))
    for place in range(len(blob)):
        for bit in range(8):
            broken = bytearray(blob)
            broken[place] ^= 1 << bit
            with pytest.raises(LostStateError, match="the blob of block 1 at depth 7 is damaged"):
                decode_blob(OF.kernel, 7, 1, bytes(broken), [bitmap_of([])])
        with pytest.raises(LostStateError, match="the blob of block 1 at depth 7 is damaged"):
            decode_blob(OF.kernel, 7, 1, blob[:place], [bitmap_of([])])
    for more in (b"x", blob):
        with pytest.raises(LostStateError):
            decode_blob(OF.kernel, 7, 1, blob + more, [bitmap_of([])])


@for_each(("depth", "block", "kind"), [(8, 1, FOUND), (7, 2, FOUND), (7, 1, VISITED)])
def test_a_blob_of_another_place_is_noticed(depth: int, block: int, kind: bytes) -> None:
    blob = encode_blob(OF.kernel, depth, block, 3, bitmap_of(some_keys(3)), kind)
    with pytest.raises(LostStateError, match=f"of block {block} at depth {depth}"):
        decode_blob(OF.kernel, 7, 1, blob, [bitmap_of([])])


def test_a_blob_that_says_too_much_is_noticed() -> None:
    """Such as others may write: its checksums are right."""
    shards = [one for one, _ in _kernel.encode_shards(OF.kernel, bitmap_of(some_keys(3)).layer)]
    long = bytes(_kernel.longest_shard_blob(OF.kernel) + 1)
    others = ([b"", b"", b""], [*shards[:2], long], shards[:2], [*shards, b""])
    cases = [(4, shards), (0, shards), *((3, other) for other in others)]
    for states, of in cases:
        with pytest.raises(LostStateError, match="the blob of block 1 at depth 7 is damaged"):
            decode_blob(OF.kernel, 7, 1, blob.join_shards(7, 1, states, of), [bitmap_of([])])
    assert decode_blob(OF.kernel, 7, 1, blob.join_shards(7, 1, 3, shards), [bitmap_of([])]) == 3


def test_each_shard_can_be_read_alone() -> None:
    keys = some_keys(17)
    whole = encode_blob(OF.kernel, 7, 1, 17, bitmap_of(keys))
    table = blob.read_table(OF.kernel, 7, 1, whole[: blob.head_bytes(3)], 3)
    assert (table.states, table.starts[0], table.starts[-1]) == (17, blob.head_bytes(3), len(whole))
    found = []
    for number, shard in enumerate(SHARDS):
        bitmap = bitmap_of([], range(shard, shard + 1))
        _kernel.decode_shards(OF.kernel, [table.shard(whole, number)], [bitmap.layer])
        found += _kernel.keys_of(OF.kernel, bitmap.layer, 1000)
    assert found == keys
    assert len(whole) <= blob.longest_block_blob(OF.kernel, 3)


def test_no_blob_has_more_than_a_gibibyte_whatever_its_record_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob, "MOST_BYTES", 1000)
    _, body = blob.unseal(FOUND, 7, 1, blob.seal(FOUND, 7, 1, 3, bytes(1000)), 2**60)
    assert bytes(body) == bytes(1000)
    longer = zstd.compress(blob.HEADER.pack(FOUND, 7, 1, 2**60) + bytes(1001))
    with pytest.raises(LostStateError, match="expected 20 to 1020"):
        blob.unseal(FOUND, 7, 1, longer, 2**60)
    with pytest.raises(
        StorageError, match=r"block 1 at depth 7 has 1001 bytes of states.*FARTHEST_BLOCK_SIZE"
    ):
        blob.seal(FOUND, 7, 1, 3, bytes(1001))
    with pytest.raises(StorageError, match="block 1 at depth 7 has 1001 bytes"):
        blob.join_shards(7, 1, 3, [bytes(1000), bytes(1)])


# Bitmaps


@pytest.mark.parametrize("used", [False, True])
def test_memory_is_zero_and_writable(used: bool) -> None:
    for size in (0, 1, 4097, 2**22):
        memory = zeros(size, used=used)
        assert len(memory) == size
        assert bytes(memory[:5000]) == bytes(min(size, 5000))
        if size:
            memory[size - 1] = 1


def test_a_part_of_a_bitmap_is_its_memory() -> None:
    bitmap = bitmap_of([])
    first = bitmap.shards.start * OF.kernel.keys // OF.kernel.shards
    one = bitmap.part(range(bitmap.shards.start, bitmap.shards.start + 1))
    _kernel.insert(OF.kernel, one, first)
    assert _kernel.population(OF.kernel, bitmap.layer) == [1, *[0] * (len(bitmap.shards) - 1)]
    assert bitmap.bytes == 3 * (OF.kernel.words_per_shard * 8 + OF.kernel.lines_per_shard)


# Blocks


@given(st.integers(1, 50), st.integers(1, 60))
def test_blocks_hold_each_shard_once(shards: int, per_block: int) -> None:
    blocks = Blocks(shards, per_block)
    assert [one for block in range(blocks.count) for one in blocks.shards(block)] == list(range(shards))
    for block in range(blocks.count):
        assert blocks.of(blocks.shards(block)) == [block]
    assert blocks.of(reversed(range(shards))) == list(range(blocks.count))
    assert blocks.of([]) == []
    for block in (-1, blocks.count):
        with pytest.raises(IndexError, match=f"block {block} of {blocks.count}"):
            blocks.shards(block)


def test_spaces_are_cut_into_blocks_of_a_size() -> None:
    space = arrangement_space(load("8-puzzle"))
    whole = cut(space, 2**30)
    assert (whole.classes, whole.per_block) == (1, space.kernel.shards)
    classes = []
    for size in (2**14, 2**10, 2**9):
        made = cut(space, size)
        assert made.kernel.words_per_shard * 8 * made.per_block <= size
        assert made.kernel.words_per_shard * 8 * (made.per_block + 1) > size
        classes.append(made.classes)
    assert classes == sorted(classes)
    smallest = cut(space, 1)
    assert (smallest.classes, smallest.per_block) == (space.kernel.shard_levels, 1)


# Records


@pytest.mark.slow
def test_a_size_that_is_too_small_does_not_make_too_many_shards() -> None:
    made = cut(arrangement_space(load("sliding-4x4")), 1)
    assert MOST_SHARDS / 16 < made.kernel.shards <= MOST_SHARDS
    assert made.per_block == 1


def test_records_and_pointers_are_read_as_written() -> None:
    for record in (Record.new({}), Record.new({4: 1, 7: 10**12}), Record("0123abcd", {0: 1})):
        assert Record.of(record.text(3, 5).encode(), 3, 5) == record
    assert Record.new({}).nonce == ""
    assert Record.new({1: 1}).nonce != Record.new({1: 1}).nonce
    for pointer in (Pointer(0, ()), Pointer(12, (FoundBlob(7, "00000abc", 9), FoundBlob(12, "00000def", 3)))):
        assert Pointer.of(pointer.text(5).encode(), 5) == pointer


def test_records_that_are_damaged_or_of_another_place_are_noticed() -> None:
    record, pointer = Record.new({4: 12}), Pointer(12, (FoundBlob(12, "00000abc", 9),))
    text = record.text(3, 5).encode()
    for depth, block in ((3, 6), (4, 5), (5, 3)):
        with pytest.raises(LostStateError, match=f"record of block {block} at depth {depth} is damaged"):
            Record.of(text, depth, block)
    with pytest.raises(LostStateError, match="what block 6 has visited"):
        Pointer.of(pointer.text(5).encode(), 6)
    for place in range(len(text)):
        for broken in (text[:place], text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]):
            with pytest.raises(LostStateError):
                Record.of(broken, 3, 5)
    body = b'["",[]]'
    with pytest.raises(LostStateError):
        Record.of(f"{zlib.crc32(body):08x} ".encode() + body, 3, 5)


# The cache


def test_the_cache_keeps_what_was_used_last() -> None:
    size = bitmap_of([]).bytes
    cache, bitmaps = BlobCache(3 * size), {name: bitmap_of([]) for name in "abcd"}
    for name in "abc":
        cache.put(name, bitmaps[name])
    assert cache.get("a", Bitmap) is bitmaps["a"]
    cache.put("d", bitmaps["d"])
    assert [cache.get(name, Bitmap) is bitmaps[name] for name in "abcd"] == [True, False, True, True]
    cache.put("a", bitmaps["b"])  # what a name stands for does not change
    assert cache.get("a", Bitmap) is bitmaps["a"]


def test_what_is_too_large_is_not_kept() -> None:
    small, large = bitmap_of([]), Bitmap(OF.kernel, range(6))
    cache = BlobCache(small.bytes)
    cache.put("small", small)
    cache.put("large", large)
    assert cache.get("large", Bitmap) is None
    assert cache.get("small", Bitmap) is small
    nothing = BlobCache(0)
    nothing.put("small", small)
    assert nothing.get("small", Bitmap) is None


def test_threads_may_share_a_cache() -> None:
    bitmaps = [bitmap_of([]) for _ in range(20)]
    cache = BlobCache(5 * bitmaps[0].bytes)

    def use(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(300):
            number = rng.randrange(20)
            found = cache.get(str(number), Bitmap)
            assert found in (None, bitmaps[number])
            cache.put(str(number), bitmaps[number])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))
    assert sum(cache.get(str(number), Bitmap) is not None for number in range(20)) == 5
