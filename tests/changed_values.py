"""Values of databases changed one at a time, in all columns: whether `verify` tells each, whether answers stay right.

    PYTHONPATH=tests .venv/bin/python tests/changed_values.py [KIND ...]

changes every column of small jobs of all kinds to values of its type and of others, in SQLite files.
"""

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Boolean, Column, Connection, MetaData, Table, create_engine, select, update
from sqlalchemy.exc import DBAPIError, StatementError

from farthest.models.tables import chunk, iteration, job, layer, map_file, puzzle, solution, state
from questions import ask, asked, compared

TABLES = (puzzle, job, layer, chunk, map_file, state, iteration, solution)

KINDS: dict[str, tuple[str, ...]] = {
    "dense": ("enumerate", "3-puzzle"),
    "limited": ("enumerate", "sliding-2x3", "--max-depth", "5"),
    "numbered": ("enumerate", "die-hard-jugs"),
    "sparse": ("enumerate", "hoppers-first-jump"),
    "pattern": ("enumerate", "8-puzzle@1-2"),
    "histogram": ("enumerate", "3-puzzle", "--histogram-only"),
    "residues": ("enumerate", "3-puzzle", "--map", "residues"),
    "search": ("solve", "3-puzzle", "21/30", "--all", "--store"),
}
"""Small jobs of each kind: what is changed does not depend on the number of states."""


class Stored:
    """A database with a finished job and its right answers; one value is changed at a time, and put back."""

    def __init__(self, url: str, kind: str) -> None:
        self.url = url
        answer, problem = ask(KINDS[kind], url)
        assert answer[0] == 0, (answer, problem)
        self.questions = [["jobs", "--json"], *asked(url, 1)]
        self.answers = [ask(words, url)[0] for words in self.questions]
        self._engine = create_engine(url)
        # Without the types of the program, which would refuse most values.
        plain = MetaData()
        plain.reflect(self._engine)
        self._tables = plain.tables

    def ask_only(self, *commands: str) -> None:
        """For fewer seconds: one question of each command."""
        kept = {
            one[0][0]: one for one in zip(self.questions, self.answers, strict=True) if one[0][0] in commands
        }
        self.questions, self.answers = map(list, zip(*kept.values(), strict=True))

    def close(self) -> None:
        self._engine.dispose()

    def changes(self, columns: Iterable[Column[Any]], *, most: int = 9) -> tuple[int, list[str]]:
        """How many values were changed, ``most`` in each column, and what was wrong after which."""
        made, found = 0, []
        for column in columns:
            plain = self._tables[column.table.name]
            with self._engine.connect() as connection:
                first = select(*plain.primary_key, plain.c[column.name]).order_by(*plain.primary_key)
                row = connection.execute(first.limit(1)).first()
            old = None if row is None else row[-1]
            key = () if row is None else row[:-1]
            for value in list(values(column, old))[: most if key else 0]:
                problem = self._check(plain, plain.c[column.name], key, old, value)
                made += problem is not None
                if problem:
                    found.append(f"{column} from {str(old)[:60]!r} to {str(value)[:20]!r}: {problem}")
        return made, found

    def _check(
        self, table: Table, column: Column[Any], key: Sequence[Any], old: object, value: object
    ) -> str | None:
        """What is wrong with the answers after a row's value is changed; None where the database refuses that."""
        changed = [value if one is column else held for one, held in zip(table.primary_key, key, strict=True)]
        with self._engine.connect() as connection:
            try:
                self._set(connection, table, key, {column.name: value})
            except (DBAPIError, StatementError, TypeError):
                return None
            try:
                return self._problem()
            finally:
                assert self._set(connection, table, changed, {column.name: old}) == 1

    def _set(self, connection: Connection, table: Table, key: Sequence[Any], new: dict[str, Any]) -> int:
        sqlite = connection.dialect.name == "sqlite"
        without_references = "PRAGMA foreign_keys=OFF" if sqlite else "SET session_replication_role = replica"
        connection.exec_driver_sql(without_references)
        connection.commit()
        wanted = (one == held for one, held in zip(table.primary_key, key, strict=True))
        rows = connection.execute(update(table).where(*wanted).values(new)).rowcount
        connection.commit()
        return rows

    def _problem(self) -> str:
        told, problems = compared(self.url, self.questions, self.answers)
        if not told:
            problems.append("verify passes it")
        return "; ".join(problems)


def values(column: Column[Any], old: object) -> Iterator[object]:
    """Another value of the column's type, none, values of other types, JSON that is none, a huge number."""
    if isinstance(column.type, Boolean):
        yield not old
    elif isinstance(old, int | float):
        yield old + 1
    elif isinstance(old, str):
        yield old + "x"
        if "1" in old:
            yield old.replace("1", "2")
    elif isinstance(old, datetime):
        yield old + timedelta(seconds=1)
    elif isinstance(old, bytes):
        yield old[:-1] + bytes([old[-1] ^ 1])
    if old is not None:
        yield None
    yield from (2**62, b"\xff\x00", '{"a":' if isinstance(old, str) and old.startswith("{") else "abc")


def _main() -> None:
    wrong = 0
    for kind in sys.argv[1:] or KINDS:
        with tempfile.TemporaryDirectory(prefix="changed-values-") as folder:
            stored = Stored(f"sqlite:///{Path(folder) / 'maps.db'}", kind)
            made, found = stored.changes(column for table in TABLES for column in table.c)
            stored.close()
        print(
            f"{kind}: {made} changed values, {len(stored.questions)} questions after each, {len(found)} wrong"
        )
        for line in found:
            print(f"  {line}")
        wrong += len(found)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    _main()
