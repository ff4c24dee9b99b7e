"""A position of a puzzle that no map tells of: its moves, and the search for its shortest solution."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from htpy import Node, a, button, div, figure, form, fragment, h2, label, p, pre, section, span, strong
from htpy import input as field
from markupsafe import Markup

from farthest.drawing.page_boards import canvas_svg, value_svg
from farthest.puzzles.family import board_hold, family
from farthest.puzzles.picture import Canvas, Value
from farthest.web.page import (
    above,
    board_page,
    draw_page,
    message,
    page,
    post_form,
    short_title,
    solve_page,
    steps,
)
from farthest.web.pages.compare import compare_link
from farthest.web.pages.state import board_part, moves_part, plain_moves
from farthest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import Board, MoveName, NamedPath
    from farthest.puzzles.puzzle import Puzzle
    from farthest.web.solving import Told

HINTS = {
    "permutation": ("R U R' U' F2", "A scramble, or a board"),
    "sliding": ("8 6 7 2 5 4 3 0 1", "The tiles in reading order, 0 for the gap; or moves"),
    "blocks": ("", "The rows of the board, with / between them; or moves"),
}
"""For each family an example, and what is to be entered."""


def solve_form(puzzle: Puzzle, value: str = "", *, may_change: bool, drawing: str | None = "") -> Node:
    """Takes a board, or moves that lead to it. ``drawing``: the board from which one may go on to draw; None: that is
    done here."""
    example, called = HINTS.get(puzzle.family, ("", "A board, or moves from the first one"))
    can_draw = drawing is not None and family(puzzle.family).canvas(puzzle.definition, None) is not None
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
        a(href=draw_page(puzzle.name, drawing or ""))["Draw it"] if can_draw else None,
    ]


def solve(puzzle: Puzzle, board: Board | None, told: str | None, value: str, *, may_change: bool) -> str:
    """The page on which a board is written or drawn. ``board``: that of the text ``value``, if it is one. ``told``:
    what is wrong with it; empty: nothing; None: it is not known whether it can be solved."""
    canvas = family(puzzle.family).canvas(puzzle.definition, board)
    if canvas is not None and board is None:
        canvas = canvas.with_text(value)
    verdict = (
        message(told)
        if told
        else p[
            "It is not known whether this position can be solved."
            if told is None
            else "This position can be solved."
        ]
        if board is not None
        else p(class_="small")[_how(canvas)]
        if canvas is not None
        else None
    )
    return page(
        f"Solve {short_title(puzzle)}",
        above(puzzle),
        div(class_="state")[
            _drawing(puzzle, canvas) if canvas is not None else None,
            div(class_="beside")[
                solve_form(puzzle, value, may_change=may_change, drawing=None),
                div(data_part="verdict", aria_live="polite")[verdict],
            ],
        ],
        scripts=["canvas.js"] if canvas is not None else [],
    )


def _how(canvas: Canvas) -> str:
    if canvas.swapped:
        return (
            "Drag a piece onto another and they change places, or press one and then the other. On the keyboard: "
            "arrow keys, then what is to stand there."
        )
    if canvas.unset:
        return (
            "Choose a colour, then press the stickers or draw over them. On the keyboard: arrow keys, then the "
            "letter of the colour."
        )
    return "Press what is to change, or draw over it. On the keyboard: arrow keys and Space."


def _drawing(puzzle: Puzzle, canvas: Canvas) -> Node:
    """The board to be drawn on, which the script ``canvas.js`` shows, and the values that it takes."""
    of = family(puzzle.family)
    values = [*canvas.values, *([Value(canvas.unset, None)] if canvas.unset else [])]
    chosen = len(canvas.values) > 2 and not canvas.swapped
    fresh, solved = (
        of.canvas(puzzle.definition, each) for each in (None, puzzle.definition.origin_boards[0][0])
    )
    begins = [
        ("Clear" if canvas.unset else "Begin again", fresh),
        *([("Solved", solved)] if canvas.unset else []),
    ]
    return figure(
        hidden=True,
        data_canvas="swap" if canvas.swapped else "choose" if chosen else "change",
        data_field="board",
        data_before=canvas.before,
        data_judge=solve_page(puzzle.name),
    )[
        Markup(canvas_svg(canvas, "The board, to be drawn")),  # escaped where it is made
        div(class_="palette", role="group", aria_label="What is drawn", hidden=not chosen)[
            (
                button(
                    type="button",
                    data_token=value.token,
                    aria_label=_called(canvas, value),
                    title=_called(canvas, value),
                    aria_pressed="false",
                )[Markup(value_svg(None if value.colour is None else value)), span(class_="left")]
                for value in values
            )
        ],
        div(class_="controls")[
            (
                button(type="button", data_held=" ".join(map(str, each.held)))[text]
                for text, each in begins
                if each is not None
            )
        ],
    ]


def _called(canvas: Canvas, value: Value) -> str:
    if value.colour is None:
        return "none"
    return f"{value.token}, {value.colour}" if canvas.unset else value.token


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
    named = [
        (name, hold, board_page(puzzle.name, puzzle.definition.format_board(board)))
        for name, board in moves
        for hold in [board_hold(puzzle, labels, name, board)]
    ]
    links, listed = plain_moves(named)
    here = board_page(puzzle.name, text)
    running = told is not None and not told.ended
    return page(
        f"A position of {short_title(puzzle)}",
        above(puzzle),
        div(class_="state", data_state=True)[
            board_part(puzzle, labels, text, links),
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
                moves_part(listed) if named else section(data_part="moves"),
                p(data_part="compare")[compare_link(puzzle, text)],
            ],
        ],
        h2["Another position"],
        solve_form(puzzle, may_change=may_change, drawing=text),
        scripts=["state.js", "solve.js"],
    )


def _status(puzzle: Puzzle, text: str, told: Told | None, *, may_change: bool) -> Node:
    if told is None:
        return _ask(puzzle, text, may_change=may_change)
    if told.ended:
        return fragment[
            message(told.error) if told.error else None,
            None if told.error or told.moves is None else _best(told),
            None if told.optimal else _ask(puzzle, text, "Search again", may_change=may_change),
        ]
    return fragment[
        _best(told) if told.moves is not None else p["Looking for a solution …"],
        p(class_="small", role="status")[
            f"{told.doing}; " if told.doing else "", counted(told.nodes, "position"), " looked at"
        ],
        post_form(f"{solve_page(puzzle.name)}/stop", "Stop", board=text) if may_change else None,
    ]


def _best(told: Told) -> Node:
    length = len(told.moves or ())
    proven = "the fewest possible" if told.optimal else f"at least {told.needed} are needed"
    if not length:
        return p(class_="lead")["This is the goal."]
    return p(class_="lead")[
        strong[counted(length, "move")], f": {proven}." if told.optimal else f" so far; {proven}."
    ]


def _ask(puzzle: Puzzle, text: str, called: str = "Find the shortest solution", *, may_change: bool) -> Node:
    if not may_change:
        return fragment[
            p["On a command line:"], pre[f"farthest solve {shlex.quote(puzzle.name)} {shlex.quote(text)}"]
        ]
    said = "Shows the best solution so far while it searches."
    return post_form(solve_page(puzzle.name), called, said, main=True, board=text)
