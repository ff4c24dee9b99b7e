"""Checks values from the database, and reads their JSON; a StorageError names table, row and column. SQLite holds
values of any type in any column, and a damaged file may hold any value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, Float, Integer, LargeBinary, Table

from farthest.errors import StorageError
from farthest.models.tables import Digits, Truth, UtcDateTime
from farthest.untrusted_json import read_json_object
from farthest.wording import shown


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
