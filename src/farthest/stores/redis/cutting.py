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

ENOUGH_BLOCKS = 256
GROWTH = 4
"""Blocks are up to so many times as large as asked for where a layer has enough of them for many processes: sliding-2x7
takes a third less of the processors in blocks of 16 MiB than in blocks of 4."""


def cut_for_workers(space: GatherSpace, size: int) -> Cut:
    """Cuts a space into blocks of shards of at most ``size`` bytes. A block has as many shards as fit that size, more
    where a layer has ENOUGH_BLOCKS or would have more than MOST_BLOCKS. Where the depths of states alternate with the
    colours of their shards, a block has shards of one colour if possible: half of the blocks are in a layer then."""
    made = cut(space, size)
    kernel = made.kernel
    colours = kernel.colours if searches_in_place(kernel, space.keys_of(space.origins)) else []
    run = gcd(*(len(list(shards)) for _, shards in groupby(colours)))  # 0 without colours
    if run == 1 and made.per_block > 1:
        run = 0  # such blocks have both
    of_layer = kernel.shards // 2 if run else kernel.shards
    least = -(-of_layer // MOST_BLOCKS)
    most = max(least, made.per_block, min(GROWTH * made.per_block, of_layer // ENOUGH_BLOCKS))
    sizes = [one for one in range(least, run + 1) if run % one == 0]
    fitting = [one for one in sizes if one <= most]
    if run and not sizes:  # runs of one colour are too short
        return Cut(kernel, made.classes, -(-kernel.shards // MOST_BLOCKS))
    return Cut(kernel, made.classes, max(fitting) if fitting else min(sizes) if sizes else most)
