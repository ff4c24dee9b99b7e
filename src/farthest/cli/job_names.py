"""The jobs of a database as a shell completes them: read at once, without SQLAlchemy, and changing nothing."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from farthest.environment import DATABASE_URL

MOST = 200
"""How many jobs are read, the newest first."""
BUSY_SECONDS = 0.2
CONNECT_SECONDS = 2

_QUERY = f"SELECT id, name, status FROM job ORDER BY id DESC LIMIT {MOST}"


@dataclass(frozen=True, slots=True)
class JobName:
    """A job, and its status as it is stored."""

    number: int
    name: str
    status: str


def newest_jobs(url: str | None) -> list[JobName]:
    """The newest jobs of the database that commands would open for ``url``, the newest first. Raises any exception
    where that fails."""
    text = url or DATABASE_URL.text()
    if text.startswith(("postgresql://", "postgresql+psycopg://", "postgres://")):
        rows = _of_server("postgresql://" + text.partition("://")[2])
    else:
        rows = _of_file(_file(text))
    return [JobName(number, str(name), str(status)) for number, name, status in rows]


def _file(text: str) -> str:
    if "://" not in text:
        return os.path.expanduser(text)
    scheme, _, path = text.partition(":///")
    if not scheme.startswith("sqlite") or not path:
        raise ValueError(text)
    return unquote(path.partition("?")[0])


def _of_file(path: str) -> list[tuple[Any, ...]]:
    if not os.path.isfile(path):  # SQLite would wait for a pipe
        return []
    # Nothing is written; but a user who may only read the file would leave FILE-wal and FILE-shm behind.
    place = f"file:{quote(os.path.abspath(path))}?mode=rw"
    with closing(sqlite3.connect(place, uri=True, timeout=BUSY_SECONDS)) as database:
        database.execute("PRAGMA query_only = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        return database.execute(_QUERY).fetchall()


def _of_server(url: str) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(url, connect_timeout=CONNECT_SECONDS) as connection:
        return connection.execute(_QUERY).fetchall()
