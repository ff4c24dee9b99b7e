"""A search: its iterations and its solutions, each playable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htpy import a, details, div, fragment, h2, p, span, summary

from farthest.puzzles.moves_shown import moves_text
from farthest.web.addresses import job_page, puzzle_page
from farthest.web.page import board_of, facts, page, rows_of
from farthest.web.pages.path import player
from farthest.wording import seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htpy import Node

    from farthest.models.records import JobRecord
    from farthest.models.searches import IterationRecord
    from farthest.puzzles.definition import NamedPath
    from farthest.puzzles.puzzle import Puzzle

SOLUTIONS_SHOWN = 12


def search(
    record: JobRecord,
    puzzle: Puzzle,
    iterations: Sequence[IterationRecord],
    solutions: Sequence[NamedPath],
) -> str:
    """``solutions``: the first that are stored."""
    asked, result = record.parameters, record.result
    unfinished = record.state_now in ("queued", "running")
    rows: list[tuple[str, Node]] = [
        ("status", span(id="status", class_=f"status {record.state_now}")[record.state_now]),
        ("search", f"{asked['algorithm']}, heuristic {asked['heuristic']}"),
        ("target", str(asked["target"])),
        ("created", f"{record.created:%Y-%m-%d %H:%M} UTC"),
    ]
    if record.error:
        rows.append(("message", record.error))
    if result is not None:
        proven = "" if result["optimal"] else ", not proven shortest"
        length = (
            f"{result['length']}{proven}"
            if result["length"] is not None
            else "none: the board cannot be solved"
        )
        rows += [
            ("length", length),
            ("solutions", f"{result['solutions']:,}"),
            ("nodes", f"{result['nodes']:,}"),
            ("time", seconds_text(record.seconds or 0.0)),
            ("digest", span(class_="digest")[record.digest or ""]),
        ]
    return page(
        f"Search {record.id}: {record.name}",
        p(class_="lead")[a(href=puzzle_page(record.name))[puzzle.title or record.name]],
        board_of(puzzle, str(asked["board"])),
        facts(rows),
        div(id="live", data_events=f"/api/jobs/{record.id}/events", aria_live="polite")
        if unfinished
        else None,
        fragment[h2["Iterations"], _iterations(iterations)] if iterations else None,
        fragment[
            h2["Solutions"],
            [_solution(puzzle, path, number == 0) for number, path in enumerate(solutions)],
        ]
        if solutions
        else None,
        p[a(href=f"/api{job_page(record.id)}")["This search as JSON"]],
        scripts=["player.js", "live.js"] if unfinished else ["player.js"],
    )


def _iterations(iterations: Sequence[IterationRecord]) -> Node:
    rows = [
        (
            f"{one.bound}{'' if one.complete else '+'}",
            f"{one.nodes:,}",
            f"{one.nodes / one.seconds:,.0f}" if one.seconds else "",
            f"{one.solutions:,}",
            f"{one.seconds:.4f}",
        )
        for one in iterations
    ]
    return rows_of(("bound", "nodes", "nodes a second", "solutions", "seconds"), rows, numbers=range(5))


def _solution(puzzle: Puzzle, path: NamedPath, shown: bool) -> Node:
    return details(open=shown)[
        summary[f"{len(path.moves)} moves: {moves_text(path.moves)}"],
        player(puzzle, path),
    ]
