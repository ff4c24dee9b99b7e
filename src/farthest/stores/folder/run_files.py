"""The files of an enumeration by sorted runs, and what of them is there.

L(d) and O(d) lie as units of neighbouring shards, each cut where its layer is stepped:

    L<d>.<first shard>   the runs of the states at depth d
    V<d>.<first shard>   where states may be found again at any depth: the runs of all states up to depth d
    O<d>.<number>        what the layer d-1 leads to: a run for each shard, and behind them a uint64, the shards of the
                         layer d-1 that are in this file and those before it from the first to their last

Where a map is wanted all L files stay to the end, else those that the next layer needs.

The blob of a run: the run (kernel/include/farthest/run_blob.hpp) and its XXH3, little endian; of no states no bytes. No
file is written again: an L file is the commit of its shards, whose V file is written before. A line of the journal is
the commit of a layer; after it what the next one does not need is removed.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit

from farthest import _kernel
from farthest.errors import LostStateError
from farthest.stores.contract import Excluded, excluded_layers
from farthest.stores.folder.journal import EnumerationFolder, Room, UnitFiles, UnitTable
from farthest.stores.scattering import NO_STATES, ShardRuns, SortedRun

CHECKSUM = struct.Struct("<Q")
RENEWED = 4
"""V is renewed by a layer for which as many layers besides it were to be left out."""

SPARE_FILES = 128
"""Files that a process has open besides those that are mapped, at most."""

Tables = dict[int, "UnitTable"]

SLAB = 2**20
"""Bytes that memory for runs is asked for at once."""


class RunFiles(UnitFiles):
    """``tables``, and ``visited`` alike for V: by the first shard of each file. ``outboxes``: of the layer under way,
    in their order. ``last``: the last depth that is wanted, where there is a limit. ``keeps``: all layers stay."""

    def __init__(
        self, folder: EnumerationFolder, rule: Excluded, last: int | None = None, *, keeps: bool = False
    ) -> None:
        super().__init__(folder)
        self._last = last
        self._keeps = keeps
        self.shards = folder.units
        self._excluded = rule
        self.visited: dict[int, Tables] = {}
        self.outboxes: list[UnitTable] = []
        self.begin(0)
        with folder.errors():
            if folder.layers:
                self._reopen()

    def _reopen(self) -> None:
        depth = self.depth = len(self.folder.layers) - 1
        names = self.names()
        newest = max((earlier for earlier in _depths("V", names) if earlier <= depth), default=-1)
        self.visited = {earlier: self._found("V", earlier, names) for earlier in (newest, depth + 1)}
        if newest < 0 or not self._whole(self.visited[newest]):
            del self.visited[newest]
        self.tables = {
            earlier: {first: self.table_of_file(self.place(earlier, first)) for first in layer.units}
            for earlier, layer in enumerate(self.folder.layers)
            if earlier >= self._oldest_needed()
        }
        self.check_last()
        done = self.tables[depth + 1] = self._found("L", depth + 1, names)
        # Of shards that were not committed, V is written again.
        renewed = {first: table for first, table in self.visited.pop(depth + 1).items() if first in done}
        if self.renews(depth + 1):
            self.visited[depth + 1] = renewed
            if len(renewed) != len(done):
                raise LostStateError(f"{self.folder.path}: files V{depth + 1} are missing")
        while f"O{depth + 1}.{len(self.outboxes)}" in names:
            number = len(self.outboxes)
            self.outboxes.append(self.table_of_file(self.place(depth + 1, number, "O"), self.shards + 1))
        here = {f"L{at}.{first}" for at, tables in self.tables.items() for first in tables}
        here |= {f"V{at}.{first}" for at, tables in self.visited.items() for first in tables}
        here |= {f"O{depth + 1}.{number}" for number in range(len(self.outboxes))}
        self.remove_others(names, here)

    def _found(self, kind: str, depth: int, names: set[str]) -> Tables:
        begin = f"{kind}{depth}."
        units = sorted(
            int(name.removeprefix(begin))
            for name in names
            if name.startswith(begin) and name.removeprefix(begin).isdecimal()
        )
        return {first: self.table_of_file(self.place(depth, first, kind)) for first in units}

    def _whole(self, tables: Tables) -> bool:
        """Whether the files have all shards."""
        return sum(len(table.sizes) for table in tables.values()) == self.shards

    # What is there

    def _tables(self, kind: str, depth: int) -> Tables:
        if kind == "O":
            return {0: self.outboxes[depth]}
        return (self.tables if kind == "L" else self.visited).get(depth, {})

    def all_tables(self) -> Iterator[UnitTable]:
        yield from super().all_tables()
        for tables in self.visited.values():
            yield from tables.values()
        yield from self.outboxes

    @property
    def _newest(self) -> int:
        """The depth of the newest V of all shards, -1 where there is none."""
        return max((earlier for earlier in self.visited if earlier <= self.depth), default=-1)

    def left_out(self, depth: int) -> list[tuple[str, int]]:
        """The files whose states are not new at ``depth``, as kind and depth."""
        newest = self._newest
        first = [("V", newest)] if newest >= 0 else []
        return first + [
            ("L", earlier) for earlier in excluded_layers(self._excluded, depth) if earlier > newest
        ]

    def renews(self, depth: int) -> bool:
        """Whether the layer ``depth`` writes V, which the next one needs."""
        return self._excluded == "all" and depth != self._last and depth - self._newest > RENEWED

    def _oldest_needed(self) -> int:
        """The first layer whose files are needed after the last complete one. The layer before that may be the last one
        with states, which is the result."""
        if self._keeps:
            return 0
        return min(
            [
                max(self.depth - 1, 0),
                *(earlier for kind, earlier in self.left_out(self.depth + 1) if kind == "L"),
            ]
        )

    def states(self, depth: int) -> dict[int, int]:
        """States of each shard that has some."""
        return {
            first + at: states
            for first, table in self.tables[depth].items()
            for at, states in enumerate(table.states)
            if states
        }

    def committed(self, depth: int) -> set[int]:
        """The shards of the layer under way that are written."""
        return {first + at for first, table in self.tables[depth].items() for at in range(len(table.sizes))}

    def sizes(self, kind: str, depth: int) -> list[tuple[int, int]]:
        """Of each shard the bytes and the states, in those files; none where they are not there."""
        found = [(0, 0)] * self.shards
        for first, table in self._tables(kind, depth).items():
            for at, (size, states) in enumerate(zip(table.sizes, table.states, strict=True)):
                if first + at < self.shards:
                    found[first + at] = (size, states)
        return found

    def expanded(self) -> int:
        """Of the layer before the one under way: the shards, from the first on, whose successors are in outboxes."""
        if not self.outboxes:
            return 0
        number = len(self.outboxes) - 1
        table = self.outboxes[number]
        place = self.place(self.depth + 1, number, "O")
        with self.folder.errors(), self.opened(place) as file:
            (shards,) = CHECKSUM.unpack(
                self.bytes_at(file, table.starts[-1], table.sizes[-1], Room(table.sizes[-1]))
            )
        return min(int(shards), self.shards)

    # Writing

    def write_outbox(self, depth: int, runs: dict[int, SortedRun], expanded: int) -> None:
        """Writes what the layer before leads to, by shard, once ``expanded`` of its shards are in outboxes."""
        place = self.place(depth, len(self.outboxes), "O")
        blobs = [_blob(runs.get(shard, NO_STATES)) for shard in range(self.shards)]
        self.outboxes.append(self.write_file(place, [*blobs, (CHECKSUM.pack(expanded), 0)]))

    def write(self, depth: int, first: int, shards: Sequence[ShardRuns], classes: int = 0) -> None:
        """Commits the shards from ``first`` on; the classes of their states."""
        if self.renews(depth):
            place = self.place(depth, first, "V")
            table = self.write_file(place, [_blob(one.united) for one in shards])
            self.visited.setdefault(depth, {})[first] = table
        self.tables[depth][first] = self.write_file(
            self.place(depth, first), [_blob(one.fresh) for one in shards], classes
        )

    def complete(self, depth: int) -> None:
        """Notes that all shards of the layer are committed, and removes what is older than the next one needs."""
        self.note_complete(depth)
        for number in reversed(range(len(self.outboxes))):
            self.remove_file(self.place(depth, number, "O"))
        self.outboxes = []
        self._forget_older()

    def _forget_older(self) -> None:
        newest = self._newest
        for earlier in [earlier for earlier in self.visited if earlier < newest]:
            for first in self.visited.pop(earlier):
                self.remove_file(self.place(earlier, first, "V"))
        before = self._oldest_needed()
        for earlier in [earlier for earlier in self.tables if earlier < before]:
            for first in self.tables.pop(earlier):
                self.remove_file(self.place(earlier, first))

    # Reading

    def read(self, kind: str, depth: int, first: int, last: int, room: Room) -> list[list[memoryview]]:
        """Of each shard from ``first`` to before ``last`` its runs in those files, in ``room``; an outbox is its
        number."""
        found: list[list[memoryview]] = [[] for _ in range(first, last)]
        for begin, table in self._tables(kind, depth).items():
            a, b = max(first, begin), min(last, begin + len(table.sizes))
            if a >= b:
                continue
            start, end = table.starts[a - begin], table.starts[b - 1 - begin] + table.sizes[b - 1 - begin]
            if start == end:
                continue
            place = self.place(*((self.depth + 1, depth, kind) if kind == "O" else (depth, begin, kind)))
            with self.opened(place) as file:
                data = self.bytes_at(file, start, end - start, room)
            for shard in range(a, b):
                if size := table.sizes[shard - begin]:
                    at = table.starts[shard - begin] - start
                    found[shard - first].append(self._run(data[at : at + size], place.name))
        return found

    def whole_layers(self, depth: int, memory: int) -> Iterator[tuple[int, memoryview]]:
        """(depth, run) of all shards at the depths up to ``depth``. Files that would take more than their share of
        ``memory`` bytes are mapped: the system reads what is looked at, and gives it up where it needs the room."""
        self.flush()
        tables = [(at, first, table) for at in range(depth + 1) for first, table in self.tables[at].items()]
        share = memory // max(1, len(tables))
        large = sum(table.file_bytes > share for _, _, table in tables)
        soft, hard = getrlimit(RLIMIT_NOFILE)  # a mapped file stays open
        if soft != RLIM_INFINITY and large + SPARE_FILES > soft:
            setrlimit(RLIMIT_NOFILE, (large + SPARE_FILES if hard == RLIM_INFINITY else hard, hard))
        for at, first, table in tables:
            place = self.place(at, first)
            with self.folder.errors(), self.opened(place) as file:
                if isinstance(file, int) and table.file_bytes > share:
                    data = memoryview(mmap.mmap(file, 0, access=mmap.ACCESS_READ))
                else:
                    data = self.bytes_at(file, 0, table.end, Room(table.end))
            for start, size in zip(table.starts, table.sizes, strict=True):
                if size:
                    yield at, self._run(data[start : start + size], place.name)

    def _run(self, blob: memoryview, name: str) -> memoryview:
        run, checksum = blob[: -CHECKSUM.size], blob[-CHECKSUM.size :]
        if len(checksum) != CHECKSUM.size or CHECKSUM.unpack(checksum)[0] != _kernel.xxh3(run):
            raise LostStateError(f"{self.folder.path / name}: the file is damaged")
        return run


def _blob(run: SortedRun) -> tuple[bytes, int]:
    """The blob of a run, and its states."""
    return (bytes(run.data) + CHECKSUM.pack(_kernel.xxh3(run.data)), run.states) if run.states else (b"", 0)


def _depths(kind: str, names: set[str]) -> list[int]:
    """The depths of which there are files of that kind, ascending."""
    found = {name[1:].split(".")[0] for name in names if name.startswith(kind)}
    return sorted(int(depth) for depth in found if depth.isdecimal())
