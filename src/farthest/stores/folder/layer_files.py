"""The layers of one enumeration as files of units, and what of them is there.

A unit of L(d+1) is written, synced and named; only then the same unit of L(d-1) is removed, which nothing needs any
more. So at any time there are L(d), units of L(d+1) and the others of L(d-1): two layers and a unit of a space that is
searched in place, else three. Whoever goes on begins with the first unit that has no file.

Where states may be found again at any later depth, V<d>.<unit> has all states of a unit up to depth d. What is not new
to the unit is in its V file and in its layers since then. When these are RENEWED layers, the step of the unit makes a V
file of all: it is written before the unit's layer, which commits both; then the V file before and the layers that are
in it are removed, but those that the next layer is found from.

Where layers are united, L<d>.<unit> has all states of a unit up to depth d; its table tells the number of those of
depth d alone. Files of depth d-2 stay until a state of depth d is found: the last layer is told from them.

Files of layers that a residue map is made of stay until the enumeration ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.errors import LostStateError
from farthest.stores.contract import Excluded, excluded_layers
from farthest.stores.folder.journal import EnumerationFolder, Room, UnitFiles, UnitTable
from farthest.stores.folder.run_files import RENEWED

if TYPE_CHECKING:
    from farthest.stores.folder.plan import Plan


@dataclass(frozen=True, slots=True)
class UnitSources:
    """Sources to be read of the layer at ``depth``: slots of those without states; (unit, place in it, slot) of the
    others, in the order of the files."""

    depth: int
    empty: list[int]
    stored: deque[tuple[int, int, int]]


class LayerFiles(UnitFiles):
    """The files of layers that are gathered. ``plans``: by the parity of the depth. ``stays``: whether the files of the
    layer at a depth stay to the end. ``visited[u]``: the depth of unit u's V file, and what it holds; both plans are
    the same where there are any."""

    def __init__(
        self,
        folder: EnumerationFolder,
        plans: tuple[Plan, Plan],
        rule: Excluded,
        stays: Callable[[int], bool],
    ) -> None:
        super().__init__(folder)
        self.visited: dict[int, tuple[int, UnitTable]] = {}
        self._rule = rule
        self._stays = stays
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
        names = self.names()
        self.tables = {earlier: {} for earlier in range(max(depth - 1, 0), depth + 2)}
        for unit in range(len(self.plan(depth + 1).units)):
            if self.place(depth + 1, unit).name in names:
                self.tables[depth + 1][unit] = self.table(depth + 1, unit)
        done = self.tables[depth + 1]
        if self._rule == "all":
            for unit in range(len(self.plan(0).units)):
                depths = range(depth + (unit in done), -1, -1)
                newest = next((at for at in depths if self.place(at, unit, "V").name in names), -1)
                if newest >= 0:
                    self.visited[unit] = newest, self.table(newest, unit, "V")
        for layer in self.folder.layers:
            for unit in layer.units:
                if self._needed(layer.depth, unit, depth + (unit in done)):
                    self.tables.setdefault(layer.depth, {})[unit] = self.table(layer.depth, unit)
        self.check_last()
        here = {self.place(at, unit).name for at, tables in self.tables.items() for unit in tables}
        here |= {self.place(at, unit, "V").name for unit, (at, _) in self.visited.items()}
        for layer in filter(lambda layer: self._stays(layer.depth), self.folder.layers):
            stay = {self.place(layer.depth, unit).name for unit in layer.units} - here
            if missing := stay - names:
                raise LostStateError(f"{self.folder.path / min(missing)}: the file is missing")
            self._kept_bytes += sum((self.folder.path / name).stat().st_size for name in stay)
            here |= stay
        self.remove_others(names, here)

    def plan(self, depth: int) -> Plan:
        """The plan of a layer."""
        return self._plans[depth & 1]

    def unit_of(self, depth: int, shard: int) -> int | None:
        """The unit of a layer that holds a shard; None: it has no states at such depths."""
        place = self._where[depth & 1].get(shard)
        return None if place is None else place[0]

    def table(self, depth: int, unit: int, kind: str = "L") -> UnitTable:
        """What a unit's file holds. Raises LostStateError where it is missing or damaged."""
        return self.table_of_file(self.place(depth, unit, kind), len(self.plan(depth).units[unit]))

    def states(self, depth: int) -> dict[int, int]:
        """States of each shard that has some."""
        return {
            shard: states
            for unit, table in self.tables[depth].items()
            for shard, states in zip(self.plan(depth).units[unit], table.states, strict=True)
            if states
        }

    def held(self, depth: int) -> set[int]:
        """The shards with states in the files of a depth."""
        return {
            shard
            for unit, table in self.tables[depth].items()
            for shard, size in zip(self.plan(depth).units[unit], table.sizes, strict=True)
            if size
        }

    def committed(self, depth: int) -> set[int]:
        """The units of the layer under way that are written."""
        return set(self.tables[depth])

    def all_tables(self) -> Iterator[UnitTable]:
        yield from super().all_tables()
        yield from (table for _, table in self.visited.values())

    # What steps need

    def _left_out(self, depth: int, unit: int) -> list[int]:
        """The layers, besides the unit's V file, whose states are not new to the unit at ``depth``."""
        newest = self.visited[unit][0] if unit in self.visited else -1
        layers = excluded_layers(self._rule, depth)
        return [earlier for earlier in layers if earlier > newest and unit in self.tables.get(earlier, ())]

    def _needed(self, earlier: int, unit: int, depth: int) -> bool:
        """Whether the unit's layer ``earlier`` is still needed once its layer ``depth`` is written: all units are found
        from the layer before."""
        newest = self.visited[unit][0] if unit in self.visited else -1
        if self._rule == "united" and earlier == depth - 2:
            return not self._found_at(depth)
        return earlier >= depth - 1 or (
            earlier > newest and earlier in excluded_layers(self._rule, depth + 1)
        )

    def _found_at(self, depth: int) -> bool:
        """Whether states of a depth are found."""
        if depth < len(self.folder.layers):
            return self.folder.layers[depth].states > 0
        return any(table.total for table in self.tables[depth].values())

    def renews(self, depth: int, unit: int) -> bool:
        """Whether the step of a unit is to give the blobs of all its states up to ``depth``."""
        return self._rule == "all" and len(self._left_out(depth, unit)) >= RENEWED

    def write(
        self, depth: int, unit: int, shards: Sequence[tuple[bytes, int, bytes]], classes: int = 0
    ) -> None:
        """Commits a unit: of each of its shards the blob and the states, and the blob of all up to ``depth`` where it
        renews that; the classes of its states."""
        renewed = any(united for _, _, united in shards)
        before = self.visited.get(unit)
        if renewed:
            older = [self.tables[earlier][unit] for earlier in self._left_out(depth, unit)]
            older += [] if before is None else [before[1]]
            totals = map(sum, zip((n for _, n, _ in shards), *(table.states for table in older), strict=True))
            united = [(blob, total) for (_, _, blob), total in zip(shards, totals, strict=True)]
            table = self.write_file(self.place(depth, unit, "V"), united)
        self.tables[depth][unit] = self.write_file(
            self.place(depth, unit), [(blob, states) for blob, states, _ in shards], classes
        )
        if renewed:
            self.visited[unit] = depth, table
            if before is not None:
                self.remove_file(self.place(before[0], unit, "V"))
        self._forget_older(depth, [unit])

    def _forget_older(self, depth: int, units: Iterable[int]) -> None:
        """No step needs older layers of the units once their layer ``depth`` is written."""
        for unit in units:
            for earlier in [earlier for earlier in self.tables if unit in self.tables[earlier]]:
                if self._needed(earlier, unit, depth):
                    continue
                table = self.tables[earlier].pop(unit)
                if self._stays(earlier):
                    self._kept_bytes += table.file_bytes
                else:
                    self.remove_file(self.place(earlier, unit))

    def complete(self, depth: int) -> None:
        """Notes that all units of the layer are committed, and removes what is older than the next one needs."""
        self.note_complete(depth)
        for earlier in [earlier for earlier in self.tables if earlier < depth - 1]:
            self._forget_older(depth, list(self.tables[earlier]))
            if not self.tables[earlier]:
                del self.tables[earlier]

    # Reading

    def missing(self, depth: int, unit: int, held: list[int | None]) -> UnitSources:
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
        return UnitSources(depth - 1, empty, deque(sorted(stored)))

    def read_some(self, sources: UnitSources, most: int, room: Room) -> list[tuple[int, memoryview]]:
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
                    loads.append((slot, self.blob_at(file, tables[of], at, room)))
                    size += tables[of].sizes[at]
        return loads

    def excluded(self, depth: int, unit: int, room: Room) -> list[list[memoryview]]:
        """For each shard of a unit the blobs of its states that are not new at ``depth``, in ``room``."""
        exclude: list[list[memoryview]] = [[] for _ in self.plan(depth).units[unit]]
        files = [
            (self.place(earlier, unit), self.tables[earlier][unit]) for earlier in self._left_out(depth, unit)
        ]
        if unit in self.visited:
            at, table = self.visited[unit]
            files.append((self.place(at, unit, "V"), table))
        for place, table in files:
            if table.total:
                with self.opened(place) as file:
                    for at, blobs in enumerate(exclude):
                        if table.sizes[at]:
                            blobs.append(self.blob_at(file, table, at, room))
        return exclude

    def blobs(self, depth: int) -> Iterator[tuple[int, memoryview, memoryview]]:
        """Of each shard that has states at ``depth``, ascending: (shard, blob, that of the states that are in it and
        not at that depth)."""
        for shard in sorted(self.states(depth)):
            unit, at = self._where[depth & 1][shard]
            older = memoryview(b"")
            if self._rule == "united" and unit in self.tables.get(depth - 1, ()):
                older = self.blob(depth - 1, unit, self.tables[depth - 1][unit], at)
            yield shard, self.blob(depth, unit, self.tables[depth][unit], at), older

    def blob(self, depth: int, unit: int, table: UnitTable, at: int) -> memoryview:
        """The blob of the shard that is number ``at`` of a unit, whose file holds what ``table`` says."""
        with self.folder.errors(), self.opened(self.place(depth, unit)) as file:
            return self.blob_at(file, table, at, Room(table.sizes[at]))

    def blob_at(self, file: int | bytes, table: UnitTable, at: int, room: Room) -> memoryview:
        """The blob of the shard that is number ``at`` of the unit of an open file, in ``room``."""
        return self.bytes_at(file, table.starts[at], table.sizes[at], room)
