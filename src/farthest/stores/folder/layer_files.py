"""The layers of one enumeration as files of units, and what of them is there.

A unit of L(d+1) is written, synced and named; only then the same unit of L(d-1) is removed, which nothing needs any
more. So at any time there are L(d), units of L(d+1) and the others of L(d-1): two layers and a unit of a space that is
searched in place, else three. Whoever goes on begins with the first unit that has no file.

Files of layers that a residue map is made of stay until the enumeration ends (residues.py).
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from resource import RUSAGE_SELF, getrusage
from time import perf_counter, process_time

from farthest.errors import LostStateError
from farthest.stores.folder.journal import EnumerationFolder, LayerFigures
from farthest.stores.folder.plan import Plan
from farthest.stores.folder.room import Room
from farthest.stores.folder.unit_file import UnitPlace, UnitTable, read_table, write_unit


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources to be read of the layer at ``depth``: slots of those without states; (unit, place in it, slot) of the
    others, in the order of the files."""

    depth: int
    empty: list[int]
    stored: deque[tuple[int, int, int]]


class LayerFiles:
    """``plans``: by the parity of the depth. ``depth``: of the last complete layer, -1 at first; ``tables[d][u]``: what
    the file of unit u of layer d holds. ``keeps``: whether the files of the layer at a depth stay. Methods raise
    StorageError, LostStateError where a file is missing or damaged."""

    def __init__(
        self, folder: EnumerationFolder, plans: tuple[Plan, Plan], keeps: Callable[[int], bool]
    ) -> None:
        self.folder = folder
        self._keeps = keeps
        self._kept_bytes = 0  # of files that are not in `tables` any more
        self._plans = plans
        self._where = tuple(
            {shard: (unit, at) for unit, shards in enumerate(plan.units) for at, shard in enumerate(shards)}
            for plan in plans
        )
        self.tables: dict[int, dict[int, UnitTable]] = {}
        self.depth = -1
        self._started = (0.0, 0.0)
        self._read = self._written = 0
        self.begin(0)
        with folder.errors():
            if folder.layers:
                self._reopen()

    def _reopen(self) -> None:
        depth = self.depth = len(self.folder.layers) - 1
        last = self.folder.layers[-1]
        self.tables = {depth: {unit: self._table(depth, unit) for unit in last.units}}
        found = sum(table.total for table in self.tables[depth].values())
        if found != last.states:
            raise LostStateError(
                f"{self.folder.path}: the files of layer {depth} have {found:,} states, its journal says "
                f"{last.states:,}"
            )
        names = {file.name for file in os.scandir(self.folder.path)}
        units = range(len(self.plan(depth + 1).units))
        done = [unit for unit in units if self._place(depth + 1, unit).name in names]
        self.tables[depth + 1] = {unit: self._table(depth + 1, unit) for unit in done}
        if depth:
            before = set(self.folder.layers[-2].units).difference(done)
            self.tables[depth - 1] = {unit: self._table(depth - 1, unit) for unit in sorted(before)}
        known = {self._place(at, unit).name for at, tables in self.tables.items() for unit in tables}
        for layer in filter(lambda layer: self._keeps(layer.depth), self.folder.layers):
            kept = {self._place(layer.depth, unit).name for unit in layer.units} - known
            if missing := kept - names:
                raise LostStateError(f"{self.folder.path / min(missing)}: the file is missing")
            self._kept_bytes += sum((self.folder.path / name).stat().st_size for name in kept)
            known |= kept
        for name in names:  # what was to be removed, or not written to its end, when the process was killed
            if name.startswith("L") and name not in known:
                self.folder.remove(name)

    def plan(self, depth: int) -> Plan:
        """The plan of a layer."""
        return self._plans[depth & 1]

    def unit_of(self, depth: int, shard: int) -> int | None:
        """The unit of a layer that holds a shard; None: it has no states at such depths."""
        place = self._where[depth & 1].get(shard)
        return None if place is None else place[0]

    def _place(self, depth: int, unit: int) -> UnitPlace:
        return UnitPlace(depth, unit, self.folder.key)

    def _table(self, depth: int, unit: int) -> UnitTable:
        place = self._place(depth, unit)
        try:
            return read_table(self.folder.path, place, len(self.plan(depth).units[unit]))
        except FileNotFoundError:
            raise LostStateError(f"{self.folder.path / place.name}: the file is missing") from None

    def begin(self, depth: int) -> None:
        """The layer ``depth`` is stepped from now on."""
        self.tables.setdefault(depth, {})
        self._started = (perf_counter(), process_time())
        self._read = self._written = 0

    def states(self, depth: int) -> dict[int, int]:
        """States of each shard that has some."""
        return {
            shard: states
            for unit, table in self.tables[depth].items()
            for shard, states in zip(self.plan(depth).units[unit], table.states, strict=True)
            if states
        }

    def write(self, depth: int, unit: int, shards: Sequence[tuple[bytes, int]]) -> None:
        """Commits a unit: of each of its shards the blob and the states."""
        with self.folder.errors():
            table = write_unit(self.folder.path, self._place(depth, unit), shards)
        self._written += table.file_bytes
        self.tables[depth][unit] = table
        if (before := self.tables.get(depth - 2, {}).pop(unit, None)) is not None:
            self._retire(depth - 2, unit, before)

    def _retire(self, depth: int, unit: int, table: UnitTable) -> None:
        """No step needs the unit any more."""
        if self._keeps(depth):
            self._kept_bytes += table.file_bytes
        else:
            self.folder.remove(self._place(depth, unit).name)

    def complete(self, depth: int) -> None:
        """Notes that all units of the layer are committed, and removes what is older than the next one needs."""
        tables = self.tables[depth]
        wall, processor = self._started
        self.folder.complete(
            LayerFigures(
                depth=depth,
                states=sum(table.total for table in tables.values()),
                units=sorted(tables),
                seconds=round(perf_counter() - wall, 3),
                processor=round(process_time() - processor, 3),
                read=self._read,
                written=self._written,
                disk=self._kept_bytes
                + sum(table.file_bytes for known in self.tables.values() for table in known.values()),
                memory=getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
            )
        )
        self.depth = depth
        for old in [known for known in self.tables if known < depth - 1]:
            for unit, table in self.tables.pop(old).items():
                self._retire(old, unit, table)

    # Reading

    def missing(self, depth: int, unit: int, held: list[int | None]) -> Sources:
        """For the step of a unit to ``depth``: its sources that are not in their slots yet. ``held``: the shard in each
        slot, renewed here."""
        tables = self.tables[depth - 1]
        empty: list[int] = []
        stored: list[tuple[int, int, int]] = []
        for shard, slot in self.plan(depth).sources[unit].items():
            if held[slot] == shard:
                continue
            held[slot] = shard
            of, at = self._where[(depth - 1) & 1][shard]
            if of in tables and tables[of].sizes[at]:
                stored.append((of, at, slot))
            else:
                empty.append(slot)
        return Sources(depth - 1, empty, deque(sorted(stored)))

    def read_some(self, sources: Sources, most: int, room: Room) -> list[tuple[int, memoryview]]:
        """(slot, blob) of sources that were not read yet, of some ``most`` bytes together, in ``room``; nothing once
        all were read."""
        loads = [(slot, memoryview(b"")) for slot in sources.empty]
        sources.empty.clear()
        tables, size = self.tables[sources.depth], 0
        while sources.stored and size < most:
            of = sources.stored[0][0]
            with self._opened(sources.depth, of) as file:
                while sources.stored and sources.stored[0][0] == of and size < most:
                    _, at, slot = sources.stored.popleft()
                    loads.append((slot, self._bytes(file, tables[of], at, room)))
                    size += tables[of].sizes[at]
        return loads

    def excluded(self, depths: Sequence[int], depth: int, unit: int, room: Room) -> list[list[memoryview]]:
        """For each shard of a unit of layer ``depth`` the blobs of its states at earlier ``depths``, in ``room``."""
        exclude: list[list[memoryview]] = [[] for _ in self.plan(depth).units[unit]]
        for older in depths:
            table = self.tables.get(older, {}).get(unit)
            if table is None or not table.total:
                continue
            with self._opened(older, unit) as file:
                for at, blobs in enumerate(exclude):
                    if table.sizes[at]:
                        blobs.append(self._bytes(file, table, at, room))
        return exclude

    def blobs(self, depth: int) -> Iterator[tuple[int, memoryview]]:
        """(shard, blob) of each shard that has states at ``depth``, by ascending shards."""
        for shard in sorted(self.states(depth)):
            unit, at = self._where[depth & 1][shard]
            table = self.tables[depth][unit]
            with self.folder.errors(), self._opened(depth, unit) as file:
                blob = self._bytes(file, table, at, Room(table.sizes[at]))
            yield shard, blob

    def unit_blobs(self, depth: int, unit: int) -> tuple[UnitTable, Callable[[int], memoryview]]:
        """Of a unit of a complete layer that is kept: what its file holds, and what reads the blob of the shard that is
        number n of it."""
        with self.folder.errors():
            table = self._table(depth, unit)

        def read(at: int) -> memoryview:
            with self.folder.errors(), self._opened(depth, unit) as file:
                return self._bytes(file, table, at, Room(table.sizes[at]))

        return table, read

    @contextmanager
    def _opened(self, depth: int, unit: int) -> Iterator[int]:
        path = self.folder.path / self._place(depth, unit).name
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise LostStateError(f"{path}: the file is missing") from None
        try:
            yield file
        finally:
            os.close(file)

    def _bytes(self, file: int, table: UnitTable, at: int, room: Room) -> memoryview:
        """The blob of the shard that is number ``at`` of a unit."""
        view = room.take(table.sizes[at])
        got = 0
        while got < len(view):
            part = os.preadv(file, [view[got:]], table.starts[at] + got)
            if not part:
                raise LostStateError(f"{self.folder.path}: a file of a layer is cut off")
            got += part
        self._read += got
        return view
