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
import sqlite3
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, make_url, select
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError

from farthest.environment import DATABASE_URL
from farthest.errors import MissingDatabaseError, StorageError
from farthest.models.tables import SCHEMA_VERSION, VERSION_TABLE, lock_schema, metadata, version


@contextmanager
def storage_errors(place: str, path: Path | None = None) -> Iterator[None]:
    """Turns a failure of the database at ``place`` (``path`` where it is a file) into StorageError."""
    try:
        yield
    except _drivers_errors() as error:
        from farthest.models.failures import translate

        raise translate(error, place, path) from error


def _drivers_errors() -> tuple[type[Exception], ...]:
    """The exceptions that databases raise; PostgreSQL's driver is imported only where it is used."""
    psycopg = sys.modules.get("psycopg")
    # Where a message of SQLite quotes damaged text, Python's sqlite3 raises UnicodeDecodeError.
    return (DBAPIError, sqlite3.Error, UnicodeDecodeError, *((psycopg.Error,) if psycopg else ()))


def _url_error(text: str, error: Exception) -> StorageError:
    from farthest.models.failures import url_error

    return url_error(text, error)


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


# Tables: they are made where there are none, and brought up to date where an older version made them. Any number of
# processes may do this at the same time: the first does it, the others find it done already.


def _bring_up_to_date(database: Database, create: bool) -> None:
    """Raises StorageError where the tables cannot be used: there are none (without ``create``), they are another
    program's or too new, or there are views or triggers."""
    with database.read() as connection:
        if connection.dialect.name == "sqlite":
            _check_schema(connection, database.place, {*metadata.tables, VERSION_TABLE})
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


# Opening

# After Ctrl-C SQLAlchemy logs connections that it cannot close, with a traceback, and Python prints that where no log
# is set up.
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())

BUSY_SECONDS = 30.0
"""How long a writer waits for another process's transaction, which may be storing a checkpoint."""


def open_database(url: str | os.PathLike[str] | None = None, *, create: bool) -> Database:
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
    path = _database_file(parsed) if is_sqlite else None
    place = str(path) if path else shown_url(parsed)
    if path:
        _check_file(path, create)
    options = _sqlite_options(path, parsed) if is_sqlite else postgres_options(parsed)
    try:
        engine = create_engine(options.pop("url", parsed), **options)
    except (SQLAlchemyError, ImportError, ValueError, TypeError) as error:
        raise _url_error(text, error) from None
    database = Database(engine, place, path)
    try:
        if is_sqlite:
            prepare_sqlite(engine, place, path)
        else:
            _prepare_postgres(engine)
        _bring_up_to_date(database, create)
    except BaseException:
        database.close()
        raise
    return database


def database_folder(url: str | None) -> Path | None:
    """The folder of the SQLite file that ``open_database`` opens; None where it is no file. Nothing is opened. Raises
    StorageError where the URL is none."""
    parsed = _parse(url or DATABASE_URL.text())
    path = _database_file(parsed) if parsed.get_backend_name() == "sqlite" else None
    return None if path is None else path.absolute().parent


_ALMOST_URL = re.compile(r"[a-z0-9+]+:[^@]*@", re.IGNORECASE)
"""A URL with a password and a wrong ://; nobody would choose such a name for a file."""


def _parse(text: str) -> URL:
    if "://" not in text:
        if (_ALMOST_URL.match(text) or text.startswith("file:")) and not Path(text).exists():
            raise _url_error(text, ValueError("a URL without ://"))
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
        raise _url_error(text, error) from None
    return parsed


def shown_url(url: URL) -> str:
    """A URL for messages: the password as ***, without options."""
    return url.set(query={}).render_as_string(hide_password=True)


# SQLite

PAGE_BYTES = 16384

MOST_BYTES = 2**27
"""Most bytes of a text, a payload or a row: SQLite returns no larger one, whoever wrote it."""


def _database_file(parsed: URL) -> Path | None:
    """The file of an SQLite URL; None for a URI that SQLite itself reads (``file:…``)."""
    if not parsed.database or parsed.database == ":memory:":
        raise StorageError(
            f"{shown_url(parsed)}: a database in memory would be lost at once; name a file, such as "
            f"{DATABASE_URL.default}"
        )
    return None if parsed.database.startswith("file:") else Path(parsed.database)


