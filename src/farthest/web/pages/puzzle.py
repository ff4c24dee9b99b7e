"""A puzzle: its boards, its definition, the moves from one of its boards, and what an enumeration will need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htpy import a, button, div, figcaption, figure, form, fragment, h2, li, p, pre, ul
from htpy import input as field

from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.moves_shown import move_text
from farthest.sizes import bytes_text
from farthest.web.addresses import job_page
from farthest.web.page import board, facts, page, rows_of
from farthest.wording import seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htpy import Node

    from farthest.coordinator.settings import Estimate
    from farthest.models.records import JobRecord
    from farthest.puzzles.definition import Board, MoveName
    from farthest.puzzles.puzzle import Puzzle

GOALS_DRAWN = 12


def puzzle(
    found: Puzzle,
    moves: Sequence[tuple[MoveName, Board]],
    needs: Estimate | str,
    jobs: Sequence[JobRecord],
    *,
    may_change: bool,
) -> str:
    """``moves``: those on the puzzle's first board. ``needs``: the estimate, or why there is none."""
    definition = found.definition
    rows: list[tuple[str, Node]] = [
        ("family", found.family),
        ("metric", found.metric),
        ("size", definition.size()),
    ]
    rows += definition.facts()
    rows += [
        ("origin", f"moves are counted {found.origin}"),
        ("arrangements", f"{definition.arrangements():,} (not all need be reachable)"),
    ]
    if found.source:
        rows.append(("source", found.source))
    return page(
        found.name,
        p(class_="lead")[found.title],
        _drawn(found),
        facts(rows),
        fragment[h2["Moves from the first board"], _moves(found, moves)] if moves else None,
        fragment[h2["Known answers"], _known(found)] if found.known else None,
        h2["What an enumeration will need"],
        p[needs] if isinstance(needs, str) else facts(_needs(needs)),
        _start(found.name) if may_change else pre[f"farthest enumerate {found.name}"],
        _jobs(jobs),
        p[a(href=f"/api/puzzles/{found.name}")["The definition as JSON"]],
    )


def _jobs(jobs: Sequence[JobRecord]) -> Node:
    listed = (li[a(href=job_page(each.id))[f"Job {each.id}"], f": {each.state_now}"] for each in jobs)
    return fragment[h2["Jobs"], ul[listed]] if jobs else None


def first_board(found: Puzzle) -> Board | None:
    """The start, else the first goal without wildcards: what is shown of a puzzle."""
    goals, start = found.definition.origin_boards
    if start is not None:
        return start
    return next((goal for goal in goals if WILDCARD not in goal), None)


def _drawn(found: Puzzle) -> Node:
    definition = found.definition
    goals, start = definition.origin_boards
    named = [("start", start)] if start is not None else []
    named += [("goal" if len(goals) == 1 else f"goal {number}", goal) for number, goal in enumerate(goals, 1)]
    return div(class_="boards")[
        (
            figure[board(found, each, definition.format_board(each)), figcaption[name]]
            for name, each in named[:GOALS_DRAWN]
        )
    ]


def _moves(found: Puzzle, moves: Sequence[tuple[MoveName, Board]]) -> Node:
    text = found.definition.format_board
    return div(class_="boards")[
        (figure[board(found, after, text(after)), figcaption[move_text(move)]] for move, after in moves)
    ]


def _known(found: Puzzle) -> Node:
    rows = []
    for known in found.known:
        for what, value in (
            ("states", known.states),
            ("eccentricity", known.eccentricity),
            ("nearest goal", known.goal),
        ):
            if value is not None:
                rows.append((what, f"{value:,}", known.source))
        for what, layers in (
            ("states at each depth", known.layers),
            ("states at the first depths", known.first_layers),
        ):
            if layers is not None:
                rows.append((what, " ".join(f"{states:,}" for states in layers), known.source))
    return rows_of(("figure", "value", "source"), rows)


def _needs(needs: Estimate) -> list[tuple[str, Node]]:
    known = "" if needs.states is None else f"; {needs.states:,} by published figures"
    rows: list[tuple[str, Node]] = [
        ("states", f"at most {needs.states_at_most:,}{known}"),
        ("memory", f"{bytes_text(needs.memory)} of {bytes_text(needs.memory_limit)} allowed"),
        ("map", f"{needs.map}{f', about {bytes_text(needs.disk)}' if needs.disk else ''}"),
    ]
    if needs.seconds is not None:
        rows.append(("time here", f"about {seconds_text(needs.seconds)}"))
    if needs.problem:
        rows.append(("does not fit", needs.problem))
    return rows


def _start(name: str) -> Node:
    return form(method="post", action="/jobs")[
        field(type="hidden", name="puzzle", value=name), button(type="submit")["Queue an enumeration"]
    ]
