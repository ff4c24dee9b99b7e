"""How to cite a finished job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.safe_text import safe

if TYPE_CHECKING:
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle


SHORT = 12
"""Characters of a digest in the key of an entry."""

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        **{each: f"\\{each}" for each in "{}$&#%_"},
    }
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


@dataclass(frozen=True, slots=True)
class Citation:
    """``text``: one sentence. ``bibtex``: an entry of type misc."""

    text: str
    bibtex: str


def citation_of(record: JobRecord, puzzle: Puzzle) -> Citation:
    """Of a finished enumeration: which puzzle, what was found, with which version, when, and the digests by which a
    copy is known."""
    name, title = record.name, " ".join(safe(puzzle.title).split())
    what = f"distance map of {name}" if record.has_map else f"layers of {name}"
    known = f"eccentricity {record.eccentricity:,}" if record.complete else f"up to depth {record.depth}"
    asked = record.parameters
    counted = f"moves counted {asked.get('direction', '')} {asked.get('where', '')}, metric {puzzle.metric}"
    program = "farthest" + (f" {record.version}" if record.version else "")
    made = record.finished or record.created
    figures = f"{record.states or 0:,} states, {known}; {counted}"
    digests = f"SHA-256 of the result {record.digest}, of the puzzle {record.puzzle_digest}"
    text = (
        f"{what[0].upper()}{what[1:]}{f' ({title})' if title else ''}: {figures}. Computed with {program} on "
        f"{made:%Y-%m-%d}. {digests}."
    )
    fields = [
        ("title", f"{{{_tex(f'{what[0].upper()}{what[1:]}')}}}" + (f": {_tex(title)}" if title else "")),
        ("year", f"{made:%Y}"),
        ("howpublished", f"Computed with {_tex(program)} on {made:%Y-%m-%d}"),
        ("note", _tex(f"{figures}. {digests}")),
    ]
    key = f"farthest-{''.join(each for each in name if each.isalnum() or each in '-.')}-{(record.digest or '')[:SHORT]}"
    lines = [f"  {field} = {{{value}}}," for field, value in fields]
    return Citation(
        text, "\n".join([f"@misc{{{key},", *lines, f"  month = {_MONTHS[made.month - 1]}", "}", ""])
    )


def _tex(text: str) -> str:
    return text.translate(_ESCAPES)
