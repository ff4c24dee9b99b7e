"""Whatever is changed in a stored job, `verify` tells it, or nothing reads it; no answer is wrong."""

import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Connection, Table, create_engine, delete, insert, select, update
from sqlalchemy.exc import DBAPIError, StatementError

from farthest.models.tables import chunk, iteration, job, layer, metadata, puzzle, solution, state
from flips import KINDS, Flip, ask, asked, flips, reason
from sqlite_pages import Pages

STORED = {**KINDS, "solved": (("solve", "3-puzzle", "21/30", "--all"),)}
TABLES = (puzzle, job, layer, chunk, state, iteration, solution)


def test_every_byte_of_a_file_has_a_label(tmp_path: Path) -> None:
    assert ask(("enumerate", "3-puzzle"), tmp_path / "maps.db")[0][0] == 0
    labels = set(Pages(tmp_path / "maps.db").of)
    columns = {f"{one.name}.{column.name}" for one in (puzzle, job, layer, chunk, state) for column in one.c}
    # A row id is no column of a record; null, 0 and 1 take no bytes in one.
    columns = {name for name in columns if not name.endswith("_id")}
    absent = "puzzle.id job.id job.result job.progress job.owner job.error job.lease_until job.complete job.has_map"
    absent += " job.submitted chunk.lead chunk.first_key"
    assert columns - set(absent.split()) <= labels


def wrong(found: list[Flip]) -> list[str]:
    return [str(flip) for flip in found if flip.problem]


@pytest.mark.slow
def test_changed_bytes_are_told_or_not_read(tmp_path: Path) -> None:
    found = flips(50, 11, tmp_path, [kind for kind in KINDS if kind != "deep"])
    assert wrong(found) == []
    assert sum(flip.told for flip in found) > 15
    assert sum(bool(reason(flip.label)) for flip in found) > 15


@pytest.mark.parametrize(
    ("job", "statement"),
    [
        (1, "UPDATE job SET complete = '[[[['"),
        (1, "UPDATE job SET has_map = 2"),
        (1, "UPDATE job SET finished = finished || '0'"),
        (1, "UPDATE job SET created = replace(created, ' ', 'T')"),
        (2, "UPDATE iteration SET complete = 3.5"),
        (2, "UPDATE iteration SET solutions = '0' || solutions"),
    ],
)
def test_values_that_mean_the_same_but_were_not_written_are_told(
    tmp_path: Path, job: int, statement: str
) -> None:
    for words in (("enumerate", "3-puzzle"), ("solve", "3-puzzle", "21/30")):
        assert ask(words, tmp_path / "maps.db")[0][0] == 0
    verify = ("verify", str(job), "--json")
    assert ask(verify, tmp_path / "maps.db")[0][0] == 0
    plain = sqlite3.connect(tmp_path / "maps.db")
    assert plain.execute(statement).rowcount
    plain.commit()
    plain.close()
    (status, _), problem = ask(verify, tmp_path / "maps.db")
    assert (status, problem) == (2, "")


