"""Reading distance maps from the database: their chunks, decoded by two threads, and readable rows of states."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sqlalchemy import Compiled, Connection, Dialect, LargeBinary, Select, bindparam, func, select

from farthest.errors import JobError, StorageError
from farthest.models.chunks import MOST_PAYLOAD, Chunk, open_chunk
from farthest.models.database import Database
from farthest.models.records import ChunkRecord, LeadRecord, StateRecord, fields_of
from farthest.models.sealing import (
    CHUNK_COLUMNS,
    chain,
    check_states,
    compare,
    damaged,
    read_record,
    read_rows,
    record_digest,
)
from farthest.models.tables import chunk, job, state
from farthest.wording import shown

if TYPE_CHECKING:
    import psycopg

Item = TypeVar("Item")
Result = TypeVar("Result")

_STATES = 1000
"""Readable rows that are fetched at once."""


class MapReader:
    """The distance maps of a database; ``Maps`` adds the changes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def depth(self, job_id: int) -> int | None:
        """The depth that a job's stored map includes; None if it has none.

        Raises StorageError where its chunks have different stamps: they were not written together.
        """
        columns = select(func.min(chunk.c.depth), func.max(chunk.c.depth)).where(
            chunk.c.job_id == job_id, chunk.c.first_key >= 0
        )
        with self._database.read() as connection:
            lowest, highest = connection.execute(columns).one()
        if lowest != highest:
            raise self._mixed(job_id, lowest, highest)
        return None if lowest is None else int(lowest)

    def chunks(self, job_id: int, *, any_unit: bool = False) -> Generator[Chunk, None, None]:
        """Streams the chunks of a map in key order, decoded by two threads. All are of one checkpoint, whatever is
        stored meanwhile. Raises JobError if the job has no map, StorageError where a chunk is damaged or missing, the
        stamps differ, or its unit is not the job's; a proof takes chunks of ``any_unit``, and tells which it is.
        """
        with self._database.read() as connection:
            keys, unit = self._keys_and_unit(connection, job_id)
            selected = _COLUMNS.where(chunk.c.job_id == job_id, chunk.c.first_key >= 0)
            rows = _payload_rows(connection, selected.order_by(chunk.c.first_key))
            digests: list[tuple[str | None]] = []

            def records() -> Iterator[ChunkRecord]:
                for row in rows:
                    one = _record(job_id, row)
                    digests.append((one.record_digest,))
                    yield one

            try:
                yield from in_order(
                    open_chunk, self._joined(job_id, records(), keys, "" if any_unit else unit)
                )
            finally:
                rows.close()  # before the end of the transaction, also if the stream is closed early
            compare(connection, job_id, "chunk", chain("chunk", digests))

    def chunk_at(self, job_id: int, key: int, *, apart: bool = False) -> Chunk:
        """The decoded chunk that holds a key; raises as ``chunks`` does. ``apart``: see ``Database.read``."""
        with self._database.read(apart=apart) as connection:
            found = _payload_row(connection, _NEAREST, {"job": job_id, "key": key})
            row = None if found is None else _record(job_id, found)
            if row is None or not row.first_key <= key <= row.last_key:
                keys, _ = self._keys_and_unit(connection, job_id)
                if not 0 <= key < keys:
                    raise ValueError(f"key {key} is outside the map of job {job_id}, which has {keys} keys")
                raise self._missing(job_id, 0 if row is None else row.last_key + 1)
        return open_chunk(row)

    def leads(self, job_id: int) -> list[tuple[int, bytes]]:
        """The first number of each chunk of a sparse map, and the written form of its code, in order. Raises
        StorageError where they are not what was stored."""
        with self._database.read() as connection:
            return [(one.first_key, bytes(one.lead)) for one in read_rows(connection, job_id, LeadRecord)]

    def check_states(self, job_id: int) -> None:
        """Raises StorageError unless the readable rows are those that were stored."""
        with self._database.read() as connection:
            check_states(connection, job_id)

    def states(
        self, job_id: int, distance: int | None = None, *, checked: bool = True
    ) -> Iterator[StateRecord]:
        """Streams a job's readable rows, all or those at one distance, in key order. Raises StorageError at once where
        they are not what was stored, unless ``checked`` is False: then the reader compares them with the map."""
        rows = select(state.c.key, state.c.distance, state.c.board).where(state.c.job_id == job_id)
        if distance is not None:
            rows = rows.where(state.c.distance == distance)
        with self._database.read() as connection:
            if checked:
                check_states(connection, job_id)
            ordered = rows.order_by(state.c.key)
            with connection.execute(ordered, execution_options={"yield_per": _STATES}) as result:
                for row in result:
                    yield StateRecord(*row)

    def _keys_and_unit(self, connection: Connection, job_id: int) -> tuple[int, str]:
        wanted = select(job.c["keys"], job.c.unit, job.c.name).where(job.c.id == job_id)
        row = connection.execute(wanted).one_or_none()
        if row is None:
            raise self._no_job(job_id)
        if row[0] is None:
            raise JobError(
                f"job {job_id} ({row.name}) has no stored map: run `farthest enumerate {row.name}` again"
            )
        return int(row[0]), str(row.unit)

    def _no_job(self, job_id: int) -> JobError:
        return JobError(f"{self._database.place}: there is no job {job_id}; see `farthest jobs`")

    def _joined(
        self, job_id: int, rows: Iterable[ChunkRecord], keys: int, unit: str
    ) -> Iterator[ChunkRecord]:
        """Passes rows on; raises StorageError unless they have all ``keys`` without gaps, with one stamp and in one
        unit, which may be empty: any."""
        expected, depth = 0, None
        for row in rows:
            if row.first_key > expected:
                raise self._missing(job_id, expected)
            if depth not in (None, row.depth):
                raise self._mixed(job_id, depth, row.depth)
            if not row.codec.endswith(unit):
                raise self._wrong(job_id, f"the codec of a chunk is {shown(row.codec)}, expected {unit}")
            expected, depth = row.last_key + 1, row.depth
            yield row
        if expected < keys:
            raise self._missing(job_id, expected)
        if expected > keys:
            raise self._wrong(job_id, f"its chunks have {expected} keys, expected {keys}")

    def _missing(self, job_id: int, key: int) -> StorageError:
        return self._wrong(job_id, f"the chunk that should begin at key {key} is missing")

    def _mixed(self, job_id: int, one: int | None, other: int | None) -> StorageError:
        what = f"its chunks are of different depths ({one} and {other}), expected one checkpoint"
        return self._wrong(job_id, what)

    def _wrong(self, job_id: int, what: str) -> StorageError:
        return StorageError(
            f"{self._database.place}: job {job_id}: {what}; restore the database from a copy, or remove the job with "
            f"`farthest delete {job_id}` and enumerate again"
        )


