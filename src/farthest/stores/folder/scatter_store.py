"""The scatter store whose sorted runs are files in a folder: for one process, and spaces larger than its memory.

Delayed detection of duplicates (Korf, AAAI 2004; Zhou and Hansen, AAAI 2004). A layer is found in two parts:

    expand    the runs of the layer before, in pieces; successors gather in the kernel's outboxes, for all shards, or in
              some turns for a part of them each; where these are too many they go to a file when they have taken their
              part of the memory: a sorted run for each shard
    step      units of neighbouring shards: the runs that were sent to a shard are merged, what is not new is taken out
              (nothing, two layers, or all states found), and the rest is written

All reading and writing is sequential. A file is written while the next unit is stepped. Where layers are only counted,
of the last one that is wanted a file has the least codes, and the numbers of states. A map is made at the end, of all
layers: a dense one shard by shard, a sparse one from files that are mapped into the memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from math import ceil, inf
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import ResourceError, StorageError
from farthest.models.chunks import Chunk
from farthest.stores.contract import ONLY_COUNTS, check_depth, excluded
from farthest.stores.folder.journal import EnumerationFolder, Room
from farthest.stores.folder.run_files import SLAB, RunFiles
from farthest.stores.folder.store import StoreInFiles
from farthest.stores.scattering import (
    ALL,
    BOX_BYTES,
    LEAST_KEPT,
    NO_STATES,
    NOTHING_FOUND,
    Candidates,
    RunsOf,
    RunsStepInput,
    ShardRuns,
    SortedRun,
    dense_map,
    expander_of,
    least_codes,
    least_of,
    map_reader,
    sparse_map,
)
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.spaces.contract import ScatterSpace


BOXES_SHARE = 0.35
"""The part of the memory that the boxes may take."""

BOXES_FULL = 0.9
"""The boxes go to a file when they have taken this part of their room: what is expanded next may be more than was
thought."""

MOST_SHARDS = 1024
BOX_PIECES = 8
"""Boxes of so many pieces of BOX_BYTES suit."""

LEAST_PIECE, SLICE = 2**10, 2**20
"""States that are expanded between two calls of ``poll``, at least and at most."""
SUCCESSORS = 64
"""Of a state, where none was expanded yet."""
TURNS = 4
"""A layer is expanded so many times at most before its successors go to files: to find a successor again takes no
longer than to sort, code, write, read and merge it."""


def shards_for(memory: int, threads: int) -> int:
    """How many shards suit ``memory`` bytes: a power of two."""
    fitting = int(memory * BOXES_SHARE) // (BOX_PIECES * BOX_BYTES * threads)
    return min(MOST_SHARDS, 1 << (max(fitting, 1).bit_length() - 1))


class Expansion(Candidates):
    """The boxes, and how they are filled. ``memory``: bytes, of which the boxes may take BOXES_SHARE."""

    def __init__(self, space: ScatterSpace, files: RunFiles, memory: int, threads: int) -> None:
        self._files = files
        self._threads = threads
        self._memory = memory
        self._width = space.code_bytes
        self._room = BOXES_SHARE * memory
        self._full = BOXES_FULL * self._room
        self._successor_bytes = float(SUCCESSORS * self._width)  # of a state, about
        self._depth = 0  # whose candidates are in the boxes or outboxes
        self._turn = range(0)  # the shards whose candidates are there
        self._at_once = files.shards  # shards of a turn
        self._sends = False  # successors that have no room go to outboxes
        self._given = set[int]()  # shards that were taken out of the boxes
        super().__init__(space, files.shards, int(1.25 * self._room))

    def _drop(self) -> None:
        self.clear(int(1.25 * self._room))
        self._turn, self._given = range(0), set()

    def turn_of(self, shard: int) -> int:
        """The turn in which the candidates of a shard are found, while the layer is stepped."""
        return shard // self._at_once

    def expand(self, depth: int, shard: int, counts: Mapping[int, int], poll: Callable[[], None]) -> bool:
        """Puts the successors of the layer before ``depth`` that are in the shard, and in the others of its turn, into
        the boxes, or all into outboxes where these do not hold them, unless they are there. ``counts``: that layer's
        states by shard. Returns whether anything was done.

        Raises ValueError where a run is damaged, and what ``poll`` raises.
        """
        if self._depth == depth and shard in self._turn:
            return False
        if self._depth != depth:
            self._set_turns(self._turns_for(sum(counts.values())))
        if self.boxes.filled():  # for shards that were committed before
            self._drop()
        self._depth, self._turn, self._given = depth, range(0), set()
        try:
            with self._files.folder.errors():
                while not self._turn:
                    first = self.turn_of(shard) * self._at_once
                    turn = range(first, min(first + self._at_once, self._shards))
                    if self._put_all(depth, turn, counts, poll):
                        self._turn = turn
                    else:  # more than was thought
                        self._drop()
                        self._set_turns(inf if self._at_once == 1 else 2 * self._shards / self._at_once)
        except BaseException:
            self._drop()
            raise
        return True

    def _turns_for(self, states: int) -> float:
        """In how many turns the boxes have room for the successors of so many states."""
        return self._successor_bytes * states / self._full

    def _set_turns(self, turns: float) -> None:
        self._sends = turns > TURNS or bool(self._files.outboxes) or expander_of(self._space) is None
        self._at_once = -(-self._shards // (1 if self._sends else max(1, ceil(turns))))

    def _put_all(self, depth: int, turn: range, counts: Mapping[int, int], poll: Callable[[], None]) -> bool:
        """Whether the boxes or outboxes hold all that is for the shards of the turn."""
        of_turn = None if len(turn) == self._shards else (turn.start, turn.stop)
        for complete, states, runs in self._pieces(depth - 1, counts, self._files.expanded(), len(turn)):
            before = self.boxes.filled_bytes
            self.put(runs, self._threads, poll, of_turn)
            grown = self.boxes.filled_bytes - before
            if grown > 2 * len(turn) * BOX_BYTES:  # else it tells of the boxes' pieces of memory
                of_all = grown * self._shards / len(turn)
                self._successor_bytes = max(0.8 * self._successor_bytes, of_all / states)
            if self.boxes.filled_bytes > self._full:
                if not self._sends:
                    return False
                self._flush(depth, complete)
            poll()
        if self._files.outboxes and self.boxes.filled():
            self._flush(depth, self._shards)
        return True

    def _pieces(
        self, depth: int, counts: Mapping[int, int], first: int, shards: int
    ) -> Iterator[tuple[int, int, list[Buffer]]]:
        """From the shard ``first`` on some runs of a layer at a time: how many shards are complete with them, their
        states, the runs. ``shards``: whose candidates are wanted, so many."""
        room = Room(SLAB)
        at = first
        while at < self._shards:
            left = (self._full - self.boxes.filled_bytes) * self._shards / shards
            most = max(LEAST_PIECE, min(SLICE, int(left / self._successor_bytes)))
            end, states = at + 1, counts.get(at, 0)
            while end < self._shards and states + counts.get(end, 0) <= most:
                states += counts.get(end, 0)
                end += 1
            room.clear()
            runs = [run for of in self._files.read("L", depth, at, end, room) for run in of]
            if states > most:
                yield from self._cut(runs, states, most, at, end)
            elif states:
                yield end, states, list(runs)
            at = end

    def _cut(
        self, runs: Sequence[Buffer], states: int, most: int, complete: int, end: int
    ) -> Iterator[tuple[int, int, list[Buffer]]]:
        """The run of one shard in pieces; only after the last the shard is complete."""
        codes = b"".join(_kernel.run_codes(self._width, run) for run in runs)
        for first in range(0, states, most):
            part = codes[first * self._width : (first + most) * self._width]
            number, run = _kernel.run_of(self._width, part)
            yield end if first + most >= states else complete, number, [run]

    def _flush(self, depth: int, expanded: int) -> None:
        self._files.write_outbox(depth, self.take_all(self._threads), expanded)

    def take(
        self,
        shards: Iterable[int],
        older: Callable[[int], Sequence[Buffer]],
        threads: int,
        most: int = ALL,
    ) -> dict[int, SortedRun]:
        need = SORTED_BYTES * self.boxes.filled_bytes / max(1, len(self.boxes.filled()))
        return super().take(shards, older, at_once(threads, self._memory, need), most)

    # Where no outbox was needed

    def again_if_given(self, shards: Iterable[int]) -> None:
        """Where the boxes have given what is for one of the shards, all is to be expanded again: its step was not
        committed."""
        if not self._given.isdisjoint(shards):
            self._drop()

    def give(
        self, shards: Sequence[int], older: Sequence[Sequence[Buffer]], threads: int, most: int
    ) -> list[SortedRun]:
        """What the boxes have for each of the shards, without the states of the ``older`` runs of it: how many they
        are, and the run of the least ``most``."""
        self._given.update(shards)
        found = self.take(shards, dict(zip(shards, older, strict=True)).__getitem__, threads, most)
        return [found.get(shard, NO_STATES) for shard in shards]


SORTED_BYTES = 4
"""While the codes sent to a shard are merged, each is there so many times, besides in its file's form or in the boxes.
Older runs are read code by code: they take no more."""

THREADS_FROM = 2**20
"""Bytes to be sorted: for fewer threads are not worth their start."""

MOST_SORTED = 0.5
"""A shard that would take more of the memory to be sorted is refused."""


@dataclass(frozen=True, slots=True)
class StepLoad:
    """What a shard's step takes: bytes that are read, and those that are decoded and sorted."""

    read: int
    sort: int