class Stored:
    """A database with finished jobs, its right answers; one value is changed at a time, and put back."""

    def __init__(self, url: str, kind: str) -> None:
        self.url = url
        for words in STORED[kind]:
            assert ask(words, url)[0][0] == 0
        self.questions = [["jobs", "--json"], *asked(url, 1)]
        self.answers = [ask(words, url)[0] for words in self.questions]
        self._engine = create_engine(url)
        self._sqlite = self._engine.dialect.name == "sqlite"

    def ask_only(self, *commands: str) -> None:
        """For fewer seconds."""
        kept = [one for one in zip(self.questions, self.answers, strict=True) if one[0][0] in commands]
        self.questions, self.answers = [words for words, _ in kept], [right for _, right in kept]

    def close(self) -> None:
        self._engine.dispose()

    def check(self, table: Table, column: Column[Any], value: object) -> str | None:
        """What is wrong with the answers after one row's value is changed; None where the database refuses that."""
        with self._engine.connect() as connection:
            self._without_references(connection)
            before = [row._asdict() for row in connection.execute(select(table))]
            if not before:
                return None
            key = [one == before[0][one.name] for one in table.primary_key]
            try:
                connection.execute(update(table).where(*key).values({column.name: value}))
                connection.commit()
            except (DBAPIError, StatementError, TypeError):
                return None
            problem = self._problem()
            connection.rollback()
            self._without_references(connection)
            connection.execute(delete(table))
            connection.execute(insert(table), before)
            connection.commit()
        return problem

    def _without_references(self, connection: Connection) -> None:
        name = "PRAGMA foreign_keys=OFF" if self._sqlite else "SET session_replication_role = replica"
        connection.exec_driver_sql(name)
        connection.commit()

    def _problem(self) -> str:
        problems, told = [], False
        for words, right in zip(self.questions, self.answers, strict=True):
            answer, problem = ask(words, self.url)
            if problem:
                problems.append(problem)
            elif answer[0] == 0 and answer != right:
                problems.append(f"{' '.join(words)}: {answer[1][:200]}")
            told |= words[0] == "verify" and answer[0] != 0
        if not told:
            problems.append("verify passes it")
        return "; ".join(problems)


def values(column: Column[Any], old: object) -> Iterator[object]:
    """Another value of the column's type, none, values of other types, JSON that is none, a huge number."""
    if isinstance(old, bool):
        yield not old
    elif isinstance(old, int | float):
        yield old + 1
    elif isinstance(old, str):
        yield old + "x"
        yield old.replace("1", "2")
    elif isinstance(old, datetime):
        yield old + timedelta(seconds=1)
    elif isinstance(old, bytes):
        yield old[:-1] + bytes([old[-1] ^ 1])
    yield from (None, 2**62, b"\xff\x00", '{"a":' if isinstance(old, str) and old.startswith("{") else "abc")


@pytest.fixture
def stored(request: pytest.FixtureRequest, database_url: str) -> Iterator[Stored]:
    made = Stored(database_url, request.param)
    yield made
    made.close()


NAMED = [
    "job.layout",
    "job.parameters",
    "job.keys",
    "job.depth",
    "chunk.depth",
    "chunk.lead",
    "puzzle.digest",
]
"""Columns whose changes were not told, or ended in a traceback."""


def changes(stored: Stored, columns: list[Column[Any]]) -> tuple[int, list[str]]:
    """How many values were changed, and what was wrong after which."""
    made, found = 0, []
    for column in columns:
        table = column.table
        assert isinstance(table, Table)
        with stored._engine.connect() as connection:
            row = connection.execute(select(column)).first()
        old = None if row is None else row[0]
        # Without the types of the program, which would refuse most.
        plain = Table(table.name, metadata.__class__(), autoload_with=stored._engine)
        for value in values(column, old):
            if value == old:
                continue
            problem = stored.check(plain, plain.c[column.name], value)
            made += problem is not None
            if problem:
                found.append(f"{column} from {str(old)[:60]!r} to {str(value)[:20]!r}: {problem}")
    return made, found


@pytest.mark.parametrize("stored", ["sparse"], indirect=True)
def test_changed_values_are_told(stored: Stored) -> None:
    columns = [column for table in TABLES for column in table.c if str(column) in NAMED]
    assert len(columns) == len(NAMED)
    stored.ask_only("verify")
    made, found = changes(stored, columns)
    assert found == []
    assert made > 8


@pytest.mark.slow
@pytest.mark.parametrize("stored", ["sparse", "solved"], indirect=True)
def test_changed_values_are_told_in_every_column(stored: Stored) -> None:
    stored.ask_only("verify", *(("distance", "show") if stored.url.startswith("sqlite") else ()))
    made, found = changes(stored, [column for table in TABLES for column in table.c])
    assert found == []
    assert made > 100
