"""The store of sliding blocks in this process's memory: bits of lines (kernel/include/farthest/block_lines.hpp), which
take some 20 to 200 bytes a state, and a tenth of the time of sorted runs. Where they have no room, sorted runs take
over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import StorageError
from farthest.models.chunks import Chunk
from farthest.stores.contract import ONLY_COUNTS, check_depth
from farthest.stores.memory.scatter_store import ScatterMemoryStore
from farthest.stores.scattering import RunsStepInput, ShardRuns, SortedRun, least_codes, map_of_runs

if TYPE_CHECKING:
    from farthest.spaces.contract import ScatterSpace

LINE_BYTES = 2**30
"""Bytes that lines take at most, and half of the memory that is allowed."""


def scatter_store(
    space: ScatterSpace, *, distances: bool, memory: int | None = None, last: int | None = None
) -> ScatterMemoryStore:
    """The store in memory of a space that is given by its successors."""
    lines: _kernel.BlockLines | None = getattr(space, "lines", lambda: None)()
    if lines is None:
        return ScatterMemoryStore(space, distances=distances, memory=memory, last=last)
    return LineStore(space, lines, distances=distances, memory=memory, last=last)


class LineStore(ScatterMemoryStore):
    """See ``ScatterMemoryStore``; ``lines`` are new. A layer is one shard while it is in lines."""

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
        self._in_runs = self.shards
        self._enter(lines)

    def _enter(self, lines: _kernel.BlockLines) -> None:
        """Goes on with lines in place of the runs of all layers until now."""
        for at, runs in self._runs.items():
            lines.add(b"".join(_kernel.run_codes(self._width, run) for run in runs.values()))
            self._counts[at] = {0: sum(self._counts[at].values())}
        self._lines, self.shards = lines, 1
        self._runs, self._bytes = {}, 0

    def _leave(self, lines: _kernel.BlockLines, depth: int) -> None:
        """Goes on with runs in place of lines after a depth; of states that are only counted, those of the layers that
        are still needed."""
        self._lines, self.shards = None, self._in_runs
        for at in range(0 if self._distances else max(depth - 2, 0), depth + 1):
            self._runs[at], self._counts[at] = {}, {}
            self._candidates.boxes.add(lines.codes(at))
            for shard, run in self._candidates.take_all(1).items():
                self._keep(at, shard, run)

    @property
    def held_bytes(self) -> int:
        """Bytes that lines, runs and successors take now."""
        return super().held_bytes + (self._lines.bytes if self._lines else 0)

    def _run(self, lines: _kernel.BlockLines, depth: int) -> SortedRun:
        return SortedRun(*_kernel.run_of(self._width, lines.codes(depth)))

    # ShardStore

    def _prepared(self, depth: int, shards: set[int]) -> set[int]:
        if self._lines is None:
            return super()._prepared(depth, shards)
        if not self._distances and depth > 3:
            self._lines.forget(depth - 4)
        return {0}

    def commit(self, depth: int, step_input: RunsStepInput, counts: Sequence[int]) -> None:
        if self._lines is None:
            return super().commit(depth, step_input, counts)
        if any(counts) and self._distances:
            check_depth(depth)
        self._committed.update(step_input.shards)
        self._counts[depth].update({0: sum(counts)} if any(counts) else {})
        if self._lines.bytes > self._most:
            self._leave(self._lines, depth)
        self._check_memory(depth)

    def step(self, depth: int, shards: Sequence[int], threads: int) -> list[ShardRuns]:
        if self._lines is None:
            return super().step(depth, shards, threads)
        with self._stepping:
            return [ShardRuns(SortedRun(self._lines.step(threads), b"")) for _ in shards]

    # Results

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        if self._lines is None:
            return super().keys(depth, limit)
        return least_codes(self.space, {0: self._run(self._lines, depth).data}, limit)

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        if self._lines is None:
            return super().chunks(depth, size, threads)
        if not self._distances:
            raise StorageError(ONLY_COUNTS)
        runs = [(at, self._run(self._lines, at).data) for at in range(depth + 1)]
        return map_of_runs(self.space, 1, depth, lambda shard: runs, size, threads)

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        self._lines, self.shards = None, self._in_runs
        super().restore(depth, chunks, states, threads)
        lines = self.space.lines()
        self._enter(lines)
