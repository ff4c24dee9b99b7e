"""Opening a database and transactions on it.

A database is named by a SQLAlchemy URL or by a file name. A fresh one gets its tables and the number of the
newest migration at once; Alembic is imported only where an older one must be brought up to date.

SQLite files are kept in WAL mode: readers see the last complete state while a writer works, and a process
killed at any moment leaves either all or nothing of a transaction. Until the last process closes the file,
its latest part is in ``FILE-wal`` beside it: move or copy both together. Deleted jobs leave room inside the
file for later ones; give it back to the disk with ``sqlite3 FILE VACUUM``.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import URL, Connection, Engine, create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from farthest.environment import DATABASE_URL
from farthest.models import postgres, sqlite
from farthest.models.failures import shown, storage_errors, url_error
from farthest.models.schema import bring_up_to_date

BUSY_SECONDS = 30.0
"""How long a writer waits for another process's transaction, which may be storing a checkpoint."""


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
        self._closed = False

    @contextmanager
    def read(self, *, apart: bool = False) -> Iterator[Connection]:
        """A transaction that sees one state of the database throughout; within ``write``, its changes too.

        ``apart``: within ``write`` too a transaction of its own, which sees what was there before.
        """
        outer: Connection | None = None if apart else getattr(self._thread, "connection", None)
        with storage_errors(self.place, self.path):
            if outer is not None:
                yield outer
                return
            with self.engine.connect() as connection:
                if connection.dialect.name != "sqlite":  # whose transactions always see one state
                    connection.execution_options(isolation_level="REPEATABLE READ")
                try:
                    with connection.begin():
                        yield connection
                finally:
                    if self._closed:  # meanwhile: its pool is gone
                        connection.detach()

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
            # interrupted a statement, SQLAlchemy has dropped the connection, which must not be asked for.
            if outer.invalidated or outer.dialect.name != "sqlite" or _in_transaction(outer):
                part.rollback()
            raise
        part.commit()

    def close(self) -> None:
        """Closes all connections; on SQLite the last one to close folds ``FILE-wal`` into the file."""
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


def open_database(url: str | None = None, *, create: bool, busy_seconds: float = BUSY_SECONDS) -> Database:
    """Opens the database at ``url``: a SQLAlchemy URL or a file name.

    Default: the environment's FARTHEST_DATABASE_URL, else ``farthest.db`` in the working directory. With
    ``create`` a missing file or missing tables are made; without, they are a StorageError. Older tables are
    migrated. An SQLite file that may only be read is opened for reading. Raises StorageError for everything
    that can be wrong with it.
    """
    text = url or DATABASE_URL.text()
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


_ALMOST_URL = re.compile(r"[a-z0-9+]+:[^@]*@", re.IGNORECASE)
"""A URL with a password whose :// is not right: no name of a file that anyone would choose."""


def _parse(text: str) -> URL:
    if "://" not in text:
        if _ALMOST_URL.match(text) and not Path(text).exists():
            raise url_error(text, ValueError("a URL without ://"))
        return URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        parsed = make_url(
            text.replace("postgres://", "postgresql://", 1) if text.startswith("postgres:") else text
        )
        parsed.get_backend_name()
        parsed.get_dialect()
        if "@" in (parsed.host or "") or (
            "@" in (parsed.database or "") and parsed.get_backend_name() != "sqlite"
        ):
            raise ValueError("an @ in the password that is not written as %40")
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise url_error(text, error) from None
    return parsed
