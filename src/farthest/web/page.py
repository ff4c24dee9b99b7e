"""The frame of every page, what several pages are made of, addresses, and files of scripts and style.

htpy escapes every text."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from htpy import (
    a,
    body,
    button,
    code,
    div,
    dl,
    dt,
    figcaption,
    figure,
    form,
    fragment,
    h1,
    head,
    header,
    html,
    label,
    li,
    link,
    main,
    meta,
    nav,
    ol,
    p,
    script,
    span,
    table,
    tbody,
    td,
    th,
    thead,
    tr,
)
from htpy import dd as description
from htpy import input as field
from htpy import title as title_
from markupsafe import Markup

from farthest.drawing.page_boards import MoveLink, board_with_moves, path_frames
from farthest.drawing.svg import part_of_page
from farthest.errors import FarthestError, ForbiddenCodeError
from farthest.puzzles import catalogue
from farthest.puzzles.family import board_picture, family, step_words
from farthest.puzzles.move_text import move_text, moves_text
from farthest.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from htpy import Node

    from farthest.models.records import JobRecord
    from farthest.puzzles.definition import NamedPath
    from farthest.puzzles.puzzle import KnownAnswer, Puzzle


TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """For each name the bytes and the media type."""
    found = {}
    for file in (files("farthest.web") / "static").iterdir():
        ending = file.name[file.name.rfind(".") :]
        if ending in TYPES:
            found[file.name] = file.read_bytes(), TYPES[ending]
    return found


@cache
def version() -> str:
    """A part of their addresses: another version of the files has other addresses, so these are cached for ever."""
    digest = hashlib.sha256()
    for name, (content, _) in sorted(static_files().items()):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def address(name: str) -> str:
    """The address of one of them."""
    return f"/static/{version()}/{name}"


MOST_CELLS = 4096
"""Of a board that is drawn; a larger one is shown as text."""


_COMMAND = re.compile(r"`((?:farthest|sqlite3) [^`]*)`")


def page(title: str, *content: Node, scripts: Sequence[str] = (), heading: str | None = None) -> str:
    """A whole page. ``scripts``: names of modules in ``static``; pages work without them. ``heading``: what stands
    above the content, if that is not the title. Characters that hide or turn text are written as escapes, wherever they
    come from."""
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
            header[nav(aria_label="Pages")[a(class_="brand", href="/")["farthest"], a(href=puzzles_page())["Puzzles"],
                                          a(href=jobs_page())["Jobs"], a(href=surveys_page())["Surveys"],
                                          a(href="/workers")["Workers"],
                                          a(href="/api/openapi.json")["API"]]],
            main(id="content")[h1[title if heading is None else heading], content],
        ],
    ]  # fmt: skip
    return safe(str(document))


def worded(text: str) -> Node:
    """A text with the commands in it, which stand between backticks; a piece of a board may be a backtick too."""
    return [code[part] if number % 2 else part for number, part in enumerate(_COMMAND.split(text))]


def message(text: str) -> Node:
    """What is wrong, told to screen readers at once."""
    return div(class_="message", role="alert")[worded(text)]


def facts(rows: Iterable[tuple[str, Node]]) -> Node:
    """Names and values, a line each."""
    return dl(class_="facts")[
        ((dt[name], description[worded(value) if isinstance(value, str) else value]) for name, value in rows)
    ]


def live(number: int, rows: Sequence[tuple[str, str]]) -> Node:
    """What a job that has not ended tells, which the script ``live.js`` keeps up to date."""
    return div(id="live", data_events=f"/api/jobs/{number}/events")[
        p(class_="small", role="status", data_connection=True),
        facts(rows),
    ]


def rows_of(
    headings: Sequence[str],
    rows: Iterable[Sequence[Node]],
    *,
    numbers: Sequence[int] = (),
    second: Sequence[int] = (),
) -> Node:
    """A table; ``numbers``: its columns of numbers; ``second``: those that are left out where there is little room."""
    kinds = ((numbers, "number"), (second, "second"))

    def kind(column: int) -> str | None:
        return " ".join(name for columns, name in kinds if column in columns) or None

    heads = (th(scope="col", class_=kind(at))[text] for at, text in enumerate(headings))
    lines = (tr[(td(class_=kind(at))[cell] for at, cell in enumerate(row))] for row in rows)
    return div(class_="wide")[table[thead[tr[heads]], tbody[lines]]]


def known_source(known: KnownAnswer) -> Node:
    """Who found a known answer; the number of its sequence leads to it."""
    if not known.oeis:
        return known.source
    before, named, after = known.source.partition(known.oeis)
    return [before if named else f"{before}; OEIS ", a(href=known.oeis_address)[known.oeis], after]


def board(puzzle: Puzzle, labels: Sequence[int], text: str, *, turned: bool = False) -> Node:
    """The picture of a board; ``text``: its canonical text, which is shown where nothing can be drawn. ``turned``: the
    script ``solid.js`` lets people turn it, where the puzzle has a body."""
    if not puzzle.definition.ready or len(labels) > MOST_CELLS:
        return div(class_="text-board")[text]
    space = family(puzzle.family).in_space(puzzle.definition, [labels]) if turned else None
    return Markup(part_of_page(board_picture(puzzle, labels), text, space))  # escaped where it is made


def moving_board(puzzle: Puzzle, labels: Sequence[int], text: str, links: Sequence[MoveLink]) -> Node:
    """The same with the moves that are made on it."""
    if not links or not puzzle.definition.ready or len(labels) > MOST_CELLS:
        return board(puzzle, labels, text, turned=True)
    return Markup(board_with_moves(board_picture(puzzle, labels), links, text))  # escaped where it is made


def captioned(puzzle: Puzzle, labels: Sequence[int], caption: Node) -> Node:
    """The picture of a board, and what it is."""
    return figure[board(puzzle, labels, puzzle.definition.format_board(labels)), figcaption[caption]]


def board_of(puzzle: Puzzle, text: str) -> Node:
    """The picture of a canonical text."""
    if puzzle.definition.ready:
        with suppress(ForbiddenCodeError):
            return board(puzzle, puzzle.definition.parse_board(text, name=puzzle.name), text)
    return div(class_="text-board")[text]


def boards(puzzle: Puzzle, items: Iterable[tuple[str, str]]) -> Node:
    """Boards side by side, each a link: canonical texts and addresses."""
    return div(class_="boards")[(a(href=href)[board_of(puzzle, text)] for text, href in items)]


def post_form(action: str, called: str, said: str = "", *, main: bool = False, **fields: str) -> Node:
    """A button that changes something, and what it does in small letters. ``main``: what the page is for; ``fields``:
    what is sent with it."""
    return form(method="post", action=action)[
        (field(type="hidden", name=name, value=value) for name, value in fields.items()),
        button(type="submit", class_="main" if main else None)[called],
        span(class_="small")[said] if said else None,
    ]


def search_form(action: str, wanted: str = "", called: str = "Name") -> Node:
    """A field for words of names. ``wanted``: those that were asked."""
    return form(method="get", action=action, role="search")[
        label(for_="words")[called],
        field(id="words", name="q", type="search", value=wanted, maxlength="200"),
        button(type="submit")["Search"],
    ]


_END_OF_HEAD = re.compile(r" *[,:(;]| [A-Z]\d+:")


def short_title(puzzle: Puzzle) -> str:
    """What people call a puzzle and its variants: its title up to what tells them apart."""
    return _END_OF_HEAD.split(puzzle.title)[0] or puzzle.name


def puzzle_link(puzzle: Puzzle) -> Node:
    """The title of a puzzle; a link where its name leads to it, which those of files do not."""
    title = puzzle.title or puzzle.name
    return a(href=puzzle_page(puzzle.name))[title] if is_named(puzzle) else title


def above(puzzle: Puzzle, job: JobRecord | None = None) -> Node:
    """A line that leads from a board to the page of its puzzle, or of the job that knows it."""
    title = puzzle.title or puzzle.name
    return p[
        a(href=puzzle_page(puzzle.name))[title]
        if job is None
        else a(href=job_page(job.id))[f"Job {job.id}: {title}"]
    ]


def is_named(puzzle: Puzzle) -> bool:
    """Whether the name of a puzzle leads to it."""
    with suppress(FarthestError):
        named = catalogue.find(puzzle.name)
        return named is not None and named.digest == puzzle.digest
    return False


def message_page(title: str, text: str, *more: Node) -> str:
    """A page that only says something, such as why there is no other."""
    return page(title, fragment[message(text), more])


def jobs_page(words: str = "", before: int | None = None) -> str:
    """The jobs of puzzles whose names have these words, with numbers less than ``before``."""
    return _with(
        "/jobs", ({"q": words} if words else {}) | ({} if before is None else {"before": str(before)})
    )


def puzzles_page(words: str = "", family: str = "") -> str:
    """The catalogue, or its puzzles with these words; at one of its families."""
    return _with("/puzzles", {"q": words} if words else {}) + (f"#{family}" if family else "")


def job_page(number: int, **query: str) -> str:
    """One job."""
    return _with(f"/jobs/{number}", query)


def state_page(number: int, board: str, **query: str) -> str:
    """One state of a job's map."""
    return _with(f"/jobs/{number}/state", {"board": board, **query})


