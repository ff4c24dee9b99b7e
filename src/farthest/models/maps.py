"""What changes distance maps: checkpoints, the drafts that workers store for one, readable rows of states; and what the
database knows of the files that hold residue maps.

A draft is a row of ``chunk`` with a negative ``first_key``, which tells the chunk and a nonce of the work that made it;
all else is as in the chunk that it is to become, its digest too. No reader looks at negative keys. Only the transaction
that stores a checkpoint gives drafts their keys, and only those that it names: what a worker stored for work that
another one was given, or for a coordinator that lost its job, never becomes a part of a map. It is removed with the
next checkpoint, or with the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import chain as joined
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from farthest.errors import (
    DamagedMapError,
    LateStepError,
    LostStateError,
    SettingError,
    UnavailableError,
)
from farthest.models.chunks import (
    LEAST_STATES,
    Chunk,
    MadeChunk,
    Payload,
    StoredDraft,
    Unit,
    checked,
    encode,
)
from farthest.models.database import Database
from farthest.models.map_reader import MapReader, driver_of, in_order
from farthest.models.records import (
    RUNNING,
    LayerRecord,
    MapFileRecord,
    job_token,
)
from farthest.models.sealing import (
    StatesDigest,
    chain,
    change_job,
    damaged,
    put_rows,
    read_rows,
    record_digest,
    rows_digest,
    seal,
)
from farthest.models.tables import chunk, job, layer, map_file, puzzle, state

if TYPE_CHECKING:
    import sqlite3

    from farthest.map_files.place import MapPlace

Row = tuple[int, int, str]
"""A readable row: key, distance, board."""


class Maps(MapReader):
    """The distance maps of a database; what changes one takes part in ``Database.write`` blocks around it."""

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
            keys, unit = 0, None
            digests: list[tuple[str]] = []
            leads: list[tuple[int, bytes]] = []
            for one in in_order(encode, checked(chunks)):
                connection.execute(_CHUNK_DELETION, {"job": job_id, "first": one.first, "last": one.last})
                row = _chunk_row(job_id, depth, one)
                connection.execute(insert(chunk), {**row, "payload": one.payload})
                digests.append((row["record_digest"],))
                if one.lead is not None:
                    leads.append((one.first, one.lead))
                keys, unit = one.last + 1, one.unit
            if not keys:
                raise ValueError("a checkpoint needs at least one chunk")
            others = (chunk.c.first_key >= keys) | (chunk.c.first_key < 0)
            connection.execute(delete(chunk).where(chunk.c.job_id == job_id, others))
            change_job(connection, job_id, owner, {"keys": keys, "unit": unit})
            lead = chain("lead", leads) if leads else None
            parts = {"chunk": chain("chunk", digests), "lead": lead, "state": None}
            seal(connection, job_id, parts, stored=["layer"])

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
        """As ``checkpoint``, with the chunks that workers have made, in key order. Raises LostStateError where their
        drafts are not in the database."""
        with self._database.write() as connection:
            self._begin(connection, job_id, depth, layers, seconds, owner)
            keys, unit = _adopt_drafts(connection, job_id, depth, made)
            change_job(connection, job_id, owner, {"keys": keys, "unit": unit})
            seal(connection, job_id, {"state": None}, stored=["layer", "chunk", "lead"])

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
        put_rows(connection, job_id, layers)

    def add_states(self, job_id: int, rows: Iterable[Row]) -> None:
        """Stores readable rows from an iterator; fastest in key order.

        JobError if there is no such job.
        """
        with self._database.write() as connection:
            # On PostgreSQL this keeps the job from being deleted until the rows are stored: there is no foreign key.
            wanted = select(job.c.id).where(job.c.id == job_id).with_for_update(read=True, key_share=True)
            if connection.execute(wanted).one_or_none() is None:
                raise self._no_job(job_id)
            first = not connection.execute(select(state.c.key).where(state.c.job_id == job_id).limit(1)).all()
            insert_all = _insert_in_sqlite if connection.dialect.name == "sqlite" else _copy_to_postgres
            digest = insert_all(connection, job_id, rows)
            whole = first and digest.ascending
            found = digest.hexdigest() if whole else rows_digest(connection, job_id, "state")
            seal(connection, job_id, {"state": found})


_CHUNK_DELETION = delete(chunk).where(
    chunk.c.job_id == bindparam("job"), chunk.c.first_key.between(bindparam("first"), bindparam("last"))
)


def _chunk_row(job_id: int, depth: int, one: Payload | StoredDraft) -> dict[str, Any]:
    """The columns of a chunk, without its payload."""
    head = {
        "job_id": job_id,
        "first_key": one.first,
        "last_key": one.last,
        "depth": depth,
        "codec": one.codec,
        "checksum": one.checksum,
        "lead": one.lead,
    }
    return {**head, "record_digest": record_digest("chunk", head)}


# Drafts

_NUMBERS = 2**30
"""Numbers that a draft's key tells chunks by; those of a part are as many LEAST_STATES away from each other."""


