"""Puzzles in the file formats of other programs: twsearch ``.tws``, ksolve ``.def``, generators as GAP writes them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.puzzles.puzzle import MAX_TEXT, Origin, Puzzle
from farthest.safe_text import safe

if TYPE_CHECKING:
    from farthest.families.permutation.definition import Permutation

_METRICS = {".tws": "power", ".def": "power", ".gap": "generator", ".g": "generator"}
SUFFIXES = tuple(_METRICS)
"""The endings by which the formats are told apart."""


def parse_foreign(data: bytes, place: str) -> Puzzle:
    """The puzzle of a file with one of ``SUFFIXES``, in the metric of the program that it was written for.

    It is named for the file. Raises PuzzleError with file, line, what was expected and a mend.
    """
    stem, suffix = os.path.splitext(os.path.basename(place))
    metric = _METRICS[suffix.lower()]
    title, definition = read_foreign(data, place, metric)
    if len(title) > MAX_TEXT:
        raise PuzzleError(
            f"{place}: its title has {len(title):,} characters, expected at most {MAX_TEXT}; write a shorter one"
        )
    name = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")[:48].strip("-")
    return Puzzle(
        name=name if name and not name.isdigit() else f"puzzle-{name}".strip("-"),
        title=safe(title or stem),
        source=f"read from {safe(os.path.basename(place))}",
        family="permutation",
        metric=metric,
        origin=Origin(),
        known=(),
        definition=definition,
    )


def read_foreign(data: bytes, place: str, metric: str) -> tuple[str, Permutation]:
    """The title that a file gives itself, perhaps empty, and its puzzle. Raises PuzzleError."""
    text = _decoded(data, place)
    if os.path.splitext(place)[1].lower() in (".gap", ".g"):
        from farthest.families.permutation.gap_system import read_gap

        return "", read_gap(text, place, metric)
    from farthest.families.permutation.twsearch import read_twsearch

    return read_twsearch(text, place, metric)


def _decoded(data: bytes, place: str) -> str:
    """The text; files of these formats are old enough to hold names in Latin-1 in their comments."""
    end = data.find(b"\0")
    if end >= 0:
        line = data.count(b"\n", 0, end) + 1
        raise PuzzleError(f"{place}, line {line}: a zero byte, expected a text; is it the right file?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
