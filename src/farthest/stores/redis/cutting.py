"""How a space is cut into the blocks that workers step."""

from __future__ import annotations

from itertools import groupby
from math import gcd
from typing import TYPE_CHECKING

from farthest.stores.blocks import Cut, cut
from farthest.stores.memory.gather_store import searches_in_place

if TYPE_CHECKING:
    from farthest.spaces.contract import GatherSpace

MOST_BLOCKS = 4000
"""Blocks, and so messages, of a layer. Larger blocks are made where a space would have more of them: each costs
workers, Redis and the coordinator some milliseconds whatever its size, and its blob is a request to their place."""


def cut_for_workers(space: GatherSpace, size: int) -> Cut:
    """Cuts a space as ``cut`` does, into larger blocks where a layer would have more than MOST_BLOCKS. Where the depths
    of states alternate with the colours of their shards, a block has shards of one colour if possible, so that half of
    the blocks are in a layer."""
    made = cut(space, size)
    kernel = made.kernel
    colours = kernel.colours if searches_in_place(kernel, space.keys_of(space.origins)) else []
    run = gcd(*(len(list(shards)) for _, shards in groupby(colours)))  # 0 without colours
    if run == 1 and made.per_block > 1:
        run = 0  # such blocks have both
    least = -(-kernel.shards // (2 * MOST_BLOCKS if run else MOST_BLOCKS))
    if not run:
        return Cut(kernel, made.classes, max(made.per_block, least))
    sizes = [size for size in range(1, run + 1) if run % size == 0]
    fitting = [size for size in sizes if least <= size <= max(made.per_block, least)]
    enough = [size for size in sizes if size >= least]
    per_block = max(fitting) if fitting else min(enough) if enough else -(-kernel.shards // MOST_BLOCKS)
    return Cut(kernel, made.classes, per_block)