def _check_file(path: Path, create: bool) -> None:
    """Raises StorageError with the reason where SQLite would only say 'unable to open database file'."""
    try:
        is_folder, exists, has_folder = path.is_dir(), path.exists(), path.parent.is_dir()
        is_file = path.is_file()
        if "\0" in str(path):
            raise ValueError("a file name cannot hold a null character")
    except (OSError, ValueError) as error:
        raise StorageError(f"{path}: the database cannot be opened ({error}); check the name") from error
    if is_folder:
        raise StorageError(f"{path}: this is a folder, expected a database file; name a file inside it")
    if path.resolve().is_relative_to("/proc") or path.resolve().is_relative_to("/sys"):
        raise StorageError(
            f"{path}: the kernel's own files hold no database, expected one on a disk; name another"
        )
    if exists and not is_file:  # SQLite would wait for a pipe forever
        raise StorageError(f"{path}: this is a pipe or a device, expected a database file; name another")
    if exists:
        return
    if not has_folder:
        raise StorageError(f"{path}: the folder {path.parent} does not exist; make it, or name another place")
    if not create:
        raise MissingDatabaseError(
            f"{path}: there is no such database; make one with `farthest enumerate PUZZLE`, or name another "
            f"with --database or {DATABASE_URL.name}",
            str(path),
        )


def _check_schema(connection: Connection, place: str, tables: Collection[str]) -> None:
    """Raises StorageError for a view, a virtual table or a trigger: they contain code that runs when rows are read or
    written, and farthest makes none."""
    objects = connection.exec_driver_sql(
        "SELECT type, name, tbl_name FROM sqlite_master WHERE coalesce(rootpage, 0) = 0"
    )
    for kind, name, table in objects:
        if str(table).lower() in tables:
            what = f"virtual table {name!r}" if kind == "table" else f"{kind} {name!r}"
            raise StorageError(
                f"{place}: it has the {what}, which farthest has not made and which can change what is read or "
                f"stored; if you made it, drop the {kind}, else do not trust any job of this file"
            )


def _sqlite_options(path: Path | None, parsed: URL) -> dict[str, Any]:
    """The arguments of ``create_engine``; with ``url`` where another URL has to be used."""
    # isolation_level None: Python's module starts no transactions of its own; the "begin" listener does.
    arguments: dict[str, Any] = {"isolation_level": None, "timeout": BUSY_SECONDS}
    options: dict[str, Any] = {"connect_args": arguments}
    if path and path.exists() and not _writable(path):
        # A WAL database can be read without writing its -shm file only where nothing else may change it.
        wal = path.with_name(path.name + "-wal")
        immutable = not (wal.exists() and wal.stat().st_size)
        quoted = str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        uri = f"file:{quoted}"
        options["url"] = parsed.set(
            database=uri, query={"mode": "ro", "uri": "true"} | ({"immutable": "1"} if immutable else {})
        )
    return options


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def prepare_sqlite(engine: Engine, place: str, path: Path | None) -> None:
    """Sets every connection up, and a new file's own settings."""

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        # page_size has an effect only before the first table is made. Overwriting deleted rows (secure_delete, the
        # default of some systems) would write each replaced checkpoint twice.
        for pragma in (
            f"page_size={PAGE_BYTES}",
            "synchronous=NORMAL",
            "foreign_keys=ON",
            "trusted_schema=OFF",
            "secure_delete=OFF",
            f"journal_size_limit={64 << 20}",
        ):
            connection.execute(f"PRAGMA {pragma}").close()
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that reads first and writes later could conflict with another writer and fail.
        write = connection.get_execution_options().get("farthest_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    if path is None or _writable(path) or not path.exists():
        _switch_to_wal(engine, place, path)


def _switch_to_wal(engine: Engine, place: str, path: Path | None) -> None:
    """Sets WAL mode, which the file keeps; the first switch needs the file alone and does not wait for it."""
    deadline = time.monotonic() + BUSY_SECONDS
    fresh = path is not None and not (path.exists() and path.stat().st_size)
    with storage_errors(place, path):
        connection = engine.raw_connection()
        cursor = connection.cursor()
        try:
            if fresh:  # an empty file need not survive a power failure: no waiting for the disk
                cursor.execute("PRAGMA synchronous=OFF")
            while True:
                try:
                    cursor.execute("PRAGMA journal_mode=WAL")
                    break
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)
            cursor.execute("PRAGMA synchronous=NORMAL")
        finally:
            connection.close()


# PostgreSQL

CONNECTION = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "farthest",
}
"""Options of libpq, where the URL does not give others: a connection that was cut is noticed within half a minute."""

SESSION = "SET lock_timeout = '60s'; SET idle_in_transaction_session_timeout = '15min'"
"""Settings of each connection, sent as a statement because poolers such as PgBouncer refuse them among the options.
Waiting for the lock of a stopped client ends after the first time; a client that is idle in a transaction for the
second loses the transaction and its locks."""


def postgres_options(parsed: URL) -> dict[str, Any]:
    """The arguments of ``create_engine``. Each connection of the pool is tried before it is used again."""
    return {
        "pool_pre_ping": True,
        "connect_args": {name: value for name, value in CONNECTION.items() if name not in parsed.query},
    }


def _prepare_postgres(engine: Engine) -> None:
    """Sets every connection up."""

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        before, connection.autocommit = connection.autocommit, True
        connection.execute(SESSION).close()
        connection.autocommit = before
