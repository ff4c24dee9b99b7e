"""The text that names the boards of an origin: words, boards, or a set of them, one a line."""

from __future__ import annotations

from collections.abc import Iterable

WORDS = ("goal", "start")
"""Boards that a puzzle's file gives: its goals, its start."""
MAX_NAMED = 10_000
"""Boards that an origin names one by one."""
_SEPARATOR = "\n"


def joined(names: Iterable[str]) -> str:
    """The text of a set of names: words first, then boards in order, each once, so that equal sets are equal texts."""
    return _SEPARATOR.join(sorted(set(names), key=lambda name: (name not in WORDS, name)))


def names_of(where: str) -> list[str]:
    """The words and texts of boards of such a text."""
    return where.split(_SEPARATOR)


def where_text(where: str) -> str:
    """One line for a message or a table."""
    names = names_of(where)
    return where if len(names) == 1 else f"{len(names):,} boards ({names[0]}, ...)"
