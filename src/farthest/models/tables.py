"""The tables, as SQLAlchemy Core objects (``sqlalchemy.orm`` alone would add 80 ms to every command).

Their columns are the fields of the classes in ``models.records``. Times are UTC. JSON is stored as text, so that it is
the same for every dialect and every tool. A change there or here needs a new revision in ``migrations/versions`` and
its number in ``SCHEMA_VERSION``; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
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

from farthest.models.records import (
    BIG,
    DIGITS,
    ChunkRecord,
    ComponentRecord,
    Field,
    IterationRecord,
    JobRecord,
    LayerRecord,
    MapFileRecord,
    PuzzleRecord,
    SolutionRecord,
    StateRecord,
    SubtreeRecord,
    SurveyPartRecord,
    SurveyRecord,
    fields_of,
)

SCHEMA_VERSION = "0011"
VERSION_TABLE = "farthest_version"
_SCHEMA_LOCK = 4027514
_MOST_DIGITS = 4000


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes in Python; in the database the same instant in UTC, without a zone.

    A value that is not a time passes unchanged in both directions, so that it can be compared; ``sealing`` reports it
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
    """Truth values; SQLite holds 0 and 1. Another value passes unchanged; ``sealing`` reports it with its row."""

    impl = Boolean
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return lambda value: bool(value) if type(value) is int and value in (0, 1) else value


class Digits(TypeDecorator[int]):
    """Whole numbers of any size. A value that is not a number in the database passes unchanged; ``sealing`` reports it
    with its row."""

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

_TYPES: dict[tuple[type, object], Any] = {
    (int, None): Integer,
    (int, BIG): BigInteger,
    (int, DIGITS): Digits,
    (float, None): Float,
    (bool, None): Truth,
    (datetime, None): UtcDateTime,
    (bytes, None): LargeBinary,
    (str, None): Text,
    (dict, None): Text,
}


def _columns(record: type, *own: Column[Any], besides: Collection[str] = ()) -> list[Column[Any]]:
    """A column for each field of a record, but for those ``besides``; ``own``: those that have more to them."""
    given = {column.name: column for column in own}
    return [given.get(one.name, _column(one)) for one in fields_of(record) if one.name not in besides]


def _column(one: Field) -> Column[Any]:
    kind = String(one.mark) if isinstance(one.mark, int) else _TYPES[one.kind, one.mark]
    return Column(one.name, kind, nullable=one.nullable, autoincrement=False)


def _job_id() -> Column[Any]:
    return Column("job_id", ForeignKey("job.id", ondelete="CASCADE"), nullable=False)


def _of_jobs(name: str, record: type, key: str) -> Table:
    """A table of a job's rows, which differ in their ``key``."""
    columns = _columns(record)
    return Table(
        name, metadata, _job_id(), *columns, PrimaryKeyConstraint("job_id", key), sqlite_with_rowid=False
    )


puzzle = Table(
    "puzzle",
    metadata,
    Column("id", Integer, primary_key=True),
    *_columns(PuzzleRecord, Column("digest", String(64), nullable=False, index=True)),
)

job = Table(
    "job",
    metadata,
    *_columns(
        JobRecord,
        Column("id", Integer, primary_key=True),
        Column("puzzle_id", ForeignKey("puzzle.id", ondelete="CASCADE"), nullable=False, index=True),
        Column("submitted", Truth, nullable=False, server_default=false()),
        besides=JobRecord.BESIDES,
    ),
    sqlite_autoincrement=True,  # the id of a deleted job is never given to another
)

layer = _of_jobs("layer", LayerRecord, "depth")
map_file = _of_jobs("map_file", MapFileRecord, "first_key")
iteration = _of_jobs("iteration", IterationRecord, "bound")
subtree = _of_jobs("subtree", SubtreeRecord, "place")
solution = _of_jobs("solution", SolutionRecord, "number")

chunk = Table(
    "chunk",
    metadata,
    *_columns(ChunkRecord, _job_id()),
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


state = Table(
    "state",
    metadata,
    Column("job_id", Integer, nullable=False, autoincrement=False),
    *_columns(StateRecord),
    PrimaryKeyConstraint("job_id", "key"),
    # No foreign key: PostgreSQL would look the job up for each row, which takes three quarters of the time to store
    # them.
    ForeignKeyConstraint(["job_id"], ["job.id"], ondelete="CASCADE").ddl_if(dialect="sqlite"),
    sqlite_with_rowid=False,
)

# The last proof of a job by `farthest verify`. It is no part of the job's result: no digest of the job covers it, and
# it counts only while ``job_record`` is what the job's row is.
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

# Surveys: many small spaces as one task. Its parts are stored as they are done; their digests cover their components.
survey = Table(
    "survey",
    metadata,
    Column("id", Integer, primary_key=True),
    *_columns(SurveyRecord),
    sqlite_autoincrement=True,
)


def _survey_id() -> Column[Any]:
    return Column("survey_id", ForeignKey("survey.id", ondelete="CASCADE"), nullable=False)


survey_part = Table(
    "survey_part",
    metadata,
    _survey_id(),
    *_columns(SurveyPartRecord),
    PrimaryKeyConstraint("survey_id", "part"),
    sqlite_with_rowid=False,
)

component = Table(
    "component",
    metadata,
    _survey_id(),
    *_columns(ComponentRecord),
    PrimaryKeyConstraint("survey_id", "part", "number"),
    Index("ix_component_moves", "survey_id", "moves", "states"),
    Index("ix_component_states", "survey_id", "states"),
    sqlite_with_rowid=False,
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