def _draft_key(nonce: str, first: int) -> int:
    """The ``first_key`` of the draft of the chunk from key ``first`` on; ``nonce``: eight hexadecimal digits."""
    return -1 - (int(nonce, 16) * _NUMBERS + first // LEAST_STATES % _NUMBERS)


def write_drafts(
    database: Database, job_id: int, owner: str, depth: int, nonce: str, chunks: Sequence[MadeChunk]
) -> None:
    """Stores drafts of a job on PostgreSQL in one transaction. Raises LateStepError where the job is not run by
    ``owner`` any more."""
    with database.write() as connection:
        with driver_of(connection).cursor() as cursor, cursor.copy(_COPY) as copy:
            copy.set_types(list(_COLUMNS.values()))
            for one in chunks:
                row = _chunk_row(job_id, depth, one)
                values = {**row, "first_key": _draft_key(nonce, one.first), "payload": one.payload}
                copy.write_row([values[name] for name in _COLUMNS])
        # Without a lock, which a worker that is stopped here would keep: rows that come too late are only of no use.
        mine = select(job.c.id).where(job.c.id == job_id, job.c.owner == owner, job.c.status == RUNNING)
        if connection.execute(mine).one_or_none() is None:
            raise LateStepError(f"job {job_id} is not run by {owner} any more")


def _adopt_drafts(
    connection: Connection, job_id: int, depth: int, made: Iterable[MadeChunk | StoredDraft]
) -> tuple[int, Unit | None]:
    """Makes chunks, in key order, a job's whole map in place of its older one, and removes all other drafts; gives the
    map's length and unit. Raises LostStateError where the drafts are not those that were stored."""
    connection.execute(delete(chunk).where(chunk.c.job_id == job_id, chunk.c.first_key >= 0))
    drafts, chunks, keys, unit = [], 0, 0, None
    for one in made:
        if one.first != keys or unit not in (None, one.unit):
            raise ValueError(f"chunk of keys {one.first} to {one.last}: expected it from key {keys}")
        chunks, keys, unit = chunks + 1, one.last + 1, one.unit
        row = _chunk_row(job_id, depth, one)
        if isinstance(one, MadeChunk):
            connection.execute(insert(chunk), {**row, "payload": one.payload})
        else:
            draft = _draft_key(one.nonce, one.first)
            drafts.append(
                {"of_job": job_id, "draft": draft, "key": one.first, "digest": row["record_digest"]}
            )
    if drafts:
        # PostgreSQL leaves payloads where they are when other columns change.
        connection.execute(_ADOPTION, drafts)
    connection.execute(delete(chunk).where(chunk.c.job_id == job_id, chunk.c.first_key < 0))
    stored = connection.execute(
        select(func.count()).select_from(chunk).where(chunk.c.job_id == job_id)
    ).scalar_one()
    if stored != chunks:
        raise LostStateError(
            f"job {job_id}: {stored} of the {chunks} chunks that were made of its map are in the database"
        )
    return keys, unit


_COLUMNS = {
    "job_id": "int4",
    "first_key": "int8",
    "last_key": "int8",
    "depth": "int4",
    "codec": "varchar",
    "payload": "bytea",
    "checksum": "varchar",
    "lead": "bytea",
    "record_digest": "varchar",
}
_COPY = f"COPY chunk ({', '.join(_COLUMNS)}) FROM STDIN (FORMAT BINARY)".encode()
_ADOPTION = (
    update(chunk)
    .where(
        chunk.c.job_id == bindparam("of_job"),
        chunk.c.first_key == bindparam("draft"),
        chunk.c.record_digest == bindparam("digest"),
    )
    .values(first_key=bindparam("key"))
)

# Readable rows, written without SQLAlchemy's own methods: several times faster. Each function returns their digest.

_ROWS = 500
"""Rows of states sent to SQLite in one statement."""

_COPIED_ROWS = 50_000
"""Rows of states in one COPY of PostgreSQL; a few MB."""


def _insert_in_sqlite(connection: Connection, job_id: int, rows: Iterable[Row]) -> StatesDigest:
    # Many rows in a statement: 0.06 s for 90,720 rows, against 0.14 s with one row in a statement.
    driver = cast("sqlite3.Connection", connection.connection.driver_connection)
    digest = StatesDigest()
    # One list of all values: where rows are zipped columns, no tuple of a row is made.
    stream: Iterator[Any] = joined.from_iterable(rows)
    statement, length = "", 0
    while values := list(islice(stream, 3 * _ROWS)):
        if len(values) != length:  # all except the last have the same length
            length = len(values)
            places = ",".join([f"({int(job_id)},?,?,?)"] * (length // 3))
            statement = f"INSERT INTO state VALUES {places}"
        driver.execute(statement, values)
        digest.add(values[::3], values[1::3], values[2::3])
    return digest


def _copy_to_postgres(connection: Connection, job_id: int, rows: Iterable[Row]) -> StatesDigest:
    digest, stream = StatesDigest(), iter(rows)
    # In several COPYs: the rows may be made from what is read over the same connection, which a COPY keeps busy.
    while batch := list(islice(stream, _COPIED_ROWS)):
        with (
            driver_of(connection).cursor() as cursor,
            cursor.copy(b"COPY state (job_id, key, distance, board) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["int4", "int8", "int4", "text"])
            for key, distance, board in batch:
                copy.write_row((job_id, key, distance, board))
        digest.add(*zip(*batch, strict=True))
    return digest


# Map files

RESIDUES = "residues"
"""The kind of all map files."""


class MapFiles:
    """The map files of a database's jobs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def place(self) -> MapPlace:
        """Where the files are. Raises SettingError where FARTHEST_MAPS has to say it."""
        from farthest.map_files.places import map_place

        return map_place(self._database.path)

    def put(self, job_id: int, row: MapFileRecord, owner: str | None = None) -> None:
        """Stores the file of a job in place of any that it had. Raises JobError where the job is gone, or not
        ``owner``'s any more."""
        with self._database.write() as connection:
            change_job(connection, job_id, owner, {"keys": row.last_key + 1})
            connection.execute(delete(map_file).where(map_file.c.job_id == job_id))
            connection.execute(insert(map_file), [{"job_id": job_id, **asdict(row)}])
            seal(connection, job_id, {}, stored=["map_file"])

    def get(self, job_id: int) -> MapFileRecord:
        """The file of a job. Raises DamagedMapError where it has none, StorageError where its row is not what was
        stored."""
        from farthest.map_files.place import checked_name

        with self._database.read() as connection:
            rows = read_rows(connection, job_id, MapFileRecord)
        if len(rows) != 1:
            raise DamagedMapError(f"job {job_id}: it has {len(rows)} map files, expected one")
        (found,) = rows
        try:
            checked_name(found.name)
            if found.kind != RESIDUES:
                raise ValueError(f"kind {found.kind!r}, expected {RESIDUES!r}")
        except ValueError as error:
            raise damaged("map_file", f"of job {job_id}", str(error), job_id) from None
        return found


def remove_map_files(connection: Connection, database: Database, job_id: int) -> None:
    """Removes the files of a job that is about to be deleted, those of an attempt that was killed too.

    What is damaged in its rows is passed over. Raises SettingError where the job has a file, and FARTHEST_MAPS has to
    say where; UnavailableError where it has one, and its place is away.
    """
    from farthest.map_files.places import map_place

    asked = (
        select(job.c.created, puzzle.c.digest).join_from(job, puzzle, isouter=True).where(job.c.id == job_id)
    )
    row = connection.execute(asked).one_or_none()
    if row is None or not (isinstance(row.created, datetime) and isinstance(row.digest, str)):
        return
    try:
        map_place(database.path).remove(job_token(job_id, row.created, row.digest))
    except (SettingError, UnavailableError):
        files = select(func.count()).select_from(map_file).where(map_file.c.job_id == job_id)
        if connection.execute(files).scalar_one():
            raise
