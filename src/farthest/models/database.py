"""Opening a database.

A database is named by a SQLAlchemy URL or by a file name. A fresh one gets its tables and the number of the
newest migration at once; Alembic is imported only where an older one must be brought up to date.

SQLite files are kept in WAL mode: readers see the last complete state while a writer works, and a process killed at any
moment leaves either all or nothing of a transaction. Until the last process closes the file, its latest part is in
``FILE-wal`` beside it: move or copy both together. Deleted jobs leave free space inside the file, which later jobs use;
``sqlite3 FILE VACUUM`` makes the file smaller.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import URL, Connection, Engine, create_engine, insert, inspect, make_url, select
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from farthest.environment import DATABASE_URL
from farthest.errors import MissingDatabaseError, StorageError
from farthest.models import postgres, sqlite
from farthest.models.failures import shown, storage_errors, url_error
from farthest.models.tables import SCHEMA_VERSION, VERSION_TABLE, lock_schema, metadata, version

# --- An open database, and transactions on it.


class Database:
    """An open database with current tables.

    ``place`` is its name as messages show it, ``path`` its file if it is one, in ``folder``. Transactions are taken
    with ``read`` and ``write``. Every failure inside them is raised as StorageError. Safe to share among threads; each
    thread has its own transaction.
    """

    def __init__(self, engine: Engine, place: str, path: Path | None) -> None:
        self.engine = engine
        self.place = place
        self.path = path
        self.folder = None if path is None else path.absolute().parent
        self._thread = threading.local()
        self._closed = False

    @property
    def is_server(self) -> bool:
        """Whether it is on a server that processes on other hosts can reach, and takes copies of rows."""
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def read(self, *, apart: bool = False) -> Iterator[Connection]:
        """A transaction that sees one state of the database throughout; within ``write`` also the changes of that.

        ``apart``: a separate transaction also within ``write``, which sees the state before it.
        """
        outer: Connection | None = None if apart else getattr(self._thread, "connection", None)
        with storage_errors(self.place, self.path):
            if outer is not None:
                yield outer
                return
            with self.engine.connect() as connection:
                if connection.dialect.name != "sqlite":  # its transactions always see one state
                    connection.execution_options(isolation_level="REPEATABLE READ")
                try:
                    with connection.begin():
                        yield connection
                finally:
                    if self._closed:  # closed meanwhile: its pool is gone
                        connection.detach()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is stored whole at its end, or not at all after an exception.

        Nested in another ``write`` of the same thread it becomes a part of that one: a block of several calls is stored
        at once. A part that fails is undone alone, if the outer block catches the exception.
        """
        outer: Connection | None = getattr(self._thread, "connection", None)
        with storage_errors(self.place, self.path):
            if outer is not None:
                yield from self._part(outer)
                return
            with (
                self.engine.connect().execution_options(farthest_write=True) as connection,
                connection.begin(),
            ):
                try:
                    self._thread.connection = connection
                    yield connection
                finally:
                    self._thread.connection = None

    @staticmethod
    def _part(outer: Connection) -> Iterator[Connection]:
        part = outer.begin_nested()
        try:
            yield outer
        except BaseException:
            # On a full disk SQLite has already undone the whole transaction, and the savepoint with it. Where a signal
            # interrupted a statement, SQLAlchemy has dropped the connection, which must not be used.
            if outer.invalidated or outer.dialect.name != "sqlite" or _in_transaction(outer):
                part.rollback()
            raise
        part.commit()

    def close(self) -> None:
        """Closes all connections; on SQLite the last one to close merges ``FILE-wal`` into the file."""
        self._closed = True
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _in_transaction(connection: Connection) -> bool:
    return bool(connection.connection.driver_connection.in_transaction)  # type: ignore[union-attr]


# --- The tables of a database: they are made where there are none, and brought up to date where an older version
# made them.
#
# Any number of processes may do this at the same time: the first does it, the others find it done already.


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


# After Ctrl-C SQLAlchemy logs connections that it cannot close, with a traceback, and Python prints that where no log
# is set up.
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())

BUSY_SECONDS = 30.0
"""How long a writer waits for another process's transaction, which may be storing a checkpoint."""


def open_database(
    url: str | os.PathLike[str] | None = None, *, create: bool, busy_seconds: float = BUSY_SECONDS
) -> Database:
    """Opens the database at ``url``: a SQLAlchemy URL or a file name.

    Default: the environment's FARTHEST_DATABASE_URL, else ``farthest.db`` in the working directory. With ``create`` a
    missing file or missing tables are made; without, they are a StorageError. Older tables are migrated. An SQLite file
    that may only be read is opened for reading. Raises StorageError where the database cannot be used.
    """
    given: object = url
    if given is not None and not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"database: expected a URL or the name of a file, got {type(given).__name__}")
    text = os.fspath(url or DATABASE_URL.text())
    parsed = _parse(text)
    is_sqlite = parsed.get_backend_name() == "sqlite"
    path = sqlite.database_file(parsed) if is_sqlite else None
    place = str(path) if path else shown(parsed)
    if path:
        sqlite.check_file(path, create)
    options = (
        sqlite.engine_options(path, parsed, busy_seconds) if is_sqlite else postgres.engine_options(parsed)
    )
    try:
        engine = create_engine(options.pop("url", parsed), **options)
    except (SQLAlchemyError, ImportError, ValueError, TypeError) as error:
        raise url_error(text, error) from None
    database = Database(engine, place, path)
    try:
        if is_sqlite:
            sqlite.prepare(engine, place, path, busy_seconds)
        elif parsed.get_backend_name() == "postgresql":
            postgres.prepare(engine)
        bring_up_to_date(database, create)
    except BaseException:
        database.close()
        raise
    return database


def database_folder(url: str | None) -> Path | None:
    """The folder of the SQLite file that ``open_database`` opens; None where it is no file. Nothing is opened. Raises
    StorageError where the URL is none."""
    parsed = _parse(url or DATABASE_URL.text())
    path = sqlite.database_file(parsed) if parsed.get_backend_name() == "sqlite" else None
    return None if path is None else path.absolute().parent


_ALMOST_URL = re.compile(r"[a-z0-9+]+:[^@]*@", re.IGNORECASE)
"""A URL with a password and a wrong ://; nobody would choose such a name for a file."""


def _parse(text: str) -> URL:
    if "://" not in text:
        if (_ALMOST_URL.match(text) or text.startswith("file:")) and not Path(text).exists():
            raise url_error(text, ValueError("a URL without ://"))
        return URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        parsed = make_url(
            text.replace("postgres://", "postgresql://", 1) if text.startswith("postgres:") else text
        )
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise NoSuchModuleError
        parsed.get_dialect()
        if "@" in (parsed.host or "") or (
            "@" in (parsed.database or "") and parsed.get_backend_name() != "sqlite"
        ):
            raise ValueError("an @ in the password that is not written as %40")
        if (parsed.database or "").startswith("file:") and "uri" not in parsed.query:
            raise ValueError("a URI of SQLite's own without ?uri=true")
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise url_error(text, error) from None
    return parsed
