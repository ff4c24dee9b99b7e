"""Drafts: chunks of a map that is being made, stored by workers before one transaction makes them the map.

A draft is a row of ``chunk`` with a negative ``first_key``, which tells the chunk and a nonce of the work that made it;
all else is as in the chunk that it is to become, its digest too. No reader looks at negative keys. Only the transaction
that stores a checkpoint gives drafts their keys, and only those that it names: what a worker stored for work that
another one was given, or for a coordinator that lost its job, never becomes a part of a map. It is removed with the
next checkpoint, or with the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from farthest.errors import LateStepError, LostStateError
from farthest.models.chunks import CHUNK_KEYS, Payload, Unit
from farthest.models.records import RUNNING
from farthest.models.sealing import record_digest
from farthest.models.tables import chunk, job

if TYPE_CHECKING:
    import psycopg

    from farthest.models.database import Database

_NUMBERS = 2**30
"""Chunks that a draft's key tells from each other; a map has fewer."""


@dataclass(frozen=True, slots=True)
class MadeChunk:
    """An encoded chunk of a dense map. ``checksum``: of its payload; ``digest``: of its distances
    (``models.chunks.chunk_digest``); both SHA-256 in hexadecimal."""

    first: int
    last: int
    unit: Unit
    checksum: str
    digest: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class StoredDraft:
    """A chunk whose draft is stored under ``nonce``."""

    first: int
    last: int
    unit: Unit
    checksum: str
    nonce: str


def chunk_row(job_id: int, depth: int, one: Payload | MadeChunk | StoredDraft) -> dict[str, Any]:
    """The columns of a chunk, without its payload."""
    codec, lead = (one.codec, one.lead) if isinstance(one, Payload) else (f"zstd:{one.unit}", None)
    head = {
        "job_id": job_id,
        "first_key": one.first,
        "last_key": one.last,
        "depth": depth,
        "codec": codec,
        "checksum": one.checksum,
        "lead": lead,
    }
    return {**head, "record_digest": record_digest("chunk", head)}


def draft_key(nonce: str, first: int) -> int:
    """The ``first_key`` of the draft of the chunk from key ``first`` on; ``nonce``: eight hexadecimal digits."""
    return -1 - (int(nonce, 16) * _NUMBERS + first // CHUNK_KEYS % _NUMBERS)


def write_drafts(
    database: Database, job_id: int, owner: str, depth: int, nonce: str, chunks: Sequence[MadeChunk]
) -> None:
    """Stores drafts of a job on PostgreSQL in one transaction. Raises LateStepError where the job is not run by
    ``owner`` any more."""
    with database.write() as connection:
        driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
        with driver.cursor() as cursor, cursor.copy(_COPY) as copy:
            copy.set_types(_TYPES)
            for one in chunks:
                row = chunk_row(job_id, depth, one)
                values = {**row, "first_key": draft_key(nonce, one.first), "payload": one.payload}
                copy.write_row([values[name] for name in _COLUMNS])
        # Without a lock, which a worker that is stopped here would keep: rows that come too late are only of no use.
        mine = select(job.c.id).where(job.c.id == job_id, job.c.owner == owner, job.c.status == RUNNING)
        if connection.execute(mine).one_or_none() is None:
            raise LateStepError(f"job {job_id} is not run by {owner} any more")


def adopt_drafts(
    connection: Connection, job_id: int, depth: int, made: Iterable[MadeChunk | StoredDraft]
) -> None:
    """Makes chunks, in key order, a job's whole map in place of its older one, and removes all other drafts. Raises
    LostStateError where the drafts are not those that were stored."""
    connection.execute(delete(chunk).where(chunk.c.job_id == job_id, chunk.c.first_key >= 0))
    drafts, chunks = [], 0
    for one in made:
        chunks += 1
        row = chunk_row(job_id, depth, one)
        if isinstance(one, MadeChunk):
            connection.execute(insert(chunk), {**row, "payload": one.payload})
        else:
            drafts.append(
                {
                    "of_job": job_id,
                    "draft": draft_key(one.nonce, one.first),
                    "key": one.first,
                    "digest": row["record_digest"],
                }
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


_COLUMNS = ("job_id", "first_key", "last_key", "depth", "codec", "payload", "checksum", "record_digest")
_TYPES = ["int4", "int8", "int8", "int4", "varchar", "bytea", "varchar", "varchar"]
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
