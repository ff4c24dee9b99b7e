"""Distance maps in the database: checkpoints, chunks, and readable rows of states."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, LargeBinary, Select, bindparam, delete, func, insert, select

from farthest.errors import JobError, StorageError
from farthest.models.bulk import insert_states, payload_row, payload_rows
from farthest.models.chunks import (
    CHUNK_KEYS,
    MOST_PAYLOAD,
    WIDTHS,
    Chunk,
    ChunkRecord,
    Unit,
    checked,
    encode,
    open_chunk,
    unpack_into,
)
from farthest.models.database import Database
from farthest.models.drafts import MadeChunk, StoredDraft, adopt_drafts, chunk_row
from farthest.models.records import LayerRecord
from farthest.models.rows import change_job, put_layers
from farthest.models.sealing import (
    CHUNK_COLUMNS,
    ROWS,
    chain,
    check_states,
    check_values,
    compare,
    damaged,
    record_digest,
    rows_digest,
    seal,
    states_digest,
)
from farthest.models.tables import chunk, job, layer, state

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# --- Applies a function to the items of a stream in two threads, with the results in the order of the stream.
#
# zstd and SHA-256 release the interpreter's lock, so two threads compress while the caller reads or writes the
# database.

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 2
AHEAD = 4
"""Most items taken from the stream before their results are used: it bounds the memory."""


def in_order(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yields ``function(item)`` for each item, in order; raises the first exception of the function or the stream."""
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


__all__ = ["CHUNK_KEYS", "Chunk", "ChunkRecord", "Maps", "StateRecord"]


_STATES = 1000
"""Readable rows that are fetched at once."""


@dataclass(frozen=True, slots=True)
class StateRecord:
    """One readable row: a key, its distance, and its board as people write it."""

    key: int
    distance: int
    board: str


