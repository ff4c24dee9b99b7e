"""Each transaction that writes a part of a job seals the job with digests, which are checked when it is read.

``job.parts`` has a digest of the job's rows for each table, ``job.record_digest`` is one of the job's row with
``parts`` and the puzzle's digest. The owner and the progress of an unfinished job change without that: they are not in
the digest until the job is finished. A finished job never changes again. A job that an older version stored has none of
these; the first transaction that writes a part of it seals all of it, and its puzzle.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Integer,
    LargeBinary,
    Row,
    Select,
    Table,
    bindparam,
    select,
    update,
)

from farthest.errors import StorageError
from farthest.models.tables import (
    Digits,
    Truth,
    UtcDateTime,
    chunk,
    iteration,
    job,
    layer,
    map_file,
    puzzle,
    solution,
    state,
)
from farthest.untrusted_json import read_json_object
from farthest.wording import shown

# --- The digests of the rows that are stored besides distances: they show whether rows are still those that were
# written.
#
# They are computed from Python values, so they are the same on every database; docs/chunk-format.md has the format.
# They are not signatures: whoever can write to the database can write digests too.


def chain(table: str, rows: Iterable[Sequence[Any]], before: str | None = None) -> str:
    """The digest of rows in order. ``before``: the digest of the rows before these; None: these are the first."""
    digest = hashlib.sha256(f"farthest {table} rows 1\n".encode()).hexdigest() if before is None else before
    for row in rows:
        digest = hashlib.sha256(f"{digest}\n{_json([_plain(value) for value in row])}\n".encode()).hexdigest()
    return digest


def record_digest(table: str, values: Mapping[str, Any]) -> str:
    """The digest of one row; values that are None are left out, so that a later column does not change it."""
    held = {name: _plain(value) for name, value in values.items() if value is not None}
    return hashlib.sha256(f"farthest {table} record 1\n{_json(held)}\n".encode()).hexdigest()


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


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    return value


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


# --- Checks values from the database, and reads their JSON; a StorageError names table, row and column. SQLite
# holds values of any type in any column, and a damaged file may hold any value.


def canonical(value: Mapping[str, Any]) -> str:
    """Canonical JSON: the stored text, equal for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def damaged(table: str, row: object, what: str, job: int | None = None) -> StorageError:
    """The error for a row that is not what was stored. ``what``: where in the row, and the problem. ``job``: the job of
    the row."""
    of_job = "" if job is None else f"job {job}: "
    gone = "the jobs that need it" if job is None else f"the job with `farthest delete {job}`"
    return StorageError(
        f"{of_job}what is stored is damaged: table {table}, row {row}: {what}; restore the database from a copy, or "
        f"remove {gone} and enumerate or search again"
    )


def json_object(text: str, table: str, row: object, column: str, job: int | None = None) -> dict[str, Any]:
    """The JSON object of a column. Raises StorageError where it is not an object."""
    try:
        return read_json_object(text)
    except ValueError as error:
        raise damaged(table, row, f"column {column}: {error}, expected a JSON object", job) from None


def check_values(
    table: Table, names: Sequence[str], values: Sequence[Any], row: object, job: int | None
) -> None:
    """Raises StorageError unless each value has its column's type."""
    for (name, kinds, nullable), value in zip(_expected(table, tuple(names)), values, strict=True):
        if (value is None and nullable) or type(value) in kinds:
            continue
        found = "nothing" if value is None else f"{type(value).__name__} {shown(value)}"
        raise damaged(table.name, row, f"column {name}: {found}, expected {kinds[0].__name__}", job)


@lru_cache(maxsize=32)
def _expected(table: Table, names: tuple[str, ...]) -> list[tuple[str, tuple[type, ...], bool]]:
    return [(name, _kinds(table.c[name]), bool(table.c[name].nullable)) for name in names]


def _kinds(column: Column[Any]) -> tuple[type, ...]:
    kind = column.type
    if isinstance(kind, Integer | Digits):
        return (int,)
    if isinstance(kind, UtcDateTime):
        return (datetime,)
    if isinstance(kind, Truth):
        return (bool,)
    if isinstance(kind, Float):
        return (float, int)
    return (bytes, memoryview) if isinstance(kind, LargeBinary) else (str,)


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
