"""An open database, and transactions on it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine

from farthest.models.failures import storage_errors


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
