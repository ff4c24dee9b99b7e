"""Each transaction that writes a part of a job seals the job with digests, which are checked when it is read.

``job.parts`` has a digest of the job's rows for each table, ``job.record_digest`` is one of the job's row with
``parts`` and the puzzle's digest. The owner and the progress of an unfinished job change without that: they are not in
the digest until the job is finished. A finished job never changes again. A job that an older version stored has none of
these; the first transaction that writes a part of it seals all of it, and its puzzle.

The digests are computed from Python values, so they are the same on every database; docs/chunk-format.md has the
format. They are not signatures: whoever can write to the database can write digests too. So the values that are read
are checked once more, here: SQLite holds values of any type in any column, and a damaged file may hold any value. A
StorageError names table, row and column.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Column, Connection, Select, bindparam, delete, insert, select, update

from farthest.errors import JobError, StorageError
from farthest.models.records import (
    CANCELLED,
    FINISHED,
    IterationRecord,
    LayerRecord,
    LeadRecord,
    MapFileRecord,
    PuzzleRecord,
    SolutionRecord,
    fields_of,
    now,
)
from farthest.models.tables import chunk, iteration, job, layer, map_file, puzzle, solution, state
from farthest.untrusted_json import read_json_object
from farthest.version import __version__
from farthest.wording import shown

Record = TypeVar("Record")

# What is read


def damaged(
    table: str, row: object, what: str, job: int | None = None, survey: int | None = None
) -> StorageError:
    """The error for a row that is not what was stored. ``what``: where in the row, and the problem. ``job``,
    ``survey``: what the row is of."""
    of_job = "" if job is None else f"job {job}: "
    gone = "the jobs that need it" if job is None else f"the job with `farthest delete {job}`"
    mend = f"remove {gone} and enumerate or search again"
    if survey is not None:
        mend = f"`farthest surveys {survey} --delete`, and survey again"
    return StorageError(
        f"{of_job}what is stored is damaged: table {table}, row {row}: {what}; restore the database from a copy, or "
        f"{mend}"
    )


def _plain(value: Any) -> str:
    """A time or bytes, which JSON has not, as text."""
    return value.isoformat(timespec="microseconds") if isinstance(value, datetime) else bytes(value).hex()


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain).encode


def canonical(value: Any) -> str:
    """Canonical JSON: the stored text, equal for equal values."""
    return _encode(value)


def json_object(text: str, table: str, row: object, column: str, job: int | None = None) -> dict[str, Any]:
    """The JSON object of a column. Raises StorageError where it is not an object."""
    try:
        return read_json_object(text)
    except ValueError as error:
        raise damaged(table, row, f"column {column}: {error}, expected a JSON object", job) from None


_KINDS: dict[type, tuple[type, ...]] = {float: (float, int), bytes: (bytes, memoryview), dict: (str,)}
"""What is read for a field of a type, where that is not one value of the type."""


def check_values(
    record: type, table: str, values: Iterable[Any], row: object, job: int | None, inside: str = ""
) -> None:
    """Raises StorageError unless each value is one of the record's field, as far as there are values. ``inside``: the
    column whose JSON object has the values, and a dot."""
    for one, value in zip(fields_of(record), values, strict=False):
        kinds = _KINDS.get(one.kind, (one.kind,))
        if type(value) not in kinds and not (value is None and one.nullable):
            found = "nothing" if value is None else f"{type(value).__name__} {shown(value)}"
            raise damaged(
                table, row, f"column {inside}{one.name}: {found}, expected {kinds[0].__name__}", job
            )


def read_record(record: type[Record], table: str, values: Sequence[Any], row: object, job: int) -> Record:
    """A row of a job's as a record. Raises StorageError as ``check_values``."""
    check_values(record, table, values, row, job)
    return record(*values)


def read_rows(connection: Connection, job_id: int, record: type[Record]) -> list[Record]:
    """The job's rows of the table with these records, in order. Raises StorageError where they are not what was
    stored."""
    part = _PART_OF[record]
    table = _PARTS[part].key.table.name
    rows = connection.execute(_rows(part, job_id)).all()
    try:
        digest = chain(part, rows) if rows else None
    except TypeError:  # a value is bytes where a text was stored
        digest = ""
    compare(connection, job_id, part, digest)
    return [read_record(record, table, row, f"of job {job_id}", job_id) for row in rows]


# Digests of rows

