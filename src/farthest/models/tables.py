"""The tables, as SQLAlchemy Core objects (``sqlalchemy.orm`` alone would add 80 ms to every command).

Numbers that may pass 2**31 (keys, counts of states) are BIGINT; keys stay below 2**63, the largest that SQLite and
PostgreSQL can hold. Times are UTC. JSON is stored as text, so that it is the same for every dialect and every tool. A
change here needs a new revision in ``migrations/versions`` and its number in ``SCHEMA_VERSION``; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    TypeDecorator,
    event,
    false,
)

SCHEMA_VERSION = "0008"
VERSION_TABLE = "farthest_version"
_SCHEMA_LOCK = 4027514
_MOST_DIGITS = 4000


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes in Python; in the database the same instant in UTC, without a zone.

    A value that is not a time passes unchanged in both directions, so that it can be compared; ``records`` reports it
    with its row.
    """

    impl = DateTime
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        written = self.impl_instance.bind_processor(dialect)

        def process(value: Any) -> Any:
            if not isinstance(value, datetime):
                return value
            moment = value.astimezone(UTC).replace(tzinfo=None)
            return written(moment) if written else moment

        return process

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        parsed = self.impl_instance.result_processor(dialect, coltype)
        written = self.impl_instance.bind_processor(dialect)

        def process(value: Any) -> Any:
            try:
                moment = parsed(value) if parsed else value
            except (ValueError, TypeError):
                return value
            if written and written(moment) != value:  # not written by this class
                return value
            return moment.replace(tzinfo=UTC) if isinstance(moment, datetime) else moment

        return process


class Truth(TypeDecorator[bool]):
    """Truth values; SQLite holds 0 and 1. Another value passes unchanged; ``records`` reports it with its row."""

    impl = Boolean
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return lambda value: bool(value) if type(value) is int and value in (0, 1) else value


class Digits(TypeDecorator[int]):
    """Whole numbers of any size: the number of ways through a graph may need more than 64 bits.

    A value that is not a number in the database passes unchanged; ``records`` reports it with its row.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        number = (
            isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < _MOST_DIGITS
        )
        return int(value) if number and (value == "0" or value[0] != "0") else value


metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)

puzzle = Table(
    "puzzle",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("definition", Text, nullable=False),
    Column("created", UtcDateTime, nullable=False),
    Column("record_digest", String(64)),  # null where an older version of the program stored the row
)

job = Table(
    "job",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("puzzle_id", ForeignKey("puzzle.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("parameters", Text, nullable=False),
    Column("layout", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("owner", Text),
    Column("lease_until", UtcDateTime),
    Column("created", UtcDateTime, nullable=False),
    Column("started", UtcDateTime),
    Column("finished", UtcDateTime),
    Column("seconds", Float),
    Column("states", BigInteger),
    Column("eccentricity", Integer),
    Column("depth", Integer),
    Column("complete", Truth, nullable=False),
    Column("has_map", Truth, nullable=False),
    Column("unit", String(8)),
    Column("keys", BigInteger),
    Column("digest", String(64)),
    Column("error", Text),
    Column("submitted", Truth, nullable=False, server_default=false()),
    Column("progress", Text),
    Column("result", Text),  # as JSON: of a search, or the figures of the layers of an enumeration from files
    # JSON: table to digest of the job's rows in it. Both are null where an older version stored the job.
    Column("parts", Text),
    Column("record_digest", String(64)),
    Column("version", String(32)),  # of the program that finished it; null where that is not known
    sqlite_autoincrement=True,  # the id of a deleted job is never given to another
)

layer = Table(
    "layer",
    metadata,
    Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), nullable=False),
    Column("depth", Integer, nullable=False, autoincrement=False),
    Column("states", BigInteger, nullable=False),
    Column("seconds", Float),
    PrimaryKeyConstraint("job_id", "depth"),
    sqlite_with_rowid=False,
)

chunk = Table(
    "chunk",
    metadata,
    Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), nullable=False),
    Column(
        "first_key", BigInteger, nullable=False, autoincrement=False
    ),  # negative: a draft (models/drafts.py)
    Column("last_key", BigInteger, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("codec", String(32), nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("checksum", String(64), nullable=False),
    Column("lead", LargeBinary),  # of a sparse map: the first code; null in a dense one
    Column("record_digest", String(64)),  # null where an older version stored it
    PrimaryKeyConstraint("job_id", "first_key"),
    # The columns for finding a code's chunk come first: SQLite would read through the payload to a column after it.
    Index("ix_chunk_lead", "job_id", "lead", "first_key"),
)

EXTERNAL_PAYLOADS = "ALTER TABLE chunk ALTER COLUMN payload SET STORAGE EXTERNAL"


@event.listens_for(chunk, "after_create")
def _leave_payloads_as_they_are(_table: Table, connection: Connection, **_options: Any) -> None:
    """The payloads are compressed already: PostgreSQL must not try to compress them again."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(EXTERNAL_PAYLOADS)


