"""The writes that the changes of jobs and maps consist of, each inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from farthest.errors import JobError
from farthest.models.records import CANCELLED, LayerRecord
from farthest.models.sealing import record_digest
from farthest.models.tables import chunk, job, layer, map_file, puzzle, solution, state

NOBODYS: dict[str, Any] = {"owner": None, "lease_until": None, "progress": None, "error": None}
"""The values of a job's row where nobody runs it and there was no error."""


def change_job(connection: Connection, job_id: int, owner: str | None, values: Mapping[str, Any]) -> None:
    """Updates a job's row. Raises JobError if it is gone, or is not ``owner``'s any more (None: the owner does not
    matter)."""
    mine = (job.c.id == job_id,) if owner is None else (job.c.id == job_id, job.c.owner == owner)
    if connection.execute(update(job).where(*mine).values(values)).rowcount == 1:
        return
    row = connection.execute(select(job.c.owner, job.c.status).where(job.c.id == job_id)).one_or_none()
    if row is None:
        raise JobError(f"job {job_id} was deleted while it ran; nothing of this change was stored")
    if row.status == CANCELLED:
        raise JobError(f"job {job_id} was cancelled; nothing of this change was stored")
    raise JobError(
        f"job {job_id} was taken over (it is {row.status}, owner {row.owner or 'none'}) because this process "
        "was silent for longer than its lease; nothing of this change was stored"
    )


def put_layers(connection: Connection, job_id: int, layers: Sequence[LayerRecord]) -> None:
    """Stores layers and replaces those of the same depths."""
    if layers:
        depths = [one.depth for one in layers]
        connection.execute(delete(layer).where(layer.c.job_id == job_id, layer.c.depth.in_(depths)))
        rows = [
            {"job_id": job_id, "depth": one.depth, "states": one.states, "seconds": one.seconds}
            for one in layers
        ]
        connection.execute(insert(layer), rows)


def puzzle_row(connection: Connection, definition: str, digest: str, name: str, moment: datetime) -> int:
    """The row of a puzzle, which is made if it is missing; its name and title, which the digest leaves out, become the
    newest."""
    # Locked, so that it is not deleted with its last job before this one is stored (PostgreSQL; SQLite has one writer
    # at a time).
    same = (
        select(puzzle.c.id, puzzle.c.created, puzzle.c.record_digest)
        .where(puzzle.c.digest == digest)
        .with_for_update(read=True, key_share=True)
    )
    values = {"digest": digest, "name": name, "definition": definition, "created": moment}
    values["record_digest"] = record_digest("puzzle", values)
    while (row := connection.execute(same).one_or_none()) is None:
        try:
            with connection.begin_nested():
                key = connection.execute(insert(puzzle).values(values)).inserted_primary_key
                assert key is not None
                return int(key[0])
        except IntegrityError:  # another process was first
            continue
    held = {"digest": digest, "name": name, "definition": definition, "created": row.created}
    if (now := record_digest("puzzle", held)) != row.record_digest:
        changed = update(puzzle).where(puzzle.c.id == row.id)
        connection.execute(changed.values(name=name, definition=definition, record_digest=now))
    return int(row.id)


def stored_bytes(connection: Connection, job_id: int) -> int:
    """The bytes of a job's payloads, boards, solutions and map files."""
    payloads = select(func.coalesce(func.sum(func.length(chunk.c.payload)), 0)).where(
        chunk.c.job_id == job_id
    )
    boards = select(func.coalesce(func.sum(func.length(state.c.board)), 0)).where(state.c.job_id == job_id)
    moves = select(func.coalesce(func.sum(func.length(solution.c.moves)), 0)).where(
        solution.c.job_id == job_id
    )
    files = select(func.coalesce(func.sum(map_file.c.bytes), 0)).where(map_file.c.job_id == job_id)
    return sum(int(connection.execute(one).scalar_one()) for one in (payloads, boards, moves, files))