AT_FIRST = {"layer": 3}
"""Columns that rows had at first, where others came later: these are left out of the digest where they are null."""


def chain(table: str, rows: Iterable[Sequence[Any]], before: str | None = None) -> str:
    """The digest of rows in order. ``before``: the digest of the rows before these; None: these are the first."""
    digest = hashlib.sha256(f"farthest {table} rows 1\n".encode()).hexdigest() if before is None else before
    for row in rows:
        values = list(row)
        while values[-1] is None and len(values) > AT_FIRST.get(table, len(values)):
            values.pop()
        digest = hashlib.sha256(f"{digest}\n{canonical(values)}\n".encode()).hexdigest()
    return digest


def record_digest(table: str, values: Mapping[str, Any]) -> str:
    """The digest of one row; values that are None are left out, so that a later column does not change it."""
    held = {name: value for name, value in values.items() if value is not None}
    return hashlib.sha256(f"farthest {table} record 1\n{canonical(held)}\n".encode()).hexdigest()


class StatesDigest:
    """The digest of the readable rows of states, fed in key order. Each column is hashed by itself: making a text of
    each row would take as long as storing it."""

    def __init__(self) -> None:
        self._columns = [hashlib.sha256() for _ in range(3)]
        self._last = -1
        self.ascending = True
        """Whether keys came in ascending order; otherwise the digest is not that of the rows."""

    def add(self, keys: Sequence[int], distances: Sequence[int], boards: Sequence[str]) -> None:
        """Adds rows. Raises TypeError, ValueError or struct.error where a value cannot have been written."""
        if not keys:
            return
        self.ascending &= self._last < keys[0] and sorted(keys) == list(keys)
        self._last = keys[-1]
        text = "\n".join(boards) + "\n"
        if text.count("\n") != len(boards):
            raise ValueError("a board of more than one line")
        numbers = struct.Struct(f"<{len(keys)}q")
        for column, values in zip(
            self._columns, (numbers.pack(*keys), numbers.pack(*distances), text.encode()), strict=True
        ):
            column.update(values)

    def hexdigest(self) -> str | None:
        """The digest of all rows that were added; None where there are none."""
        if self._last < 0:
            return None
        parts = "\n".join(column.hexdigest() for column in self._columns)
        return hashlib.sha256(f"farthest state rows 1\n{parts}\n".encode()).hexdigest()


# Digests of jobs

RUNNERS = ("status", "owner", "lease_until", "started", "error", "submitted", "progress")
"""Columns of ``job`` that say who runs an unfinished job."""

CHUNK_COLUMNS = ("job_id", "first_key", "last_key", "depth", "codec", "checksum", "lead")
"""The columns that the digests of rows of ``chunk`` cover; a checksum covers the payload."""


class _Part(NamedTuple):
    """The rows that a digest in ``parts`` covers, and what they are sorted by. ``record``: what they are read as."""

    rows: Select[Any]
    key: Column[Any]
    record: type | None = None


_PARTS = {
    **{
        # The leads of dense maps are null.
        name: _Part(
            select(*(key.table.c[one.name] for one in fields_of(record))).where(key.is_not(None)), key, record
        )
        for name, record, key in (
            ("layer", LayerRecord, layer.c.depth),
            ("iteration", IterationRecord, iteration.c.bound),
            ("solution", SolutionRecord, solution.c.number),
            ("map_file", MapFileRecord, map_file.c.first_key),
            ("lead", LeadRecord, chunk.c.lead),
        )
    },
    "chunk": _Part(select(chunk.c.record_digest).where(chunk.c.first_key >= 0), chunk.c.first_key),
}
_PART_OF = {part.record: name for name, part in _PARTS.items()}

PARTS = (*_PARTS, "state")
"""All names in ``parts``; for ``state`` see ``StatesDigest``."""

STATES_AT_ONCE = 5000


def seal(
    connection: Connection, job_id: int, parts: Mapping[str, str | None], *, stored: Collection[str] = ()
) -> None:
    """Stores the digests of the parts that were written (None: there are no rows now), and that of the job's row.
    ``stored``: parts that were written too, and are digested as they are stored now."""
    parts = {**parts, **{name: rows_digest(connection, job_id, name) for name in stored}}
    row = connection.execute(_SEALED, {"job": job_id}).one()
    values = row._asdict()
    held = json_object(row.parts or "{}", "job", job_id, "parts", job_id)
    if row.record_digest is None:  # new, or stored by an older version of the program, perhaps with rows
        held = {name: rows_digest(connection, job_id, name) for name in PARTS if name not in parts}
        _seal_puzzle(connection, row.puzzle_id)
    values["parts"] = canonical({name: one for name, one in {**held, **parts}.items() if one is not None})
    digest = record_digest("job", covered(values))
    connection.execute(_SEAL, {"job": job_id, "new_parts": values["parts"], "new_digest": digest})


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


