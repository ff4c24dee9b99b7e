"""Cells of CSV files that hold text, written so that no spreadsheet takes one for a formula.

A spreadsheet runs a cell that begins with one of ``FORMULA``. A board may begin so, and so may a text from a user's
class. An apostrophe is put before such a text, and before a text that begins with an apostrophe. To get the text back,
remove one apostrophe from the beginning of a cell that has one.
"""

from __future__ import annotations

from collections.abc import Iterable

FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
MARK = "'"
_MARKED = FORMULA | {MARK}


def text_cells(texts: Iterable[str]) -> list[str]:
    """The texts as cells of a CSV file."""
    return [MARK + text if text[:1] in _MARKED else text for text in texts]


def text_cell(text: str | None) -> str | None:
    """One text; None is an empty cell."""
    return None if text is None else text_cells([text])[0]
