"""The layers of one enumeration as files of units, and what of them is there.

A unit of L(d+1) is written, synced and named; only then the same unit of L(d-1) is removed, which nothing needs any
more. So at any time there are L(d), units of L(d+1) and the others of L(d-1): two layers and a unit of a space that is
searched in place, else three. Whoever goes on begins with the first unit that has no file.

Files of layers that a residue map is made of stay until the enumeration ends (residues.py).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from farthest.errors import LostStateError
from farthest.stores.folder.journal import EnumerationFolder
from farthest.stores.folder.plan import Plan
from farthest.stores.folder.room import Room
from farthest.stores.folder.unit_file import UnitPlace, UnitTable
from farthest.stores.folder.unit_files import UnitFiles


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources to be read of the layer at ``depth``: slots of those without states; (unit, place in it, slot) of the
    others, in the order of the files."""

    depth: int
    empty: list[int]
    stored: deque[tuple[int, int, int]]


class LayerFiles(UnitFiles):
    """The files of layers that are gathered. ``plans``: by the parity of the depth. ``keeps``: whether the files of the
    layer at a depth stay."""

    def __init__(
        self, folder: EnumerationFolder, plans: tuple[Plan, Plan], keeps: Callable[[int], bool]
    ) -> None:
        super().__init__(folder)
        self._keeps = keeps
        self._plans = plans
        self._where = tuple(
            {shard: (unit, at) for unit, shards in enumerate(plan.units) for at, shard in enumerate(shards)}
            for plan in plans
        )
        self.begin(0)
        with folder.errors():
            if folder.layers:
                self._reopen()

    def _reopen(self) -> None:
        depth = self.depth = len(self.folder.layers) - 1
        self.tables = {depth: {unit: self._table(depth, unit) for unit in self.folder.layers[-1].units}}
        self.check_last()
        names = {file.name for file in os.scandir(self.folder.path)}
        units = range(len(self.plan(depth + 1).units))
        done = [unit for unit in units if self.place(depth + 1, unit).name in names]
        self.tables[depth + 1] = {unit: self._table(depth + 1, unit) for unit in done}
        if depth:
            before = set(self.folder.layers[-2].units).difference(done)
            self.tables[depth - 1] = {unit: self._table(depth - 1, unit) for unit in sorted(before)}
        known = {self.place(at, unit).name for at, tables in self.tables.items() for unit in tables}
        for layer in filter(lambda layer: self._keeps(layer.depth), self.folder.layers):
            kept = {self.place(layer.depth, unit).name for unit in layer.units} - known
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

    def _table(self, depth: int, unit: int) -> UnitTable:
        return self.table_of_file(self.place(depth, unit), len(self.plan(depth).units[unit]))

    def states(self, depth: int) -> dict[int, int]:
        """States of each shard that has some."""
        return {
            shard: states
            for unit, table in self.tables[depth].items()
            for shard, states in zip(self.plan(depth).units[unit], table.states, strict=True)
            if states
        }

    def renews(self, depth: int, unit: int) -> bool:
        """Whether the step of a unit is to give the blobs of all its states up to ``depth``."""
        return False

    def write(self, depth: int, unit: int, shards: Sequence[tuple[bytes, int, bytes]]) -> None:
        """Commits a unit: of each of its shards the blob and the states, and the blob of all up to ``depth`` where it
        renews that."""
        self.tables[depth][unit] = self.write_file(
            self.place(depth, unit), [(blob, states) for blob, states, _ in shards]
        )
        self._forget_older(depth, unit)

    def _forget_older(self, depth: int, unit: int) -> None:
        """Retires what no step needs once a unit's layer ``depth`` is written."""
        self._forget(depth - 2, unit)

    def _forget(self, depth: int, unit: int) -> None:
        """No step needs the unit any more."""
        if (table := self.tables.get(depth, {}).pop(unit, None)) is None:
            return
        if self._keeps(depth):
            self._kept_bytes += table.file_bytes
        else:
            self.remove_file(self.place(depth, unit))

    def complete(self, depth: int) -> None:
        """Notes that all units of the layer are committed, and removes what is older than the next one needs."""
        self.note_complete(depth)
        for old in [known for known in self.tables if known < depth - 1]:
            for unit in list(self.tables[old]):
                self._forget(old, unit)
            del self.tables[old]

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
            with self.opened(self.place(sources.depth, of)) as file:
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
            self.add_blobs(exclude, self.place(older, unit), table, room)
        return exclude

    def add_blobs(
        self, exclude: list[list[memoryview]], place: UnitPlace, table: UnitTable, room: Room
    ) -> None:
        """Adds the blobs of a unit's file to those of its shards, in ``room``."""
        with self.opened(place) as file:
            for at, blobs in enumerate(exclude):
                if table.sizes[at]:
                    blobs.append(self._bytes(file, table, at, room))

    def blobs(self, depth: int) -> Iterator[tuple[int, memoryview]]:
        """(shard, blob) of each shard that has states at ``depth``, by ascending shards."""
        for shard in sorted(self.states(depth)):
            unit, at = self._where[depth & 1][shard]
            table = self.tables[depth][unit]
            with self.folder.errors(), self.opened(self.place(depth, unit)) as file:
                blob = self._bytes(file, table, at, Room(table.sizes[at]))
            yield shard, blob

    def unit_blobs(self, depth: int, unit: int) -> tuple[UnitTable, Callable[[int], memoryview]]:
        """Of a unit of a complete layer that is kept: what its file holds, and what reads the blob of the shard that is
        number n of it."""
        with self.folder.errors():
            table = self._table(depth, unit)

        def read(at: int) -> memoryview:
            with self.folder.errors(), self.opened(self.place(depth, unit)) as file:
                return self._bytes(file, table, at, Room(table.sizes[at]))

        return table, read

    def _bytes(self, file: int, table: UnitTable, at: int, room: Room) -> memoryview:
        """The blob of the shard that is number ``at`` of a unit."""
        return self.bytes_at(file, table.starts[at], table.sizes[at], room)
