"""Failures of databases, their drivers and their URLs as StorageErrors with messages for users. Imported only where one
fails.

If waiting may help, the error is an UnavailableError; if a disk is full, a NoRoomError.
"""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from farthest.environment import DATABASE_URL
from farthest.errors import NoRoomError, StorageError, UnavailableError
from farthest.locations import hide_password

_ALMOST_NO_ROOM = 2 << 20
"""Bytes: SQLite also reports a full disk as an I/O error, when it cannot extend its -shm file."""

_DAMAGED = (
    "the database file is damaged; restore it from a copy and enumerate again what was stored since, or rescue what "
    "can be read with `sqlite3 FILE .recover`"
)

_BUSY = "SQLITE_BUSY|SQLITE_LOCKED|SQLITE_PROTOCOL"

_DRIVERS = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary"}


def translate(error: Exception, place: str, path: Path | None = None) -> StorageError:
    """The error for one failure: the place, what is wrong there, the likely mend."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(cause, UnicodeDecodeError):
        return StorageError(f"{place}: {_DAMAGED}")
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorname", "")
        kind = UnavailableError if re.match(_BUSY, code) else StorageError
        kind = NoRoomError if _no_room(code, path) else kind
        return kind(f"{place}: {_sqlite_message(cause, path)}")
    return _postgres_failure(cause, place)


_SQLITE = {
    "SQLITE_READONLY": "the database can be read but not written; make the file and its folder writable, or name "
    "another place with --database",
    "SQLITE_CANTOPEN|SQLITE_PERM|SQLITE_AUTH": "the database cannot be opened; expected a file that you may read and "
    "write, in a folder that you may write to: check both, or name another place with --database",
    "SQLITE_NOTADB": "this is not an SQLite database, or its first page is damaged; name another file with "
    "--database, or restore this one from a copy",
    "SQLITE_CORRUPT|SQLITE_FORMAT": _DAMAGED,
    _BUSY: "the database is locked by another process that is writing; wait for it or end it, then try again",
    "SQLITE_TOOBIG": "a text or a payload in it is larger than any that farthest stores; restore the database from a "
    "copy, or name another with --database",
}
"""What the beginnings of SQLite's error codes mean for users."""


def _sqlite_message(error: sqlite3.Error, path: Path | None) -> str:
    # Failures that Python's own module raises (such as a value of a wrong type) have no SQLite code.
    code = getattr(error, "sqlite_errorname", "")
    if _no_room(code, path):
        return (
            "there is no room left for the database; this change was not stored, and what was stored before is "
            "intact: free space on its disk, delete jobs, or name another place with --database"
        )
    for beginnings, message in _SQLITE.items():
        if re.match(beginnings, code):
            return message
    if "Could not decode to UTF-8" in str(error):
        return _DAMAGED
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


# PostgreSQL

WHERE = f"{DATABASE_URL.name} or --database"

_REFUSED = re.compile(
    r"authentication failed|no password supplied|no pg_hba.conf entry|role \S+ |is not permitted to log in"
)
_NO_DATABASE = re.compile(r'database "(?P<name>[^"]*)" does not exist')
_TLS = re.compile(r"does not support SSL|certificate|sslmode", re.IGNORECASE)
_NO_HOST = re.compile(r"failed to resolve host|could not translate host name")
_TOO_MANY = re.compile(r"too many clients|remaining connection slots|too many connections")
_PREFIX = re.compile(
    r"^(connection failed: |connection to server [^:]*failed: |FATAL: +|consuming input failed: )+"
)

_GONE = ("08", "57P", "58")
_AGAIN = ("40", "55P03")
_STOOD_STILL = "25P03"


def _postgres_failure(error: BaseException, place: str) -> StorageError:
    """The error for one failure of PostgreSQL or its driver: UnavailableError where waiting may help, NoRoomError where
    the server has no disk or memory left."""
    lines = str(error).strip().splitlines()
    said = _PREFIX.sub("", lines[0]) if lines else type(error).__name__
    code = getattr(error, "sqlstate", None)
    if code is None and type(error).__name__ in ("OperationalError", "ConnectionTimeout"):
        return _connection_failure(said, place)
    code = code or ""
    if code.startswith("53100"):
        return NoRoomError(
            f"{place}: there is no room left on the disk of the database's server; this change was not "
            "stored, and what was stored before is intact: free space there, or delete jobs"
        )
    if code.startswith("53200"):
        return NoRoomError(f"{place}: the database's server has no memory left ({said}); give it more")
    if code.startswith("53300"):
        return _connection_failure(said, place)
    if code == _STOOD_STILL:
        return UnavailableError(
            f"{place}: this process was stopped for so long that the server has ended its transaction; try again"
        )
    if code.startswith(_GONE):
        return UnavailableError(f"{place}: the connection to the database broke off ({said}); try again")
    if code.startswith(_AGAIN):
        return UnavailableError(
            f"{place}: another process changed the same at the same time ({said}); try again"
        )
    if code.startswith("42501"):
        return StorageError(
            f"{place}: the database's user lacks a right ({said}); let it make and change tables, such as with "
            "`GRANT ALL ON SCHEMA public TO USER`"
        )
    if code in ("42P01", "42703"):
        return StorageError(
            f"{place}: the database lacks tables or columns that farthest needs ({said}); name another with {WHERE}"
        )
    if not code:
        return StorageError(f"{place}: the database cannot be used ({said}); check {WHERE}")
    return StorageError(f"{place}: the database refused: {said}")


def _connection_failure(said: str, place: str) -> StorageError:
    """The error where no connection could be made, or it was lost: the driver gives the reason as a text only."""
    missing = _NO_DATABASE.search(said)
    if missing:
        return StorageError(
            f"{place}: this server has no database {missing['name']!r}; make it with `createdb {missing['name']}`, or "
            f"name another with {WHERE}"
        )
    if _REFUSED.search(said):
        return StorageError(
            f"{place}: the server refuses the user or the password ({said}); write them into {WHERE} as "
            "postgresql://USER:PASSWORD@HOST/NAME"
        )
    if _TLS.search(said):
        return StorageError(
            f"{place}: no connection with TLS can be made ({said}); switch TLS on at the server, or change sslmode "
            f"or sslrootcert in {WHERE}"
        )
    if _NO_HOST.search(said):
        return UnavailableError(
            f"{place}: the database's host is not known ({said}); check the host in {WHERE}"
        )
    if _TOO_MANY.search(said):
        return UnavailableError(
            f"{place}: the server takes no more connections now ({said}); wait, end some, or raise its max_connections"
        )
    return UnavailableError(
        f"{place}: the database cannot be reached ({said}); check that its server runs and that {WHERE} is right"
    )
