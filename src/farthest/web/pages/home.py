"""The first page, for somebody who has never heard of it; workers; the form for the token."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from htpy import a, button, div, form, fragment, h2, label, p, ul
from htpy import input as field
from markupsafe import Markup

from farthest.documents.workers import WORKER, WorkersDocument, worker_rows
from farthest.puzzles import catalogue
from farthest.search.walking import boards_along
from farthest.web.page import (
    box_page,
    jobs_page,
    message,
    own_page,
    page,
    player,
    puzzle_page,
    puzzles_page,
    rows_of,
    search_form,
    worded,
)
from farthest.web.pages.jobs import table_of
from farthest.web.pages.puzzles import card
from farthest.wording import bytes_text, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.models.records import JobRecord

CARDS = (
    ("red-donkey", "Klotski", "Get the large block out."),
    ("8-puzzle", "8-puzzle, 15-puzzle", "Slide the tiles into order."),
    ("rush-hour-60", "Rush Hour", "Free the car."),
    ("cube-3x3x3", "Rubik's Cube", "And its relatives, from 2x2x2 to Megaminx."),
    ("pegs-triangle-15", "Peg solitaire", "Jump until one peg is left."),
    ("pancake-7", "Pancakes", "Sort the stack by turning its top over."),
    ("hanoi-3-5", "Tower of Hanoi", "Carry the tower, disc by disc."),
    ("mathieu-m12", "Groups", "How far is each element from one?"),
)
"""Names of puzzles, what people call them, what one does."""

HARDEST, WAY = "867254301", "4125436785430125476301476301258"
"""A board, and the cells that are empty after each move of a solution."""


def home(running: Sequence[JobRecord], *, may_change: bool) -> str:
    """``running``: jobs that run now, newest first. ``may_change``: whether this reader may have a board solved."""
    return page(
        "The hardest positions of puzzles",
        div(class_="two hero")[
            div[
                p(class_="lead")[
                    "farthest looks at every position of a puzzle, says which are the hardest, and shows a "
                    "shortest solution of each."
                ],
                search_form(puzzles_page(), called="Which puzzle have you got?"),
                form(method="get", action=f"{puzzle_page('cube-3x3x3')}/solve")[
                    button(type="submit", hidden=True)[
                        "Show"
                    ],  # the first one: Enter in the field presses it
                    label(for_="scramble")["A scrambled cube?"],
                    field(
                        id="scramble",
                        name="board",
                        placeholder="R U R' U' F2 D",
                        required=True,
                        maxlength="400",
                        autocomplete="off",
                    ),
                    button(type="submit", formmethod="post" if may_change else None)[
                        "Solve" if may_change else "Show"
                    ],
                ],
            ],
            _moving(),
        ],
        ul(class_="catalogue families")[(card(*each) for each in CARDS)],
        p(class_="ways")[
            a(href=puzzles_page())[f"All {len(catalogue.names())} puzzles, and any size of your own"],
            a(href=box_page())["Draw a box of sliding blocks"],
            a(href=own_page())["Paste a group or a puzzle's file"],
        ],
        fragment[h2["Running now"], table_of(running), p[a(href=jobs_page())["All jobs"]]]
        if running
        else None,
        scripts=["player.js"],
    )


@cache
def _moving() -> Markup:
    """The solution of one of the hardest boards of the 8-puzzle."""
    puzzle = catalogue.load("8-puzzle")
    start = puzzle.definition.parse_board(HARDEST)
    blank = [start.index(0), *map(int, WAY)]
    moves = [(after, before) for before, after in pairwise(blank)]
    path = puzzle.definition.named_path(boards_along(puzzle, start, moves), moves)
    shown = div(class_="moving-picture", data_plays=True)[
        player(puzzle, path),
        p(class_="small")[
            f"One of the two hardest positions of the 8-puzzle: it takes {len(moves)} moves, and none takes more."
        ],
    ]
    return Markup(str(shown))


def workers(found: WorkersDocument) -> str:
    """What Redis tells of them."""
    return page(
        "Workers",
        rows_of(WORKER, worker_rows(found.workers), numbers=(2, 3))
        if found.workers
        else p[worded("No worker is alive; `farthest worker` starts one.")],
        p[f"Queue: {counted(found.queue, 'step')} that no worker has begun."],
        [p[f"Redis: {bytes_text(node.used)} used, {bytes_text(node.peak)} at most."] for node in found.redis],
        scripts=["renew.js"],
    )


def no_redis() -> str:
    """What the page says where the server was given no Redis."""
    return page("Workers", p["This server was started without FARTHEST_REDIS_URL, so it cannot see workers."])


def sign_in(told: str = "") -> str:
    """``told``: why an attempt was refused."""
    return page(
        "Sign in",
        message(told) if told else None,
        p["Enter the token that this server was started with, the value of FARTHEST_WEB_TOKEN."],
        form(method="post", action="/sign-in")[
            # Without a name, a browser that keeps passwords does not know whose this is.
            field(type="text", name="name", value="farthest", autocomplete="username", hidden=True),
            label(for_="token")["Token"],
            field(id="token", name="token", type="password", required=True, autocomplete="current-password"),
            button(type="submit")["Sign in"],
        ],
    )
