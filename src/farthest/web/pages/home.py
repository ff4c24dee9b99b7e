"""The first page, which lists jobs and the catalogue; puzzles; workers; the form for the token."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from htpy import a, button, div, figcaption, figure, form, fragment, h2, label, li, p, pre, span, ul
from htpy import input as field
from markupsafe import Markup

from farthest.documents.jobs import origin_text
from farthest.documents.puzzles import estimate_rows, known_rows, named_boards, puzzle_rows, states_text
from farthest.documents.workers import WORKER, worker_rows
from farthest.puzzles import catalogue
from farthest.puzzles.catalogue import matching
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.move_text import move_text
from farthest.web.page import board, facts, home_page, job_page, page, puzzle_page, rows_of
from farthest.wording import bytes_text, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htpy import Node

    from farthest.coordinator.settings import Estimate
    from farthest.documents.workers import WorkersDocument
    from farthest.models.job_reader import JobPage
    from farthest.models.records import JobRecord
    from farthest.puzzles.definition import Board, MoveName
    from farthest.puzzles.puzzle import Puzzle


def home(listed: JobPage, damages: Sequence[str], wanted: str, *, older_page: bool) -> str:
    """``wanted``: words of names and titles, or empty. ``damages``: what is wrong with jobs that cannot be listed.
    ``older_page``: whether there are newer jobs than these."""
    names = catalogue.search(wanted) if wanted else catalogue.names()
    other = catalogue.search_forms(wanted) if wanted else catalogue.forms()
    return page(
        f"Jobs and puzzles: {wanted}" if wanted else "Jobs and puzzles",
        form(method="get", action="/", role="search")[
            label(for_="words")["Name"],
            field(id="words", name="q", type="search", value=wanted, maxlength="200"),
            button(type="submit")["Search"],
        ],
        [p(class_="message", role="alert")[damage] for damage in damages],
        h2["Jobs"],
        _jobs(listed, wanted, older_page=older_page),
        h2(id="puzzles")["Puzzles"],
        p["No puzzle of the catalogue has these words."] if not names and not other else None,
        ul(class_="catalogue")[(_card(name) for name in names)],
        p["Other sizes have names too: ", ", ".join(other), "."] if other else None,
    )


def _jobs(listed: JobPage, wanted: str, *, older_page: bool) -> Node:
    newest = a(href=home_page(wanted))["The newest jobs"]
    if not listed.records and older_page:
        return p["There are no older jobs. ", newest]
    if not listed.records:
        return p[
            "No job has these words."
            if wanted
            else "There are no jobs yet: `farthest enumerate PUZZLE` makes one."
        ]
    rows = [
        (
            a(href=job_page(record.id))[str(record.id)],
            a(href=job_page(record.id))[record.name],
            origin_text(record),
            span(class_=f"status {record.state_now}")[record.state_now],
            "" if record.states is None else f"{record.states:,}",
            "" if record.depth is None else f"{record.depth}{'' if record.complete else '+'}",
            f"{record.created:%Y-%m-%d %H:%M}",
        )
        for record in listed.records
    ]
    headings = ("job", "puzzle", "origin", "status", "states", "depth", "created (UTC)")
    older = a(href=home_page(wanted, listed.older), rel="next")["Older jobs"] if listed.older else None
    ways = p[newest if older_page else None, " · " if older_page and older else None, older]
    return fragment[rows_of(headings, rows, numbers=(0, 4, 5)), ways if older_page or older else None]


def is_named(record: JobRecord, wanted: str) -> bool:
    """Whether the name of a job's puzzle, or its title in the catalogue, has these words."""
    return not wanted or bool(matching(wanted, {record.name: _titles().get(record.name, "")}))


@cache
def _titles() -> dict[str, str]:
    return catalogue.titles()


@cache
def _card(name: str) -> Markup:
    """A puzzle of the catalogue, which does not change while the server runs, as HTML."""
    puzzle = catalogue.load(name)
    card = li[
        a(href=puzzle_page(name))[
            _picture(puzzle),
            span(class_="name")[name],
            span[puzzle.title],
            div(class_="small")[f"{states_text(puzzle)} states"],
        ]
    ]
    return Markup(str(card))


