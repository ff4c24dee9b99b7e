"""Blobs: the states of one block, found at one depth or up to it, as bytes that tell what they are.

A blob is one zstd frame with a content checksum. Inside: a header (little endian: 4 bytes ``fblb``, or ``fall`` for all
states up to the depth, uint32 depth, uint32 block, uint64 states) and the packed lines
(kernel/include/farthest/packing.hpp). What is damaged, cut off or of another place raises LostStateError: it is never
read as an empty block.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import LostStateError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.worker.bitmaps import Bitmap

HEADER = struct.Struct("<4sIIQ")
FOUND, VISITED = b"fblb", b"fall"
"""Kinds of blobs: of the states at a depth, and of all states up to it."""

_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 1,
    zstd.CompressionParameter.checksum_flag: 1,
}


def encode_blob(
    kernel: _kernel.Space, depth: int, block: int, states: int, bitmap: Bitmap, kind: bytes = FOUND
) -> bytes:
    """The blob of a block's bitmap, which has ``states`` states."""
    packed = _kernel.pack(kernel, bitmap.layer)
    return zstd.compress(HEADER.pack(kind, depth, block, states) + packed, options=_OPTIONS)


def decode_blob(
    kernel: _kernel.Space,
    depth: int,
    block: int,
    blob: Buffer,
    bitmaps: Sequence[Bitmap],
    kind: bytes = FOUND,
) -> int:
    """Adds the blob's states to each of the bitmaps of that block; how many they are. Raises LostStateError."""
    most = HEADER.size + 8 + bitmaps[0].bytes
    try:
        size = zstd.get_frame_info(blob).decompressed_size or 0
        if not HEADER.size <= size <= most:
            raise ValueError(f"it would hold {size} bytes, expected {HEADER.size} to {most}")
        data = memoryview(zstd.decompress(blob))
        is_kind, at_depth, of_block, states = HEADER.unpack_from(data)
        if (is_kind, at_depth, of_block) != (kind, depth, block):
            raise ValueError(f"it is {is_kind!r} of block {of_block} at depth {at_depth}")
        found = _kernel.unpack(kernel, data[HEADER.size :], [bitmap.layer for bitmap in bitmaps])
        if found != states:
            raise ValueError(f"it holds {found} states and says {states}")
    except (zstd.ZstdError, ValueError, struct.error) as error:
        raise LostStateError(f"the blob of block {block} at depth {depth} is damaged: {error}") from error
    return int(states)
