"""Blobs: the states of one block, found at one depth or up to it, as bytes with a header.

The header (little endian): 4 bytes for the kind, uint32 depth, uint32 block, uint64 states. With it is a sorted run, or
the bitmaps of shards:

    run       one zstd frame, with a checksum of its contents: header, run (kernel/include/farthest/run_blob.hpp)
    bitmaps   header; for each shard of the block uint32 bytes of its blob; XXH3 of all this, uint64; then the blobs
              (kernel/include/farthest/shard_blobs.hpp), which have checksums of their own. So a part can be read alone

What is damaged, cut off or of another place raises LostStateError: it is never read as an empty block.
"""

from __future__ import annotations

import struct
import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol, TypeVar

from farthest import _kernel
from farthest.environment import BLOCK_SIZE
from farthest.errors import LostStateError, StorageError
from farthest.frames import frame_of, longest, unpacked
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.stores.blocks import Bitmap


HEADER = struct.Struct("<4sIIQ")
CHECKSUM = struct.Struct("<Q")
FOUND, VISITED, SENT = b"fblb", b"fall", b"fout"
"""Kinds of blobs: of the states at a depth, of all states up to it, of what a block's states lead to in another."""

MOST_BYTES = 2**30
"""Most bytes of a blob's body, whatever the records say: a block should have some MiB."""


def seal(kind: bytes, depth: int, block: int, states: int, body: Buffer) -> bytes:
    """The blob of a run, with this header and body. Raises StorageError where the body is too long."""
    _check_size(depth, block, memoryview(body).nbytes)
    header = HEADER.pack(kind, depth, block, states)
    return frame_of(b"".join((header, body)), checksum=True)


def _check_size(depth: int, block: int, size: int) -> None:
    if size > MOST_BYTES:
        raise StorageError(
            f"block {block} at depth {depth} has {bytes_text(size)} of states, at most {bytes_text(MOST_BYTES)} are "
            f"possible; choose a smaller {BLOCK_SIZE.name}"
        )


def longest_blob(body: int) -> int:
    """No blob of a run with a body of so many bytes is longer."""
    return longest(HEADER.size + min(body, MOST_BYTES))


def unseal(kind: bytes, depth: int, block: int, blob: Buffer, most: int) -> tuple[int, memoryview]:
    """States and body of the blob of a run, which must have been sealed as that; the body has at most ``most`` bytes.
    Raises LostStateError."""
    try:
        data = memoryview(unpacked(blob, HEADER.size + min(most, MOST_BYTES), HEADER.size))
        is_kind, at_depth, of_block, states = HEADER.unpack_from(data)
        if (is_kind, at_depth, of_block) != (kind, depth, block):
            raise ValueError(f"it is {is_kind!r} of block {of_block} at depth {at_depth}")
    except (ValueError, struct.error) as error:
        raise damaged(depth, block, error) from error
    return int(states), data[HEADER.size :]


def damaged(depth: int, block: int, what: object) -> LostStateError:
    """The error of a blob that is not what it should be."""
    return LostStateError(f"the blob of block {block} at depth {depth} is damaged: {what}")


# Bitmaps


@dataclass(frozen=True, slots=True)
class ShardTable:
    """Where the shards of a block are in its blob. ``starts``: for each shard the first byte of its blob, then the
    bytes of the whole; ``states``: of the block."""

    starts: list[int]
    states: int

    @property
    def bytes(self) -> int:
        """Bytes of memory that it takes, about."""
        return 40 * len(self.starts)

    def shard(self, blob: Buffer, number: int) -> memoryview:
        """The blob of a shard in the whole blob of its block."""
        return memoryview(blob)[self.starts[number] : self.starts[number + 1]]


def head_bytes(shards: int) -> int:
    """Bytes of a block's blob before those of its shards."""
    return HEADER.size + 4 * shards + CHECKSUM.size


def longest_block_blob(kernel: _kernel.Space, shards: int) -> int:
    """No blob of so many shards is longer."""
    return head_bytes(shards) + min(shards * _kernel.longest_shard_blob(kernel), MOST_BYTES)


