"""What changes something: the cookie, and jobs where they are allowed. The gate has checked token and origin."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from farthest.coordinator.enumeration.submission import submit_puzzle
from farthest.coordinator.heartbeat import alive
from farthest.coordinator.search.choice import map_to
from farthest.coordinator.settings import Settings
from farthest.documents.jobs import job_summary
from farthest.errors import FarthestError
from farthest.models.jobs import Jobs
from farthest.models.records import QUEUED, JobRecord
from farthest.models.stored_job import puzzle_of
from farthest.puzzles.family import UndecidedError, board_given
from farthest.search.side_by_side import Side, heuristic_for, side_by_side
from farthest.search.solvable import why_unsolvable_at_once
from farthest.web.api_routes import json_answer
from farthest.web.asking import (
    PuzzleBody,
    RefusalError,
    answered,
    ask,
    body_of,
    check_wanted,
    json_body,
    status_and_message,
)
from farthest.web.gate import COOKIE, SIGN_IN, cookie_of, equal, may_change
from farthest.web.page import board_page, job_page, own_page, solve_page
from farthest.web.pages.box import Drawn
from farthest.web.pages.compare import compare
from farthest.web.pages.home import sign_in
from farthest.web.pages.own import own, own_puzzle
from farthest.web.processes import Process, end, started
from farthest.web.shelf import estimate_of, number_in, puzzle_named, settings_of, shelf_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request

    from farthest.models.database import Database
    from farthest.puzzles.puzzle import Puzzle
    from farthest.web.solving import Solvings


COOKIE_SECONDS = 30 * 24 * 3600


async def _sign_in(request: Request) -> Response:
    settings = settings_of(request)
    token = _field(await body_of(request), "token").strip()
    if not equal(token, settings.token):
        return HTMLResponse(sign_in("This is not the token."), 403)
    answer = RedirectResponse("/", status_code=303)
    answer.set_cookie(
        COOKIE,
        cookie_of(settings.token),
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


async def _start_page(request: Request) -> Response:
    name = _field(await body_of(request), "puzzle")
    return _to_job(await _start(request, lambda: puzzle_named(name.strip())))


async def _start_box(request: Request) -> Response:
    """Enumerates the box that was drawn."""
    fields = _fields(await body_of(request))
    return _to_job(
        await _start(request, Drawn.of({name: values[0] for name, values in fields.items()}).puzzle)
    )


async def _start_own(request: Request) -> Response:
    """Enumerates the puzzle of a text that was pasted, where it fits this machine."""
    fields = _fields(await body_of(request))
    text, name = (fields.get(field, [""])[0] for field in ("text", "name"))

    def read() -> Puzzle | str:
        try:
            puzzle = own_puzzle(text, name)
            return estimate_of(puzzle, shelf_of(request).database).problem or puzzle
        except FarthestError as error:
            return status_and_message(error, shelf_of(request).database)[1]

    found = await ask(request, read)
    if isinstance(found, str):
        return HTMLResponse(own(text, name, found, may_change=True), 400)
    return _to_job(await _start(request, lambda: found))


async def _solve(request: Request) -> Response:
    """Leads to the page of the board, which says what is wrong with it."""
    given = _field(await body_of(request), "board")

    def begun() -> Response:
        puzzle = puzzle_named(request.path_params["name"])
        try:
            board = puzzle.definition.format_board(board_given(puzzle, given))
        except FarthestError:
            return RedirectResponse(
                f"{solve_page(puzzle.name)}?{urlencode({'board': given})}", status_code=303
            )
        if not (puzzle.definition.has_origin("goal") and map_to(shelf_of(request).database, puzzle, "goal")):
            solvings(request).begin(puzzle.name, board, AT_ONCE_SECONDS)
        return RedirectResponse(board_page(puzzle.name, board), status_code=303)

    return await ask(request, begun)


async def _stop_solving(request: Request) -> Response:
    name, board = request.path_params["name"], _field(await body_of(request), "board")
    solvings(request).stop(name, board)
    return RedirectResponse(board_page(name, board), status_code=303)


async def _compare(request: Request) -> Response:
    board = _field(await body_of(request), "board")
    return HTMLResponse(await ask(request, lambda: comparison(request, board, searched=True)))


_comparing = threading.Lock()
"""Held by the one comparison that runs: each takes up to 200 MB."""


def comparison(request: Request, given: str, *, searched: bool) -> str:
    """The page of both searches from a board. ``searched``: they are done. Raises FarthestError, RefusalError."""
    puzzle = puzzle_named(request.path_params["name"])
    board, heuristic = board_given(puzzle, given), heuristic_for(puzzle)
    if heuristic is None:
        raise RefusalError(404, "A* has no simple heuristic for this puzzle, so there is nothing to compare")
    told = ""
    with suppress(UndecidedError):  # the searches tell it
        told = why_unsolvable_at_once(puzzle, board, puzzle.definition.origin_boards[0]) or ""
    sides: Sequence[Side] = ()
    if searched and not told:
        while not _comparing.acquire(timeout=0.5):
            check_wanted()
        try:
            sides = side_by_side(puzzle, board, heuristic, check_wanted)
        finally:
            _comparing.release()
    return compare(puzzle, board, told, sides, may_change=may_change(request))


def solvings(request: Request) -> Solvings:
    """The boards that this server solves."""
    found: Solvings = request.app.state.solvings
    return found


async def _start_api(request: Request) -> Response:
    asked = json_body(await body_of(request), PuzzleBody)
    return json_answer(job_summary(await _start(request, lambda: puzzle_named(asked.puzzle.strip()))), 201)


async def _start(request: Request, asked: Callable[[], Puzzle]) -> JobRecord:
    def started() -> JobRecord:
        puzzle = asked()
        record, _ = submit_puzzle(puzzle, shelf_of(request).database, Settings())
        local_jobs(request).begin(record.id, puzzle, AT_ONCE_SECONDS)
        return shelf_of(request).job(record.id)

    return await ask(request, started)


def _cancelled(request: Request) -> JobRecord:
    return shelf_of(request).jobs.cancel(number_in(request))


def _resumed(request: Request) -> JobRecord:
    record = shelf_of(request).jobs.requeue(number_in(request))
    local_jobs(request).begin(record.id, puzzle_of(record))
    return record


def _change(
    change: Callable[[Request], JobRecord], answer: Callable[[JobRecord], Response]
) -> Callable[[Request], Any]:
    async def changed(request: Request) -> Response:
        await body_of(request)
        return answer(await ask(request, lambda: change(request)))

    return changed


def local_jobs(request: Request) -> LocalJobs:
    """Those of this server."""
    local: LocalJobs = request.app.state.local_jobs
    return local


def _to_job(record: JobRecord) -> Response:
    return RedirectResponse(job_page(record.id), status_code=303)


def _summary(record: JobRecord) -> Response:
    return json_answer(job_summary(record))


def _field(body: bytes, name: str) -> str:
    """A field of a form. Raises RefusalError where it is not there once."""
    values = _fields(body).get(name, [])
    if len(values) != 1:
        raise RefusalError(400, f"the form: expected one field {name}")
    return values[0]


def _fields(body: bytes) -> dict[str, list[str]]:
    """The fields of a form; none where it is not one."""
    try:
        return parse_qs(body.decode("ascii"), max_num_fields=16, errors="strict")
    except ValueError:
        return {}


CHANGES = [
    Route(SIGN_IN, answered(lambda request: HTMLResponse(sign_in())), methods=["GET"]),
    Route(SIGN_IN, _sign_in, methods=["POST"]),
    Route("/jobs", _start_page, methods=["POST"]),
    Route("/box", _start_box, methods=["POST"]),
    Route(own_page(), _start_own, methods=["POST"]),
    Route("/jobs/{number}/cancel", _change(_cancelled, _to_job), methods=["POST"]),
    Route("/jobs/{number}/resume", _change(_resumed, _to_job), methods=["POST"]),
    Route("/puzzles/{name}/solve", _solve, methods=["POST"]),
    Route("/puzzles/{name}/compare", _compare, methods=["POST"]),
    Route("/puzzles/{name}/solve/stop", _stop_solving, methods=["POST"]),
    Route("/api/jobs", _start_api, methods=["POST"]),
    Route("/api/jobs/{number}/cancel", _change(_cancelled, _summary), methods=["POST"]),
    Route("/api/jobs/{number}/resume", _change(_resumed, _summary), methods=["POST"]),
]


AT_ONCE_SECONDS = 2.0
"""So long a job that is begun is waited for: a small one shows its result at once."""

PROGRAM = "from farthest.cli.entry import main; main()"


class LocalJobs:
    """Jobs that this server runs where no coordinator of its database is seen, one after the other. Each is a process
    of its own, `farthest resume JOB --here`: it claims the job as a coordinator does, stores progress and checkpoints,
    and ends where the job is cancelled. One that takes too much memory does not end the server."""

    def __init__(self, database: Database, url: str | None) -> None:
        """``url``: of the database, as for ``open_database``."""
        self._database = database
        self._url = url
        self._runner = ThreadPoolExecutor(1, "farthest-local-jobs")
        self._processes: set[Process] = set()
        self._waiting: set[int] = set()
        self._closed = False
        self._lock = threading.Lock()

    def begin(self, number: int, puzzle: Puzzle, seconds: float = 0.0) -> None:
        """Runs a queued job when those before it have ended, if it fits this machine and no coordinator is seen; else
        it stays in the queue. Waits for its end so long."""
        if puzzle.definition.module or alive(self._database) or not self._fits(puzzle):
            return
        self._waiting.add(number)
        wait([self._runner.submit(self._run, number)], seconds)

    def waits_for(self, number: int) -> str:
        """What a queued job waits for."""
        if number in self._waiting:
            return "this server, which runs one job after the other"
        if alive(self._database):
            return "the coordinator of this machine"
        return f"a coordinator: `farthest coordinator` takes it, or `farthest resume {number} --here`"

    def _fits(self, puzzle: Puzzle) -> bool:
        try:
            return not estimate_of(puzzle, self._database).problem
        except FarthestError:
            return False

    def _run(self, number: int) -> None:
        with self._lock:
            self._waiting.discard(number)
            # It may have been cancelled, or taken by another. Where it was deleted, the error ends in the future.
            if self._closed or Jobs(self._database).get(number).status != QUEUED:
                return
            process = started(self._url, PROGRAM, "resume", str(number), "--here")
            self._processes.add(process)
        process.communicate()
        with self._lock:
            self._processes.discard(process)

    def close(self) -> None:
        """Lets the job that runs store a checkpoint and end."""
        with self._lock:
            self._closed = True
            running = list(self._processes)
        end(running)
        self._runner.shutdown(cancel_futures=True)
