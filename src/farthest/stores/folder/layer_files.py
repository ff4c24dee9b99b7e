"""The layers of one enumeration as files of units, and what of them is there.

A unit of L(d+1) is written, synced and named; only then the same unit of L(d-1) is removed, which nothing needs any
more. So at any time there are L(d), units of L(d+1) and the others of L(d-1): two layers and a unit of a space that is
searched in place, else three. Whoever goes on begins with the first unit that has no file.

Files of layers that a residue map is made of stay until the enumeration ends.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.errors import LostStateError
from farthest.stores.folder.journal import EnumerationFolder, Room, UnitFiles, UnitPlace, UnitTable
from farthest.stores.folder.plan import Plan
from farthest.stores.folder.run_files import RENEWED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest import _kernel
    from farthest.map_files.form import ResidueForm


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


class VisitedFiles(LayerFiles):
    """The files of layers of a space whose states may be found again at any later depth. V<d>.<unit> has all states of
    a unit up to depth d.

    What is not new to a unit is in its V file and in its layers since then. When these are RENEWED layers, the step of
    the unit makes a V file of all: it is written before the unit's layer, which commits both; then the V file before
    and the layers that are in it are removed, but those that the next layer is found from.

    ``visited[u]``: the depth of unit u's V file, and what it holds. Both plans are the same."""

    def __init__(
        self, folder: EnumerationFolder, plans: tuple[Plan, Plan], keeps: Callable[[int], bool]
    ) -> None:
        self.visited: dict[int, tuple[int, UnitTable]] = {}
        super().__init__(folder, plans, keeps)

    def _reopen(self) -> None:
        depth = self.depth = len(self.folder.layers) - 1
        names = {file.name for file in os.scandir(self.folder.path)}
        self.tables = {known: {} for known in range(max(depth - 1, 0), depth + 2)}
        units = range(len(self.plan(0).units))
        for unit in units:
            if self.place(depth + 1, unit).name in names:
                self.tables[depth + 1][unit] = self._table(depth + 1, unit)
            newest = self._newest(unit, names)
            if newest >= 0:
                place = self.place(newest, unit, "V")
                self.visited[unit] = newest, self.table_of_file(place, len(self.plan(0).units[unit]))
            done = unit in self.tables[depth + 1]
            for known, layer in enumerate(self.folder.layers):
                if known > min(newest, depth - 1 if done else depth - 2) and unit in layer.units:
                    self.tables.setdefault(known, {})[unit] = self._table(known, unit)
        self.check_last()
        here = {self.place(at, unit).name for at, tables in self.tables.items() for unit in tables}
        here |= {self.place(at, unit, "V").name for unit, (at, _) in self.visited.items()}
        for name in names:  # what was to be removed, or not written to its end, when the process was killed
            if name[0] in "LV" and name not in here:
                self.folder.remove(name)

    def _newest(self, unit: int, names: set[str]) -> int:
        """The depth of the newest V file of a unit that was committed, -1 where there is none."""
        last = self.depth + (unit in self.tables[self.depth + 1])
        return max((at for at in range(last + 1) if self.place(at, unit, "V").name in names), default=-1)

    def all_tables(self) -> Iterator[UnitTable]:
        yield from super().all_tables()
        yield from (table for _, table in self.visited.values())

    def _since(self, depth: int, unit: int) -> list[int]:
        """The layers before ``depth`` that are not in the unit's V file, ascending."""
        newest = self.visited[unit][0] if unit in self.visited else -1
        return sorted(known for known in self.tables if newest < known < depth and unit in self.tables[known])

    def renews(self, depth: int, unit: int) -> bool:
        return len(self._since(depth, unit)) >= RENEWED

    def write(self, depth: int, unit: int, shards: Sequence[tuple[bytes, int, bytes]]) -> None:
        since = self._since(depth, unit)
        if not any(united for _, _, united in shards):
            super().write(depth, unit, shards)
            return
        older = [self.tables[known][unit].states for known in since]
        before = self.visited.get(unit)
        if before is not None:
            older.append(before[1].states)
        totals = [sum(states) for states in zip((n for _, n, _ in shards), *older, strict=True)]
        united = [(blob, total) for (_, _, blob), total in zip(shards, totals, strict=True)]
        table = self.write_file(self.place(depth, unit, "V"), united)
        super().write(depth, unit, shards)
        self.visited[unit] = depth, table
        if before is not None:
            self.remove_file(self.place(before[0], unit, "V"))
        for known in since:
            if known < depth - 1:
                self._forget(known, unit)

    def _forget_older(self, depth: int, unit: int) -> None:
        """What is in no V file stays."""

    def complete(self, depth: int) -> None:
        self.note_complete(depth)
        for known in [known for known in self.tables if known < depth - 1]:
            for unit in list(self.tables[known]):
                if unit in self.visited and known <= self.visited[unit][0]:
                    self._forget(known, unit)
            if not self.tables[known]:
                del self.tables[known]

    def excluded(self, depths: Sequence[int], depth: int, unit: int, room: Room) -> list[list[memoryview]]:
        """All states before ``depth``."""
        exclude = super().excluded(self._since(depth, unit), depth, unit, room)
        if unit in self.visited:
            at, table = self.visited[unit]
            self.add_blobs(exclude, self.place(at, unit, "V"), table, room)
        return exclude


def residue_blocks(
    kernel: _kernel.Space,
    stepper: _kernel.UnitStepper,
    files: LayerFiles,
    form: ResidueForm,
    depth: int,
    threads: int,
) -> Iterator[tuple[int, Buffer]]:
    """The residue map of layers in files: (the first word's number, words) of each shard, put together of the layers
    whose states have a number other than 0. Where the process is killed meanwhile, the files are still there, and the
    map is made again. In memory are some shards' words a thread. Raises LostStateError
    where a file is missing or damaged."""
    layers = [layer for layer in files.folder.layers[: depth + 1] if form.number(layer.depth)]
    with ThreadPoolExecutor(threads, "farthest-map") as pool:
        for parity in (0, 1) if form.modulus == 4 else (0,):  # modulo 3 both plans are the same
            here = [layer for layer in layers if form.modulus == 3 or layer.depth & 1 == parity]
            for unit, shards in enumerate(files.plan(parity).units):
                depths = [layer.depth for layer in here if unit in layer.units]
                made = _Unit(kernel, stepper, files, form, unit, depths)
                for first in range(0, len(shards), threads):
                    some = range(first, min(first + threads, len(shards)))
                    for at, words in zip(some, pool.map(made.words, some), strict=True):
                        yield shards[at] * kernel.words_per_shard * form.planes, words.data


class _Unit:
    """The shards of a unit, and the layers in which it has states."""

    def __init__(
        self,
        kernel: _kernel.Space,
        stepper: _kernel.UnitStepper,
        files: LayerFiles,
        form: ResidueForm,
        unit: int,
        depths: Sequence[int],
    ) -> None:
        self._words = kernel.words_per_shard * form.planes
        self._stepper = stepper
        self._path = files.folder.path
        self._form = form
        self._layers = [(depth, *files.unit_blobs(depth, unit)) for depth in depths]

    def words(self, at: int) -> NDArray[np.uint64]:
        """The words of the shard that is number ``at`` of the unit."""
        import numpy as np  # an enumeration without a map does not need it

        words = np.zeros(self._words, dtype=np.uint64)
        for depth, table, read in self._layers:
            if not table.sizes[at]:
                continue
            try:
                self._stepper.mark(read(at), self._form.number(depth), self._form.planes, words)
            except ValueError as error:
                raise LostStateError(f"{self._path}: a file of layer {depth} is damaged: {error}") from error
        return words
