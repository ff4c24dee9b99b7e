"""The store of packed boards by representatives whose layers are files: a run can be gone on with after it was killed,
within a layer too, and layers may be larger than the memory.

Units are some neighbouring shards. What their links name of the layer before is read, and kept as long as there is
memory for it. A shard's blob has its codes as they were found; the table of its file has the number of states that they
stand for. Of the last layer that is wanted a file has the least codes, and these numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from farthest.stores.folder.journal import EnumerationFolder, Room
from farthest.stores.folder.run_files import RunFiles
from farthest.stores.folder.scatter_store import neighbours
from farthest.stores.folder.store import StoreInFiles
from farthest.stores.memory.reduced_runs_store import ShardsStepInput, least_of_sets
from farthest.stores.scattering import ALL, LEAST_KEPT, NOTHING_FOUND, ShardRuns, SortedRun

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.spaces.contract import ReducedRunsSpace

UNITS = 48
"""Of a layer at least: what is lost of a layer when the process is killed is a part of so many, or a shard a thread."""

SMALL_LAYER = 2**24
"""States of a layer whose successors are found at once, in a second."""


class ReducedRunsFolderStore(StoreInFiles[RunFiles]):
    """``JobStore`` that only counts, of an undirected space. ``memory``: bytes that codes of the layer before may take;
    ``last``: the last depth that is wanted."""

    def __init__(
        self, space: ReducedRunsSpace, folder: EnumerationFolder, memory: int, last: int, *, threads: int = 1
    ) -> None:
        self.space = space
        self._memory = memory
        self._last = last
        self._at_once = max(1, space.shards // UNITS // threads) * threads
        self._held: dict[int, Buffer] = {}  # shards of the layer before, that used last at the end
        self._held_bytes = 0

        def open_files() -> None:
            self._files = RunFiles(folder, "two")
            self._files.counts_classes = True
            if self._files.depth < 0:
                runs = [NOTHING_FOUND] * space.shards
                runs[space.origin_shard] = ShardRuns(SortedRun(1, bytes(space.origin_codes())))
                self._files.write(0, 0, runs, 1)
                self._files.complete(0)

        super().__init__(folder, space.shards, open_files)

    def reachable(self, depth: int) -> list[int]:
        """Any shard may have neighbours of any other."""
        return list(range(self.shards)) if self._counts[depth - 1] else []

    def _blocks(self, depth: int, shards: Iterable[int]) -> Iterable[int]:
        return shards

    def shards_of(self, depth: int, block: int) -> list[int]:
        return [block]

    def units(self, depth: int, shards: Iterable[int]) -> Iterator[list[int]]:
        """Some neighbouring shards that are not committed, unit by unit."""
        at_once = self.shards if sum(self._counts[depth - 1].values()) < SMALL_LAYER else self._at_once
        for together in neighbours(sorted(set(shards) - self._committed)):
            for first in range(0, len(together), at_once):
                yield together[first : first + at_once]

    def _forget_inputs(self) -> None:
        self._held, self._held_bytes = {}, 0

    def open(self, depth: int, shards: Sequence[int]) -> ShardsStepInput:
        self._check_stepped(depth)
        return ShardsStepInput(self, depth, sorted(set(shards) - self._committed))

    def step(self, depth: int, shards: list[int], threads: int) -> list[tuple[int, int, bytes]]:
        wanted = {source for shard in shards for source in self.space.sources(shard)}.union(shards)
        layer: list[Buffer] = [b""] * self.shards
        for shard in sorted(wanted):
            layer[shard] = self._source(depth - 1, shard)
        self._make_room(wanted)
        exclude = [[layer[shard], *([self._read(depth - 2, shard)] if depth > 1 else [])] for shard in shards]
        most = LEAST_KEPT if depth == self._last else ALL
        with self._damage("a layer"):
            return self.space.runs.step(shards, layer, exclude, most, threads)

    def _source(self, depth: int, shard: int) -> Buffer:
        """The codes of a shard of the layer before, which is held from now on."""
        codes = self._held.pop(shard, None)
        if codes is None:
            codes = self._read(depth, shard)
            self._held_bytes += memoryview(codes).nbytes
        self._held[shard] = codes
        return codes

    def _make_room(self, wanted: set[int]) -> None:
        for shard in [shard for shard in self._held if shard not in wanted]:
            if self._held_bytes <= self._memory:
                return
            self._held_bytes -= memoryview(self._held.pop(shard)).nbytes

    def _read(self, depth: int, shard: int) -> memoryview:
        """The codes of a shard."""
        with self.folder.errors():
            (found,) = self._files.read("L", depth, shard, shard + 1, Room(1))
        return found[0] if found else memoryview(b"")

    def commit(self, depth: int, step_input: ShardsStepInput, counts: Sequence[int]) -> None:
        weights = self.space.weights
        found = dict(zip(step_input.shards, step_input.found, strict=True))
        for shards in neighbours(step_input.shards):
            runs = [
                ShardRuns(SortedRun(states * weights[shard], codes)) if states else NOTHING_FOUND
                for shard in shards
                for states, _, codes in (found[shard],)
            ]
            self._commit_blocks(depth, shards, runs, sum(found[shard][1] for shard in shards))

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        return least_of_sets(
            self.space, (self._read(depth, shard) for shard in sorted(self._counts[depth])), limit
        )