def layer_page(number: int, depth: int, **query: str) -> str:
    """The states of one depth."""
    return _with(f"/jobs/{number}/layers/{depth}", query)


def surveys_page() -> str:
    """The surveys."""
    return "/surveys"


def survey_page(number: int) -> str:
    """One survey."""
    return f"{surveys_page()}/{number}"


def random_state(number: int, depth: int | None = None, **query: str) -> str:
    """Leads to any state, or to any of one depth."""
    return _with(f"/jobs/{number}/random", query if depth is None else {"depth": str(depth), **query})


def puzzle_page(name: str) -> str:
    """One puzzle of the catalogue, or of a parametric name."""
    return f"/puzzles/{quote(name, safe='')}"


def solve_page(name: str) -> str:
    """Where boards of a puzzle are given to be solved."""
    return f"{puzzle_page(name)}/solve"


def draw_page(name: str, board: str = "") -> str:
    """Where a board of a puzzle is drawn, perhaps from another one on."""
    return _with(solve_page(name), {"draw": board} if board else {})


def compare_page(name: str, board: str = "") -> str:
    """Breadth first and A* side by side, from a board of a puzzle."""
    return _with(f"{puzzle_page(name)}/compare", {"board": board} if board else {})


def board_page(name: str, text: str) -> str:
    """One board of a puzzle, whatever maps there are."""
    steps = {".", ".."}.intersection(text.split("/"))  # what browsers take rows of dots alone for
    return f"{puzzle_page(name)}/{quote(text, safe='' if steps else '/')}"


