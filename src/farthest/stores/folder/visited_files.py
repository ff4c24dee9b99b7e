"""The files of layers of a space whose states may be found again at any later depth.

    V<d>.<unit>    all states of a unit up to depth d

What is not new to a unit is in its V file and in its layers since then. When these are RENEWED layers, the step of the
unit makes a V file of all: it is written before the unit's layer, which commits both; then the V file before and the
layers that are in it are removed, but those that the next layer is found from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from farthest.stores.folder.journal import EnumerationFolder
from farthest.stores.folder.layer_files import LayerFiles
from farthest.stores.folder.plan import Plan
from farthest.stores.folder.room import Room
from farthest.stores.folder.run_files import RENEWED
from farthest.stores.folder.unit_file import UnitTable


class VisitedFiles(LayerFiles):
    """``visited[u]``: the depth of unit u's V file, and what it holds. Both plans are the same."""

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
        """See UnitFiles."""
        yield from super().all_tables()
        yield from (table for _, table in self.visited.values())

    def _since(self, depth: int, unit: int) -> list[int]:
        """The layers before ``depth`` that are not in the unit's V file, ascending."""
        newest = self.visited[unit][0] if unit in self.visited else -1
        return sorted(known for known in self.tables if newest < known < depth and unit in self.tables[known])

    def renews(self, depth: int, unit: int) -> bool:
        """See LayerFiles."""
        return len(self._since(depth, unit)) >= RENEWED

    def write(self, depth: int, unit: int, shards: Sequence[tuple[bytes, int, bytes]]) -> None:
        """See LayerFiles."""
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
        """See LayerFiles: what is in no V file stays."""

    def complete(self, depth: int) -> None:
        """See LayerFiles."""
        self.note_complete(depth)
        for known in [known for known in self.tables if known < depth - 1]:
            for unit in list(self.tables[known]):
                if unit in self.visited and known <= self.visited[unit][0]:
                    self._forget(known, unit)
            if not self.tables[known]:
                del self.tables[known]

    def excluded(self, depths: Sequence[int], depth: int, unit: int, room: Room) -> list[list[memoryview]]:
        """See LayerFiles: all states before ``depth``."""
        exclude = super().excluded(self._since(depth, unit), depth, unit, room)
        if unit in self.visited:
            at, table = self.visited[unit]
            self.add_blobs(exclude, self.place(at, unit, "V"), table, room)
        return exclude
