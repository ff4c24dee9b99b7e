"""Cells of CSV files that hold text: no spreadsheet takes one for a formula.

A spreadsheet runs what begins with one of ``FORMULA``, and a board may begin so, as may what a user's class writes.
Such a text gets an apostrophe before it, as one does that begins with an apostrophe itself; so whoever reads the file
takes one apostrophe from the beginning of a text that has one, and has what was written.
"""

from __future__ import annotations

from collections.abc import Iterable

FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
MARK = "'"
_MARKED = FORMULA | {MARK}


def text_cells(texts: Iterable[str]) -> list[str]:
    """The texts as they are to stand in a CSV file."""
    return [MARK + text if text[:1] in _MARKED else text for text in texts]


def text_cell(text: str | None) -> str | None:
    """One text; None is an empty cell."""
    return None if text is None else text_cells([text])[0]
