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
from farthest.models.stored_job import puzzle_of, search_parameters
from farthest.web.asking import answered
from farthest.web.page import state_page
from farthest.web.pages import home, job, search, state
from farthest.web.shelf import (
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

    from farthest.coordinator.settings import Estimate
    from farthest.models.records import JobRecord
    from farthest.puzzles.definition import Board, MoveName
    from farthest.puzzles.puzzle import Puzzle
    from farthest.web.shelf import Shelf

MOST_WORDS = 200


def _home(request: Request) -> str:
    wanted = request.query_params.get("q", "").strip()[:MOST_WORDS]
    shelf, before = shelf_of(request), number_asked(request, "before")
    listed = shelf.jobs.page(JOBS_LISTED, before, lambda record: home.is_named(record, wanted))
    return home.home(listed, damages_told(shelf, listed), wanted, older_page=before is not None)


def _job(request: Request) -> str:
    shelf, scale = shelf_of(request), scale_asked(request)
    record, after = shelf.job(number_in(request)), number_asked(request, "after") or 0
    if record.kind == SEARCH:
        return _search_page(shelf, record, after)
    return job.job(job_found(shelf, record.id, may_change=settings_of(request).allow_jobs), scale)


def _search_page(shelf: Shelf, record: JobRecord, after: int) -> str:
    from farthest.search.contract import way_of
    from farthest.search.walking import boards_along

    found, searches = puzzle_of(record), Searches(shelf.database)
    board = found.definition.parse_board(search_parameters(record).board, name=found.name)
    ways = map(way_of, searches.solutions(record.id, search.SOLUTIONS_SHOWN, after))
    solutions = [found.definition.named_path(boards_along(found, board, moves), moves) for moves in ways]
    shown = search.Solutions(solutions, after, searches.listed(record.id))
    return search.search(record, found, searches.iterations(record.id), shown)


def _state(request: Request) -> str | Response:
    board, scale = board_asked(request), scale_asked(request)
    with shelf_of(request).asked(number_in(request)) as opened:
        try:
            asked = state_of(opened, board)
        except BoardError as error:
            return HTMLResponse(job.wrong_board(opened.record, board, str(error)), 400)
        return state.state(of_map(opened), asked, path_of(opened, asked), scale)


def _random(request: Request) -> Response:
    number, depth = number_in(request), number_asked(request, "depth")
    _, boards = random_boards(shelf_of(request), number, 1, depth)
    return RedirectResponse(state_page(number, boards[0]), status_code=303)


def _layer(request: Request) -> str:
    depth, scale = number_in(request, "depth"), scale_asked(request)
    with shelf_of(request).asked(number_in(request)) as opened:
        boards = list(islice(opened.states_at(depth), job.BOARDS_SHOWN))
        return job.layer(of_map(opened), depth, boards, scale)


def _puzzle(request: Request) -> str:
    shelf, shown = shelf_of(request), puzzle_named(request.path_params["name"])
    needs: Estimate | str
    try:
        needs = estimate_of(shown, shelf.database)
    except FarthestError as error:
        needs = str(error)
    may_change = settings_of(request).allow_jobs
    return home.puzzle(shown, _moves(shown), needs, jobs_of(shelf, shown), may_change=may_change)


def _moves(shown: Puzzle) -> list[tuple[MoveName, Board]]:
    """The player's moves on the puzzle's first board; none where that cannot be said."""
    from farthest.search.expansion import forward_space

    board = home.first_board(shown)
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


def _workers(request: Request) -> str:
    return home.workers(living_workers()) if settings_of(request).redis else home.no_redis()


def _html(found: str | Response) -> Response:
    return HTMLResponse(found) if isinstance(found, str) else found


PAGES = [
    Route(path, answered(question, _html))
    for path, question in (
        ("/", _home),
        ("/jobs/{number}", _job),
        ("/jobs/{number}/state", _state),
        ("/jobs/{number}/random", _random),
        ("/jobs/{number}/layers/{depth}", _layer),
        ("/puzzles/{name}", _puzzle),
        ("/workers", _workers),
    )
]
