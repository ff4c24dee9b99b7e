"""Blocks: the ranges of neighbouring shards that are stepped, stored and sent again as one.

The kernel's shards are given by the space: one for each placing of the first labels. A block has as many of them as fit
its size, so that neither a blob nor a step is too small to be worth its message, nor too large to be moved at once.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import ResourceError

if TYPE_CHECKING:
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


# --- Memory for bitmaps: zero and without cost until touched, and the piece of a layer that a block is.

HUGE = 2**22
"""Bytes from which on memory is asked for in huge pages."""


def zeros(size: int, *, used: bool = False) -> memoryview:
    """``size`` zero bytes of anonymous memory. Raises ResourceError when the system has none.

    ``used``: all of it will be. Then a small array's pages are taken at once: threads that each took them when they
    first touch them would wait for one another, longer than a small space is searched.
    """
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    if used and size < HUGE:
        flags |= getattr(mmap, "MAP_POPULATE", 0)
    try:
        memory = mmap.mmap(-1, max(size, 1), flags=flags)
    except OSError as error:
        raise ResourceError(
            f"the system gives no {size:,} bytes of memory ({error.strerror}); it may limit this process (ulimit -v)"
        ) from error
    if size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a hint, which not every system takes
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(memory)[:size]


class Bitmap:
    """An empty set of states of a range of shards: words and flags (kernel/include/farthest/step.hpp), as a layer."""

    def __init__(self, kernel: _kernel.Space, shards: range) -> None:
        self._words = zeros(len(shards) * kernel.words_per_shard * 8).cast("Q")
        self._flags = zeros(len(shards) * kernel.lines_per_shard)
        self._kernel = kernel
        self.shards = shards
        self.layer = self.at(shards)

    def at(self, shards: range) -> _kernel.Layer:
        """The same memory as a layer of other shards, as many: one empty bitmap serves for all empty ranges."""
        words = self._words[: len(shards) * self._kernel.words_per_shard]
        flags = self._flags[: len(shards) * self._kernel.lines_per_shard]
        return _kernel.Layer(self._kernel, words, flags, shards.start, len(shards))

    @property
    def words(self) -> memoryview:
        """Its words of 64 bits."""
        return self._words

    @property
    def bytes(self) -> int:
        """Bytes of memory that it may take."""
        return self._words.nbytes + self._flags.nbytes
