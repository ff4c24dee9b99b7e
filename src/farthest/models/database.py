"""Opening a database: finding it, making its tables, migrating older ones, and transactions on it.

A database is named by a SQLAlchemy URL or by a file name. A fresh one gets its tables and the number of the
newest migration at once; Alembic is imported only where an older one must be brought up to date.

SQLite files are kept in WAL mode: readers see the last complete state while a writer works, and a process
killed at any moment leaves either all or nothing of a transaction. Until the last process closes the file,
its latest part is in ``FILE-wal`` beside it: move or copy both together. Deleted jobs leave room inside the
file for later ones; give it back to the disk with ``sqlite3 FILE VACUUM``.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, make_url, select
from sqlalchemy.exc import SQLAlchemyError

from farthest.errors import StorageError
from farthest.models.failures import shown, storage_errors, url_error
from farthest.models.tables import SCHEMA_VERSION, VERSION_TABLE, metadata, version

DEFAULT_URL = "sqlite:///farthest.db"
URL_VARIABLE = "FARTHEST_DATABASE_URL"
BUSY_SECONDS = 30.0
"""How long a writer waits for another process's transaction, which may be storing a checkpoint."""

PAGE_BYTES = 16384


class Database:
    """An open database with current tables.

    ``place`` is its name as messages show it, ``path`` its file if it is one. Transactions are taken with
    ``read`` and ``write``. Every failure inside them is raised as StorageError. Safe to share among threads;
    each thread has its own transaction.
    """

    def __init__(self, engine: Engine, place: str, path: Path | None) -> None:
        self.engine = engine
        self.place = place
        self.path = path
        self._thread = threading.local()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database throughout; within ``write``, its changes too."""
        outer: Connection | None = getattr(self._thread, "connection", None)
        with storage_errors(self.place, self.path):
            if outer is not None:
                yield outer
                return
            with self.engine.connect() as connection:
                if connection.dialect.name != "sqlite":  # whose transactions always see one state
                    connection.execution_options(isolation_level="REPEATABLE READ")
                with connection.begin():
                    yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction stored whole at its end, or not at all after an exception.

        Nested in another ``write`` of the same thread it becomes a part of that one: a block of several calls
        is stored at once. A part that fails is undone alone, if the outer block survives its exception.
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
                self._thread.connection = connection
                try:
                    yield connection
                finally:
                    self._thread.connection = None

    @staticmethod
    def _part(outer: Connection) -> Iterator[Connection]:
        part = outer.begin_nested()
        try:
            yield outer
        except BaseException:
            # On a full disk SQLite has already undone the whole transaction, and the savepoint with it.
            if outer.dialect.name != "sqlite" or outer.connection.driver_connection.in_transaction:  # type: ignore[union-attr]
                part.rollback()
            raise
        part.commit()

    def close(self) -> None:
        """Closes all connections; on SQLite the last one to close folds ``FILE-wal`` into the file."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_database(url: str | None = None, *, create: bool, busy_seconds: float = BUSY_SECONDS) -> Database:
    """Opens the database at ``url``: a SQLAlchemy URL or a file name.

    Default: the environment's FARTHEST_DATABASE_URL, else ``farthest.db`` in the working directory. With
    ``create`` a missing file or missing tables are made; without, they are a StorageError. Older tables are
    migrated. An SQLite file that may only be read is opened for reading. Raises StorageError for everything
    that can be wrong with it.
    """
    text = url or os.environ.get(URL_VARIABLE) or DEFAULT_URL
    parsed = _parse(text)
    sqlite = parsed.get_backend_name() == "sqlite"
    path = _file(parsed) if sqlite else None
    place = str(path) if path else shown(parsed)
    if path:
        _check_file(path, create)
    options = _sqlite_options(path, parsed, busy_seconds) if sqlite else {}
    try:
        engine = create_engine(options.pop("url", parsed), **options)
    except (SQLAlchemyError, ImportError, ValueError, TypeError) as error:
        raise url_error(text, error) from None
    database = Database(engine, place, path)
    try:
        if sqlite:
            _prepare_sqlite(database, busy_seconds)
        _bring_up_to_date(database, create)
    except BaseException:
        database.close()
        raise
    return database


