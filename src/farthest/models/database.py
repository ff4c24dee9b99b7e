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
from pathlib import Path

from sqlalchemy import URL, create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from farthest.environment import DATABASE_URL
from farthest.models import postgres, sqlite
from farthest.models.failures import shown, url_error
from farthest.models.schema import bring_up_to_date
from farthest.models.transactions import Database

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
        parsed.get_backend_name()
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
