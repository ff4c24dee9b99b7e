"""The store of sliding blocks in this process's memory: layers are bits of lines, which take 5 to 60 bytes a state and
a part of the time of sorted runs (kernel/include/farthest/block_lines.hpp). Where they have no room, runs go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.stores.memory.scatter_store import Layer, ScatterMemoryStore
from farthest.stores.scattering import SortedRun

if TYPE_CHECKING:
    from farthest.models.chunks import Chunk
    from farthest.spaces.contract import ScatterSpace

LINE_BYTES = 2**30
"""Bytes that lines take at most; they also leave half of the memory that is allowed to runs."""

BYTES_OF_LINE = 2**12
"""Bytes that the expansion of a line takes at most, about: those of the frames that it meets. So many lines are
expanded between two checks of the memory, and two calls of ``poll``, that these leave room, but at least:"""
LEAST_LINES = 64


def store_in_memory(
    space: ScatterSpace, *, distances: bool, memory: int | None = None, last: int | None = None
) -> ScatterMemoryStore:
    """The store in memory of a space that is given by its successors."""
    new = getattr(space, "lines", None)
    lines = None if new is None else new()
    if lines is None:
        return ScatterMemoryStore(space, distances=distances, memory=memory, last=last)
    return LineStore(space, lines, distances=distances, memory=memory, last=last)


class LineStore(ScatterMemoryStore):
    """See ``ScatterMemoryStore``. ``lines``: a new search. While there are lines, the run of a layer has no bytes until
    it is asked for. What is restored goes on by runs."""

    def __init__(
        self,
        space: ScatterSpace,
        lines: _kernel.BlockLines,
        *,
        distances: bool,
        memory: int | None = None,
        last: int | None = None,
    ) -> None:
        self._lines: _kernel.BlockLines | None = None
        super().__init__(space, distances=distances, memory=memory, last=last)
        self._most = LINE_BYTES if memory is None else min(LINE_BYTES, memory // 2)
        self._lines = lines

    def _make(self, depths: Iterable[int]) -> None:
        """Makes the runs of layers."""
        if self._lines is None:
            return
        for depth in depths:
            runs = self._layers[depth].runs
            if 0 in runs and not runs[0].bytes:
                runs[0] = SortedRun(*_kernel.run_of(self._width, self._lines.codes(depth)))
                self._bytes += runs[0].bytes

    def _make_room(self) -> None:
        """Goes on by runs where lines have taken too much."""
        if self._lines is not None and self._lines.bytes > self._most:
            self._make(self._layers)
            self._lines = None

    @property
    def held_bytes(self) -> int:
        """Bytes that lines, runs and successors take now."""
        return super().held_bytes + (0 if self._lines is None else self._lines.bytes)

    def _check_memory(self, depth: int) -> None:
        self._make_room()
        super()._check_memory(depth)

    def _prepared(self, depth: int, shards: set[int]) -> set[int]:
        if self._lines is not None and not self._distances and depth > 2:
            self._lines.forget(depth - 3)
        return super()._prepared(depth, shards)

    def step(self, depth: int, threads: int) -> Layer:
        while self._lines is not None:
            room = (self._most - self._lines.bytes) // BYTES_OF_LINE
            more = self._lines.expand(max(LEAST_LINES, room), threads)
            self.poll()
            if not more:
                states = self._lines.settle()
                return Layer(1, {0: SortedRun(states, b"")} if states else {})
            self._make_room()
        return super().step(depth, threads)

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        self._make([depth])
        return super().keys(depth, limit)

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        self._make(range(depth + 1) if self._distances else ())
        return super().chunks(depth, size, threads)

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        self._lines = None
        super().restore(depth, chunks, states, threads)
