"""The addresses of pages: what each asks, and which page it makes of the answer."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from farthest.coordinator.search.choice import map_to
from farthest.documents.maps import State, path_of, state_of
from farthest.documents.surveys import cosets_document
from farthest.documents.workers import living_workers
from farthest.errors import BoardError, FarthestError, JobError
from farthest.models.records import QUEUED, RUNNING, SEARCH, JobRecord
from farthest.models.searches import Searches
from farthest.models.stored_job import puzzle_of, search_parameters
from farthest.models.surveys import StoredSurvey, Surveys
from farthest.puzzles import catalogue
from farthest.puzzles.definition import Board, MoveName, matching
from farthest.puzzles.family import UndecidedError, board_given
from farthest.search.solvable import why_unsolvable_at_once
from farthest.web.asking import answered
from farthest.web.change_routes import comparison, local_jobs, solvings
from farthest.web.gate import may_change
from farthest.web.page import board_page, own_page, puzzle_page, state_page
from farthest.web.pages import box, home, job, jobs, own, play, puzzles, search, solve, state, surveys
from farthest.web.pages.box import BoxFound
from farthest.web.pages.puzzles import PuzzleFound
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
    too_many_cosets,
)

if TYPE_CHECKING:
    from starlette.requests import Request

    from farthest.coordinator.settings import Estimate
    from farthest.models.database import Database
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.distance_map import DistanceMap
    from farthest.web.shelf import Shelf

MOST_CHARACTERS = 200
"""Characters of a search."""


RUNNING_SHOWN = 5
"""Running jobs on the first page."""


def _home(request: Request) -> str:
    return home.home(
        shelf_of(request).jobs.page(RUNNING_SHOWN, fits=lambda job: job.state_now == RUNNING).records,
        may_change=may_change(request),
    )


def _words(request: Request) -> str:
    return request.query_params.get("q", "").strip()[:MOST_CHARACTERS]


def _jobs(request: Request) -> str:
    shelf, before, wanted = shelf_of(request), number_asked(request, "before"), _words(request)
    listed = shelf.jobs.page(JOBS_LISTED, before, lambda record: jobs.is_named(record, wanted))
    return jobs.jobs(listed, damages_told(shelf, listed), wanted, older_page=before is not None)


def _surveys(request: Request) -> str:
    return surveys.surveys(Surveys(shelf_of(request).database).all())


def _survey(request: Request) -> str:
    database, number = shelf_of(request).database, number_in(request)
    known = Surveys(database)
    stored = known.get(number)
    if stored.of_cosets:
        return surveys.survey(_cosets_found(known, stored, database))
    totals, digest = known.totals_and_digest(number)
    hardest = known.top(number, "moves", surveys.BOARDS_SHOWN)
    return surveys.survey(
        surveys.SurveyFound(stored, stored.starts, totals, hardest, digest if stored.finished else None)
    )


def _cosets_found(known: Surveys, stored: StoredSurvey, database: Database) -> surveys.SurveyFound:
    found = surveys.SurveyFound(stored, stored.starts, {}, [], None, too_many=too_many_cosets(stored))
    if found.too_many:
        return found
    from farthest.queries.coset_estimates import estimates, known_layers

    estimated = None
    with suppress(JobError):  # too few cosets, or such that are no sample
        estimated = estimates(known, stored, known_layers((), stored, database))
    document = cosets_document(known, stored)
    digest = document["digest"] if stored.finished else None
    return replace(found, digest=digest, cosets=document, estimates=estimated)


def _puzzles(request: Request) -> str | Response:
    """The name of a puzzle of any size leads to its page."""
    wanted = _words(request)
    with suppress(FarthestError):
        if wanted and (found := catalogue.find(wanted) or catalogue.called(wanted)) is not None:
            return RedirectResponse(puzzle_page(found.name), status_code=303)
    return puzzles.puzzles(wanted)


def _job(request: Request) -> str:
    shelf, scale = shelf_of(request), scale_asked(request)
    record, after = shelf.job(number_in(request)), number_asked(request, "after") or 0
    if record.kind == SEARCH:
        return _search_page(shelf, record, after)
    waits_for = local_jobs(request).waits_for(record.id) if record.status == QUEUED else ""
    return job.job(
        replace(job_found(shelf, record.id), may_change=may_change(request), waits_for=waits_for), scale
    )


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
        made = number_asked(request, "play", most=MOST_MADE)
        if made is not None and job.may_play(opened.record):
            return play.play(of_map(opened), asked, _played(request, opened, asked, made))
        return state.state(of_map(opened), asked, path_of(opened, asked), scale)


MOST_MADE = 1_000_000
"""Moves of a reader who plays."""


def _played(request: Request, opened: DistanceMap, asked: State, made: int) -> play.Played:
    """What is known of a board that is played. Raises BoardError."""
    began = opened.text(request.query_params.get("began", asked.board))
    if opened.record.parameters.get("direction") == "to":
        return play.Played(began, made, opened.distance(began), asked.distance, solved=asked.distance == 0)
    goals, _ = opened.puzzle.definition.origin_boards
    solved = matching(numpy.array([asked.labels], dtype=numpy.uint8), goals)[0]
    return play.Played(began, made, opened.distance("goal"), None, solved=bool(solved))


def _random(request: Request) -> Response:
    number, depth = number_in(request), number_asked(request, "depth")
    played = {"play": "0"} if "play" in request.query_params else {}
    _, boards = random_boards(shelf_of(request), number, 1, depth, solved=not played)
    return RedirectResponse(state_page(number, boards[0], **played), status_code=303)


MOST_SKIPPED = 1_000_000
"""Boards of a layer before those that are shown."""


def _layer(request: Request) -> str:
    depth, scale = number_in(request, "depth"), scale_asked(request)
    after = number_asked(request, "after", 0, MOST_SKIPPED) or 0
    with shelf_of(request).asked(number_in(request)) as opened:
        boards = list(islice(opened.states_at(depth), after, after + job.BOARDS_SHOWN))
        return job.layer(of_map(opened), depth, boards, after, scale)


def _puzzle(request: Request) -> str:
    shelf, shown = shelf_of(request), puzzle_named(request.path_params["name"])
    needs = _needs(request, shown)
    return puzzles.puzzle(
        PuzzleFound(shown, _moves(shown), needs, jobs_of(shelf, shown), may_change(request))
    )


def _needs(request: Request, shown: Puzzle) -> Estimate | str:
    """The estimate of an enumeration, or why there is none."""
    try:
        return estimate_of(shown, shelf_of(request).database)
    except FarthestError as error:
        return str(error)


def _solve(request: Request) -> str | Response:
    """Leads to the page of the board that was given. Of one that is being drawn (``draw``) it says what is wrong with
    it, also that it cannot be solved. It does not search, since every reader may ask."""
    shown, drawn = puzzle_named(request.path_params["name"]), request.query_params.get("draw", "")
    given = request.query_params.get("board", drawn)
    allowed = may_change(request)
    if not given.strip():
        return solve.solve(shown, None, "", "", may_change=allowed)
    try:
        board = board_given(shown, given)
    except FarthestError as error:
        wrong = solve.solve(shown, None, str(error), given, may_change=allowed)
        return wrong if drawn else HTMLResponse(wrong, 400)
    text = shown.definition.format_board(board)
    if not drawn:
        return RedirectResponse(board_page(shown.name, text), status_code=303)
    problem: str | None = None
    with suppress(UndecidedError):
        problem = why_unsolvable_at_once(shown, board, shown.definition.origin_boards[0]) or ""
    return solve.solve(shown, board, problem, text, may_change=allowed)


def _position(request: Request) -> str | Response:
    """A board of a puzzle: the newest map of all distances to the goal tells of it, else a search."""
    from farthest.search.walking import boards_along

    shown, shelf = puzzle_named(request.path_params["name"]), shelf_of(request)
    board = board_given(shown, request.path_params["board"])
    text = shown.definition.format_board(board)
    stored = map_to(shelf.database, shown, "goal") if shown.definition.has_origin("goal") else None
    if stored is not None:
        return RedirectResponse(state_page(stored.id, text), status_code=303)
    told, path = solvings(request).told(shown.name, text), None
    if told is not None and told.moves is not None:
        moves = [each if isinstance(each, str) else (each[0], each[1]) for each in told.moves]
        path = shown.definition.named_path(boards_along(shown, board, moves), moves)
    return solve.position(shown, board, _moves_on(shown, board), told, path, may_change=may_change(request))


def _compare(request: Request) -> str:
    """Asks whether both searches are wanted."""
    return comparison(request, request.query_params.get("board", ""), searched=False)


def _box(request: Request) -> str:
    """The page of the box that is drawn; at first that of an example."""
    drawn = box.Drawn.of(request.query_params)
    drawn = drawn if "start" in request.query_params else box.EXAMPLES["Klotski"]
    allowed = may_change(request)
    try:
        shown = drawn.puzzle()
    except FarthestError as error:
        return box.box(BoxFound(drawn, None, str(error), "", allowed))
    return box.box(BoxFound(drawn, shown, "", _needs(request, shown) if allowed else "", allowed))


def _own(request: Request) -> str:
    return own.own("", "", "", may_change=may_change(request))


def _moves(shown: Puzzle) -> list[tuple[MoveName, Board]]:
    """The player's moves on the puzzle's first board."""
    board = puzzles.first_board(shown)
    return [] if board is None else _moves_on(shown, board)


def _moves_on(shown: Puzzle, board: Board) -> list[tuple[MoveName, Board]]:
    """The player's moves; none where that cannot be said."""
    from farthest.search.expansion import forward_space

    if not shown.definition.has_moves or not shown.definition.ready:
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
        ("/jobs", _jobs),
        ("/puzzles", _puzzles),
        ("/jobs/{number}", _job),
        ("/jobs/{number}/state", _state),
        ("/jobs/{number}/random", _random),
        ("/jobs/{number}/layers/{depth}", _layer),
        ("/puzzles/{name}", _puzzle),
        ("/puzzles/{name}/solve", _solve),
        ("/puzzles/{name}/compare", _compare),
        ("/puzzles/{name}/{board:path}", _position),
        ("/surveys", _surveys),
        ("/surveys/{number}", _survey),
        ("/box", _box),
        (own_page(), _own),
        ("/workers", _workers),
    )
]
