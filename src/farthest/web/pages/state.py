"""A state: its board, its distance, every move with the distance after it, and one optimal path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htpy import a, div, figcaption, figure, fragment, h2, li, ol, p, section, strong, ul

from farthest.documents.moves import move_text, moves_text
from farthest.web.addresses import job_page, random_state, state_page
from farthest.web.page import board, page
from farthest.web.pages.job import board_form, chart_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htpy import Node

    from farthest.puzzles.definition import NamedPath
    from farthest.queries.neighbours import Neighbour
    from farthest.web.pages.job import JobFound
    from farthest.web.state import State

MOST_DRAWN = 200
"""Boards of a path that are drawn; a longer one is listed as moves."""


def state(found: JobFound, asked: State, path: NamedPath | None, scale: str) -> str:
    """``path``: one optimal solution, if it was looked for and there is one."""
    number, puzzle = found.record.id, found.puzzle
    here = state_page(number, asked.board)
    to_goal = found.record.parameters.get("direction") == "to"
    depth = asked.distance if asked.distance >= 0 else None
    return page(
        f"{found.record.name}: {_distance(asked)}",
        p[a(href=job_page(number))[f"Job {number}: {puzzle.title or found.record.name}"]],
        div(class_="state")[
            figure[board(puzzle, asked.labels, asked.board), figcaption[asked.board]],
            section(aria_labelledby="moves")[
                h2(id="moves")["Moves"],
                _moves(found, asked),
            ],
        ],
        p(class_="lead")[_sentence(asked, to_goal=to_goal, where=str(found.record.parameters.get("where")))],
        board_form(number, asked.board),
        p[
            "Random state: ",
            a(href=random_state(number), rel="nofollow")["any"],
            fragment[" · ", a(href=random_state(number, depth), rel="nofollow")[f"at distance {depth}"]]
            if depth is not None
            else None,
        ],
        _path(found, path, to_goal=to_goal) if path is not None and path.moves else None,
        h2["Among all states"],
        chart_of(found, scale, depth, here),
        p[a(href=f"/api{here}")["This state as JSON"]],
        scripts=["player.js"],
    )


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


def _moves(found: JobFound, asked: State) -> Node:
    if not asked.moves:
        return p["No move can be made on this board."]
    groups = [
        (title, [each for each in asked.moves if _kind(asked, each) == kind])
        for kind, title in (
            ("nearer", "Nearer"),
            ("same", "As far"),
            ("farther", "Farther"),
            ("none", "Without a distance"),
        )
    ]
    return fragment[
        (
            fragment[
                strong[title],
                ul(class_="moves", aria_label=title)[
                    (_move(found, each, _kind(asked, each)) for each in moves)
                ],
            ]
            for title, moves in groups
            if moves
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


def _move(found: JobFound, each: Neighbour, kind: str) -> Node:
    distance = "–" if each.distance < 0 else f"{each.distance:,}"
    return li(class_=kind)[
        a(href=state_page(found.record.id, each.board))[
            board(found.puzzle, each.labels, each.board),
            " ",
            move_text(each.move),
            " ",
            strong[distance],
        ]
    ]


def _path(found: JobFound, path: NamedPath, *, to_goal: bool) -> Node:
    """The boards in the order of the moves, each with the move that leads to it; a script makes a player of them."""
    moves = p(class_="small")[f"Moves: {moves_text(path.moves)}"]
    heading = h2["One optimal path"]
    if len(path.moves) >= MOST_DRAWN:
        return fragment[heading, moves]
    last = len(path.moves)
    steps: Iterable[tuple[str, str, list[int], int]] = (
        (
            "start" if not number else move_text(path.moves[number - 1]),
            text,
            labels,
            last - number if to_goal else number,
        )
        for number, (text, labels) in enumerate(zip(path.texts, path.boards.tolist(), strict=True))
    )
    return fragment[
        heading,
        ol(class_="path", data_player=True)[
            (
                li[
                    a(href=state_page(found.record.id, text))[
                        board(found.puzzle, labels, text, path.definition)
                    ],
                    div(class_="small")[f"{move} · {distance}"],
                ]
                for move, text, labels, distance in steps
            )
        ],
        moves,
    ]
