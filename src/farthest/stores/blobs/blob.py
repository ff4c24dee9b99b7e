"""Blobs: the states of one block, found at one depth or up to it, as bytes with a header.

A blob is one zstd frame with a content checksum. Inside: a header (little endian: 4 bytes for the kind, uint32 depth,
uint32 block, uint64 states) and a body: the packed lines of a bitmap (kernel/include/farthest/packing.hpp), or a run
(kernel/include/farthest/run_blob.hpp). What is damaged, cut off or of another place raises LostStateError: it is never
read as an empty block.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.environment import BLOCK_SIZE
from farthest.errors import LostStateError, StorageError
from farthest.frames import frame_of, longest, unpacked
from farthest.sizes import bytes_text

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.stores.bitmaps import Bitmap

HEADER = struct.Struct("<4sIIQ")
FOUND, VISITED, SENT = b"fblb", b"fall", b"fout"
"""Kinds of blobs: of the states at a depth, of all states up to it, of what a block's states lead to in another."""

MOST_BYTES = 2**30
"""Most bytes of a blob's body, whatever the records say: a block should have some MiB."""


def seal(kind: bytes, depth: int, block: int, states: int, body: Buffer) -> bytes:
    """The blob with this header and body. Raises StorageError where the body is too long."""
    size = memoryview(body).nbytes
    if size > MOST_BYTES:
        raise StorageError(
            f"block {block} at depth {depth} has {bytes_text(size)} of states, at most {bytes_text(MOST_BYTES)} are "
            f"possible; choose a smaller {BLOCK_SIZE.name}"
        )
    header = HEADER.pack(kind, depth, block, states)
    return frame_of(b"".join((header, body)), checksum=True)


def longest_blob(body: int) -> int:
    """No blob with a body of so many bytes is longer."""
    return longest(HEADER.size + min(body, MOST_BYTES))


def unseal(kind: bytes, depth: int, block: int, blob: Buffer, most: int) -> tuple[int, memoryview]:
    """States and body of a blob, which must have been sealed as that; the body has at most ``most`` bytes. Raises
    LostStateError."""
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


def encode_blob(
    kernel: _kernel.Space, depth: int, block: int, states: int, bitmap: Bitmap, kind: bytes = FOUND
) -> bytes:
    """The blob of a block's bitmap, which has ``states`` states."""
    return seal(kind, depth, block, states, _kernel.pack(kernel, bitmap.layer))


def decode_blob(
    kernel: _kernel.Space,
    depth: int,
    block: int,
    blob: Buffer,
    bitmaps: Sequence[Bitmap],
    kind: bytes = FOUND,
) -> int:
    """Adds the blob's states to each of the bitmaps of that block; how many they are. Raises LostStateError."""
    states, packed = unseal(kind, depth, block, blob, 8 + bitmaps[0].bytes)
    try:
        found = _kernel.unpack(kernel, packed, [bitmap.layer for bitmap in bitmaps])
        if found != states:
            raise ValueError(f"it holds {found} states and says {states}")
    except ValueError as error:
        raise damaged(depth, block, error) from error
    return states
