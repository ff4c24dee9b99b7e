"""Memory for bitmaps: zero and without cost until touched, and the piece of a layer that a block is."""

from __future__ import annotations

import mmap
from contextlib import suppress

from farthest import _kernel
from farthest.errors import ResourceError

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
