"""The surveys, and one of them with what it has found so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htpy import a, fragment, h2, p

from farthest.documents.surveys import (
    SURVEYS,
    cosets_document,
    cosets_table,
    estimates_facts,
    estimates_table,
    survey_facts,
    survey_rows,
    totals_table,
)
from farthest.web.page import facts, page, rows_of, survey_page, worded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htpy import Node

    from farthest.documents.surveys import Table
    from farthest.models.surveys import StoredSurvey, Surveys
    from farthest.queries.coset_estimates import CosetEstimates

COSETS_SHOWN = 40


def surveys(found: Iterable[StoredSurvey]) -> str:
    """A line for each."""
    rows: list[list[Node]] = [
        [*(a(href=survey_page(int(row[0])))[text] for text in row[:2]), *row[2:]]
        for row in survey_rows(found)
    ]
    none = p[worded("There are no surveys yet; `farthest survey` and `farthest cosets` make some.")]
    return page("Surveys", rows_of(SURVEYS, rows, numbers=(0, 2, 3, 4, 5), second=(4, 6)) if rows else none)


def survey(known: Surveys, stored: StoredSurvey, estimates: CosetEstimates | None) -> str:
    """``estimates``: of cosets at random, or of all."""
    if stored.of_cosets:
        document = cosets_document(known, stored)
        digest, table = document["digest"], cosets_table(document, COSETS_SHOWN)
    else:
        digest, table = known.digest(stored.id), totals_table(known, stored)
    return page(
        f"Survey {stored.id}: {stored.record.name}",
        facts(survey_facts(stored, digest)),
        _numbers(table) if stored.done else p["No part is done yet."],
        None if estimates is None else _estimated(estimates),
        scripts=[] if stored.finished else ["renew.js"],
    )


def too_large(stored: StoredSurvey) -> str:
    """Of cosets that are too many for a page."""
    told = f"They are too many to be shown here; `farthest surveys {stored.id}` shows them."
    return page(
        f"Survey {stored.id}: {stored.record.name}", facts(survey_facts(stored, "")[:-1]), p[worded(told)]
    )


def _numbers(table: Table) -> Node:
    heads, rows = table
    return rows_of(heads, rows, numbers=range(1, len(heads)))


def _estimated(found: CosetEstimates) -> Node:
    return fragment[
        h2["The whole puzzle, by these cosets"],
        _numbers(estimates_table(found)),
        facts(estimates_facts(found)),
    ]
