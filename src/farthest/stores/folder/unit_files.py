"""The files of units of one enumeration: what they hold, and what was read and written of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from resource import RUSAGE_SELF, getrusage
from time import perf_counter, process_time

from farthest.errors import LostStateError
from farthest.stores.folder.journal import EnumerationFolder, LayerFigures
from farthest.stores.folder.room import Room
from farthest.stores.folder.unit_file import UnitPlace, UnitTable, read_table, write_unit


class UnitFiles:
    """``depth``: of the last complete layer, -1 at first; ``tables[d][u]``: what the file of unit u of layer d holds.
    Methods raise StorageError, LostStateError where a file is missing or damaged."""

    def __init__(self, folder: EnumerationFolder) -> None:
        self.folder = folder
        self.tables: dict[int, dict[int, UnitTable]] = {}
        self.depth = -1
        self._started = (0.0, 0.0)
        self._read = self._written = 0
        self._kept_bytes = 0  # of files that are not in `tables` any more

    def begin(self, depth: int) -> None:
        """The layer ``depth`` is stepped from now on."""
        self.tables.setdefault(depth, {})
        self._started = (perf_counter(), process_time())
        self._read = self._written = 0

    def all_tables(self) -> Iterator[UnitTable]:
        """The tables of all files that are there."""
        return (table for known in self.tables.values() for table in known.values())

    def note_complete(self, depth: int) -> None:
        """Notes that all units of the layer are committed."""
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
                disk=self._kept_bytes + sum(table.file_bytes for table in self.all_tables()),
                memory=getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
            )
        )
        self.depth = depth

    def check_last(self) -> None:
        """Raises LostStateError where the files of the last complete layer do not have its states."""
        found = sum(table.total for table in self.tables[self.depth].values())
        expected = self.folder.layers[self.depth].states
        if found != expected:
            raise LostStateError(
                f"{self.folder.path}: the files of layer {self.depth} have {found:,} states, its journal says "
                f"{expected:,}"
            )

    # Single files

    def place(self, depth: int, unit: int, kind: str = "L") -> UnitPlace:
        """Where a file is; ``kind``: see UnitPlace."""
        return UnitPlace(depth, unit, self.folder.key, kind)

    def write_file(self, place: UnitPlace, shards: Sequence[tuple[bytes, int]]) -> UnitTable:
        """Writes a file, of each shard the blob and the states."""
        with self.folder.errors():
            table = write_unit(self.folder.path, place, shards)
        self._written += table.file_bytes
        return table

    def table_of_file(self, place: UnitPlace, shards: int | None = None) -> UnitTable:
        """The table of a file; ``shards``: so many it must have."""
        try:
            return read_table(self.folder.path, place, shards)
        except FileNotFoundError:
            raise LostStateError(f"{self.folder.path / place.name}: the file is missing") from None

    def remove_file(self, place: UnitPlace) -> None:
        """Removes a file, if it is there."""
        self.folder.remove(place.name)

    @contextmanager
    def opened(self, place: UnitPlace) -> Iterator[int]:
        """The descriptor of a file, to be read."""
        path = self.folder.path / place.name
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise LostStateError(f"{path}: the file is missing") from None
        try:
            yield file
        finally:
            os.close(file)

    def bytes_at(self, file: int, start: int, size: int, room: Room) -> memoryview:
        """``size`` bytes of a file from ``start`` on, in ``room``."""
        view = room.take(size)
        got = 0
        while got < len(view):
            part = os.preadv(file, [view[got:]], start + got)
            if not part:
                raise LostStateError(f"{self.folder.path}: a file of a layer is cut off")
            got += part
        self._read += got
        return view
