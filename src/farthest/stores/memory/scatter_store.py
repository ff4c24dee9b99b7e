"""The store of spaces given by their successors, in this process's memory: each layer of each shard is a sorted run.

A run is held as the kernel codes it (kernel/include/farthest/run_blob.hpp), about a byte or two per state. A layer is
stepped in two parts: all successors of the layer before go into the outboxes, in several turns where they do not all
have room; then they are taken out shard by shard, without those that are not new (``contract.Excluded``). All states
found are kept in runs that double in size.

Shards are as small as suits the processor's cache: a thin layer is one shard, a wide one many, so that no layer has
costs for shards that are nearly empty. Older states that a step reads are divided among as many shards first; where
these were more, each of the new shards reads several runs. Where all states found are not new, shards only grow more.

After two layers of few states the next ones are found together by one call of the kernel, until one has many.

Where a depth limit ends the search and states are only counted, the states of the last layer are counted shard by
shard, and not kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from farthest import _kernel
from farthest.errors import MemoryUsedUpError, StorageError
from farthest.models.chunks import Chunk
from farthest.stores.contract import ONLY_COUNTS, check_depth, excluded, excluded_layers
from farthest.stores.memory.gather_store import LayersInMemory
from farthest.stores.scattering import (
    ALL,
    BOX_BYTES,
    LEAST_KEPT,
    Candidates,
    SortedRun,
    answers,
    expander_of,
    least_codes,
    map_of_runs,
    read_map,
    with_run,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.spaces.contract import ScatterSpace


ROOM = 3 * 2**30
"""Bytes of successors before repeated ones are removed early. More are not there at once, unless the layer before would
have to be expanded more than PASSES times."""
PASSES = 4

LEAST_ROOM = 2**22

MOST_SHARDS = 256
SHARD_BYTES = 2**16
"""Of the successors in a shard, about: they are sorted in the processor's cache."""
LEAST_SHARD_BYTES = 2**14
"""Where threads share the shards of a layer, each of which has SHARDS_A_THREAD."""
SHARDS_A_THREAD = 4
SHARD_KEYS = 4096
"""Of a dense space at least."""
SHARD_FOUND = 256
"""Of all states found, where these are not new: so many are read for a successor."""

FOUND_RUNS = 8
"""The runs of all states found of a shard are merged when there are so many more."""

THIN = 1024
"""States of a layer; a call of the kernel for each would take longer than its states do."""
THIN_STATES = 2**17
"""Of the layers that are found together, about at most."""
THIN_BYTES = 2**26
"""Of what is not new, at most: it is held unpacked meanwhile."""

SHARDS_AT_ONCE = 64
"""Shards whose fresh states are found between two checks of the memory."""

SLICE = 2**20
"""States that are expanded between two checks of the memory, and two calls of ``poll``."""

RUN_BYTES = 160
"""What a run takes besides its bytes: two objects and its place in a dictionary."""


class Layer(NamedTuple):
    """The runs of a layer by shard, and of how many shards: a power of two."""

    shards: int
    runs: dict[int, SortedRun]


@dataclass
class LayerStepInput:
    """``StepInput`` of a whole layer. ``shards``: the one unit that it is, unless it was given out before."""

    store: ScatterMemoryStore
    depth: int
    shards: list[int]
    found: Layer = field(default_factory=lambda: Layer(1, {}))

    def run(self, threads: int = 1) -> list[int]:
        if not self.shards:
            return []
        self.found = self.store.step(self.depth, threads)
        return [sum(run.states for run in self.found.runs.values())]