def _parse(text: str) -> URL:
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        parsed = make_url(text)
        parsed.get_backend_name()
        parsed.get_dialect()
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise url_error(text, error) from None
    return parsed


def _file(parsed: URL) -> Path | None:
    """The file of an SQLite URL; None for one that SQLite itself is to read (``file:…``)."""
    if not parsed.database or parsed.database == ":memory:":
        raise StorageError(
            f"{shown(parsed)}: a database in memory would be lost at once; name a file, such as {DEFAULT_URL}"
        )
    return None if parsed.database.startswith("file:") else Path(parsed.database)


def _check_file(path: Path, create: bool) -> None:
    """Refuses what SQLite would only call 'unable to open database file'."""
    try:
        is_folder, exists, has_folder = path.is_dir(), path.exists(), path.parent.is_dir()
        if "\0" in str(path):
            raise ValueError("a file name cannot hold a null character")
    except (OSError, ValueError) as error:
        raise StorageError(f"{path}: the database cannot be opened ({error}); check the name") from error
    if is_folder:
        raise StorageError(f"{path}: this is a folder, expected a database file; name a file inside it")
    if exists:
        return
    if not create:
        raise StorageError(
            f"{path}: there is no such database; make one with `farthest enumerate PUZZLE`, or name another "
            f"with --database or {URL_VARIABLE}"
        )
    if not has_folder:
        raise StorageError(f"{path}: the folder {path.parent} does not exist; make it, or name another place")


def _sqlite_options(path: Path | None, parsed: URL, busy_seconds: float) -> dict[str, Any]:
    # isolation_level None: Python's module starts no transactions of its own; the "begin" listener does.
    arguments: dict[str, Any] = {"isolation_level": None, "timeout": busy_seconds}
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


def _prepare_sqlite(database: Database, busy_seconds: float) -> None:
    """Sets every connection up, and the file's own settings where it is fresh."""

    @event.listens_for(database.engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        # page_size counts only before the first table is made. Overwriting what is deleted (secure_delete, on
        # in some systems' SQLite) would write each replaced checkpoint twice.
        for pragma in (
            f"page_size={PAGE_BYTES}",
            "synchronous=NORMAL",
            "foreign_keys=ON",
            "secure_delete=OFF",
            f"journal_size_limit={64 << 20}",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(database.engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that reads first and writes later could meet another writer's and have to be given up.
        write = connection.get_execution_options().get("farthest_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    if database.path is None or _writable(database.path) or not database.path.exists():
        _switch_to_wal(database, busy_seconds)


def _switch_to_wal(database: Database, busy_seconds: float) -> None:
    """Sets WAL mode, which the file keeps; the first switch needs the file alone and does not wait for it."""
    deadline = time.monotonic() + busy_seconds
    fresh = database.path is not None and not (database.path.exists() and database.path.stat().st_size)
    with storage_errors(database.place, database.path):
        connection = database.engine.raw_connection()
        cursor = connection.cursor()
        try:
            if fresh:  # an empty file need not survive a power cut: no waiting for the disk
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


def _bring_up_to_date(database: Database, create: bool) -> None:
    with database.read() as connection:
        found = _schema_version(connection)
    if found == SCHEMA_VERSION:
        return
    if found is None:
        if not create:
            raise StorageError(
                f"{database.place}: this database holds nothing of farthest's; make a map in it with "
                f"`farthest enumerate PUZZLE`, or name another with --database or {URL_VARIABLE}"
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
        if _schema_version(connection) is not None:  # another process was first
            return
        existing = set(inspect(connection).get_table_names()) & set(metadata.tables)
        if existing:
            raise StorageError(
                f"{database.place}: another program's database, it has a table named {min(existing)}; name "
                "another with --database"
            )
        metadata.create_all(connection, checkfirst=False)
        version.create(connection)
        connection.execute(insert(version).values(version_num=SCHEMA_VERSION))
