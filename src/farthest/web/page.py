"""The frame of every page, and what several pages are made of. htpy escapes every text."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from htpy import (
    a,
    body,
    div,
    dl,
    dt,
    fragment,
    h1,
    head,
    header,
    html,
    link,
    main,
    meta,
    nav,
    p,
    script,
    table,
    tbody,
    td,
    th,
    thead,
    tr,
)
from htpy import dd as description
from htpy import title as title_
from markupsafe import Markup

from farthest.drawing.svg import part_of_page
from farthest.errors import ForbiddenCodeError
from farthest.puzzles.family import board_picture
from farthest.safe_text import safe
from farthest.web.static_files import address

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htpy import Node

    from farthest.puzzles.definition import PuzzleDefinition
    from farthest.puzzles.puzzle import Puzzle

MOST_CELLS = 4096
"""Of a board that is drawn; a larger one is shown as text."""


def page(title: str, *content: Node, scripts: Sequence[str] = ()) -> str:
    """A whole page. ``scripts``: names of modules in ``static``; pages work without them. Characters that hide or turn
    text are written as escapes, wherever they come from."""
    document = html(lang="en")[
        head[
            meta(charset="utf-8"),
            meta(name="viewport", content="width=device-width, initial-scale=1"),
            title_[f"{title} · farthest"],
            link(rel="icon", href=address("icon.svg")),
            link(rel="stylesheet", href=address("explorer.css")),
            [script(type="module", src=address(name)) for name in scripts],
        ],
        body[
            a(class_="skip", href="#content")["To the content"],
            header[nav(aria_label="Pages")[a(class_="brand", href="/")["farthest"], a(href="/#puzzles")["Puzzles"],
                                          a(href="/workers")["Workers"], a(href="/api/openapi.json")["API"]]],
            main(id="content")[h1[title], content],
        ],
    ]  # fmt: skip
    return safe(str(document))


def facts(rows: Iterable[tuple[str, Node]]) -> Node:
    """Names and values, a line each."""
    return dl(class_="facts")[((dt[name], description[value]) for name, value in rows)]


def live(number: int, rows: Sequence[tuple[str, str]]) -> Node:
    """What a job that has not ended tells, which the script ``live.js`` keeps up to date."""
    return div(id="live", data_events=f"/api/jobs/{number}/events")[
        p(class_="small", role="status", data_connection=True),
        facts(rows),
    ]


def rows_of(headings: Sequence[str], rows: Iterable[Sequence[Node]], *, numbers: Sequence[int] = ()) -> Node:
    """A table; ``numbers``: its columns of numbers."""

    def kind(column: int) -> str | None:
        return "number" if column in numbers else None

    heads = (th(scope="col", class_=kind(at))[text] for at, text in enumerate(headings))
    lines = (tr[(td(class_=kind(at))[cell] for at, cell in enumerate(row))] for row in rows)
    return div(class_="wide")[table[thead[tr[heads]], tbody[lines]]]


def board(
    puzzle: Puzzle, labels: Sequence[int], text: str, definition: PuzzleDefinition | None = None
) -> Node:
    """The picture of a board; ``text``: its canonical text, which is shown where nothing can be drawn. ``definition``:
    whose board it is, if not the puzzle's: on a path pieces keep their names."""
    if not puzzle.definition.ready or len(labels) > MOST_CELLS:
        return div(class_="text-board")[text]
    return Markup(part_of_page(board_picture(puzzle, labels, definition), text))  # escaped where it is made


def board_of(puzzle: Puzzle, text: str) -> Node:
    """The same for a canonical text."""
    if puzzle.definition.ready:
        with suppress(ForbiddenCodeError):
            return board(puzzle, puzzle.definition.parse_board(text, name=puzzle.name), text)
    return div(class_="text-board")[text]


def boards(puzzle: Puzzle, items: Iterable[tuple[str, str]]) -> Node:
    """Boards side by side, each a link: canonical texts and addresses."""
    return div(class_="boards")[(a(href=href)[board_of(puzzle, text)] for text, href in items)]


def message_page(title: str, text: str, *more: Node) -> str:
    """A page that only says something, such as why there is no other."""
    return page(title, fragment[div(class_="message", role="alert")[text], more])
