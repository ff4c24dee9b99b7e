"""Reading a checkpoint block by block: the bitmaps that an attempt needs to go on from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import DamagedMapError
from farthest.models.chunks import Unit
from farthest.stores.bitmaps import Bitmap
from farthest.stores.distances import is_within, reached, typed

if TYPE_CHECKING:
    from farthest.stores.blocks import Blocks


def read_blocks(
    kernel: _kernel.Space,
    blocks: Blocks,
    depth: int,
    depths: Sequence[int],
    chunks: Iterable[tuple[int, Unit, memoryview]],
    states: int,
    threads: int,
) -> Iterator[tuple[int, dict[int, Bitmap]]]:
    """For each block that has states, in order, a bitmap for each of ``depths`` (-1: of all states found), from the
    ``chunks`` of a checkpoint at ``depth``: first key, unit, distances, from key 0 on without gaps.

    Raises DamagedMapError when they are not a map of ``states`` states up to that depth; at the end, when all is read.
    """
    found, block, bitmaps = 0, -1, dict[int, Bitmap]()
    keys_per_block = kernel.keys // kernel.shards * blocks.per_block
    for first, unit, data in chunks:
        here = reached(data, unit)
        if not here:  # as most of a checkpoint that was taken early
            continue
        found += here
        if not is_within(data, unit, depth):
            raise DamagedMapError(f"the chunk from key {first} has distances beyond depth {depth}")
        distances = typed(data, unit)
        key, end = first, first + len(distances)
        while key < end:
            if key // keys_per_block != block:
                if bitmaps:
                    yield block, bitmaps
                block = key // keys_per_block
                bitmaps = {one: Bitmap(kernel, blocks.shards(block)) for one in depths}
            until = min(end, (block + 1) * keys_per_block)
            part = distances[key - first : until - first]
            for known, bitmap in bitmaps.items():
                _kernel.mark(kernel, bitmap.layer, key, part, known, threads)
            key = until
    if bitmaps:
        yield block, bitmaps
    if found != states:
        raise DamagedMapError(
            f"the chunks hold {found:,} distances, the layers up to depth {depth} {states:,}"
        )
