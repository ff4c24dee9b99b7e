"""SQLite's own checks of a database file: pages, cells, indexes, references between tables."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, create_engine, func, select

from farthest.errors import StorageError
from farthest.models import tables
from farthest.models.tables import chunk, job

if TYPE_CHECKING:
    from farthest.models.database import Database

MOST_JOBS = 10**18
"""All job numbers are smaller: a larger one could not be written in a command."""

_MOST = 10

_LAST_NUMBER = "SELECT seq FROM sqlite_sequence WHERE name = 'job'"


def check_owners(connection: Connection) -> None:
    """Raises StorageError unless the indexes that say to which job a row belongs agree with the rows: with a damaged
    one, deleting a job would delete rows of other jobs."""
    if connection.dialect.name != "sqlite":
        return
    for table in (job, chunk):
        for index, _ in _indexes(connection, table.name):
            _, owner = _columns(connection, index)[0]
            if _differ(connection, table.name, index, [owner]):
                raise StorageError(
                    f"the database file is damaged: index {index} does not have the rows of table {table.name}; "
                    "nothing was deleted; rebuild the indexes with `sqlite3 FILE REINDEX`, then try again"
                )


def check_next_number(connection: Connection) -> None:
    """Raises StorageError where the next job would get no number, or one that is too large for a command: SQLite
    reports that as a full disk."""
    if connection.dialect.name != "sqlite":
        return
    known = connection.exec_driver_sql(_LAST_NUMBER).scalars().first()
    if known is not None and not (isinstance(known, int) and 0 <= known < MOST_JOBS):
        raise StorageError(
            f"the database file is damaged: the last job's number is {known!r} in table sqlite_sequence, expected less "
            f'than {MOST_JOBS:.0e}; mend it with `sqlite3 FILE "UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM '
            "job) WHERE name = 'job'\"`, or restore the file from a copy"
        )


def structure_problems(database: Database) -> list[str] | None:
    """The first few problems of the file; None for a database on a server, which checks its files itself.

    Reads the whole file. Raises StorageError where SQLite cannot read it.
    """
    with database.read() as connection:
        if connection.dialect.name != "sqlite":
            return None
        rows = connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})").all()
        found = [str(row[0]) for row in rows if row[0] != "ok"]
        for table, *_ in connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(_MOST):
            found.append(f"a row of {table} belongs to no row")
        found += _schema_problems(connection) or [*_index_problems(connection), *_number_problems(connection)]
    return [" ".join(line.split()) for line in found]


def _schema_problems(connection: Connection) -> list[str]:
    """Differences between the rows of the schema and their SQL text, which is all that SQLite reads of most of them,
    and between that text and the tables of this program."""
    rows = connection.exec_driver_sql("SELECT type, name, tbl_name FROM sqlite_master").all()
    tables = {name for kind, name, _ in rows if kind == "table"}
    quote = connection.dialect.identifier_preparer.quote_identifier
    named = {("table", name, name) for name in tables}
    for table in tables:
        named |= {("index", name, table) for name, _ in _indexes(connection, quote(str(table)))}
    wrong = [row for row in map(tuple, rows) if row[0] not in ("view", "trigger") and row not in named]
    found = [f"the schema says {kind!r} of {name!r}, of table {table!r}" for kind, name, table in wrong]
    untyped = connection.exec_driver_sql(
        "SELECT name FROM sqlite_master WHERE typeof(rootpage) <> 'integer' OR typeof(sql) NOT IN ('text', 'null') "
        "OR NOT (typeof(type) = 'text' AND typeof(name) = 'text' AND typeof(tbl_name) = 'text')"
    ).all()
    found += [f"the schema's row of {name!r} has values of other types" for (name,) in untyped]
    expected = _expected()
    found += [
        f"table {name} was made otherwise: {one}"
        for name in expected
        for one in sorted(_described(connection, name) ^ expected[name])
    ]
    return found


def _index_problems(connection: Connection) -> list[str]:
    """Indexes that do not have the rows of their tables. SQLite's own check looks each row up in the index, and accepts
    an entry without columns for any row."""
    return [
        f"index {index} does not have the rows of table {table}"
        for table in _expected()
        for index, _ in _indexes(connection, table)
        if _differ(connection, table, index, [name for _, name in _columns(connection, index)])
    ]


def _number_problems(connection: Connection) -> list[str]:
    """A problem where the greatest number of a job so far is not known: the number of the next job must be greater."""
    newest = connection.execute(select(func.max(job.c.id))).scalar()
    known = connection.exec_driver_sql(_LAST_NUMBER).scalars().first()
    right = newest is None or (isinstance(known, int) and MOST_JOBS > known >= newest)
    return [] if right else [f"the last job's number is {known!r} in sqlite_sequence, {newest} in table job"]


def _differ(connection: Connection, table: str, index: str, columns: list[str]) -> bool:
    """Whether an index and its table have different values in these columns; False for an index that is the table
    itself."""
    if not any(place < 0 for place, _ in _columns(connection, index)):
        return False
    values = ", ".join(["rowid", *(f'"{name}"' for name in columns)])
    one, other = (f"SELECT {values} FROM {table} {way}" for way in ("NOT INDEXED", f'INDEXED BY "{index}"'))
    return any(
        connection.exec_driver_sql(f"{first} EXCEPT {second} LIMIT 1").first() is not None
        for first, second in ((one, other), (other, one))
    )


def _described(connection: Connection, table: str) -> set[str]:
    """All that SQLite reads in the text of a table and its indexes, as lines that do not depend on the order in which
    migrations made them."""
    found = connection.exec_driver_sql(f"PRAGMA table_list({table})").all()
    lines = {f"columns {count}, without row id {bare}, strict {strict}" for *_, count, bare, strict in found}
    for _, *of_column in connection.exec_driver_sql(f"PRAGMA table_xinfo({table})").all():
        lines.add(f"column {of_column}")
    for _, *of_reference in connection.exec_driver_sql(f"PRAGMA foreign_key_list({table})").all():
        lines.add(f"reference {of_reference}")
    for index, kind in _indexes(connection, table):
        lines.add(f"index {index} {kind}: {[name for _, name in _columns(connection, index)]}")
    return lines


def _indexes(connection: Connection, table: str) -> list[tuple[str, list[Any]]]:
    """The names of a table's indexes, and for each whether it is unique, its origin, and whether it is partial."""
    listed = connection.exec_driver_sql(f"PRAGMA index_list({table})").all()
    return [(name, list(kind)) for _, name, *kind in listed]


def _columns(connection: Connection, index: str) -> list[tuple[int, str]]:
    """Positions in the table, and names, of the columns that an index is sorted by; the row id is at -1."""
    rows = connection.exec_driver_sql(f'PRAGMA index_xinfo("{index}")').all()
    return [(place, name or "rowid") for _, place, name, *_, key in rows if key or place < 0]


@cache
def _expected() -> dict[str, set[str]]:
    """The description of each table as this program makes it."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        tables.metadata.create_all(connection)
        tables.version.create(connection)
        named = [*tables.metadata.tables, tables.version.name]
        found = {name: _described(connection, name) for name in named}
    engine.dispose()
    return found
