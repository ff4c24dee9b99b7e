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
    return [" ".join(line.split()) for line in found]
