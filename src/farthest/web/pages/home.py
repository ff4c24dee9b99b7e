"""The first page: jobs, newest first, and the catalogue; both are searched by name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from htpy import a, button, div, form, fragment, h2, label, li, p, span, ul
from htpy import input as field
from markupsafe import Markup

from farthest.documents.jobs import origin_text
from farthest.documents.puzzles import known_states
from farthest.puzzles import catalogue
from farthest.puzzles.title_search import matching
from farthest.web.addresses import home_page, job_page, puzzle_page
from farthest.web.page import board, page, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htpy import Node

    from farthest.models.job_reader import JobPage
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle


def home(listed: JobPage, damages: Sequence[str], wanted: str, *, older_page: bool) -> str:
    """``wanted``: words of names and titles, or empty. ``damages``: what is wrong with jobs that cannot be listed.
    ``older_page``: whether there are newer jobs than these."""
    names = catalogue.search(wanted) if wanted else catalogue.names()
    other = catalogue.search_forms(wanted) if wanted else catalogue.forms()
    return page(
        f"Jobs and puzzles: {wanted}" if wanted else "Jobs and puzzles",
        form(method="get", action="/", role="search")[
            label(for_="words")["Name"],
            field(id="words", name="q", type="search", value=wanted, maxlength="200"),
            button(type="submit")["Search"],
        ],
        [p(class_="message", role="alert")[damage] for damage in damages],
        h2["Jobs"],
        _jobs(listed, wanted, older_page=older_page),
        h2(id="puzzles")["Puzzles"],
        p["No puzzle of the catalogue has these words."] if not names and not other else None,
        ul(class_="catalogue")[(_card(name) for name in names)],
        p["Other sizes have names too: ", ", ".join(other), "."] if other else None,
    )


def _jobs(listed: JobPage, wanted: str, *, older_page: bool) -> Node:
    newest = a(href=home_page(wanted))["The newest jobs"]
    if not listed.records and older_page:
        return p["There are no older jobs. ", newest]
    if not listed.records:
        return p[
            "No job has these words."
            if wanted
            else "There are no jobs yet: `farthest enumerate PUZZLE` makes one."
        ]
    rows = [
        (
            a(href=job_page(record.id))[str(record.id)],
            a(href=job_page(record.id))[record.name],
            origin_text(record),
            span(class_=f"status {record.state_now}")[record.state_now],
            "" if record.states is None else f"{record.states:,}",
            "" if record.depth is None else f"{record.depth}{'' if record.complete else '+'}",
            f"{record.created:%Y-%m-%d %H:%M}",
        )
        for record in listed.records
    ]
    headings = ("job", "puzzle", "origin", "status", "states", "depth", "created (UTC)")
    older = a(href=home_page(wanted, listed.older), rel="next")["Older jobs"] if listed.older else None
    ways = p[newest if older_page else None, " · " if older_page and older else None, older]
    return fragment[rows_of(headings, rows, numbers=(0, 4, 5)), ways if older_page or older else None]


def is_named(record: JobRecord, wanted: str) -> bool:
    """Whether the name of a job's puzzle, or its title in the catalogue, has these words."""
    return not wanted or bool(matching(wanted, {record.name: _titles().get(record.name, "")}))


@cache
def _titles() -> dict[str, str]:
    return catalogue.titles()


@cache
def _card(name: str) -> Markup:
    """A puzzle of the catalogue, which does not change while the server runs, as HTML."""
    puzzle = catalogue.load(name)
    states = known_states(puzzle)
    count = (
        f"{states:,} states" if states is not None else f"at most {puzzle.definition.arrangements():,} states"
    )
    card = li[
        a(href=puzzle_page(name))[
            _picture(puzzle),
            span(class_="name")[name],
            span[puzzle.title],
            div(class_="small")[count],
        ]
    ]
    return Markup(str(card))


def _picture(puzzle: Puzzle) -> Node:
    goals, start = puzzle.definition.origin_boards
    first = start if start is not None else next(iter(goals), None)
    return None if first is None else board(puzzle, first, puzzle.definition.format_board(first))