# Files of maps that are kept outside the database; a map file is what its row says, or it is none.
map_file = Table(
    "map_file",
    metadata,
    Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), nullable=False),
    Column("first_key", BigInteger, nullable=False, autoincrement=False),
    Column("last_key", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("name", Text, nullable=False),  # in the folder of map files
    Column("bytes", BigInteger, nullable=False),
    Column("checksum", String(64), nullable=False),
    PrimaryKeyConstraint("job_id", "first_key"),
    sqlite_with_rowid=False,
)

state = Table(
    "state",
    metadata,
    Column("job_id", Integer, nullable=False, autoincrement=False),
    Column("key", BigInteger, nullable=False, autoincrement=False),
    Column("distance", Integer, nullable=False),
    Column("board", Text, nullable=False),
    PrimaryKeyConstraint("job_id", "key"),
    # No foreign key: PostgreSQL would look the job up for each row, which takes three quarters of the time to store
    # them.
    ForeignKeyConstraint(["job_id"], ["job.id"], ondelete="CASCADE").ddl_if(dialect="sqlite"),
    sqlite_with_rowid=False,
)

iteration = Table(
    "iteration",
    metadata,
    Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), nullable=False),
    Column("bound", Integer, nullable=False, autoincrement=False),
    Column("nodes", BigInteger, nullable=False),
    Column("solutions", Digits, nullable=False),
    Column("pieces", BigInteger, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("next_bound", Integer),
    Column("complete", Truth, nullable=False),
    Column("kept", BigInteger),  # rows of subtree; null where an older version of the program stored it
    PrimaryKeyConstraint("job_id", "bound"),
    sqlite_with_rowid=False,
)

# The pieces of the iteration under way that its totals do not include yet: for each either what is to be searched
# (node) or what was found (result), as JSON. A long search has few at any time, but millions in all.
subtree = Table(
    "subtree",
    metadata,
    Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), nullable=False),
    Column("place", Text, nullable=False),  # in the order of the search: 3.0.12 is of what 3.0 has left over
    Column("root", Integer, nullable=False),
    Column("node", Text),
    Column("result", Text),
    PrimaryKeyConstraint("job_id", "place"),
    sqlite_with_rowid=False,
)

solution = Table(
    "solution",
    metadata,
    Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False, autoincrement=False),
    Column("moves", Text, nullable=False),
    PrimaryKeyConstraint("job_id", "number"),
    sqlite_with_rowid=False,
)

# The last proof of a job by `farthest verify` (models/records.py). It is no part of the job's result: no digest
# of the job covers it, and it counts only while ``job_record`` is what the job's row is.
verification = Table(
    "verification",
    metadata,
    Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("job_record", String(64), nullable=False),
    Column("made", UtcDateTime, nullable=False),
    Column("version", String(32), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("checks", Text, nullable=False),  # JSON: what was proved
    Column("record_digest", String(64), nullable=False),
)

# The same as Alembic's, so that a new database gets its version without importing Alembic.
version = Table(
    VERSION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)


def lock_schema(connection: Connection) -> None:
    """Keeps other processes from changing tables until the end of the transaction. On SQLite every writing transaction
    does.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")