def join_shards(depth: int, block: int, states: int, shards: Sequence[Buffer], kind: bytes = FOUND) -> bytes:
    """The blob of a block with these blobs of its shards. Raises StorageError where it is too long."""
    sizes = [memoryview(shard).nbytes for shard in shards]
    _check_size(depth, block, sum(sizes))
    head = HEADER.pack(kind, depth, block, states) + struct.pack(f"<{len(sizes)}I", *sizes)
    return b"".join((head, CHECKSUM.pack(_kernel.xxh3(head)), *shards))


def read_table(
    kernel: _kernel.Space, depth: int, block: int, blob: Buffer, shards: int, kind: bytes = FOUND
) -> ShardTable:
    """The table of a block's blob, of which the first ``head_bytes`` are enough. Raises LostStateError."""
    head = memoryview(blob)[: head_bytes(shards)]
    try:
        if len(head) < head_bytes(shards):
            raise ValueError("it is cut off")
        (checksum,) = CHECKSUM.unpack(head[-CHECKSUM.size :])
        if checksum != _kernel.xxh3(head[: -CHECKSUM.size]):
            raise ValueError("its checksum is wrong")
        is_kind, at_depth, of_block, states = HEADER.unpack_from(head)
        if (is_kind, at_depth, of_block) != (kind, depth, block):
            raise ValueError(f"it is {is_kind!r} of block {of_block} at depth {at_depth}")
        sizes = struct.unpack_from(f"<{shards}I", head, HEADER.size)
        if max(sizes) > _kernel.longest_shard_blob(kernel) or sum(sizes) > MOST_BYTES:
            raise ValueError("it says that it has more bytes than such shards can have")
    except ValueError as error:
        raise damaged(depth, block, error) from error
    return ShardTable(list(accumulate(sizes, initial=len(head))), states)


def encode_blob(
    kernel: _kernel.Space, depth: int, block: int, states: int, bitmap: Bitmap, kind: bytes = FOUND
) -> bytes:
    """The blob of a block's bitmap, which has ``states`` states."""
    shards = [blob for blob, _ in _kernel.encode_shards(kernel, bitmap.layer)]
    return join_shards(depth, block, states, shards, kind)


def decode_blob(
    kernel: _kernel.Space,
    depth: int,
    block: int,
    blob: Buffer,
    bitmaps: Sequence[Bitmap],
    kind: bytes = FOUND,
) -> int:
    """Adds the blob's states to each of the bitmaps of that block; how many they are. Raises LostStateError; then the
    bitmaps hold anything."""
    shards = bitmaps[0].shards
    table = read_table(kernel, depth, block, blob, len(shards), kind)
    try:
        if memoryview(blob).nbytes != table.starts[-1]:
            raise ValueError(f"it has {memoryview(blob).nbytes} bytes, expected {table.starts[-1]}")
        parts = [table.shard(blob, number) for number in range(len(shards))]
        found = _kernel.decode_shards(kernel, parts, [bitmap.layer for bitmap in bitmaps])
        if found != table.states:
            raise ValueError(f"it holds {found} states and says {table.states}")
    except ValueError as error:
        raise damaged(depth, block, error) from error
    return found


class Contents(Protocol):
    """What a blob holds: a bitmap or a sorted run."""

    @property
    def bytes(self) -> int:
        """Bytes of memory that it may take."""


Kind = TypeVar("Kind", bound=Contents)


class BlobCache:
    """The contents of blobs that were read or written lately, so that a process need not fetch them again. A blob never
    changes once it has a name, so what is kept under its name cannot be stale; losing it costs only time.

    These are the contents used last, of at most ``size`` bytes together, by the names of their blobs. Safe to share
    among threads; the contents must not be changed."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._bytes = 0
        self._lock = threading.Lock()
        self._contents: OrderedDict[Hashable, Contents] = OrderedDict()

    @property
    def size(self) -> int:
        """Most bytes that it keeps."""
        return self._size

    def get(self, name: Hashable, kind: type[Kind]) -> Kind | None:
        """The contents of a blob of that kind, if they are here."""
        with self._lock:
            found = self._contents.get(name)
            if not isinstance(found, kind):
                return None
            self._contents.move_to_end(name)
            return found

    def put(self, name: Hashable, contents: Contents) -> None:
        """Keeps the contents of a blob, in place of those that were used longest ago."""
        with self._lock:
            if name in self._contents or contents.bytes > self._size:
                return
            self._contents[name] = contents
            self._bytes += contents.bytes
            while self._bytes > self._size:
                _, dropped = self._contents.popitem(last=False)
                self._bytes -= dropped.bytes
