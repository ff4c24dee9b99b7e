"""SQLite files: checks before they are opened, how they are opened, and the settings of each connection."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, event

from farthest.environment import DATABASE_URL
from farthest.errors import MissingDatabaseError, StorageError
from farthest.models.failures import shown, storage_errors

PAGE_BYTES = 16384

MOST_BYTES = 2**27
"""Most bytes of a text, a payload or a row: SQLite returns no larger one, whoever wrote it."""


def database_file(parsed: URL) -> Path | None:
    """The file of an SQLite URL; None for a URI that SQLite itself reads (``file:…``)."""
    if not parsed.database or parsed.database == ":memory:":
        raise StorageError(
            f"{shown(parsed)}: a database in memory would be lost at once; name a file, such as {DATABASE_URL.default}"
        )
    return None if parsed.database.startswith("file:") else Path(parsed.database)


def check_file(path: Path, create: bool) -> None:
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


def check_schema(connection: Connection, place: str, tables: Collection[str]) -> None:
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


def engine_options(path: Path | None, parsed: URL, busy_seconds: float) -> dict[str, Any]:
    """The arguments of ``create_engine``; with ``url`` where another URL has to be used."""
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


def prepare(engine: Engine, place: str, path: Path | None, busy_seconds: float) -> None:
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
        _switch_to_wal(engine, place, path, busy_seconds)


def _switch_to_wal(engine: Engine, place: str, path: Path | None, busy_seconds: float) -> None:
    """Sets WAL mode, which the file keeps; the first switch needs the file alone and does not wait for it."""
    deadline = time.monotonic() + busy_seconds
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