# One byte more than a payload can have: a larger one is cut here, and does not match its checksum.
_PAYLOAD = func.substr(chunk.c.payload, 1, MOST_PAYLOAD + 1, type_=LargeBinary)
_COLUMNS = select(
    *(_PAYLOAD if one.name == "payload" else chunk.c[one.name] for one in fields_of(ChunkRecord))
)
_NEAREST = (
    _COLUMNS.where(chunk.c.job_id == bindparam("job"), chunk.c.first_key.between(0, bindparam("key")))
    .order_by(chunk.c.first_key.desc())
    .limit(1)
)
"""The statement for the chunk that holds a key, made once: looking up one distance is the most frequent query."""


def _record(job_id: int, row: Sequence[Any]) -> ChunkRecord:
    """A row of ``_COLUMNS``. Raises StorageError where it is another job's, because of a damaged index, or where its
    digest differs."""
    where = f"of keys {row[1]!r} to {row[2]!r} of job {job_id}"
    one = read_record(ChunkRecord, "chunk", row, where, job_id)
    if one.job_id != job_id:
        raise damaged("chunk", where, f"column job_id: {one.job_id}", job_id)
    if one.record_digest is not None:
        digest = record_digest("chunk", {name: getattr(one, name) for name in CHUNK_COLUMNS})
        if digest != one.record_digest:
            raise damaged("chunk", where, "it is not what was stored: its digest differs", job_id)
    return one


# Rows with payloads, read without SQLAlchemy's own methods: several times faster

_AHEAD = 2
"""Rows with payloads that are fetched at once."""

_cursors = count()


def _payload_rows(connection: Connection, rows: Select[Any]) -> Generator[tuple[Any, ...], None, None]:
    """Streams rows with payloads, a few at a time.

    On PostgreSQL in binary (460 MB/s): with SQLAlchemy the payloads would be sent in hexadecimal (200 MB/s).
    """
    if connection.dialect.name == "postgresql":
        text = str(rows.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True}))
        with driver_of(connection).cursor(f"farthest_{next(_cursors)}", binary=True) as cursor:
            cursor.itersize = _AHEAD
            yield from cursor.execute(text.encode())
        return
    with connection.execute(rows, execution_options={"yield_per": _AHEAD}) as result:
        yield from map(tuple, result)


def _payload_row(
    connection: Connection, row: Select[Any], parameters: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    """The first of the rows with payloads that a statement with parameters selects; None if there is none."""
    if connection.dialect.name == "postgresql":
        compiled = _compiled(row, connection.dialect)
        with driver_of(connection).cursor(binary=True) as cursor:
            return cursor.execute(str(compiled).encode(), {**compiled.params, **parameters}).fetchone()
    found = connection.execute(row, parameters).first()
    return None if found is None else tuple(found)


@lru_cache(maxsize=4)
def _compiled(statement: Select[Any], dialect: Dialect) -> Compiled:
    return statement.compile(dialect=dialect)


def driver_of(connection: Connection) -> psycopg.Connection[Any]:
    """The driver's own connection to PostgreSQL."""
    return cast("psycopg.Connection[Any]", connection.connection.driver_connection)


# Work for two threads: zstd and SHA-256 release the interpreter's lock, so they compress while the caller reads or
# writes the database

THREADS = 2
AHEAD = 4
"""Most items taken from the stream before their results are used: it bounds the memory."""


def in_order(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yields ``function(item)`` for each item, in order, computed by two threads; raises the first exception of the
    function or the stream."""
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(THREADS, thread_name_prefix="farthest-chunk") as executor:
        try:
            for item in items:
                pending.append(executor.submit(function, item))
                if len(pending) > AHEAD:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
