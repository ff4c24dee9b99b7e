"""PostgreSQL: how connections are made, and its failures as errors for users."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import URL, Engine, event

from farthest.environment import DATABASE_URL
from farthest.errors import NoRoomError, StorageError, UnavailableError

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


def engine_options(parsed: URL) -> dict[str, Any]:
    """The arguments of ``create_engine``. Each connection of the pool is tried before it is used again."""
    if parsed.get_backend_name() != "postgresql":
        return {}
    return {
        "pool_pre_ping": True,
        "connect_args": {name: value for name, value in CONNECTION.items() if name not in parsed.query},
    }


def prepare(engine: Engine) -> None:
    """Sets every connection up."""

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        before, connection.autocommit = connection.autocommit, True
        connection.execute(SESSION).close()
        connection.autocommit = before


def postgres_failure(error: BaseException, place: str) -> StorageError:
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
            f"{place}: there is no room left on the disk of the database's server; nothing of this change was stored, "
            "what was stored before is intact: free space there, or delete jobs"
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
