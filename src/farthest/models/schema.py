"""The tables of a database: they are made where there are none, and brought up to date where an older version made
them.

Any number of processes may do this at the same time: the first does it, the others find it done already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, inspect, select

from farthest.environment import DATABASE_URL
from farthest.errors import MissingDatabaseError, StorageError
from farthest.models import sqlite
from farthest.models.failures import storage_errors
from farthest.models.tables import SCHEMA_VERSION, VERSION_TABLE, lock_schema, metadata, version

if TYPE_CHECKING:
    from farthest.models.transactions import Database


def bring_up_to_date(database: Database, create: bool) -> None:
    """Raises StorageError where the tables cannot be used: there are none (without ``create``), they are another
    program's or too new, or there are views or triggers."""
    with database.read() as connection:
        if connection.dialect.name == "sqlite":
            sqlite.check_schema(connection, database.place, {*metadata.tables, VERSION_TABLE})
        found = _schema_version(connection)
    if found == SCHEMA_VERSION:
        return
    if found is None:
        if not create:
            raise MissingDatabaseError(
                f"{database.place}: this database has no tables of farthest; make a map in it with "
                f"`farthest enumerate PUZZLE`, or name another with --database or {DATABASE_URL.name}",
                database.place,
            )
        _make_tables(database)
        return
    from farthest.models import migrations

    if found not in migrations.revisions():
        raise StorageError(
            f"{database.place}: a newer farthest made this database (schema {found}, this one knows up to "
            f"{SCHEMA_VERSION}); upgrade farthest, or name another with --database"
        )
    with storage_errors(database.place, database.path):
        migrations.upgrade(database.engine)


def _schema_version(connection: Connection) -> str | None:
    """The revision that the tables have; None where there are none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(select(version.c.version_num)).scalar()


def _make_tables(database: Database) -> None:
    with database.write() as connection:
        lock_schema(connection)
        if _schema_version(connection) is not None:  # another process was first
            return
        existing = set(inspect(connection).get_table_names()) & set(metadata.tables)
        if existing:
            raise StorageError(
                f"{database.place}: this is another program's database: it has a table named {min(existing)}; name "
                "another with --database"
            )
        metadata.create_all(connection, checkfirst=False)
        version.create(connection)
        connection.execute(insert(version).values(version_num=SCHEMA_VERSION))
