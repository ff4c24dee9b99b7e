"""Surveys: the list of them, and one with its counts, its hardest boards and its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from htpy import Node, a, code, div, figcaption, figure, fragment, h2, li, p, ul

from farthest.documents.surveys import (
    COUNTS,
    boards_of,
    cosets_table,
    estimates_facts,
    estimates_table,
    totals_rows,
)
from farthest.starts import BlockBoards, Component, Counts, Starts
from farthest.web.page import (
    board,
    board_page,
    facts,
    is_named,
    page,
    puzzle_page,
    rows_of,
    survey_page,
    worded,
)
from farthest.wording import counted, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from farthest.documents.surveys import CosetsDocument, Table
    from farthest.models.surveys import StoredSurvey
    from farthest.queries.coset_estimates import CosetEstimates

BOARDS_SHOWN = 12
COSETS_SHOWN = 40


@dataclass(frozen=True, slots=True)
class SurveyFound:
    """What the page is made of. ``hardest``: the components with the most moves; ``digest``: of a finished one;
    ``estimates``: of cosets that are a sample, or all; ``too_many``: why neither is shown."""

    stored: StoredSurvey
    starts: Starts
    totals: Mapping[int, Counts]
    hardest: Sequence[Component]
    digest: str | None
    cosets: CosetsDocument | None = None
    estimates: CosetEstimates | None = None
    too_many: str = ""


def surveys(listed: Sequence[StoredSurvey]) -> str:
    """All of them, the newest first."""
    rows = [
        (
            a(href=survey_page(each.id))[str(each.id)],
            a(href=survey_page(each.id))[each.name],
            f"{each.done:,} of {each.record.parts:,}",
            "" if each.of_cosets else f"{each.components:,}",
            f"{each.record.created:%Y-%m-%d %H:%M}",
        )
        for each in reversed(listed)
    ]
    return page(
        "Surveys",
        p[worded("Many small spaces, each with its hardest board; or cosets. `farthest survey` makes them.")],
        rows_of(
            ("survey", "set", "parts done", "kept", "created (UTC)"), rows, numbers=(0, 2, 3), second=(3, 4)
        )
        if rows
        else p["There are no surveys yet."],
    )


def survey(found: SurveyFound) -> str:
    """One; the page of one that is not finished reads itself again."""
    stored = found.stored
    rows: list[tuple[str, Node]] = [
        ("set", str(found.starts)),
        ("parts", f"{stored.done:,} of {stored.record.parts:,} done"),
        ("threads' time", seconds_text(stored.seconds)),
    ]
    if not stored.of_cosets:
        rows.append(("kept", counted(stored.components, "component")))
    if found.digest:
        rows.append(("digest", code[found.digest]))
    here = survey_page(stored.id)
    return page(
        f"Survey {stored.id}: {stored.record.name}",
        facts(rows),
        _hardest(found) if found.hardest else None,
        _totals(found) if found.totals else None,
        _cosets(found.cosets) if found.cosets else None,
        _estimates(found.estimates) if found.estimates else None,
        p[worded(found.too_many)] if found.too_many else None,
        h2["Files"],
        ul[
            (
                li[a(href=f"{here}/rows.{form}", download=True)[f"rows.{form}"], f": {told}"]
                for form, told in _FILES
            ),
            li[a(href=f"/api{here}")["the survey as JSON"]],
        ],
        scripts=[] if stored.finished else ["renew.js"],
    )


_FILES = (
    ("csv", "each component that is kept, or coset, a line"),
    ("jsonl", "the same, a JSON object on each line"),
)


def _totals(found: SurveyFound) -> Node:
    heads = ("pieces", *COUNTS)
    table = rows_of(heads, totals_rows(found.totals), numbers=range(len(heads)), second=(1, 5))
    return fragment[h2["Components by number of pieces"], table]


def _cosets(found: CosetsDocument) -> Node:
    return fragment[h2["Positions of each coset by distance"], _numbers(cosets_table(found, COSETS_SHOWN))]


def _estimates(found: CosetEstimates) -> Node:
    told = facts(estimates_facts(found))
    return fragment[h2["The whole puzzle, by these cosets"], _numbers(estimates_table(found)), told]


def _numbers(table: Table) -> Node:
    heads, rows = table
    return rows_of(heads, rows, numbers=range(1, len(heads)))


def _hardest(found: SurveyFound) -> Node:
    shown = []
    for caption, puzzle, labels in boards_of(found.starts, found.hardest):
        text = puzzle.definition.format_board(labels)
        picture = board(puzzle, labels, text)
        if not isinstance(found.starts, BlockBoards):
            picture = a(href=puzzle_page(puzzle.name))[picture]
        elif is_named(puzzle):
            picture = a(href=board_page(puzzle.name, text))[picture]
        shown.append(figure[picture, figcaption[caption]])
    return fragment[h2["Hardest boards"], div(class_="boards")[shown]]
