"""The store of spaces given by their successors, in this process's memory: each layer of each shard is a sorted run.

A run is held as the kernel codes it (kernel/include/farthest/run_blob.hpp), about a byte or two per state. A layer is
stepped in two parts: all successors of the layer before go into the outboxes, as soon as the first of its shards is
stepped (in several turns where they do not all have room: ``CandidatesInTurns``); then each shard takes its own out,
without those that are not new (``contract.Excluded``). All states found are kept in runs that double in size.

Where a depth limit ends the search and states are only counted, the states of the last layer are counted shard by
shard, and not kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from farthest.errors import MemoryUsedUpError, StorageError
from farthest.models.chunks import Chunk
from farthest.stores.contract import ONLY_COUNTS, check_depth, excluded, excluded_layers
from farthest.stores.memory.gather_store import LayersInMemory
from farthest.stores.scattering import (
    ALL,
    BOX_BYTES,
    LEAST_KEPT,
    NOTHING_FOUND,
    Candidates,
    RunsStepInput,
    ShardRuns,
    SortedRun,
    has_expander,
    least_codes,
    map_of_runs,
    read_map,
    with_run,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.spaces.contract import ScatterSpace


ROOM = 2**30
"""Bytes of successors before repeated ones are removed early. More are not there at once, unless the layer before would
have to be expanded more than PASSES times."""
PASSES = 4

LEAST_ROOM = 2**22

SHARDS_AT_ONCE = 64
"""Shards whose fresh states are found between two checks of the memory."""


class CandidatesInTurns(Candidates):
    """The successors of a layer for as many shards at once as have room. Where all successors do not have room, the
    layer before is expanded several times, each time for some of the shards. ``memory``: bytes that runs and successors
    may take together, None for no limit."""

    def __init__(self, space: ScatterSpace, shards: int, memory: int | None) -> None:
        self._least = ROOM if memory is None else min(ROOM, memory // 4)
        self._depth = 0  # of the candidates that the boxes hold
        self._first = -1  # their first shard; -1: there are none
        self._at_once = shards  # shards of which the boxes hold candidates
        self._successor_bytes = 0.0  # of a state of the layer before, about
        super().__init__(space, shards, self._least)

    def parts(self, depth: int, shards: Sequence[int], states: int, free: int | None) -> Iterator[list[int]]:
        """The shards, some at a time: those whose candidates the boxes hold together. ``states``: of the layer before;
        ``free``: bytes for these candidates and what is found among them, None for any number."""
        if self._depth != depth:
            self._depth, self._first = depth, -1
            self._at_once = self._fitting(states, free)
        for _, some in groupby(sorted(shards), lambda shard: shard // self._at_once):
            together = list(some)
            for first in range(0, len(together), SHARDS_AT_ONCE):
                yield together[first : first + SHARDS_AT_ONCE]

    def _fitting(self, states: int, free: int | None) -> int:
        """Of how many shards the successors of so many states have room at once."""
        expected = int(self._successor_bytes * states)
        room = max(ROOM, expected // PASSES)
        if free is not None:
            room = min(room, free // 3)
        passes = -(-expected // max(room, LEAST_ROOM))
        if passes <= 1 or not has_expander(self._space):
            return self._shards
        self.clear(max(self._least, 2 * room))
        return max(1, self._shards // passes)

    def expand(
        self, shard: int, layer: Iterable[list[Buffer]], states: int, threads: int, poll: Callable[[], None]
    ) -> None:
        """Puts the successors that are in the shard, and in those at once with it, into the boxes, unless they are
        there. ``layer``: the runs of the layer before, with so many ``states``; ``poll`` is called now and then, and
        may raise."""
        first = shard - shard % self._at_once
        if self._first == first:
            return
        end = min(first + self._at_once, self._shards)
        try:
            for runs in layer:
                self.put(runs, threads, poll, (first, end))
        except BaseException:
            self.drop()
            raise
        self._first = first
        filled = self.boxes.filled_bytes
        if filled > 4 * (end - first) * BOX_BYTES * threads:  # else it tells of the boxes' pieces of memory
            self._successor_bytes = filled * self._shards / (end - first) / states

    def drop(self) -> None:
        """Gives up all candidates, and what is known of them."""
        self.clear(self._least)
        self._first = -1


MOST_SHARDS = 256

KEYS_PER_SHARD = 4096
"""Of a dense space at least: small ones have fewer shards."""

SLICE = 2**20
"""States that are expanded between two checks of the memory, and two calls of ``poll``."""

RUN_BYTES = 120
"""What a run takes besides its bytes: an object and its place in two dictionaries."""


class ScatterMemoryStore(LayersInMemory):
    """``JobStore`` over runs of this process.

    ``distances``: keep them, for ``chunks``. ``memory``: bytes that runs and successors may take, None for no limit.
    ``last``: the last depth that is wanted, where there is a limit. ``poll`` is called now and then while a layer is
    stepped; it may raise an exception.
    """

    def __init__(
        self, space: ScatterSpace, *, distances: bool, memory: int | None = None, last: int | None = None
    ) -> None:
        keys = space.keys or 0
        super().__init__(max(1, min(MOST_SHARDS, keys // KEYS_PER_SHARD)) if keys else MOST_SHARDS)
        self.space = space
        self.poll: Callable[[], None] = lambda: None
        self._width = space.code_bytes
        self._excluded = excluded(graded=space.graded, undirected=space.undirected)
        self._distances = distances
        self._memory = memory
        self._limit = last
        self._last = None if distances else last
        self._candidates = CandidatesInTurns(space, self.shards, memory)
        self._stepping = threading.Lock()
        self._runs: dict[int, dict[int, Buffer]] = {0: {}}  # by depth and shard
        self._counts[0] = {}
        self._found: dict[int, list[SortedRun]] = {}  # by shard: all states found, the longest run first
        self._bytes = 0  # of runs
        for shard, run in self._candidates.origins().items():
            self._keep(0, shard, run)

    # Memory

    @property
    def held_bytes(self) -> int:
        """Bytes that runs and successors take now."""
        return self._bytes + self._candidates.boxes.held_bytes

    @property
    def _free(self) -> int | None:
        return None if self._memory is None else self._memory - self._bytes

    def _check_memory(self, depth: int) -> None:
        if self._memory is None or self.held_bytes <= self._memory:
            return
        self._candidates.boxes.trim()
        if self.held_bytes > self._memory:
            limit = ", set a depth limit" if self._limit is None else ""
            files = (
                ", or count the layers with --histogram-only, in files where they do not fit"
                if self._distances
                else ", or keep the layers in files, in a folder named with --scratch"
            )
            raise MemoryUsedUpError(
                f"the states up to depth {depth} need {self.held_bytes:,} bytes of memory, more than the "
                f"{self._memory:,} allowed; allow more{limit}{files}"
            )

    def _keep(self, depth: int, shard: int, run: SortedRun) -> None:
        """Makes the run of a layer part of the store."""
        self._runs[depth][shard] = run.data
        self._counts[depth][shard] = run.states
        self._bytes += run.bytes + RUN_BYTES
        if self._excluded == "all" and depth != self._last:
            found = self._found.setdefault(shard, [])
            stay, united = with_run(self._width, found, run)
            self._bytes += united.bytes - sum(one.bytes for one in found[stay:])
            found[stay:] = [united]

    def _forget(self, depth: int) -> None:
        """Gives up the runs of a layer that is needed no more."""
        for run in self._runs.pop(depth, {}).values():
            self._bytes -= memoryview(run).nbytes + RUN_BYTES

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        """Any shard may have successors of any other."""
        return list(range(self.shards)) if self._counts[depth - 1] else []

    def _prepared(self, depth: int, shards: set[int]) -> set[int]:
        self._runs[depth] = {}
        if not self._distances:
            self._forget(depth - 3)
        return shards

    def open(self, depth: int, shards: Sequence[int]) -> RunsStepInput:
        return RunsStepInput(self, depth, self._free_shards(depth, shards))

    def commit(self, depth: int, step_input: RunsStepInput, counts: Sequence[int]) -> None:
        """Raises ResourceError when the layer is too deep for distances, or takes too much memory."""
        if any(counts) and self._distances:
            check_depth(depth)
        self._committed.update(step_input.shards)
        for shard, one in zip(step_input.shards, step_input.steps, strict=True):
            if one.fresh.states:
                self._keep(depth, shard, one.fresh)
        self._check_memory(depth)

    # The step

    def step(self, depth: int, shards: Sequence[int], threads: int) -> list[ShardRuns]:
        """Of a layer that is only counted, the runs of the least states of each shard."""

        def check() -> None:
            self._check_memory(depth)
            self.poll()

        with self._stepping:
            found: dict[int, SortedRun] = {}
            before = self._bytes
            most = LEAST_KEPT if depth == self._last else ALL
            older = partial(self._older, depth)
            try:
                states, free = sum(self._counts[depth - 1].values()), self._free
                for together in self._candidates.parts(depth, shards, states, free):
                    self._candidates.expand(together[0], self._slices(depth, check), states, threads, check)
                    taken = self._candidates.take(together, older, threads, most)
                    found.update(taken)
                    self._bytes += sum(run.bytes for run in taken.values())
                    check()
            finally:
                self._bytes = before
            return [ShardRuns(found[shard]) if shard in found else NOTHING_FOUND for shard in shards]

    def _older(self, depth: int, shard: int) -> list[Buffer]:
        """The runs of a shard whose states are not new at a depth."""
        if self._excluded == "all":
            return [run.data for run in self._found.get(shard, ())]
        layers = [self._runs.get(earlier, {}) for earlier in excluded_layers(self._excluded, depth)]
        return [layer[shard] for layer in layers if shard in layer]

    def give_up(self, depth: int) -> None:
        """Forgets what was found of a layer that is not complete, the last one begun."""
        self._candidates.drop()
        self._forget(depth)
        self._counts.pop(depth, None)

    def _slices(self, depth: int, check: Callable[[], None]) -> Iterator[list[Buffer]]:
        """The runs of the layer before, some at a time; ``check`` is called between them."""
        runs: list[Buffer] = []
        states = 0
        for shard, run in self._runs[depth - 1].items():
            runs.append(run)
            states += self._counts[depth - 1][shard]
            if states >= SLICE:
                yield runs
                check()
                runs, states = [], 0
        if runs:
            yield runs
            check()

    # Results

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        """Of byte strings a list of bytes."""
        return least_codes(self.space, self._runs[depth], limit)

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        """``size`` keys a chunk of a dense space, at most so many states of a sparse one."""
        if not self._distances:
            raise StorageError(ONLY_COUNTS)
        self._candidates.boxes.trim()

        def runs_of(shard: int) -> Iterator[tuple[int, Buffer]]:
            return ((at, self._runs[at][shard]) for at in range(depth + 1) if shard in self._runs[at])

        return map_of_runs(self.space, self.shards, depth, runs_of, size, threads)

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        self._restored(depth)
        self._runs, self._counts, self._found, self._bytes = {}, {}, {}, 0
        for at, runs in read_map(self.space, self.shards, depth, chunks, states):
            self._runs[at], self._counts[at] = {}, {}
            for shard, run in runs.items():
                self._keep(at, shard, run)
            self._check_memory(at)
