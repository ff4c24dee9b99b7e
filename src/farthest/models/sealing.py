"""Each transaction that writes a part of a job seals the job with digests, which are checked when it is read.

``job.parts`` has a digest of the job's rows for each table, ``job.record_digest`` is one of the job's row with
``parts`` and the puzzle's digest. The owner and the progress of an unfinished job change without that: they are not in
the digest until the job is finished. A finished job never changes again. A job that an older version stored has none of
these; the first transaction that writes a part of it seals all of it, and its puzzle.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select, update

from farthest.models.record_digest import StatesDigest, chain, record_digest
from farthest.models.stored_values import canonical, damaged, json_object
from farthest.models.tables import chunk, iteration, job, layer, map_file, puzzle, solution, state

RUNNERS = ("status", "owner", "lease_until", "started", "error", "submitted", "progress")
"""Columns of ``job`` that say who runs an unfinished job."""

PUZZLE_COLUMNS = ("digest", "name", "definition", "created")
CHUNK_COLUMNS = ("job_id", "first_key", "last_key", "depth", "codec", "checksum", "lead")
"""The columns that the digests of rows of ``puzzle`` and ``chunk`` cover; a checksum covers the payload."""

ROWS: dict[str, Select[Any]] = {
    "layer": select(layer.c.depth, layer.c.states, layer.c.seconds).order_by(layer.c.depth),
    "iteration": select(
        *(
            iteration.c[one]
            for one in ("bound", "nodes", "solutions", "pieces", "seconds", "next_bound", "complete", "kept")
        )
    ).order_by(iteration.c.bound),
    "solution": select(solution.c.number, solution.c.moves).order_by(solution.c.number),
    "chunk": select(chunk.c.record_digest).where(chunk.c.first_key >= 0).order_by(chunk.c.first_key),
    "map_file": select(
        *(map_file.c[one] for one in ("first_key", "last_key", "kind", "name", "bytes", "checksum"))
    ).order_by(map_file.c.first_key),
    "lead": select(chunk.c.first_key, chunk.c.lead).where(chunk.c.lead.is_not(None)).order_by(chunk.c.lead),
}
"""The rows that a digest in ``parts`` covers, in their order; for ``state`` see ``StatesDigest``."""

PARTS = (*ROWS, "state")
"""All names in ``parts``."""

STATES_AT_ONCE = 5000


def seal(connection: Connection, job_id: int, parts: Mapping[str, str | None]) -> None:
    """Stores the digests of the parts that were written (None: there are no rows now) and that of the job's row."""
    row = connection.execute(_SEALED, {"job": job_id}).one()
    values = row._asdict()
    held = json_object(row.parts or "{}", "job", job_id, "parts", job_id)
    if row.record_digest is None:  # new, or stored by an older version of the program, perhaps with rows
        held = _parts_besides(connection, job_id, parts)
        _seal_puzzle(connection, row.puzzle_id)
    values["parts"] = canonical({name: one for name, one in {**held, **parts}.items() if one is not None})
    digest = record_digest("job", covered(values))
    connection.execute(_SEAL, {"job": job_id, "new_parts": values["parts"], "new_digest": digest})


def _parts_besides(connection: Connection, job_id: int, written: Collection[str]) -> dict[str, str | None]:
    """The digests of a job's parts as they are stored now, without those that were written."""
    held = {name: rows_digest(connection, job_id, name) for name in ROWS if name not in written}
    return held if "state" in written else {**held, "state": states_digest(connection, job_id)}


def _seal_puzzle(connection: Connection, puzzle_id: int) -> None:
    """Stores the digest of a puzzle's row that an older version of the program has stored without one."""
    row = connection.execute(_UNSEALED_PUZZLE, {"puzzle": puzzle_id}).one_or_none()
    if row is not None:
        digest = record_digest("puzzle", row._asdict())
        connection.execute(update(puzzle).where(puzzle.c.id == puzzle_id).values(record_digest=digest))


