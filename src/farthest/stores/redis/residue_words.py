"""The words of a residue map of an attempt, block by block: the blobs of its layers whose number is not 0, joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from farthest.stores.bitmaps import Bitmap
from farthest.stores.blobs.blob import decode_blob
from farthest.stores.redis.part_records import WordCut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest import _kernel
    from farthest.stores.blocks import Blocks


def word_cut(kernel: _kernel.Space, blocks: Blocks, planes: int) -> WordCut:
    """The parts of a map of ``planes`` bits a key, one a block."""
    each = kernel.words_per_shard * planes
    return WordCut(kernel.shards * each, blocks.per_block * each)


def block_words(
    kernel: _kernel.Space,
    blocks: Blocks,
    block: int,
    blobs: Iterable[tuple[int, bytes]],
    numbers: Mapping[int, int],
    planes: int,
) -> tuple[NDArray[np.uint64], int]:
    """The words of a block (map_files/form.py), and how many states have a number there that is not 0. ``blobs``:
    (depth, blob), of the block; ``numbers``: by depth. Raises LostStateError where one is damaged."""
    bitmaps = [Bitmap(kernel, blocks.shards(block)) for _ in range(planes)]
    for depth, blob in blobs:
        chosen = [bitmap for plane, bitmap in enumerate(bitmaps) if numbers[depth] >> plane & 1]
        decode_blob(kernel, depth, block, blob, chosen)
    words = np.stack([np.asarray(bitmap.words, dtype=np.uint64) for bitmap in bitmaps], axis=1)
    states = int(np.bitwise_count(np.bitwise_or.reduce(words, axis=1)).sum(dtype=np.int64))
    return words.reshape(-1), states
