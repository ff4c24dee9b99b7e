"""A search: its iterations and its solutions, each playable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from htpy import Node, a, details, div, fragment, h2, p, summary

from farthest.documents.jobs import progress_rows
from farthest.documents.searches import ITERATION, iteration_rows
from farthest.models.stored_job import search_parameters
from farthest.puzzles.move_text import moves_text
from farthest.web.page import board_of, facts, job_page, live, page, player, puzzle_link, rows_of
from farthest.web.pages.job import ENDABLE, record_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.models.records import IterationRecord, JobRecord
    from farthest.puzzles.definition import NamedPath
    from farthest.puzzles.puzzle import Puzzle

SOLUTIONS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Solutions:
    """Some of the solutions that are stored: those after the first ``after`` of ``listed``."""

    paths: Sequence[NamedPath]
    after: int
    listed: int


def search(
    record: JobRecord,
    puzzle: Puzzle,
    iterations: Sequence[IterationRecord],
    solutions: Solutions,
) -> str:
    """The page."""
    unfinished = record.state_now in ENDABLE
    return page(
        f"Search {record.id}: {record.name}",
        p(class_="lead")[puzzle_link(puzzle)],
        board_of(puzzle, search_parameters(record).board),
        facts(record_facts(record)),
        live(record.id, progress_rows(record)) if unfinished else None,
        fragment[
            h2["Iterations"],
            div(id="live-rows")[rows_of(ITERATION, iteration_rows(iterations), numbers=range(6))],
        ]
        if iterations or unfinished
        else None,
        _solutions(record.id, puzzle, solutions) if solutions.listed else None,
        p[a(href=f"/api{job_page(record.id)}")["This search as JSON"]],
        scripts=["player.js", "live.js"] if unfinished else ["player.js"],
    )


def _solutions(number: int, puzzle: Puzzle, found: Solutions) -> Node:
    last = found.after + len(found.paths)
    others = []
    if found.after:
        before = max(0, found.after - SOLUTIONS_SHOWN)
        others.append(a(href=job_page(number, after=str(before)), rel="prev")["Earlier solutions"])
    if last < found.listed:
        others.append(a(href=job_page(number, after=str(last)), rel="next")["More solutions"])
    which = f"Solutions {found.after + 1:,} to {last:,} of {found.listed:,}" if others else "Solutions"
    return fragment[
        h2[which if found.paths else "Solutions"],
        [_solution(puzzle, path, at == 0) for at, path in enumerate(found.paths)],
        p[((other, " ") for other in others)] if others else None,
    ]


def _solution(puzzle: Puzzle, path: NamedPath, shown: bool) -> Node:
    return details(open=shown)[
        summary[f"{len(path.moves)} moves: {moves_text(path.moves)}"],
        player(puzzle, path),
    ]