def step_loads(space: ScatterSpace, files: RunFiles, depth: int, memory: int) -> list[StepLoad]:
    """What the step of each shard to ``depth`` takes, once the layer before is expanded. ``memory``: bytes that may be
    used. Raises ResourceError where the step of a shard takes too much."""
    width = space.code_bytes
    code = 8 if width == 8 else max(16, 1 << (width - 1).bit_length())
    sent = [files.sizes("O", number) for number in range(len(files.outboxes))]
    left_out = [files.sizes(kind, at) for kind, at in files.left_out(depth)]
    loads = []
    for shard in range(files.shards):
        codes = sum(sizes[shard][1] for sizes in sent)
        sort = codes + (sum(sizes[shard][1] for sizes in left_out) if files.renews(depth) else 0)
        need = code * SORTED_BYTES * sort
        if need > MOST_SORTED * memory:
            more = int(need / MOST_SORTED) - memory
            raise ResourceError(
                f"puzzle {space.puzzle.name}: a part of layer {depth} needs {bytes_text(need)} of memory at once, even "
                f"where layers are kept in files; allow {-(-more // 2**20)} MiB more with --memory, and give the same "
                "command again, which goes on from here"
            )
        loads.append(StepLoad(sum(sizes[shard][0] for sizes in (*sent, *left_out)), need))
    return loads