class ScatterMemoryStore(LayersInMemory):
    """``JobStore`` over runs of this process. A layer is one unit of work, whose shards are the store's own.

    ``distances``: keep them, for ``chunks``. ``memory``: bytes that runs and successors may take, None for no limit.
    ``last``: the last depth that is wanted, where there is a limit. ``poll`` is called now and then while a layer is
    stepped; it may raise an exception; ``watch`` (``executors.Watch``) in layers of many shards.
    """

    def __init__(
        self, space: ScatterSpace, *, distances: bool, memory: int | None = None, last: int | None = None
    ) -> None:
        super().__init__(1)
        self.space = space
        self.poll: Callable[[], None] = lambda: None
        self.watch: Callable[[int, int], None] = lambda done, shards: None
        self._width = space.code_bytes
        self._excluded = excluded(graded=space.graded, undirected=space.undirected)
        self._distances = distances
        self._memory = memory
        self._limit = last
        self._last = None if distances else last
        self._room = ROOM if memory is None else min(ROOM, memory // 4)
        self._successor_bytes = 8.0 * self._width  # of a state's successors, about
        self._layers: dict[int, Layer] = {}
        self._ahead = deque[SortedRun]()  # the next layers, found together
        self._found: dict[int, list[SortedRun]] = {}  # by shard: all states found, the longest run first
        self._found_to = -1  # the depth of the last layer among them
        self._states = 0  # of them
        self._bytes = 0  # of runs
        origins = space.origin_codes()
        self._shards = self._fitting(memoryview(origins).nbytes, 1)
        self._candidates = Candidates(space, self._shards, self._room)
        self._candidates.boxes.add(origins)
        self._keep(0, Layer(self._shards, self._candidates.take_all(1)))

    # Memory

    @property
    def held_bytes(self) -> int:
        """Bytes that runs and successors take now."""
        return self._bytes + self._candidates.boxes.held_bytes

    def _check_memory(self, depth: int) -> None:
        if self._memory is None or self.held_bytes <= self._memory:
            return
        self._candidates.boxes.trim()
        if self.held_bytes > self._memory:
            limit = ", set a depth limit" if self._limit is None else ""
            raise MemoryUsedUpError(
                f"the states up to depth {depth} need {self.held_bytes:,} bytes of memory, more than the "
                f"{self._memory:,} allowed; allow more{limit}, or keep the layers in files, in a folder named with "
                "--scratch"
            )

    def _keep(self, depth: int, layer: Layer) -> None:
        """Makes the runs of a layer part of the store."""
        states = sum(run.states for run in layer.runs.values())
        self._layers[depth] = layer
        self._counts[depth] = {0: states} if states else {}
        self._bytes += sum(run.bytes + RUN_BYTES for run in layer.runs.values())
        if self._excluded == "all" and self._found_to < depth != self._last:
            self._add_found(depth, layer.runs.items())

    def _add_found(self, depth: int, runs: Iterable[tuple[int, SortedRun]]) -> None:
        """Adds the runs of layers up to a depth, each with its shard, to all states found."""
        self._found_to = depth
        for shard, run in runs:
            self._states += run.states
            found = self._found.setdefault(shard, [])
            found.append(run)
            self._bytes += run.bytes
            if len(found) % FOUND_RUNS == 0:
                stay, united = with_run(self._width, found[:-1], run)
                self._bytes += united.bytes - sum(one.bytes for one in found[stay:])
                found[stay:] = [united]

    def _forget(self, depth: int) -> None:
        """Gives up the runs of a layer that is needed no more."""
        if depth in self._layers:
            self._bytes -= sum(run.bytes + RUN_BYTES for run in self._layers.pop(depth).runs.values())

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        return [0] if self._counts[depth - 1] else []

    def _prepared(self, depth: int, shards: set[int]) -> set[int]:
        self._layers[depth] = Layer(1, {})
        if not self._distances:
            self._forget(depth - 3)
        return shards

    def open(self, depth: int, shards: Sequence[int]) -> LayerStepInput:
        return LayerStepInput(self, depth, self._free_shards(depth, shards))

    def commit(self, depth: int, step_input: LayerStepInput, counts: Sequence[int]) -> None:
        """Raises ResourceError when the layer is too deep for distances, or takes too much memory."""
        if any(counts) and self._distances:
            check_depth(depth)
        if step_input.shards:
            self._committed.update(step_input.shards)
            self._keep(depth, step_input.found)
            self._check_memory(depth)

    # The step

    def step(self, depth: int, threads: int) -> Layer:
        """Of a layer that is only counted, the runs of the least states of each shard."""
        if not self._ahead and self._is_thin(depth):
            self._look_ahead(depth)
        if self._ahead:
            run = self._ahead.popleft()
            return Layer(1, {0: run} if run.states else {})

        def check() -> None:
            self._check_memory(depth)
            self.poll()

        states = sum(self._counts[depth - 1].values())
        most = LEAST_KEPT if depth == self._last else ALL
        boxes, at_once = self._divided(depth, states, threads)
        before, found = self._bytes, dict[int, SortedRun]()
        try:
            for first in range(0, self._shards, at_once):
                shards = min(at_once, self._shards - first)
                turn = None if shards == self._shards else (first, first + shards)
                for slice_number, runs in enumerate(self._slices(depth - 1)):
                    if slice_number or first:
                        check()
                    self._candidates.put(runs, threads, check, turn)
                filled, held = boxes.filled(), boxes.filled_bytes
                if held > 4 * shards * BOX_BYTES * threads:  # else it tells of the boxes' pieces of memory
                    self._successor_bytes = held * self._shards / shards / states
                for begin in range(0, len(filled), SHARDS_AT_ONCE):
                    if begin:
                        self.watch(filled[begin], self._shards)
                        check()
                    some = filled[begin : begin + SHARDS_AT_ONCE]
                    older = [self._older(depth, shard) for shard in some]
                    for shard, taken in zip(some, boxes.take(some, older, threads, most), strict=True):
                        if taken[0]:
                            found[shard] = SortedRun(*taken)
                            self._bytes += found[shard].bytes
        except BaseException:
            self._candidates.clear(self._room)
            raise
        finally:
            self._bytes = before
        return Layer(self._shards, found)

    def _is_thin(self, depth: int) -> bool:
        """Whether the two layers before a depth have few states, and what is not new takes little memory."""
        allowed = THIN_BYTES if self._memory is None else min(THIN_BYTES, (self._memory - self._bytes) // 3)
        return (
            expander_of(self.space) is not None
            and all(sum(self._counts[at].values()) <= THIN for at in range(max(depth - 2, 0), depth))
            and (self._states + THIN) * (3 * self._width + 16) <= allowed
        )

    def _look_ahead(self, depth: int) -> None:
        """Finds the layers from a depth on together, until one has many states."""
        layers = THIN_STATES if self._limit is None else self._limit + 1 - depth
        states = THIN_STATES
        if self._excluded == "all":
            states = min(states, max(THIN, self._states // 2))  # found once before all found are read again
            older = [run.data for run in chain.from_iterable(self._found.values())]
        else:
            before = excluded_layers(self._excluded, depth)
            older = [run.data for at in before for run in self._layers[at].runs.values()]
        last = [run.data for run in self._layers[depth - 1].runs.values()]
        expander = expander_of(self.space)
        assert expander is not None, "its layers are thin"
        with answers(self.space):
            found, united = _kernel.thin_layers(
                expander, last, older, self.space.keys or 0, layers, THIN, states
            )
        self._ahead.extend(SortedRun(*run) for run in found)
        if self._excluded == "all":
            self._add_found(depth + len(found) - 1, self._parts([SortedRun(*united)], self._shards))

    def _fitting(self, expected: int, threads: int) -> int:
        """How many shards suit so many bytes of successors: a power of two."""
        size = SHARD_BYTES
        if threads > 1:
            size = min(size, max(LEAST_SHARD_BYTES, expected // (threads * SHARDS_A_THREAD)))
        shards = min(expected // size, MOST_SHARDS)
        if self.space.keys is not None:
            shards = min(shards, self.space.keys // SHARD_KEYS)
        if self._excluded == "all":
            shards = max(shards, min(self._states // SHARD_FOUND, MOST_SHARDS))
        return 1 << max(shards, 1).bit_length() - 1

    def _divided(self, depth: int, states: int, threads: int) -> tuple[_kernel.Outboxes, int]:
        """The boxes for the successors of so many states, divided into shards as all that is read is, and of how many
        shards the successors have room at once."""
        expected = int(self._successor_bytes * states)
        shards, room = self._fitting(expected, threads), max(ROOM, -(-expected // PASSES))
        if self._excluded == "all":
            shards = max(shards, self._shards)
        if self._memory is not None:
            room = min(room, (self._memory - self._bytes) // 3)
        passes = -(-expected // max(room, LEAST_ROOM)) if expander_of(self.space) is not None else 1
        boxes = self._candidates.divide(shards, self._room if passes <= 1 else max(self._room, 2 * room))
        if shards > 1:
            self._divide_older(depth, shards)
        self._shards = shards
        return boxes, -(-shards // max(passes, 1))

    def _divide_older(self, depth: int, shards: int) -> None:
        """Divides what is not new at a depth among so many shards, where it has fewer. An error leaves all states."""
        if self._excluded == "all":
            if shards == self._shards:
                return
            found, change = dict[int, list[SortedRun]](), 0
            for run in chain.from_iterable(self._found.values()):
                change -= run.bytes
                for shard, part in self._parts([run], shards):
                    found.setdefault(shard, []).append(part)
                    change += part.bytes
            self._found, self._bytes = found, self._bytes + change
            return
        for earlier in excluded_layers(self._excluded, depth):
            if self._layers[earlier].shards >= shards:
                continue
            runs = [run for _, run in sorted(self._layers[earlier].runs.items())]
            # Ranges of keys lie in order, but may cross those that there were; parts by a hash lie in those.
            groups = [[run] for run in runs] if self.space.keys is None else [runs]
            parts = dict(chain.from_iterable(self._parts(group, shards) for group in groups))
            self._forget(earlier)
            self._layers[earlier] = Layer(shards, parts)
            self._bytes += sum(run.bytes + RUN_BYTES for run in parts.values())

    def _parts(self, runs: Iterable[SortedRun], shards: int) -> list[tuple[int, SortedRun]]:
        """The parts of ascending runs in each of so many shards."""
        writer = _kernel.MapWriter(self._width, shards, self.space.keys or 0, 0)
        for run in runs:
            writer.add(_kernel.run_codes(self._width, run.data), bytes(run.states), 1)
        return [(shard, SortedRun(states, data)) for shard, states, data in writer.runs(0)]

    def _older(self, depth: int, shard: int) -> list[Buffer]:
        """The runs with the states of a shard that are not new at a depth, and perhaps with others."""
        if self._excluded == "all":
            return [run.data for run in self._found.get(shard, ())]
        size = self.space.keys or 2**32  # shards are its equal parts (kernel/include/farthest/codes.hpp)
        part = -(-size // self._shards)
        runs: list[Buffer] = []
        for earlier in excluded_layers(self._excluded, depth):
            layer = self._layers[earlier]
            of_layer = -(-size // layer.shards)
            last = min((shard + 1) * part, size) - 1
            overlapping = range(shard * part // of_layer, last // of_layer + 1)
            runs += [layer.runs[at].data for at in overlapping if at in layer.runs]
        return runs

    def _slices(self, depth: int) -> Iterator[list[Buffer]]:
        """The runs of a layer, some at a time."""
        runs: list[Buffer] = []
        states = 0
        for run in self._layers[depth].runs.values():
            runs.append(run.data)
            states += run.states
            if states >= SLICE:
                yield runs
                runs, states = [], 0
        if runs:
            yield runs

    def give_up(self, depth: int) -> None:
        """Forgets what was found of a layer that is not complete, the last one begun."""
        self._candidates.clear(self._room)
        self._ahead.clear()
        self._forget(depth)
        self._counts.pop(depth, None)

    # Results

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        """Of byte strings a list of bytes."""
        runs = {shard: run.data for shard, run in self._layers[depth].runs.items()}
        return least_codes(self.space, runs, limit)

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        """``size`` keys a chunk of a dense space, at most so many states of a sparse one."""
        if not self._distances:
            raise StorageError(ONLY_COUNTS)
        self._candidates.boxes.trim()
        runs = ((at, run.data) for at in range(depth + 1) for run in self._layers[at].runs.values())
        return map_of_runs(self.space, 1, depth, lambda _: runs, size, threads)

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        self._restored(depth)
        self._layers, self._counts, self._found, self._bytes = {}, {}, {}, 0
        self._found_to = -1
        self._states = states
        self._shards = self._fitting(int(self._successor_bytes * states / (depth + 1)), threads)
        self._states = 0
        for at, runs in read_map(self.space, self._shards, depth, chunks, states):
            self._keep(at, Layer(self._shards, runs))
            self._check_memory(at)