def rows_digest(connection: Connection, job_id: int, part: str) -> str | None:
    """The digest of a job's rows as they are stored now; None where there are none. Raises StorageError where a value
    cannot have been written."""
    if part == "state":
        return _states_digest(connection, job_id)
    rows = connection.execute(_rows(part, job_id)).all()
    return chain(part, rows) if rows else None


def _rows(part: str, job_id: int) -> Select[Any]:
    rows, key, _ = _PARTS[part]
    return rows.where(key.table.c.job_id == job_id).order_by(key)


def _states_digest(connection: Connection, job_id: int) -> str | None:
    digest = StatesDigest()
    try:
        for block in _state_blocks(connection, job_id):
            digest.add(*zip(*block, strict=True))
    except (TypeError, ValueError, struct.error) as error:
        raise damaged("state", f"of job {job_id}", str(error), job_id) from None
    return digest.hexdigest()


def _state_blocks(connection: Connection, job_id: int) -> Iterator[list[tuple[Any, ...]]]:
    rows = select(state.c.key, state.c.distance, state.c.board).where(state.c.job_id == job_id)
    with connection.execute(
        rows.order_by(state.c.key), execution_options={"yield_per": STATES_AT_ONCE}
    ) as result:
        for block in result.partitions(STATES_AT_ONCE):
            yield list(map(tuple, block))


def check_states(connection: Connection, job_id: int) -> None:
    """Raises StorageError unless the job's readable rows are as they were stored."""
    if stored_parts(connection, job_id) is not None:
        compare(connection, job_id, "state", rows_digest(connection, job_id, "state"))


def compare(connection: Connection, job_id: int, part: str, found: str | None) -> None:
    """Raises StorageError where the digest of a part differs from the stored one. A job from an older version of the
    program has none, and is not checked."""
    parts = stored_parts(connection, job_id)
    if parts is not None and parts.get(part) != found:
        table = _PARTS[part].key.table.name if part in _PARTS else part
        raise damaged(
            table,
            f"of job {job_id}",
            "one was changed, or some are missing or too many: their digest differs",
            job_id,
        )


def stored_parts(connection: Connection, job_id: int) -> dict[str, Any] | None:
    """The digests of a job's parts; None where an older version of the program has stored it without them."""
    text = connection.execute(_STORED_PARTS, {"job": job_id}).scalar_one_or_none()
    return None if text is None else json_object(text, "job", job_id, "parts", job_id)


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
    select(*(puzzle.c[one.name] for one in fields_of(PuzzleRecord)[:-1]))
    .where(puzzle.c.id == bindparam("puzzle"), puzzle.c.record_digest.is_(None))
    .with_for_update(key_share=True)
)
_STORED_PARTS = select(job.c.parts).where(job.c.id == bindparam("job"))


# Writing

NOBODYS: dict[str, Any] = {"owner": None, "lease_until": None, "progress": None, "error": None}
"""The values of a job's row where nobody runs it and there was no error."""


def finished(result: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a job's row that is finished from now on, with its result."""
    return {**NOBODYS, "status": FINISHED, "finished": now(), "version": __version__, **result}


def change_job(connection: Connection, job_id: int, owner: str | None, values: Mapping[str, Any]) -> None:
    """Updates a job's row, which is to be sealed then. Raises JobError if it is gone, or is not ``owner``'s any more
    (None: the owner does not matter)."""
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


def put_rows(connection: Connection, job_id: int, records: Sequence[LayerRecord | IterationRecord]) -> None:
    """Stores records of one kind, and replaces those with the same keys."""
    if not records:
        return
    kind: type = type(records[0])
    key = _PARTS[_PART_OF[kind]].key
    names = [field.name for field in fields_of(kind)]
    rows = [{"job_id": job_id, **{name: getattr(one, name) for name in names}} for one in records]
    replaced = delete(key.table).where(key.table.c.job_id == job_id, key == bindparam("replaced"))
    connection.execute(replaced, [{"replaced": row[key.name]} for row in rows])
    connection.execute(insert(key.table), rows)