def box_page(fields: dict[str, str] | None = None, path: str = "/box") -> str:
    """Where a box of sliding blocks is drawn, perhaps with some fields of its form."""
    return _with(path, fields or {})


def own_page() -> str:
    """Where a puzzle's file or a group's generators are pasted."""
    return "/own"


def _with(path: str, query: dict[str, str]) -> str:
    return f"{path}?{urlencode(query, safe='/')}" if query else path


MOST_DRAWN = 200
"""Boards of a path that are drawn; of a longer one only the moves are told."""


def player(puzzle: Puzzle, path: NamedPath) -> Node:
    """The boards in the order of the moves, one at a time."""
    if (
        len(path.boards) > MOST_DRAWN
        or path.boards.size > MOST_DRAWN * MOST_CELLS
        or not puzzle.definition.ready
    ):
        return p(class_="small")[moves_text(path.moves)]
    drawn = path_frames(puzzle, path)
    return div(class_="player")[
        figure(class_="frames")[Markup(drawn.svg)],  # escaped where it is made
        steps(puzzle, path, changes=["", *drawn.changes]),
    ]


def steps(
    puzzle: Puzzle,
    path: NamedPath,
    page_of: Callable[[str], str] | None = None,
    *,
    changes: Sequence[str | None] = (),
) -> Node:
    """The moves of a path as a list. ``page_of``: the address of the board after it, to which each is a link; else each
    has its board. ``changes``: what each changes in a picture of all boards."""

    def step(number: int, text: str, said: str, name: str) -> Node:
        title = name if name != said else None
        shown = span(title=title)[said] if page_of is None else a(href=page_of(text), title=title)[said]
        own_board = text if page_of is None else None
        return li(data_board=own_board, data_change=changes[number] if changes else None)[shown]

    words, names = ["start", *step_words(puzzle, path)], ["start", *map(move_text, path.moves)]
    rows = zip(path.texts, words, names, strict=True)
    return ol(class_="path", data_player=True)[(step(number, *row) for number, row in enumerate(rows))]
