"""What each byte of an SQLite file is, from the file format alone (https://www.sqlite.org/fileformat2.html)."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEADER = (
    ("magic", 16), ("page size", 2), ("write version", 1), ("read version", 1), ("reserved bytes", 1),
    ("fractions", 3), ("change counter", 4), ("pages", 4), ("first free page", 4), ("free pages", 4),
    ("schema cookie", 4), ("schema format, not read", 3), ("schema format", 1), ("cache size", 4),
    ("autovacuum root", 4), ("encoding, not read", 3), ("encoding", 1),
    ("user version", 4), ("incremental vacuum", 4), ("application id", 4), ("for expansion", 20),
    ("version valid for", 4), ("library version", 4),
)  # fmt: skip

TABLE_LEAF, TABLE_INTERIOR, INDEX_LEAF, INDEX_INTERIOR = 0x0D, 0x05, 0x0A, 0x02


@dataclass(frozen=True)
class Tree:
    """A b-tree: of a table or an index, and the columns of its records, in their order there."""

    name: str
    root: int
    columns: tuple[str, ...]


class Pages:
    """The labels of a file's bytes, such as ``header: encoding``, ``job.layout``, ``job: cell``, ``free``.

    ``of[i]`` is that of byte i. ``free`` is what no page uses: free pages, gaps in pages, ends of overflow pages.
    """

    def __init__(self, file: Path) -> None:
        self.data = file.read_bytes()
        self.size = int.from_bytes(self.data[16:18], "big") or 65536
        self.size = 65536 if self.size == 1 else self.size
        self.usable = self.size - self.data[20]
        self.of = ["free"] * len(self.data)
        at = 0
        for field, length in HEADER:
            self._label(at, length, f"header: {field}")
            at += length
        assert at == 100
        for tree in _trees(file):
            self._walk(tree, tree.root)
        self._free_pages()

    def _label(self, at: int, length: int, label: str) -> None:
        assert set(self.of[at : at + length]) <= {"free"}, (at, label, set(self.of[at : at + length]))
        self.of[at : at + length] = [label] * length

    def _walk(self, tree: Tree, page: int) -> None:
        start = (page - 1) * self.size
        head = start + (100 if page == 1 else 0)
        kind = self.data[head]
        cells = self._number(head + 3, 2)
        leaf = kind in (TABLE_LEAF, INDEX_LEAF)
        length = 8 if leaf else 12
        self._label(head, length, f"{tree.name}: page header")
        self._label(head + length, 2 * cells, f"{tree.name}: cell pointers")
        for i in range(cells):
            at = start + self._number(head + length + 2 * i, 2)
            if not leaf:
                self._label(at, 4, f"{tree.name}: child page")
                self._walk(tree, self._number(at, 4))
                at += 4
            if kind == TABLE_INTERIOR:
                _, end = self._varint(at)
                self._label(at, end - at, f"{tree.name}: separator")
            else:
                self._cell(tree, kind, at)
        if not leaf:
            self._walk(tree, self._number(head + 8, 4))
        freeblock = self._number(head + 1, 2)
        while freeblock:
            self._label(start + freeblock, 4, f"{tree.name}: free block")
            freeblock = self._number(start + freeblock, 2)

    def _cell(self, tree: Tree, kind: int, at: int) -> None:
        payload, end = self._varint(at)
        self._label(at, end - at, f"{tree.name}: cell")
        if kind == TABLE_LEAF:
            _, after = self._varint(end)
            self._label(end, after - end, f"{tree.name}: row id")
            end = after
        places = list(range(end, end + self._local(kind, payload)))
        left = payload - len(places)
        link = end + len(places)
        while left:
            self._label(link, 4, f"{tree.name}: overflow link")
            page = (self._number(link, 4) - 1) * self.size
            some = min(left, self.usable - 4)
            places += range(page + 4, page + 4 + some)
            left -= some
            link = page
            if not left:
                self._label(link, 4, f"{tree.name}: overflow link")
        self._record(tree, places)

    def _local(self, kind: int, payload: int) -> int:
        most = self.usable - 35 if kind == TABLE_LEAF else (self.usable - 12) * 64 // 255 - 23
        if payload <= most:
            return payload
        least = (self.usable - 12) * 32 // 255 - 23
        some = least + (payload - least) % (self.usable - 4)
        return some if some <= most else least

    def _record(self, tree: Tree, places: list[int]) -> None:
        text = bytes(self.data[place] for place in places[: 9 + 9 * 40])
        size, at = _varint(text, 0)
        for place in places[:size]:
            self.of[place] = f"{tree.name}: record header"
        value, column = size, 0
        while at < size:
            first = at
            serial, at = _varint(text, at)
            for place in places[first:at]:
                self.of[place] = f"{tree.name}: type of {tree.columns[column]}"
            length = _length(serial)
            for place in places[value : value + length]:
                self.of[place] = f"{tree.name}.{tree.columns[column]}"
            value, column = value + length, column + 1

    def _free_pages(self) -> None:
        trunk = self._number(32, 4)
        while trunk:
            start = (trunk - 1) * self.size
            self._label(start, 8 + 4 * self._number(start + 4, 4), "free list")
            trunk = self._number(start, 4)

    def _number(self, at: int, length: int) -> int:
        return int.from_bytes(self.data[at : at + length], "big")

    def _varint(self, at: int) -> tuple[int, int]:
        return _varint(self.data, at)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for i in range(9):
        byte = data[at + i]
        if i == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + i + 1
    raise AssertionError


def _length(serial: int) -> int:
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[serial] if serial < 12 else (serial - 12) // 2


def _trees(file: Path) -> Iterator[Tree]:
    yield Tree("sqlite_schema", 1, ("type", "name", "tbl_name", "rootpage", "sql"))
    plain = sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)
    try:
        for kind, name, table, root, sql in plain.execute(
            "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE rootpage"
        ):
            info = plain.execute(f"PRAGMA table_info({table})").fetchall()
            if kind == "table":
                keys = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
                names = [row[1] for row in info]
                if "WITHOUT ROWID" in sql:
                    names = [*keys, *(one for one in names if one not in keys)]
            else:
                of_index = plain.execute(f"PRAGMA index_xinfo({name})").fetchall()
                names = [row[2] or "row id" for row in of_index]
            yield Tree(name, root, tuple(names))
    finally:
        plain.close()