class Maps:
    """The distance maps of a database; what changes one takes part in ``Database.write`` blocks around it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def checkpoint(
        self,
        job_id: int,
        depth: int,
        chunks: Iterable[Chunk],
        layers: Sequence[LayerRecord],
        seconds: float | None,
        *,
        owner: str | None = None,
    ) -> None:
        """Stores a job's map, known up to ``depth``, in place of its older map, layers and states.

        ``chunks`` gives all keys from 0 in order, without gaps, all of one kind; a buffer must not change until the
        next few chunks were taken (two threads compress them). Meanwhile ``chunks`` may read the older map with
        ``chunk_at``: of a dense map with the same chunks those from the next one on, of any map all with ``apart``.
        Everything is one transaction: until its end others see the older map, and it stays if this process dies.
        JobError if the job is gone or is not ``owner``'s any more, StorageError if the database cannot take it,
        ValueError for chunks that do not fit together.
        """
        with self._database.write() as connection:
            self._begin(connection, job_id, depth, layers, seconds, owner)
            keys, unit_of_all = 0, None
            digests: list[tuple[str]] = []
            leads: list[tuple[int, bytes]] = []
            for one in in_order(encode, checked(chunks)):
                connection.execute(_CHUNK_DELETION, {"job": job_id, "first": one.first, "last": one.last})
                row = chunk_row(job_id, depth, one)
                connection.execute(insert(chunk), {**row, "payload": one.payload})
                digests.append((row["record_digest"],))
                if one.lead is not None:
                    leads.append((one.first, one.lead))
                keys, unit_of_all = one.last + 1, one.unit
            if not keys:
                raise ValueError("a checkpoint needs at least one chunk")
            others = (chunk.c.first_key >= keys) | (chunk.c.first_key < 0)
            connection.execute(delete(chunk).where(chunk.c.job_id == job_id, others))
            change_job(connection, job_id, owner, {"keys": keys, "unit": unit_of_all})
            parts = {
                "layer": rows_digest(connection, job_id, "layer"),
                "chunk": chain("chunk", digests),
                "lead": chain("lead", leads) if leads else None,
                "state": None,
            }
            seal(connection, job_id, parts)

    def checkpoint_made(
        self,
        job_id: int,
        depth: int,
        made: Iterable[MadeChunk | StoredDraft],
        layers: Sequence[LayerRecord],
        seconds: float | None,
        *,
        owner: str | None = None,
    ) -> None:
        """As ``checkpoint``, with the chunks of a dense map that workers have made, in key order. Raises LostStateError
        where their drafts are not in the database."""
        with self._database.write() as connection:
            self._begin(connection, job_id, depth, layers, seconds, owner)
            keys, unit_of_all = 0, None

            def passed() -> Iterator[MadeChunk | StoredDraft]:
                nonlocal keys, unit_of_all
                for one in made:
                    if one.first != keys or unit_of_all not in (None, one.unit):
                        raise ValueError(
                            f"chunk of keys {one.first} to {one.last}: expected it from key {keys}"
                        )
                    keys, unit_of_all = one.last + 1, one.unit
                    yield one

            adopt_drafts(connection, job_id, depth, passed())
            change_job(connection, job_id, owner, {"keys": keys, "unit": unit_of_all})
            parts = {name: rows_digest(connection, job_id, name) for name in ("layer", "chunk")}
            seal(connection, job_id, {**parts, "lead": None, "state": None})

    def _begin(
        self,
        connection: Connection,
        job_id: int,
        depth: int,
        layers: Sequence[LayerRecord],
        seconds: float | None,
        owner: str | None,
    ) -> None:
        """Puts layers in place of the older ones, and removes the readable rows."""
        change_job(connection, job_id, owner, {"depth": depth, "seconds": seconds})
        for table in (state, layer):
            connection.execute(delete(table).where(table.c.job_id == job_id))
        put_layers(connection, job_id, layers)

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

    def chunks(self, job_id: int, first: int = 0, last: int | None = None) -> Generator[Chunk, None, None]:
        """Streams the decoded chunks that hold keys ``first`` to ``last`` inclusive, in key order.

        Without ``last`` to the end of the map. All are of one checkpoint, whatever is stored meanwhile. Raises JobError
        if the job has no map, StorageError where a chunk is damaged or missing or the stamps differ.
        """
        yield from self._each(job_id, first, last, open_chunk)

    def read_into(self, job_id: int, unit: Unit, out: NDArray[np.uint8]) -> None:
        """Writes all distances of a dense map to ``out``, as bytes (little endian). Raises as ``chunks`` does."""
        width = WIDTHS[unit]

        def unpack(row: ChunkRecord) -> int:
            unpack_into(row, unit, out[row.first_key * width : (row.last_key + 1) * width])
            return row.last_key + 1 - row.first_key

        keys = sum(self._each(job_id, 0, None, unpack))
        if keys * width != len(out):
            raise self._missing(job_id, keys)

    def bytes_of(self, job_id: int) -> Generator[tuple[int, NDArray[np.uint8]], None, None]:
        """Streams the distances of a dense map of bytes, from its first key on: the first key of each chunk, and its
        distances. Raises as ``chunks`` does."""
        import numpy

        def unpacked(row: ChunkRecord) -> tuple[int, NDArray[np.uint8]]:
            whole = numpy.empty(row.last_key + 1 - row.first_key, dtype=numpy.uint8)
            unpack_into(row, "uint8", whole)
            return row.first_key, whole

        yield from self._each(job_id, 0, None, unpacked)

    def _each(
        self, job_id: int, first: int, last: int | None, function: Callable[[ChunkRecord], Result]
    ) -> Generator[Result, None, None]:
        """The results of ``function`` for each chunk, in key order, computed by two threads."""
        with self._database.read() as connection:
            end = self._keys(connection, job_id) - 1
            whole = first == 0 and last is None
            wanted = (
                chunk.c.last_key >= first,
                chunk.c.first_key <= (end if last is None else min(last, end)),
            )
            selected = _chunk_rows(job_id)
            rows = payload_rows(connection, selected if whole else selected.where(*wanted))
            digests: list[tuple[str | None]] = []

            def records() -> Iterator[ChunkRecord]:
                for row in rows:
                    one = _record(job_id, row)
                    digests.append((one.record_digest,))
                    yield one

            try:
                yield from in_order(
                    function, self._joined(job_id, records(), first, end if last is None else min(last, end))
                )
            finally:
                rows.close()  # before the end of the transaction, also if the stream is closed early
            if whole:
                compare(connection, job_id, "chunk", chain("chunk", digests))

    def chunk_at(self, job_id: int, key: int, *, apart: bool = False) -> Chunk:
        """The decoded chunk that holds a key; raises as ``chunks`` does. ``apart``: see ``Database.read``."""
        with self._database.read(apart=apart) as connection:
            found = payload_row(connection, _NEAREST, {"job": job_id, "key": key})
            row = None if found is None else _record(job_id, found)
            if row is None or not row.first_key <= key <= row.last_key:
                keys = self._keys(connection, job_id)
                if not 0 <= key < keys:
                    raise ValueError(f"key {key} is outside the map of job {job_id}, which has {keys} keys")
                raise self._missing(job_id, 0 if row is None else row.last_key + 1)
        return open_chunk(row)

    def leads(self, job_id: int) -> list[tuple[int, bytes]]:
        """The first number of each chunk of a sparse map, and the written form of its code, in order. Raises
        StorageError where they are not what was stored."""
        with self._database.read() as connection:
            found = connection.execute(ROWS["lead"].where(chunk.c.job_id == job_id)).all()
            for row in found:
                check_values(chunk, ("first_key", "lead"), row, f"of job {job_id}", job_id)
            leads = [(row[0], bytes(row[1])) for row in found]
            compare(connection, job_id, "lead", chain("lead", leads) if leads else None)
            return leads

    def add_states(self, job_id: int, rows: Iterable[tuple[int, int, str]]) -> None:
        """Stores readable rows (key, distance, board) from an iterator; fastest in key order.

        JobError if there is no such job.
        """
        with self._database.write() as connection:
            # On PostgreSQL this keeps the job from being deleted until the rows are stored: there is no foreign key.
            wanted = select(job.c.id).where(job.c.id == job_id).with_for_update(read=True, key_share=True)
            if connection.execute(wanted).one_or_none() is None:
                raise self._no_job(job_id)
            first = not connection.execute(select(state.c.key).where(state.c.job_id == job_id).limit(1)).all()
            digest = insert_states(connection, job_id, rows)
            known = digest.hexdigest() if first and digest.ascending else states_digest(connection, job_id)
            seal(connection, job_id, {"state": known})

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

    def _keys(self, connection: Connection, job_id: int) -> int:
        row = connection.execute(select(job.c["keys"], job.c.name).where(job.c.id == job_id)).one_or_none()
        if row is None:
            raise self._no_job(job_id)
        if row[0] is None:
            raise JobError(
                f"job {job_id} ({row.name}) has no stored map: run `farthest enumerate {row.name}` again"
            )
        return int(row[0])

    def _no_job(self, job_id: int) -> JobError:
        return JobError(f"{self._database.place}: there is no job {job_id}; see `farthest jobs`")

    def _joined(
        self, job_id: int, rows: Iterable[ChunkRecord], first: int, last: int
    ) -> Iterator[ChunkRecord]:
        """Passes rows on; raises StorageError unless they go from ``first`` to ``last`` without gaps, with one
        stamp."""
        expected, depth = first, None
        for row in rows:
            if row.first_key > expected:
                raise self._missing(job_id, expected)
            if depth not in (None, row.depth):
                raise self._mixed(job_id, depth, row.depth)
            expected, depth = row.last_key + 1, row.depth
            yield row
        if expected <= last:
            raise self._missing(job_id, expected)

    def _missing(self, job_id: int, key: int) -> StorageError:
        return StorageError(
            f"{self._database.place}: job {job_id}: the chunk that should begin at key {key} is missing; restore "
            f"the database from a copy, or remove the job with `farthest delete {job_id}` and enumerate again"
        )

    def _mixed(self, job_id: int, one: int | None, other: int | None) -> StorageError:
        return StorageError(
            f"{self._database.place}: job {job_id}: its chunks are of different depths ({one} and {other}), "
            f"expected one checkpoint; restore the database from a copy, or remove the job with `farthest delete "
            f"{job_id}` and enumerate again"
        )


_CHUNK_DELETION = delete(chunk).where(
    chunk.c.job_id == bindparam("job"), chunk.c.first_key.between(bindparam("first"), bindparam("last"))
)
# One byte more than a payload can have: a larger one is cut here, and does not match its checksum.
_PAYLOAD = func.substr(chunk.c.payload, 1, MOST_PAYLOAD + 1, type_=LargeBinary)
_COLUMNS = select(*(_PAYLOAD if name == "payload" else chunk.c[name] for name in ChunkRecord.__match_args__))
_NEAREST = (
    _COLUMNS.where(chunk.c.job_id == bindparam("job"), chunk.c.first_key.between(0, bindparam("key")))
    .order_by(chunk.c.first_key.desc())
    .limit(1)
)
"""The statement for the chunk that holds a key, made once: looking up one distance is the most frequent query."""


def _record(job_id: int, row: Sequence[Any]) -> ChunkRecord:
    """A row of ``_COLUMNS``. Raises StorageError where it is another job's, because of a damaged index, or where its
    digest differs."""
    names = ChunkRecord.__match_args__
    where = f"of keys {row[1]!r} to {row[2]!r} of job {job_id}"
    check_values(chunk, names, row, where, job_id)
    one = ChunkRecord(*row)
    if one.job_id != job_id:
        raise damaged("chunk", where, f"column job_id: {one.job_id}", job_id)
    if one.record_digest is not None:
        digest = record_digest("chunk", {name: getattr(one, name) for name in CHUNK_COLUMNS})
        if digest != one.record_digest:
            raise damaged("chunk", where, "it is not what was stored: its digest differs", job_id)
    return one


def _chunk_rows(job_id: int) -> Select[Any]:
    """A job's chunks in key order, in the order of ChunkRecord's fields."""
    return _COLUMNS.where(chunk.c.job_id == job_id, chunk.c.first_key >= 0).order_by(chunk.c.first_key)
