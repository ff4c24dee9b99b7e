"""Blocks: the ranges of neighbouring shards that are stepped, stored and sent again as one.

The kernel's shards are given by the space: one for each placing of the first labels. A block has as many of them as fit
its size, so that neither a blob nor a step is too small to be worth its message, nor too large to be moved at once.
Besides: bitmaps of shards and their memory, and what stores ask of the kernel's shards.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import gcd
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
    """An empty set of states of a range of shards: words and flags (kernel/include/farthest/step.hpp), as a layer.
    ``used``: see ``zeros``."""

    def __init__(self, kernel: _kernel.Space, shards: range, *, used: bool = False) -> None:
        self.words = zeros(len(shards) * kernel.words_per_shard * 8, used=used).cast("Q")
        self._flags = zeros(len(shards) * kernel.lines_per_shard, used=used)
        self._kernel = kernel
        self.shards = shards
        self.layer = self.part(shards)

    def part(self, shards: range) -> _kernel.Layer:
        """The memory of some of its shards, which follow each other."""
        first, end = shards.start - self.shards.start, shards.stop - self.shards.start
        size, lines = self._kernel.words_per_shard, self._kernel.lines_per_shard
        words, flags = self.words[first * size : end * size], self._flags[first * lines : end * lines]
        return _kernel.Layer(self._kernel, words, flags, shards.start, len(shards))

    def without(self, other: Bitmap, shards: range) -> _kernel.Layer:
        """What it has of some shards and the other, of as many, has not."""
        import numpy as np

        size = self._kernel.words_per_shard
        first = self.shards.start
        part = slice((shards.start - first) * size, (shards.stop - first) * size)
        words = np.asarray(self.words[part]) & ~np.asarray(other.words[part])
        flags = np.ones(len(shards) * self._kernel.lines_per_shard, dtype=np.uint8)
        return _kernel.Layer(self._kernel, words.data, flags.data, shards.start, len(shards))

    @property
    def bytes(self) -> int:
        """Bytes of memory that it may take."""
        return self.words.nbytes + self._flags.nbytes


def inputs_of(kernel: _kernel.Space, shard: int, *, united: bool) -> list[int]:
    """The shards that the step of one reads: where layers are united, itself last."""
    return kernel.sources(shard) + [shard] * united


class Sources:
    """The shards that moves lead from into each shard of a kernel's space."""

    def __init__(self, kernel: _kernel.Space) -> None:
        self._kernel = kernel

    @cached_property
    def _of(self) -> list[frozenset[int]]:
        return [frozenset(self._kernel.sources(shard)) for shard in range(self._kernel.shards)]

    def reached_from(self, shards: Iterable[int]) -> list[int]:
        """The shards that moves lead to from any of ``shards``, ascending."""
        before = frozenset(shards)
        return [shard for shard, sources in enumerate(self._of) if not sources.isdisjoint(before)]


def searches_in_place(kernel: _kernel.Space, origins: Sequence[int]) -> bool:
    """Whether one layer array suffices: moves both ways, all between two colours of shards, origins of one colour."""
    colours, per_shard = kernel.colours, kernel.keys // kernel.shards
    return bool(kernel.reversible and colours) and len({colours[key // per_shard] for key in origins}) == 1


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
    growth = 1 if kernel.united else GROWTH  # the more shards, the more sources must fit the memory at once
    most = max(least, made.per_block, min(growth * made.per_block, of_layer // ENOUGH_BLOCKS))
    sizes = [one for one in range(least, run + 1) if run % one == 0]
    fitting = [one for one in sizes if one <= most]
    if run and not sizes:  # runs of one colour are too short
        return Cut(kernel, made.classes, -(-kernel.shards // MOST_BLOCKS))
    return Cut(kernel, made.classes, max(fitting) if fitting else min(sizes) if sizes else most)
