"""Turns failures of SQLite, drivers and URLs into StorageErrors with messages for users.

Failures of PostgreSQL are in ``postgres``. If waiting may help, the error is an UnavailableError; if a disk is full, a
NoRoomError.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from farthest.environment import DATABASE_URL
from farthest.errors import NoRoomError, StorageError, UnavailableError
from farthest.locations import hide_password
from farthest.models.postgres import postgres_failure

_ALMOST_NO_ROOM = (
    2 << 20
)  # bytes: SQLite also reports a full disk as an I/O error, when it cannot extend its -shm file

_DAMAGED = (
    "the database file is damaged; restore it from a copy and enumerate again what was stored since, or rescue what "
    "can be read with `sqlite3 FILE .recover`"
)

_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")

_DRIVERS = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary"}


@contextmanager
def storage_errors(place: str, path: Path | None = None) -> Iterator[None]:
    """Turns a failure of the database at ``place`` (``path`` where it is a file) into StorageError."""
    try:
        yield
    except _drivers_errors() as error:
        raise translate(error, place, path) from error


def _drivers_errors() -> tuple[type[Exception], ...]:
    """The exceptions that databases raise; PostgreSQL's driver is imported only where it is used."""
    psycopg = sys.modules.get("psycopg")
    # Where a message of SQLite quotes damaged text, Python's sqlite3 raises UnicodeDecodeError.
    return (DBAPIError, sqlite3.Error, UnicodeDecodeError, *((psycopg.Error,) if psycopg else ()))


def translate(error: Exception, place: str, path: Path | None = None) -> StorageError:
    """The error for one failure: the place, what is wrong there, the likely mend."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(cause, UnicodeDecodeError):
        return StorageError(f"{place}: {_DAMAGED}")
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorname", "")
        kind = (
            NoRoomError
            if _no_room(code, path)
            else UnavailableError
            if code.startswith(_BUSY)
            else StorageError
        )
        return kind(f"{place}: {_sqlite_message(cause, path)}")
    return postgres_failure(cause, place)


def _sqlite_message(error: sqlite3.Error, path: Path | None) -> str:
    # Failures that Python's own module raises (such as a value of a wrong type) have no SQLite code.
    code = getattr(error, "sqlite_errorname", "")
    if _no_room(code, path):
        return (
            "there is no room left for the database; nothing of this change was stored, what was stored before "
            "is intact: free space on its disk, delete jobs, or name another place with --database"
        )
    if code.startswith("SQLITE_READONLY"):
        return (
            "the database can be read but not written; make the file and its folder writable, or name another "
            "place with --database"
        )
    if code.startswith(("SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return (
            "the database cannot be opened; expected a file that you may read and write, in a folder that you "
            "may write to: check both, or name another place with --database"
        )
    if code.startswith("SQLITE_NOTADB"):
        return (
            "this is not an SQLite database, or its first page is damaged; name another file with --database, or "
            "restore this one from a copy"
        )
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_FORMAT")) or "Could not decode to UTF-8" in str(error):
        return _DAMAGED
    if code.startswith(_BUSY):
        return (
            "the database is locked by another process that is writing; wait for it or end it, then try again"
        )
    if code == "SQLITE_TOOBIG":
        return (
            "a text or a payload in it is larger than any that farthest stores; restore the database from a copy, or "
            "name another with --database"
        )
    if code.startswith("SQLITE_IOERR"):
        return f"the disk failed while the database was used ({error}); check the disk, then try again"
    if "no such table" in str(error) or "no such column" in str(error):
        return f"the database lacks tables or columns that farthest needs ({error}); name another with --database"
    return f"the database failed ({error})"


def _no_room(code: str, path: Path | None) -> bool:
    folder = path.parent if path else Path()
    return code.startswith("SQLITE_FULL") or (code.startswith("SQLITE_IOERR") and _is_full(folder))


def _is_full(folder: Path) -> bool:
    try:
        disk = os.statvfs(folder)
    except (OSError, AttributeError):
        return False
    return disk.f_bavail * disk.f_frsize < _ALMOST_NO_ROOM


def url_error(text: str, error: Exception) -> StorageError:
    """The error for a URL that SQLAlchemy cannot use; the text is shown without its password."""
    place = hide_password(text)
    if isinstance(error, ImportError) and error.name:
        package = _DRIVERS.get(error.name, error.name)
        return StorageError(
            f"{place}: this database needs the Python package {error.name}: pip install '{package}'"
        )
    if isinstance(error, NoSuchModuleError):
        return StorageError(
            f"{place}: unknown kind of database; expected sqlite:///FILE, postgresql://… or a file"
        )
    if isinstance(error, ArgumentError | ValueError):
        return StorageError(
            f"{place}: not a database URL; expected sqlite:///FILE, postgresql://USER:PASSWORD@HOST/NAME or a file, "
            f"with --database or {DATABASE_URL.name}; @ : / ? # % in a password are written %40 %3A %2F %3F %23 %25"
        )
    return StorageError(f"{place}: the database cannot be used ({type(error).__name__})")


def shown(url: URL) -> str:
    """A URL for messages: the password as ***, without options."""
    return url.set(query={}).render_as_string(hide_password=True)
