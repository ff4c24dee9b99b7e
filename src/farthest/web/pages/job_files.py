"""What a reader takes along from a job: its files, and how to cite it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from htpy import a, details, fragment, h2, li, p, pre, summary, ul

from farthest.documents.citation import citation_of
from farthest.models.records import FINISHED
from farthest.web.addresses import job_page

if TYPE_CHECKING:
    from htpy import Node

    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle

MOST_STATES = 20_000_000
"""Of maps that are written as files here."""

EXPORT = "`farthest export` writes it"


def map_forms() -> tuple[str, ...]:
    """The forms of maps that can be written with what is installed here."""
    return ("csv", "npz", "parquet") if find_spec("pyarrow") else ("csv", "npz")


def why_no_map(record: JobRecord, puzzle: Puzzle) -> str:
    """Why the map of a finished job is not written here; empty where it is."""
    if puzzle.definition.module:
        return f"its boards are those of a class of a user; {EXPORT}"
    if (record.states or 0) > MOST_STATES:
        return f"its map has {record.states or 0:,} states; {EXPORT}"
    return ""


def files(record: JobRecord, puzzle: Puzzle, *, layers: bool) -> Node:
    """The list of files. ``layers``: whether some are known."""
    here = job_page(record.id)

    def link(name: str) -> Node:
        return a(href=f"{here}/{name}", download=True)[name]

    def line(names: list[str], text: str) -> Node:
        return li[((", " if number else "", link(name)) for number, name in enumerate(names)), f": {text}"]

    of_layers = ["layers.csv", *(f"layers.{form}" for form in map_forms()[1:])]
    pictures = ["layers.svg", *(["layers.png"] if find_spec("matplotlib") else [])]
    return fragment[
        h2["Files"],
        ul[
            line(["puzzle.json"], "the puzzle's definition"),
            line(of_layers, "states at each depth") if layers else None,
            line(pictures, "the chart") if layers else None,
            _map(
                record, puzzle, line([f"map.{form}" for form in map_forms()], "every state and its distance")
            ),
            li[a(href=f"/api{here}")["the job as JSON"]],
        ],
    ]


def _map(record: JobRecord, puzzle: Puzzle, line: Node) -> Node:
    if not record.has_map or record.status != FINISHED:
        return None
    refused = why_no_map(record, puzzle)
    return li[f"The map is not written here: {refused}."] if refused else line


def cite(record: JobRecord, puzzle: Puzzle) -> Node:
    """How to cite a finished enumeration."""
    if record.status != FINISHED:
        return None
    citation = citation_of(record, puzzle)
    return fragment[
        h2["How to cite"],
        p[citation.text],
        details[summary["BibTeX"], pre(tabindex="0")[citation.bibtex]],
        p[a(href=f"{job_page(record.id)}/cite.bib", download=True)["cite.bib"]],
    ]
