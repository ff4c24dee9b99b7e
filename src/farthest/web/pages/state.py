"""A state: its board, its distance, every move with the distance after it, and one optimal path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htpy import Node, a, div, figcaption, figure, fragment, h2, li, p, section, small, strong, ul

from farthest.drawing.page_boards import MoveLink
from farthest.puzzles.family import board_hold
from farthest.puzzles.move_text import move_text
from farthest.web.page import MOST_CELLS, above, moving_board, page, random_state, state_page, steps
from farthest.web.pages.compare import compare_link
from farthest.web.pages.job import JobFound, board_form, chart_of, may_play

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from farthest.documents.maps import State
    from farthest.puzzles.definition import MoveName, NamedPath
    from farthest.puzzles.picture import Hold
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.paths import Neighbour


_NAME = re.compile(r"([A-Za-z])('?)")


def key_of(move: MoveName) -> str | None:
    """As ``aria-keyshortcuts`` writes it: ``R`` for the move R, ``Shift+R`` for R'; None: no key makes it."""
    found = _NAME.fullmatch(move) if isinstance(move, str) else None
    return None if found is None else f"Shift+{found[1].upper()}" if found[2] else found[1].upper()


GROUPS = {"nearer": "Nearer", "same": "As far", "farther": "Farther", "none": "Without a distance"}


def state(found: JobFound, asked: State, path: NamedPath | None, scale: str) -> str:
    """``path``: one optimal solution, if it was looked for and there is one."""
    number, puzzle = found.record.id, found.puzzle
    here = state_page(number, asked.board)
    to_goal = found.record.parameters.get("direction") == "to"
    depth = asked.distance if asked.distance >= 0 else None
    holds = holds_of(found, asked)
    return page(
        f"{found.record.name}: {_distance(asked)}",
        above(puzzle, found.record),
        div(class_="state", data_state=True)[
            board_part(puzzle, asked.labels, asked.board, _links(found, asked, holds)),
            div(class_="beside")[
                p(class_="lead", data_part="said")[
                    _sentence(asked, to_goal=to_goal, where=str(found.record.parameters.get("where")))
                ],
                _path(found, path),
                moves_part(_moves(found, asked, holds)),
            ],
        ],
        div(data_part="rest")[
            board_form(number, asked.board),
            p(class_="ways")[
                a(href=random_state(number), rel="nofollow")["A random state"],
                a(href=random_state(number, depth), rel="nofollow")[f"One at distance {depth}"]
                if depth is not None
                else None,
                a(href=state_page(number, asked.board if to_goal else "start", play="0"))["Play it yourself"]
                if may_play(found.record)
                else None,
                compare_link(puzzle, asked.board),
            ],
            h2["Among all states"],
            chart_of(found, scale, depth, here),
            p[a(href=f"/api{here}")["This state as JSON"]],
        ],
        scripts=["state.js"],
    )


def board_part(puzzle: Puzzle, labels: Sequence[int], text: str, links: Sequence[MoveLink]) -> Node:
    """The part of a page that is the board with its moves."""
    return figure(data_part="board")[
        moving_board(puzzle, labels, text, links),
        figcaption[text, p["Click a piece or drag it."] if links else None],
    ]


def moves_part(moves: Node) -> Node:
    """The part that lists them."""
    return section(aria_labelledby="moves", data_part="moves")[h2(id="moves")["Moves"], moves]


def plain_moves(
    moves: Iterable[tuple[MoveName, Hold | None, str]],
) -> tuple[list[MoveLink], Node]:
    """Moves with their addresses, of which no distance is told: those of the board, and the list."""
    named = list(moves)
    links = [
        MoveLink(hold, href, words_of(move, hold), "same") for move, hold, href in named if hold is not None
    ]
    return links, ul(class_="moves")[(move_item(move, hold, href, "none") for move, hold, href in named)]


def _distance(asked: State) -> str:
    return "no distance" if asked.distance < 0 else f"distance {asked.distance}"


def _sentence(asked: State, *, to_goal: bool, where: str) -> Node:
    if asked.distance < 0:
        return fragment["This board has no distance: ", str(asked.answer["reason"]), "."]
    moves = "1 move" if asked.distance == 1 else f"{asked.distance:,} moves"
    count = (
        ""
        if asked.solutions is None
        else "; 1 optimal solution"
        if asked.solutions == 1
        else f"; {asked.solutions:,} optimal solutions"
    )
    return fragment[strong[moves], f" {'to' if to_goal else 'from'} {where}{count}."]


def holds_of(found: JobFound, asked: State) -> list[Hold | None]:
    """For each move where the board is taken; nowhere where it is not drawn."""
    if not found.puzzle.definition.ready or len(asked.labels) > MOST_CELLS:
        return [None] * len(asked.moves)
    return [board_hold(found.puzzle, asked.labels, each.move, each.labels) for each in asked.moves]


def _links(found: JobFound, asked: State, holds: Sequence[Hold | None]) -> list[MoveLink]:
    return [
        MoveLink(hold, state_page(found.record.id, each.board), _said(each, hold), _kind(asked, each))
        for each, hold in zip(asked.moves, holds, strict=True)
        if hold is not None
    ]


def _said(each: Neighbour, hold: Hold | None) -> str:
    distance = "no distance" if each.distance < 0 else f"distance {each.distance:,}"
    return f"{words_of(each.move, hold)}, {distance}"


def words_of(move: MoveName, hold: Hold | None) -> str:
    """A move as people say it."""
    return (hold.said if hold is not None else "") or move_text(move)


def _moves(found: JobFound, asked: State, holds: Sequence[Hold | None]) -> Node:
    if not asked.moves:
        return p["No move can be made on this board."]
    moves = [(each, hold, _kind(asked, each)) for each, hold in zip(asked.moves, holds, strict=True)]
    groups = {kind: [each for each in moves if each[2] == kind] for kind in GROUPS}
    return fragment[
        (
            fragment[
                strong[GROUPS[kind]],
                ul(class_="moves", aria_label=GROUPS[kind])[
                    (
                        move_item(
                            each.move, hold, state_page(found.record.id, each.board), kind, _after(each)
                        )
                        for each, hold, kind in members
                    )
                ],
            ]
            for kind, members in groups.items()
            if members
        )
    ]


def _kind(asked: State, each: Neighbour) -> str:
    if each.distance < 0 or asked.distance < 0:
        return "none" if each.distance < 0 else "nearer"
    return (
        "nearer"
        if each.distance < asked.distance
        else "same"
        if each.distance == asked.distance
        else "farther"
    )


def _after(each: Neighbour) -> Node:
    return fragment[" ", strong["–" if each.distance < 0 else f"{each.distance:,}"]]


def move_item(move: MoveName, hold: Hold | None, href: str, kind: str, distance: Node = None) -> Node:
    """A move as an item of a list. ``distance``: after it, where that is told."""
    words, name, key = words_of(move, hold), move_text(move), key_of(move)
    return li(class_=kind)[
        a(href=href, data_key=key, data_move=name, aria_keyshortcuts=key)[
            words, small[f" {name}"] if words != name else None, distance
        ]
    ]


def _path(found: JobFound, path: NamedPath | None) -> Node:
    if path is None or not path.moves:
        return section(data_part="line")
    return section(aria_labelledby="line", data_part="line")[
        h2(id="line")["One of the shortest ways"],
        steps(found.puzzle, path, lambda text: state_page(found.record.id, text)),
    ]
