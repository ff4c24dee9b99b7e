"""The digests of the rows that are stored besides distances: they show whether rows are still those that were written.

They are computed from Python values, so they are the same on every database; docs/chunk-format.md has the format. They
are not signatures: whoever can write to the database can write digests too.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any


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
