"""Breadth first and A* side by side: for one board what each expands, keeps and takes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from htpy import Node, a, div, h2, p, pre, section
from markupsafe import Markup

from farthest.drawing.chart import Chart
from farthest.search.side_by_side import LISTED, MOST_BOARDS, Side, heuristic_for
from farthest.web.page import (
    board,
    board_page,
    captioned,
    compare_page,
    is_named,
    message,
    page,
    post_form,
    puzzle_page,
    rows_of,
    short_title,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle


def compare_link(puzzle: Puzzle, text: str) -> Node:
    """Leads from a board to its comparison, where there is one."""
    if not is_named(puzzle) or heuristic_for(puzzle) is None:
        return None
    return a(href=compare_page(puzzle.name, text), rel="nofollow")["Breadth first and A* side by side"]


def compare(puzzle: Puzzle, labels: Board, told: str, sides: Sequence[Side], *, may_change: bool) -> str:
    """The page. ``told``: why the board is not searched. ``sides``: what was found; none before that is asked."""
    text = puzzle.definition.format_board(labels)
    return page(
        f"Breadth first and A*: {short_title(puzzle)}",
        p[
            a(href=puzzle_page(puzzle.name))[puzzle.title or puzzle.name],
            ": ",
            a(href=board_page(puzzle.name, text))[text],
        ],
        p[
            "Both searches find a shortest solution. Breadth first expands the states, which means it looks at all "
            "moves from them, in the order of their depth. A* expands first the state whose depth and estimated "
            "distance to the goal have the least sum."
        ],
        div(class_="boards")[board(puzzle, labels, text)],
        message(told)
        if told
        else _figures(puzzle, text, sides)
        if sides
        else _ask(puzzle, text, may_change=may_change),
        div(class_="sides")[(_side(puzzle, side, sides) for side in sides)] if sides else None,
    )


def _ask(puzzle: Puzzle, text: str, *, may_change: bool) -> Node:
    if not may_change:
        return ["On a command line:", _commands(puzzle, text)]
    return post_form(compare_page(puzzle.name), "Search with both", main=True, board=text)


def _commands(puzzle: Puzzle, text: str) -> Node:
    command = f"farthest solve {shlex.quote(puzzle.name)} {shlex.quote(text)} --algorithm"
    return pre[f"{command} bfs\n{command} astar"]


def _name(side: Side) -> str:
    return "Breadth first" if side.heuristic is None else f"A* with {side.heuristic}"


def _figures(puzzle: Puzzle, text: str, sides: Sequence[Side]) -> Node:
    stopped = [_name(side) for side in sides if side.found is None]
    names = "Moves of the solution", "States expanded", "States kept in memory", "Seconds"
    rows = zip(names, *map(_told, sides), strict=True)
    return [
        rows_of(["Search", *map(_name, sides)], rows, numbers=(1, 2)),
        p(class_="small")[
            "These searches record each step. Those of the command line find the same in less time."
        ],
        [
            p(class_="message")[
                f"{' and '.join(stopped)} stopped: more than {MOST_BOARDS:,} states were found. Take a board nearer to "
                "the goal, or search on a command line:"
            ],
            _commands(puzzle, text),
        ]
        if stopped
        else None,
    ]


def _told(side: Side) -> list[str]:
    found, expanded = side.found, f"{sum(side.layers):,}"
    if found is None:
        return ["–", expanded, f"over {MOST_BOARDS:,}", "–"]
    length = "none" if found.length is None else f"{found.length:,}"
    return [length, expanded, f"{found.kept:,}", f"{found.seconds:.3g}"]


def _side(puzzle: Puzzle, side: Side, sides: Sequence[Side]) -> Node:
    depths = max(len(each.layers) for each in sides)
    layers = [*side.layers, *[0] * (depths - len(side.layers))]
    top = max(max(each.layers) for each in sides)
    estimates: Sequence[int | None] = side.estimates or [None] * LISTED
    listed = enumerate(zip(side.first, estimates, strict=False), 1)

    def drawn(number: int, labels: Board, depth: int, estimate: int | None) -> Node:
        cost = f"depth {depth}" if estimate is None else f"{depth} + {estimate} = {depth + estimate}"
        return captioned(puzzle, labels, f"{number}: {cost}")

    return section(aria_label=_name(side))[
        h2[_name(side)],
        p["States expanded at each depth, logarithmic scale:"],
        Markup(Chart(layers, logarithmic=True, top=top).part_of_page()),  # escaped where it is made
        p[
            "The first states in the order in which they are expanded",
            ":" if side.heuristic is None else ", each with depth + estimate:",
        ],
        div(class_="boards")[(drawn(number, *first, estimate) for number, (first, estimate) in listed)],
    ]
