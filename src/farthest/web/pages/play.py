"""A state to be played by the reader: the distances and the shortest way stay hidden until they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from htpy import Node, a, details, div, fragment, h2, p, section, strong, summary

from farthest.puzzles.move_text import move_text
from farthest.web.page import above, captioned, page, random_state, short_title, state_page
from farthest.web.pages.state import board_part, holds_of, moves_part, plain_moves
from farthest.wording import counted

if TYPE_CHECKING:
    from farthest.documents.maps import State
    from farthest.queries.paths import Neighbour
    from farthest.web.pages.job import JobFound


@dataclass(frozen=True, slots=True)
class Played:
    """``began``: the board, as a canonical text. ``made``: moves since. ``fewest``: that lead from there to the goal;
    ``left``: from the board now; -1: none do, None: the map does not tell. ``solved``: it is a goal."""

    began: str
    made: int
    fewest: int | None
    left: int | None
    solved: bool


def play(found: JobFound, asked: State, played: Played) -> str:
    """The page has the parts of that of a state, which the same script exchanges."""
    number, puzzle = found.record.id, found.puzzle

    def after(each: Neighbour) -> str:
        return state_page(number, each.board, play=str(played.made + 1), began=played.began)

    # In the order of their names: that of the map tells which are the best.
    moves = sorted(
        zip(asked.moves, holds_of(found, asked), strict=True), key=lambda each: move_text(each[0].move)
    )
    links, listed = plain_moves((each.move, hold, after(each)) for each, hold in moves)
    made = counted(played.made, "move")
    goals, _ = puzzle.definition.origin_boards
    return page(
        f"{short_title(puzzle)}: {'solved in ' if played.solved else ''}{made}",
        above(puzzle, found.record),
        div(class_="state", data_state=True)[
            board_part(puzzle, asked.labels, asked.board, links),
            div(class_="beside")[
                div(data_part="said")[
                    p(class_="lead")[
                        fragment["Solved in ", strong[made], "."]
                        if played.solved
                        else fragment["Bring the board to the goal. You have made ", strong[made], "."]
                    ],
                    _answer(found, played),
                    p(class_="ways")[
                        a(href=state_page(number, played.began, play="0"))["Start again"],
                        a(href=random_state(number, play="0"), rel="nofollow")["Another board"]
                        if played.left is not None
                        else None,
                    ],
                ],
                moves_part(listed),
                section(aria_labelledby="goal", class_="boards")[
                    h2(id="goal", class_="unseen")["The goal"],
                    captioned(puzzle, goals[0], "goal"),
                ],
            ],
        ],
        scripts=["state.js"],
    )


def _answer(found: JobFound, played: Played) -> Node:
    """What is hidden; of a map that is counted from the start the way to the nearest goal begins there."""
    number = found.record.id
    if played.fewest is None or played.fewest < 0:
        return None
    way = state_page(number, played.began if played.left is not None else "goal")
    return details[
        summary["Show the fewest moves"],
        p[
            "From where you began it takes ",
            strong[counted(played.fewest, "move")],
            _from_here(played.left) if played.left is not None and played.made else None,
            ". ",
            a(href=f"{way}#play")["Watch a shortest way"],
        ],
    ]


def _from_here(left: int) -> str:
    return "; from here no moves lead to the goal" if left < 0 else f"; from here {left:,}"
