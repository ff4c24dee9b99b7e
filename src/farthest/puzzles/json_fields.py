"""Values of a stored definition, come through JSON: each function raises TypeError for anything else."""

from __future__ import annotations

from typing import Any


def text(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value


def integers(values: Any) -> tuple[int, ...]:
    """A list of whole numbers."""
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise TypeError(f"expected a list of whole numbers, got {values!r}")
    return tuple(values)


def pair(values: Any) -> tuple[int, int]:
    """A list of two whole numbers."""
    a, b = integers(values)
    return a, b
