"""A solution: its moves as a list, of which a script makes a player that shows the boards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htpy import a, figure, fragment, li, ol, p
from markupsafe import Markup

from farthest.drawing.frames import frames
from farthest.puzzles.family import board_picture
from farthest.puzzles.moves_shown import move_text, moves_text
from farthest.web.page import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htpy import Node

    from farthest.puzzles.definition import NamedPath
    from farthest.puzzles.puzzle import Puzzle

MOST_DRAWN = 200
"""Boards of a path that are drawn; of a longer one only the moves are told."""


def player(
    puzzle: Puzzle,
    path: NamedPath,
    page_of: Callable[[str], str] | None = None,
    distances: Sequence[int] | None = None,
) -> Node:
    """The boards in the order of the moves. ``page_of``: the address of a board's page; ``distances``: of the
    boards."""
    if (
        len(path.boards) > MOST_DRAWN
        or path.boards.size > MOST_DRAWN * MOST_CELLS
        or not puzzle.definition.ready
    ):
        return p(class_="small")[moves_text(path.moves)]
    boards, texts = path.boards.tolist(), path.texts
    drawn = frames([board_picture(puzzle, board, path.definition) for board in boards], texts[0])
    names = ["start", *map(move_text, path.moves)]
    changes = ["", *drawn.changes]
    steps = enumerate(zip(names, texts, changes, strict=True))
    return fragment[
        figure(class_="frames", hidden=True)[Markup(drawn.svg)],  # escaped where it is made
        ol(class_="path small", data_player=True)[
            (
                li(data_board=text, data_change=change)[
                    name if page_of is None else a(href=page_of(text))[name],
                    "" if distances is None else f" · {distances[number]}",
                ]
                for number, (name, text, change) in steps
            )
        ],
    ]
