"""The scatter store whose sorted runs are files in a folder: for one process, and spaces larger than its memory.

Delayed detection of duplicates (Korf, AAAI 2004; Zhou and Hansen, AAAI 2004). A layer is found in two parts:

    expand    the runs of the layer before, in pieces; successors gather in the kernel's outboxes, and go to a file when
              these have taken their part of the memory: a sorted run for each shard
    step      units of neighbouring shards: the runs that were sent to a shard are merged, what is not new is taken out
              (nothing, two layers, or all states found), and the rest is written

All reading and writing is sequential. Where all successors fit the outboxes, none go to a file. A file is written while
the next unit is stepped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.errors import LostStateError, StorageError
from farthest.stores.folder.expansion import Expansion
from farthest.stores.folder.room import Room
from farthest.stores.folder.run_files import NO_STATES, SLAB, CodedRun, LeftOut, RunFiles
from farthest.stores.folder.step_loads import StepLoad, step_loads
from farthest.stores.scattering import least_codes

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.models.pieces import Piece
    from farthest.spaces.contract import ScatterSpace
    from farthest.stores.contract import Base
    from farthest.stores.folder.journal import EnumerationFolder, LayerFigures

READ_SHARE, SORT_SHARE = 0.08, 0.2
"""Parts of the memory, besides that of the boxes: of what is read for a unit; of what is decoded and sorted at a time.
The rest is for what is made, and for what is still being written."""

ONLY_COUNTS = "this store keeps no distances: it only counts"


def left_out(space: ScatterSpace) -> LeftOut:
    """What the next layer leaves out."""
    return "none" if space.graded else "two" if space.undirected else "all"


@dataclass(frozen=True, slots=True)
class RunsStepInput:
    """``StepInput`` of any shards. ``found``: of neighbouring ones from the first on, those found."""

    store: ScatterFolderStore
    depth: int
    shards: list[int]
    found: list[tuple[int, Found]] = field(default_factory=list)

    def run(self, threads: int = 1) -> list[int]:
        """See StepInput."""
        self.found[:] = [
            (shards[0], self.store.step(self.depth, shards, threads)) for shards in neighbours(self.shards)
        ]
        return [states for _, found in self.found for states, _ in found.fresh]


@dataclass(frozen=True, slots=True)
class Found:
    """Of neighbouring shards the fresh states, and where V is renewed all states."""

    fresh: list[CodedRun]
    united: list[CodedRun] | None = None


def neighbours(shards: Sequence[int]) -> Iterator[list[int]]:
    """Ascending shards in groups of those that follow each other."""
    group: list[int] = []
    for shard in shards:
        if group and shard != group[-1] + 1:
            yield group
            group = []
        group.append(shard)
    if group:
        yield group


class ScatterFolderStore:
    """``JobStore`` over files of sorted runs, which only counts. ``memory``: bytes that all may take, about. ``poll``
    is called now and then while a layer is stepped; it may raise an exception."""

    def __init__(
        self, space: ScatterSpace, folder: EnumerationFolder, memory: int, *, threads: int = 1
    ) -> None:
        self.space = space
        self.folder = folder
        self.shards = folder.units
        self.poll: Callable[[], None] = lambda: None
        self._memory = memory
        self._width = space.code_bytes
        self._loads: list[StepLoad] = []
        self._lock = threading.Lock()  # held while a unit is stepped, or its layer expanded
        self._committing = threading.Lock()
        self._writer = ThreadPoolExecutor(1, "farthest-write")
        self._behind: list[Future[None]] = []
        self._begun = 0
        self._committed: set[int] = set()  # shards of the layer under way, also those that are being written
        try:
            self._files = RunFiles(folder, left_out(space))
            self._expansion = Expansion(space, self._files, memory, threads)
            if self._files.depth < 0:
                self._files.write(0, 0, self._expansion.origin(), None)
                self._files.complete(0)
            self._counts = {self._files.depth: self._files.states(self._files.depth)}
        except LostStateError:
            self.drop()
            raise
        except BaseException:
            self.leave()
            raise

    @property
    def kept(self) -> list[LayerFigures]:
        """The complete layers in the folder, from the first on."""
        return self.folder.layers

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        """See ShardStore: any shard may have successors of any other."""
        return list(range(self.shards)) if self._counts[depth - 1] else []

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        """See ShardStore: all shards, or none."""
        self._settle()
        if depth == self._files.depth + 2:
            self._complete(depth - 1)
        if depth != self._files.depth + 1:
            raise StorageError(
                f"layer {depth} cannot begin: layer {self._files.depth} is the last complete one"
            )
        if not shards:
            self._counts[depth] = {}
            return []
        if self._begun < depth:
            self._begun = depth
            self._files.begin(depth)
            self._committed = {
                first + at
                for first, table in self._files.tables[depth].items()
                for at in range(len(table.sizes))
            }
        return list(range(self.shards))

    def units(self, depth: int, shards: Iterable[int]) -> Iterator[list[int]]:
        """Neighbouring shards that fit the memory together, unit by unit: those that are not committed."""
        missing = sorted(set(shards) - self._committed)
        if not missing:
            return
        with self._lock:
            self._expand(depth)
        for together in neighbours(missing):
            unit, size = list[int](), 0
            for shard in together:
                if unit and size + self._loads[shard].read > READ_SHARE * self._memory:
                    yield unit
                    unit, size = [], 0
                unit.append(shard)
                size += self._loads[shard].read
            yield unit

    def open(self, depth: int, shards: Sequence[int]) -> RunsStepInput:
        """See ShardStore."""
        if depth != self._files.depth + 1 or depth != self._begun:
            raise StorageError(f"depth {depth} is not being stepped; depth {self._begun} is")
        return RunsStepInput(self, depth, sorted(set(shards) - self._committed))

    def commit(self, depth: int, step_input: RunsStepInput, counts: Sequence[int]) -> None:
        """See ShardStore. A file is written while the next unit is stepped."""
        if depth != self._files.depth + 1:
            raise StorageError(f"depth {depth} is not being stepped any more")
        with self._committing:
            self._settle()
            for first, found in step_input.found:
                shards = range(first, first + len(found.fresh))
                if self._committed.isdisjoint(shards):
                    self._committed.update(shards)
                    args = (depth, first, found.fresh, found.united)
                    self._behind.append(self._writer.submit(self._files.write, *args))

    def counts(self, depth: int) -> dict[int, int]:
        """See ShardStore; the last three depths are kept."""
        self._settle()
        if depth == self._files.depth + 1 and depth == self._begun:
            self._complete(depth)
        return self._counts[depth]

    def _complete(self, depth: int) -> None:
        if len(self._committed) != self.shards:
            missing = self.shards - len(self._committed)
            raise StorageError(f"layer {depth} is not complete: {missing} of its shards are not committed")
        self._counts[depth] = self._files.states(depth)
        self._counts.pop(depth - 3, None)
        self._files.complete(depth)

    def _settle(self) -> None:
        while self._behind:
            self._behind.pop().result()

    # The step

    def _expand(self, depth: int) -> None:
        try:
            expanded = self._expansion.expand(depth, self._counts[depth - 1], self.poll)
        except ValueError as error:
            raise self._damaged(error) from error
        if expanded:
            self._loads = step_loads(self.space, self._files, depth, self._memory)

    def step(self, depth: int, shards: list[int], threads: int) -> Found:
        """Finds the states of neighbouring shards; nothing where another step has committed all of them meanwhile."""
        with self._lock:
            if self._committed.issuperset(shards):
                return Found([NO_STATES] * len(shards))
            self._expansion.again_if_taken(shards)
            self._expand(depth)
            room = Room(SLAB)
            numbers = [("O", number) for number in range(len(self._files.outboxes))]
            with self.folder.errors():
                known = self._read(self._files.left_out(depth), shards, room)
                sent = self._read(numbers, shards, room)
            try:
                if numbers:
                    fresh = self._merged(shards, sent, known, threads)
                else:
                    fresh = self._expansion.take(shards, known, threads)
                if not self._files.renews(depth):
                    return Found(fresh)
                for runs, (states, run) in zip(known, fresh, strict=True):
                    if states:
                        runs.append(run)
                return Found(fresh, self._merged(shards, known, [[]] * len(shards), threads))
            except ValueError as error:
                raise self._damaged(error) from error

    def _read(
        self, files: Sequence[tuple[str, int]], shards: Sequence[int], room: Room
    ) -> list[list[Buffer]]:
        """Of each of neighbouring shards the runs in files, which are given by kind and depth, or number."""
        found: list[list[Buffer]] = [[] for _ in shards]
        for kind, at in files:
            for runs, more in zip(
                found, self._files.read(kind, at, shards[0], shards[-1] + 1, room), strict=True
            ):
                runs += more
        return found

    def _merged(
        self,
        shards: Sequence[int],
        runs: Sequence[Sequence[Buffer]],
        known: Sequence[Sequence[Buffer]],
        threads: int,
    ) -> list[CodedRun]:
        """Of each shard the codes of any of its runs that none of those known has: as many at a time as the memory
        allows."""
        need = max(self._loads[shard].sort for shard in shards)
        together = max(1, min(threads, int(SORT_SHARE * self._memory / max(need, 1))))

        def merge(of: Sequence[Buffer], without: Sequence[Buffer]) -> CodedRun:
            return _kernel.merge_runs(self._width, of, without) if of else NO_STATES

        with ThreadPoolExecutor(together, "farthest-merge") as pool:
            return list(pool.map(merge, runs, known))

    def _damaged(self, error: ValueError) -> LostStateError:
        return LostStateError(f"{self.folder.path}: a file of a layer is damaged: {error}")

    # Results

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        """See JobStore."""
        least = b""
        for first, table in sorted(self._files.tables[depth].items()):
            with self.folder.errors():
                found = self._files.read("L", depth, first, first + len(table.sizes), Room(SLAB))
            parts = [_kernel.run_codes(self._width, run, limit) for runs in found for run in runs]
            codes = b"".join([*([_kernel.run_codes(self._width, least)] if least else []), *parts])
            cut = _kernel.run_codes(self._width, _kernel.run_of(self._width, codes)[1], limit)
            least = _kernel.run_of(self._width, cut)[1]
        return least_codes(self.space, {0: least}, limit)

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Piece]:
        """See JobStore: there are none."""
        raise StorageError(ONLY_COUNTS)

    def restore(self, depth: int, chunks: Iterable[Any], states: int, threads: int = 1) -> None:
        """See JobStore: files are gone on with, not maps."""
        raise StorageError(ONLY_COUNTS)

    def stored(self, depth: int, base: Base) -> None:
        """See JobStore: nothing is read from a map."""

    def leave(self) -> None:
        """Ends the attempt; the layers stay in the folder."""
        self._writer.shutdown(wait=True, cancel_futures=True)
        self.folder.close()

    def drop(self) -> None:
        """See JobStore: the folder goes."""
        self._writer.shutdown(wait=True, cancel_futures=True)
        self.folder.drop()
