"""What SQLite itself says of a database file: pages, cells, indexes, references between tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.errors import StorageError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from farthest.models.database import Database

_MOST = 10


def check_table(connection: Connection, table: str) -> None:
    """Raises StorageError unless SQLite finds the pages of a small table whole: else a row may be missing, and nothing
    would say so."""
    if connection.dialect.name != "sqlite":
        return
    found = connection.exec_driver_sql(f"PRAGMA quick_check({table})").scalars().all()
    if found != ["ok"]:
        raise StorageError(
            f"the database file is damaged: table {table}: {' '.join(found[0].split())}; restore it from a copy, or "
            "rescue what can be read with `sqlite3 FILE .recover`"
        )


def structure_problems(database: Database) -> list[str] | None:
    """What is wrong in the file, the first few; None for a database of a server, which keeps its files itself.

    Reads the whole file. Raises StorageError where SQLite cannot go through it.
    """
    with database.read() as connection:
        if connection.dialect.name != "sqlite":
            return None
        rows = connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})").all()
        found = [str(row[0]) for row in rows if row[0] != "ok"]
        for table, *_ in connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(_MOST):
            found.append(f"a row of {table} belongs to no row")
        found += _schema_problems(connection)
    return [" ".join(line.split()) for line in found]


def _schema_problems(connection: Connection) -> list[str]:
    """What differs between a row of the schema and its SQL text, which is all that SQLite reads of most of it."""
    rows = connection.exec_driver_sql("SELECT type, name, tbl_name FROM sqlite_master").all()
    tables = {name for kind, name, _ in rows if kind == "table"}
    quote = connection.dialect.identifier_preparer.quote_identifier
    named = {("table", name, name) for name in tables}
    for table in tables:
        listed = connection.exec_driver_sql(f"PRAGMA index_list({quote(str(table))})").all()
        named |= {("index", row[1], table) for row in listed}
    wrong = [row for row in map(tuple, rows) if row[0] not in ("view", "trigger") and row not in named]
    return [f"the schema says {kind!r} of {name!r}, of table {table!r}" for kind, name, table in wrong]
