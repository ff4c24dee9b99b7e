"""The list of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htpy import Node, a, fragment, p, span

from farthest.documents.jobs import origin_text
from farthest.puzzles import catalogue
from farthest.puzzles.catalogue import matching
from farthest.web.page import job_page, jobs_page, message, page, puzzles_page, rows_of, search_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from farthest.models.job_reader import JobPage
    from farthest.models.records import JobRecord


def jobs(listed: JobPage, damages: Sequence[str], wanted: str, *, older_page: bool) -> str:
    """``wanted``: words of names and titles, or empty. ``damages``: what is wrong with jobs that cannot be listed.
    ``older_page``: whether there are newer jobs than these."""
    return page(
        f"Jobs: {wanted}" if wanted else "Jobs",
        search_form(jobs_page(), wanted),
        [message(damage) for damage in damages],
        _listed(listed, wanted, older_page=older_page),
    )


def _listed(listed: JobPage, wanted: str, *, older_page: bool) -> Node:
    newest = a(href=jobs_page(wanted))["The newest jobs"]
    if not listed.records and older_page:
        return p["There are no older jobs. ", newest]
    if not listed.records:
        return p[
            "No job has these words."
            if wanted
            else fragment[
                "There are no jobs yet. ", a(href=puzzles_page())["Choose a puzzle"], " to begin with."
            ]
        ]
    older = a(href=jobs_page(wanted, listed.older), rel="next")["Older jobs"] if listed.older else None
    ways = p[newest if older_page else None, " · " if older_page and older else None, older]
    return fragment[table_of(listed.records), ways if older_page or older else None]


def table_of(records: Iterable[JobRecord]) -> Node:
    """A line for each job."""
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
        for record in records
    ]
    headings = ("job", "puzzle", "origin", "status", "states", "depth", "created (UTC)")
    return rows_of(headings, rows, numbers=(0, 4, 5), second=(2, 6))


def is_named(record: JobRecord, wanted: str) -> bool:
    """Whether the name of a job's puzzle, or its title in the catalogue, has these words."""
    return not wanted or bool(matching(wanted, {record.name: catalogue.titles().get(record.name, "")}))
