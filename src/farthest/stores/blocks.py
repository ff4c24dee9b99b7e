"""Blocks: the ranges of neighbouring shards that are stepped, stored and sent again as one.

The kernel's shards are given by the space: one for each placing of the first labels. A block has as many of them as fit
its size, so that neither a blob nor a step is too small to be worth its message, nor too large to be moved at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farthest import _kernel
    from farthest.spaces.contract import GatherSpace


class Blocks:
    """Shards 0 to ``shards`` - 1 in blocks of ``per_block``; the last block may be smaller."""

    def __init__(self, shards: int, per_block: int) -> None:
        self._shards = shards
        self.per_block = per_block
        self.count = -(-shards // per_block)

    def shards(self, block: int) -> range:
        """The shards of a block. Raises IndexError when there is no such block."""
        if not 0 <= block < self.count:
            raise IndexError(f"block {block} of {self.count}")
        return range(block * self.per_block, min((block + 1) * self.per_block, self._shards))

    def of(self, shards: Iterable[int]) -> list[int]:
        """The blocks that hold any of the shards, ascending."""
        return sorted({shard // self.per_block for shard in shards})


@dataclass(frozen=True, slots=True)
class Cut:
    """A kernel's space whose shards are the places of the first ``classes`` labels, ``per_block`` of them in a
    block."""

    kernel: _kernel.Space
    classes: int
    per_block: int


MOST_SHARDS = 2**20
"""Every process keeps a kilobyte or two of each shard: more of them would need more memory than larger blocks."""


def cut(space: GatherSpace, size: int) -> Cut:
    """Cuts a space into blocks whose bitmaps have at most ``size`` bytes, as far as its labels allow it and that does
    not make too many shards."""
    classes, kernel = 1, space.kernel
    while kernel.words_per_shard * 8 > size and classes < kernel.shard_levels:
        if space.shards_at(classes + 1) > MOST_SHARDS:
            break
        classes += 1
        kernel = space.compile_kernel(classes)
    return Cut(kernel, classes, max(1, min(kernel.shards, size // (kernel.words_per_shard * 8))))
