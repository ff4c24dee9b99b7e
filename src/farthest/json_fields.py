"""Values that have come through JSON: each function raises TypeError or ValueError for anything else."""

from __future__ import annotations

from typing import Any

from farthest.wording import shown


def text(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {shown(value)}")
    return value


def integers(values: Any) -> tuple[int, ...]:
    """A list of whole numbers."""
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise TypeError(f"expected a list of whole numbers, got {shown(values)}")
    return tuple(values)


def counts(values: Any, number: int | None = None) -> tuple[int, ...]:
    """A list of whole numbers from 0 to 2^63 - 1, ``number`` of them where that is given."""
    found = integers(values)
    if not all(0 <= value < 2**63 for value in found):
        raise ValueError("a number is below 0, or too large to count anything")
    if number not in (None, len(found)):
        raise ValueError(f"{len(found)} numbers, expected {number}")
    return found


def count(value: object) -> int:
    """A whole number from 0 to 2^63 - 1."""
    return counts([value])[0]


def items(values: Any) -> list[Any]:
    """A list of anything."""
    if not isinstance(values, list):
        raise TypeError(f"expected a list, got {shown(values)}")
    return values


def pair(values: Any) -> tuple[int, int]:
    """A list of two whole numbers."""
    a, b = integers(values)
    return a, b
