"""Numbers that users give."""

from __future__ import annotations

from operator import index
from typing import Any


def whole(name: str, value: Any) -> int | None:
    """A whole number of any type, or None. Raises TypeError."""
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected a whole number, got {value!r}")
    return index(value)
