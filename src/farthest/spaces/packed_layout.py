"""The layout of packed codes, as stored with a job: the definition decides all codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from farthest.errors import StorageError

PACKED: dict[str, Any] = {"version": 1, "kind": "packed"}


def is_packed(layout: Mapping[str, Any] | None) -> bool:
    """Whether a stored layout is that of packed codes. Raises StorageError where it is of another version."""
    if layout is None or layout.get("kind") != PACKED["kind"]:
        return False
    if layout != PACKED:
        raise StorageError(
            f"stored key layout: version {layout.get('version')!r}, expected {PACKED['version']}; "
            "the map was written by another version of farthest, use that one"
        )
    return True