def _picture(puzzle: Puzzle) -> Node:
    goals, start = puzzle.definition.origin_boards
    first = start if start is not None else next(iter(goals), None)
    return None if first is None else board(puzzle, first, puzzle.definition.format_board(first))


GOALS_DRAWN = 12


def puzzle(
    found: Puzzle,
    moves: Sequence[tuple[MoveName, Board]],
    needs: Estimate | str,
    jobs: Sequence[JobRecord],
    *,
    may_change: bool,
) -> str:
    """``moves``: those on the puzzle's first board. ``needs``: the estimate, or why there is none."""
    rows = [*puzzle_rows(found), *([("source", found.source)] if found.source else [])]
    return page(
        found.name,
        p(class_="lead")[found.title],
        _drawn(found),
        facts(rows),
        fragment[h2["Moves from the first board"], _moves(found, moves)] if moves else None,
        fragment[h2["Known answers"], _known(found)] if found.known else None,
        h2["What an enumeration will need"],
        p[needs] if isinstance(needs, str) else facts(estimate_rows(needs)),
        _start(found.name) if may_change else pre[f"farthest enumerate {found.name}"],
        _jobs_of_puzzle(jobs),
        p[a(href=f"/api/puzzles/{found.name}")["The definition as JSON"]],
    )


def _jobs_of_puzzle(jobs: Sequence[JobRecord]) -> Node:
    listed = (li[a(href=job_page(each.id))[f"Job {each.id}"], f": {each.state_now}"] for each in jobs)
    return fragment[h2["Jobs"], ul[listed]] if jobs else None


def first_board(found: Puzzle) -> Board | None:
    """The start, else the first goal without wildcards: what is shown of a puzzle."""
    goals, start = found.definition.origin_boards
    if start is not None:
        return start
    return next((goal for goal in goals if WILDCARD not in goal), None)


def _drawn(found: Puzzle) -> Node:
    text = found.definition.format_board
    return div(class_="boards")[
        (
            figure[board(found, each, text(each)), figcaption[name]]
            for name, each in named_boards(found)[:GOALS_DRAWN]
        )
    ]


def _moves(found: Puzzle, moves: Sequence[tuple[MoveName, Board]]) -> Node:
    text = found.definition.format_board
    return div(class_="boards")[
        (figure[board(found, after, text(after)), figcaption[move_text(move)]] for move, after in moves)
    ]


def _known(found: Puzzle) -> Node:
    rows = [(name, value, known.source) for known in found.known for name, value in known_rows(found, known)]
    return rows_of(("figure", "value", "source"), rows)


def _start(name: str) -> Node:
    return form(method="post", action="/jobs")[
        field(type="hidden", name="puzzle", value=name), button(type="submit")["Queue an enumeration"]
    ]


def workers(found: WorkersDocument) -> str:
    """What Redis tells of them."""
    return page(
        "Workers",
        rows_of(WORKER, worker_rows(found.workers), numbers=(2, 3))
        if found.workers
        else p["No worker is alive; `farthest worker` starts one."],
        p[f"Queue: {counted(found.queue, 'step')} that no worker has begun."],
        [p[f"Redis: {bytes_text(node.used)} used, {bytes_text(node.peak)} at most."] for node in found.redis],
        scripts=["renew.js"],
    )


def no_redis() -> str:
    """What the page says where the server was given no Redis."""
    return page(
        "Workers", p["This server was started without FARTHEST_REDIS_URL, so it knows of no workers."]
    )


def sign_in(told: str = "") -> str:
    """``told``: why an attempt was refused."""
    return page(
        "Sign in",
        p(class_="message", role="alert")[told] if told else None,
        p["Enter the token that this server was started with, the value of FARTHEST_WEB_TOKEN."],
        form(method="post", action="/sign-in")[
            # Without a name, a browser that keeps passwords does not know whose this is.
            field(type="text", name="name", value="farthest", autocomplete="username", hidden=True),
            label(for_="token")["Token"],
            field(id="token", name="token", type="password", required=True, autocomplete="current-password"),
            button(type="submit")["Sign in"],
        ],
    )