MAP_SHARE = 0.1
"""The part of the memory that may be taken by layers which are read for a map and not mapped."""

READ_SHARE, SORT_SHARE = 0.08, 0.2
"""Parts of the memory, besides that of the boxes: of what is read for a unit; of what is decoded and sorted at a time.
The rest is for what is made, and for what is still being written."""


def at_once(threads: int, memory: int, need: float) -> int:
    """How many threads may sort at a time, where each needs so many bytes."""
    return max(1, min(threads, int(SORT_SHARE * memory / max(need, 1))))


def neighbours(shards: Sequence[int]) -> Iterator[list[int]]:
    """Ascending shards in groups of those that follow each other."""
    for _, group in groupby(enumerate(shards), lambda one: one[1] - one[0]):
        yield [shard for _, shard in group]


class ScatterFolderStore(StoreInFiles[RunFiles]):
    """``JobStore`` over files of sorted runs. ``memory``: bytes that all may take, about; ``last``: the last depth that
    is wanted, where there is a limit; ``distances``: all layers are kept, for ``chunks``."""

    def __init__(
        self,
        space: ScatterSpace,
        folder: EnumerationFolder,
        memory: int,
        *,
        last: int | None = None,
        distances: bool = False,
        threads: int = 1,
    ) -> None:
        self.space = space
        self._distances = distances
        self._last = last = None if distances else last
        self._memory = memory
        self._width = space.code_bytes
        self._loads: list[StepLoad] = []
        self._stepping = threading.Lock()  # held while a unit is stepped, or its layer expanded

        def open_files() -> None:
            rule = excluded(graded=space.graded, undirected=space.undirected)
            self._files = RunFiles(folder, rule, last, keeps=distances)
            self._expansion = Expansion(space, self._files, memory, threads)
            if self._files.depth < 0:
                origins = self._expansion.origins()
                runs = [ShardRuns(origins.get(shard, NO_STATES)) for shard in range(folder.units)]
                self._files.write(0, 0, runs)
                self._files.complete(0)

        super().__init__(folder, folder.units, open_files)

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        """Any shard may have successors of any other."""
        return list(range(self.shards)) if self._counts[depth - 1] else []

    def _blocks(self, depth: int, shards: Iterable[int]) -> Iterable[int]:
        """All shards, or none."""
        return range(self.shards) if any(True for _ in shards) else ()

    def shards_of(self, depth: int, block: int) -> list[int]:
        return [block]

    def units(self, depth: int, shards: Iterable[int]) -> Iterator[list[int]]:
        """Neighbouring shards that fit the memory together, unit by unit: those that are not committed."""
        missing = sorted(set(shards) - self._committed)
        if not missing:
            return
        with self._stepping:
            self._expand(depth, missing[0])
        turn_of = self._expansion.turn_of
        for together in neighbours(missing):
            unit, size = list[int](), 0
            for shard in together:
                full = size + self._loads[shard].read > READ_SHARE * self._memory
                if unit and (full or turn_of(shard) != turn_of(unit[0])):
                    yield unit
                    unit, size = [], 0
                unit.append(shard)
                size += self._loads[shard].read
            yield unit

    def open(self, depth: int, shards: Sequence[int]) -> RunsStepInput:
        self._check_stepped(depth)
        return RunsStepInput(self, depth, sorted(set(shards) - self._committed))

    def commit(self, depth: int, step_input: RunsStepInput, counts: Sequence[int]) -> None:
        if self._distances and any(counts):
            check_depth(depth)
        found = dict(zip(step_input.shards, step_input.steps, strict=True))
        for shards in neighbours(step_input.shards):
            self._commit_blocks(depth, shards, [found[shard] for shard in shards])

    # The step

    def _expand(self, depth: int, shard: int) -> None:
        with self._damage("a layer"):
            expanded = self._expansion.expand(depth, shard, self._counts[depth - 1], self.poll)
        if expanded:
            self._loads = step_loads(self.space, self._files, depth, self._memory)

    def step(self, depth: int, shards: Sequence[int], threads: int) -> list[ShardRuns]:
        found: list[ShardRuns] = []
        for some in neighbours(shards):
            last = len(found) + len(some)
            while len(found) < last:
                found += self._stepped(depth, some[len(found) - last :], threads)
        return found

    def _stepped(self, depth: int, shards: list[int], threads: int) -> list[ShardRuns]:
        """Of the first of neighbouring shards, those of one turn; nothing where another step has committed all of them
        meanwhile."""
        with self._stepping:
            if self._committed.issuperset(shards):
                return [NOTHING_FOUND] * len(shards)
            self._expansion.again_if_given(shards)
            self._expand(depth, shards[0])
            turn_of = self._expansion.turn_of
            shards = [shard for shard in shards if turn_of(shard) == turn_of(shards[0])]
            room = Room(SLAB)
            numbers = [("O", number) for number in range(len(self._files.outboxes))]
            with self.folder.errors():
                older = self._read(self._files.left_out(depth), shards, room)
                sent = self._read(numbers, shards, room)
            with self._damage("a layer"):
                if numbers:
                    fresh = self._merged(shards, sent, older, threads, counted=depth == self._last)
                else:
                    most = LEAST_KEPT if depth == self._last else ALL
                    fresh = self._expansion.give(shards, older, threads, most)
                if not self._files.renews(depth):
                    return list(map(ShardRuns, fresh))
                for runs, run in zip(older, fresh, strict=True):
                    if run.states:
                        runs.append(run.data)
                united = self._merged(shards, older, [[]] * len(shards), threads)
                return list(map(ShardRuns, fresh, united))

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
        older: Sequence[Sequence[Buffer]],
        threads: int,
        *,
        counted: bool = False,
    ) -> list[SortedRun]:
        """Of each shard the codes of any of its runs that none of the ``older`` ones has: as many at a time as the
        memory allows. Where they are ``counted`` their number, and the run of the least."""
        sizes = [self._loads[shard].sort for shard in shards]
        together = at_once(threads, self._memory, max(sizes))

        def merge(of: Sequence[Buffer], without: Sequence[Buffer]) -> SortedRun:
            run = SortedRun(*_kernel.merge_runs(self._width, of, without)) if of else NO_STATES
            return SortedRun(run.states, least_of(self._width, run).data) if counted else run

        if together == 1 or sum(sizes) < THREADS_FROM:
            return list(map(merge, runs, older))
        with ThreadPoolExecutor(together, "farthest-merge") as pool:
            return list(pool.map(merge, runs, older))

    # Results

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        if not self._distances:
            raise StorageError(ONLY_COUNTS)
        self._settle()
        with self._damage("a layer"):
            if self.space.keys is None:
                reader = map_reader(
                    self._width, self._files.whole_layers(depth, int(MAP_SHARE * self._memory))
                )
                yield from sparse_map(self.space, depth, reader, size, threads)
            else:
                yield from dense_map(
                    self.space, self.shards, depth, self._runs_up_to(depth), size, range(self.space.keys)
                )

    def _runs_up_to(self, depth: int) -> RunsOf:
        """Reads the runs of one shard after the other."""

        def runs_of(shard: int) -> Iterator[tuple[int, Buffer]]:
            for at in range(depth + 1):
                with self.folder.errors():
                    (runs,) = self._files.read("L", at, shard, shard + 1, Room(1))
                yield from ((at, run) for run in runs)

        return runs_of

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        least = b""
        for first, table in sorted(self._files.tables[depth].items()):
            with self.folder.errors():
                found = self._files.read("L", depth, first, first + len(table.sizes), Room(SLAB))
            parts = [_kernel.run_codes(self._width, run, limit) for runs in found for run in runs]
            codes = b"".join([*([_kernel.run_codes(self._width, least)] if least else []), *parts])
            cut = _kernel.run_codes(self._width, _kernel.run_of(self._width, codes)[1], limit)
            least = _kernel.run_of(self._width, cut)[1]
        return least_codes(self.space, {0: least}, limit)