def covered(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a job's row, with its puzzle's digest, that its digest covers."""
    outside = ("record_digest",) if values["finished"] is not None else ("record_digest", *RUNNERS)
    return {name: value for name, value in values.items() if name not in outside}


def rows_digest(connection: Connection, job_id: int, table: str) -> str | None:
    """The digest of a job's rows as they are stored now; None where there are none."""
    rows = connection.execute(ROWS[table].where(_job_of(table) == job_id)).all()
    return chain(table, rows) if rows else None


def states_digest(connection: Connection, job_id: int) -> str | None:
    """The digest of a job's readable rows as they are stored now; None where there are none. Raises StorageError where
    a value cannot have been written."""
    digest = StatesDigest()
    try:
        for block in _state_blocks(connection, job_id):
            digest.add(*zip(*block, strict=True))
    except (TypeError, ValueError, struct.error) as error:
        raise damaged("state", f"of job {job_id}", str(error), job_id) from None
    return digest.hexdigest()


def check_rows(connection: Connection, job_id: int, table: str, rows: Sequence[Row[Any]]) -> None:
    """Raises StorageError unless these are the job's rows of the table as they were stored."""
    try:
        found = chain(table, rows) if rows else None
    except TypeError:  # a value is bytes where a text was stored
        found = ""
    compare(connection, job_id, table, found)


def check_states(connection: Connection, job_id: int) -> None:
    """Raises StorageError unless the job's readable rows are as they were stored."""
    if stored_parts(connection, job_id) is not None:
        compare(connection, job_id, "state", states_digest(connection, job_id))


def compare(connection: Connection, job_id: int, part: str, found: str | None) -> None:
    """Raises StorageError where the digest of a part differs from the stored one. A job from an older version of the
    program has none, and is not checked."""
    parts = stored_parts(connection, job_id)
    if parts is not None and parts.get(part) != found:
        table = "chunk" if part == "lead" else part
        raise damaged(
            table,
            f"of job {job_id}",
            "one was changed, or some are missing or too many: their digest differs",
            job_id,
        )


def stored_parts(connection: Connection, job_id: int) -> dict[str, Any] | None:
    """The digests of a job's parts; None where an older version of the program has stored it without them."""
    text = connection.execute(_PARTS, {"job": job_id}).scalar_one_or_none()
    return None if text is None else json_object(text, "job", job_id, "parts", job_id)


def _state_blocks(connection: Connection, job_id: int) -> Iterator[list[tuple[Any, ...]]]:
    rows = select(state.c.key, state.c.distance, state.c.board).where(state.c.job_id == job_id)
    with connection.execute(
        rows.order_by(state.c.key), execution_options={"yield_per": STATES_AT_ONCE}
    ) as result:
        for block in result.partitions(STATES_AT_ONCE):
            yield list(map(tuple, block))


def _job_of(table: str) -> Any:
    tables = {
        "layer": layer,
        "iteration": iteration,
        "solution": solution,
        "chunk": chunk,
        "lead": chunk,
        "map_file": map_file,
    }
    return tables[table].c.job_id


_SEALED = (
    select(job, puzzle.c.digest.label("puzzle_digest"))
    .join_from(job, puzzle, isouter=True)
    .where(job.c.id == bindparam("job"))
)
_SEAL = (
    update(job)
    .where(job.c.id == bindparam("job"))
    .values(parts=bindparam("new_parts"), record_digest=bindparam("new_digest"))
)
# Locked, so that its name does not change meanwhile (PostgreSQL; SQLite has one writer at a time).
_UNSEALED_PUZZLE = (
    select(*(puzzle.c[name] for name in PUZZLE_COLUMNS))
    .where(puzzle.c.id == bindparam("puzzle"), puzzle.c.record_digest.is_(None))
    .with_for_update(key_share=True)
)
_PARTS = select(job.c.parts).where(job.c.id == bindparam("job"))
