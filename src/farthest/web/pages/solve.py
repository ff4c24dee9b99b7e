"""A position of a puzzle that no map tells of: its moves, and the search for its shortest solution."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from htpy import (
    a,
    button,
    div,
    figcaption,
    figure,
    form,
    fragment,
    h2,
    label,
    li,
    p,
    pre,
    section,
    span,
    strong,
    ul,
)
from htpy import input as field

from farthest.drawing.page_boards import MoveLink
from farthest.puzzles.family import board_hold
from farthest.puzzles.move_text import move_text
from farthest.web.page import board_page, moving_board, page, puzzle_page, short_title, solve_page, steps
from farthest.web.pages.state import key_of
from farthest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htpy import Node

    from farthest.puzzles.definition import Board, MoveName, NamedPath
    from farthest.puzzles.puzzle import Puzzle
    from farthest.web.solving import Told

HINTS = {
    "permutation": ("R U R' U' F2", "A scramble, or a board"),
    "sliding": ("8 6 7 2 5 4 3 0 1", "The tiles in reading order, 0 for the gap; or moves"),
    "blocks": ("", "The rows of the board, with / between them; or moves"),
}
"""For each family an example, and what is to be entered."""


def solve_form(puzzle: Puzzle, value: str = "", *, may_change: bool) -> Node:
    """Takes a board, or moves that lead to it."""
    example, called = HINTS.get(puzzle.family, ("", "A board, or moves from the first one"))
    return form(method="post" if may_change else "get", action=solve_page(puzzle.name), class_="solve")[
        label(for_="board")[called],
        field(
            id="board",
            name="board",
            value=value,
            placeholder=example,
            required=True,
            maxlength="4000",
            autocomplete="off",
            spellcheck="false",
        ),
        button(type="submit", class_="main")["Solve" if may_change else "Show"],
    ]


def solve(puzzle: Puzzle, told: str, value: str, *, may_change: bool) -> str:
    """The page before a board is given. ``told``: what is wrong with ``value``; empty: nothing."""
    return page(
        f"Solve {short_title(puzzle)}",
        div(class_="message", role="alert")[told] if told else None,
        solve_form(puzzle, value, may_change=may_change),
        p[a(href=puzzle_page(puzzle.name))[puzzle.title or puzzle.name]],
    )


def position(
    puzzle: Puzzle,
    labels: Board,
    moves: Sequence[tuple[MoveName, Board]],
    told: Told | None,
    path: NamedPath | None,
    *,
    may_change: bool,
) -> str:
    """The page of a board. ``moves``: those that can be made. ``told``: what is known of its solution; None: nobody has
    asked. ``path``: the best so far."""
    text = puzzle.definition.format_board(labels)
    links = [
        MoveLink(hold, board_page(puzzle.name, after), hold.said or move_text(name), "same")
        for name, board in moves
        if (hold := board_hold(puzzle, labels, name, board)) is not None
        for after in [puzzle.definition.format_board(board)]
    ]
    here = board_page(puzzle.name, text)
    running = told is not None and not told.ended
    return page(
        f"A position of {short_title(puzzle)}",
        p[a(href=puzzle_page(puzzle.name))[puzzle.title or puzzle.name]],
        div(class_="state", data_state=True)[
            figure(data_part="board")[
                moving_board(puzzle, labels, text, links),
                figcaption[text, p["Click a piece or drag it."] if links else None],
            ],
            div(class_="beside")[
                section(
                    aria_label="State of the search",
                    data_part="status",
                    data_running=here if running else None,
                )[_status(puzzle, text, told, may_change=may_change)],
                section(data_part="line", data_moves=str(len(path.moves) if path else 0))[
                    steps(puzzle, path, lambda each: board_page(puzzle.name, each))
                    if path is not None and path.moves
                    else None
                ],
                _moves(puzzle, moves),
            ],
        ],
        h2["Another position"],
        solve_form(puzzle, may_change=may_change),
        scripts=["state.js", "solve.js"],
    )


def _moves(puzzle: Puzzle, moves: Sequence[tuple[MoveName, Board]]) -> Node:
    text = puzzle.definition.format_board
    return (
        section(aria_labelledby="moves", data_part="moves")[
            h2(id="moves")["Moves"],
            ul(class_="moves")[
                (
                    li[
                        a(
                            href=board_page(puzzle.name, text(after)),
                            data_key=key,
                            data_move=move_text(name),
                            aria_keyshortcuts=key,
                        )[move_text(name)]
                    ]
                    for name, after in moves
                    for key in [key_of(name)]
                )
            ],
        ]
        if moves
        else section(data_part="moves")
    )


def _status(puzzle: Puzzle, text: str, told: Told | None, *, may_change: bool) -> Node:
    if told is None or (told.ended and not told.optimal and not told.error):
        return fragment[_best(told) if told is not None else None, _ask(puzzle, text, may_change=may_change)]
    if told.ended:
        return p(class_="message", role="alert")[told.error] if told.error else _best(told)
    return fragment[
        _best(told) if told.moves is not None else p["Looking for a solution …"],
        p(class_="small", role="status")[
            f"{told.doing}; " if told.doing else "", counted(told.nodes, "position"), " looked at"
        ],
        form(method="post", action=f"{solve_page(puzzle.name)}/stop")[
            field(type="hidden", name="board", value=text), button(type="submit")["Stop"]
        ]
        if may_change
        else None,
    ]


def _best(told: Told) -> Node:
    length = len(told.moves or ())
    proven = "the fewest possible" if told.optimal else f"at least {told.needed} are needed"
    if not length:
        return p(class_="lead")["This is the goal."]
    return p(class_="lead")[
        strong[counted(length, "move")], f": {proven}." if told.optimal else f" so far; {proven}."
    ]


def _ask(puzzle: Puzzle, text: str, *, may_change: bool) -> Node:
    if not may_change:
        return fragment[
            p["On a command line:"], pre[f"farthest solve {shlex.quote(puzzle.name)} {shlex.quote(text)}"]
        ]
    return form(method="post", action=solve_page(puzzle.name))[
        field(type="hidden", name="board", value=text),
        button(type="submit", class_="main")["Find the shortest solution"],
        span(class_="small")["Shows the best solution so far while it searches."],
    ]
