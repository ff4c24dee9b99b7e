"""The addresses of pages: what each asks, and which page it makes of the answer."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import numpy
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from farthest.documents.maps import path_of, state_of
from farthest.documents.workers import living_workers
from farthest.errors import BoardError, FarthestError
from farthest.models.records import SEARCH
from farthest.models.searches import Searches
from farthest.models.stored_job import puzzle_of
from farthest.web.asking import ask
from farthest.web.page import state_page
from farthest.web.pages import home, job, search, state
from farthest.web.pages import home as puzzle
from farthest.web.pages import home as workers
from farthest.web.pages import job as layer
from farthest.web.pages import job as wrong_board
from farthest.web.requests import (
    JOBS_LISTED,
    board_asked,
    damages_told,
    estimate_of,
    job_found,
    jobs_of,
    number_asked,
    number_in,
    of_map,
    puzzle_named,
    random_boards,
    scale_asked,
    settings_of,
    shelf_of,
)

if TYPE_CHECKING:
    from starlette.requests import Request

    from farthest.models.records import JobRecord
    from farthest.puzzles.definition import Board, MoveName
    from farthest.puzzles.puzzle import Puzzle
    from farthest.web.shelf import Shelf

MOST_WORDS = 200


async def _home(request: Request) -> Response:
    wanted = request.query_params.get("q", "").strip()[:MOST_WORDS]
    shelf, before = shelf_of(request), number_asked(request, "before")

    def found() -> str:
        listed = shelf.jobs.page(JOBS_LISTED, before, lambda record: home.is_named(record, wanted))
        return home.home(listed, damages_told(shelf, listed), wanted, older_page=before is not None)

    return HTMLResponse(await ask(request, found))


async def _job(request: Request) -> Response:
    shelf, number, scale = shelf_of(request), number_in(request), scale_asked(request)
    may_change = settings_of(request).allow_jobs
    after = number_asked(request, "after") or 0

    def found() -> str:
        record = shelf.job(number)
        if record.kind == SEARCH:
            return _search_page(shelf, record, after)
        return job.job(job_found(shelf, number, may_change=may_change), scale)

    return HTMLResponse(await ask(request, found))


def _search_page(shelf: Shelf, record: JobRecord, after: int) -> str:
    from farthest.search.contract import way_of
    from farthest.search.expansion import boards_along

    found, searches = puzzle_of(record), Searches(shelf.database)
    board = found.definition.parse_board(str(record.parameters["board"]), name=found.name)
    ways = map(way_of, searches.solutions(record.id, search.SOLUTIONS_SHOWN, after))
    solutions = [found.definition.named_path(boards_along(found, board, moves), moves) for moves in ways]
    shown = search.Solutions(solutions, after, searches.listed(record.id))
    return search.search(record, found, searches.iterations(record.id), shown)


async def _state(request: Request) -> Response:
    shelf, number, board, scale = (
        shelf_of(request),
        number_in(request),
        board_asked(request),
        scale_asked(request),
    )

    def found() -> Response:
        with shelf.asked(number) as opened:
            try:
                asked = state_of(opened, board)
            except BoardError as error:
                return HTMLResponse(wrong_board.wrong_board(opened.record, board, str(error)), 400)
            return HTMLResponse(state.state(of_map(opened), asked, path_of(opened, asked), scale))

    return await ask(request, found)


async def _random(request: Request) -> Response:
    shelf, number, depth = shelf_of(request), number_in(request), number_asked(request, "depth")
    _, boards = await ask(request, lambda: random_boards(shelf, number, 1, depth))
    return RedirectResponse(state_page(number, boards[0]), status_code=303)


async def _layer(request: Request) -> Response:
    shelf, number, depth, scale = (
        shelf_of(request),
        number_in(request),
        number_in(request, "depth"),
        scale_asked(request),
    )

    def found() -> str:
        with shelf.asked(number) as opened:
            boards = list(islice(opened.states_at(depth), layer.BOARDS_SHOWN))
            return layer.layer(of_map(opened), depth, boards, scale)

    return HTMLResponse(await ask(request, found))


async def _puzzle(request: Request) -> Response:
    name, shelf = request.path_params["name"], shelf_of(request)
    may_change = settings_of(request).allow_jobs

    def found() -> str:
        shown = puzzle_named(name)
        try:
            needs = estimate_of(shown, shelf.database)
        except FarthestError as error:
            return puzzle.puzzle(
                shown, _moves(shown), str(error), jobs_of(shelf, shown), may_change=may_change
            )
        return puzzle.puzzle(shown, _moves(shown), needs, jobs_of(shelf, shown), may_change=may_change)

    return HTMLResponse(await ask(request, found))


def _moves(shown: Puzzle) -> list[tuple[MoveName, Board]]:
    """The player's moves on the puzzle's first board; none where that cannot be said."""
    from farthest.search.expansion import forward_space

    board = puzzle.first_board(shown)
    if board is None or not shown.definition.has_moves or not shown.definition.ready:
        return []
    with suppress(FarthestError):
        here = numpy.array([board], dtype=numpy.uint8)
        return [
            (name, tuple(after.tolist()))
            for name, _, boards in forward_space(shown, board).neighbours(here, toward=False)
            for after in boards
        ]
    return []


async def _workers(request: Request) -> Response:
    if not settings_of(request).redis:
        return HTMLResponse(workers.no_redis())
    return HTMLResponse(await ask(request, lambda: workers.workers(living_workers())))


PAGES = [
    Route("/", _home),
    Route("/jobs/{number}", _job),
    Route("/jobs/{number}/state", _state),
    Route("/jobs/{number}/random", _random),
    Route("/jobs/{number}/layers/{depth}", _layer),
    Route("/puzzles/{name}", _puzzle),
    Route("/workers", _workers),
]
