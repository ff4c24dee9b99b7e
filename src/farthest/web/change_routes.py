"""What changes something: the cookie, and jobs where they are allowed. The gate has checked token and origin."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from farthest.coordinator.enumeration.submission import submit_puzzle
from farthest.coordinator.settings import Settings
from farthest.documents.jobs import job_summary
from farthest.environment import DATABASE_URL
from farthest.errors import FarthestError
from farthest.models.stored_job import puzzle_of
from farthest.web.api_routes import json_answer
from farthest.web.asking import PuzzleBody, RefusalError, answered, ask, body_of, json_body
from farthest.web.gate import COOKIE, SIGN_IN, cookie_of, equal
from farthest.web.page import job_page
from farthest.web.pages.home import sign_in
from farthest.web.shelf import estimate_of, number_in, puzzle_named, settings_of, shelf_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from farthest.models.database import Database
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle


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
    return _to_job(await _start(request, _field(await body_of(request), "puzzle")))


async def _start_api(request: Request) -> Response:
    asked = json_body(await body_of(request), PuzzleBody)
    return json_answer(job_summary(await _start(request, asked.puzzle)), 201)


async def _start(request: Request, name: str) -> JobRecord:
    def started() -> JobRecord:
        puzzle = puzzle_named(name.strip())
        record, _ = submit_puzzle(puzzle, shelf_of(request).database, Settings())
        _local(request).begin(record.id, puzzle)
        return record

    return await ask(request, started)


def _cancelled(request: Request) -> JobRecord:
    return shelf_of(request).jobs.cancel(number_in(request))


def _resumed(request: Request) -> JobRecord:
    record = shelf_of(request).jobs.requeue(number_in(request))
    _local(request).begin(record.id, puzzle_of(record))
    return record


def _change(
    change: Callable[[Request], JobRecord], answer: Callable[[JobRecord], Response]
) -> Callable[[Request], Any]:
    async def changed(request: Request) -> Response:
        await body_of(request)
        return answer(await ask(request, lambda: change(request)))

    return changed


def _local(request: Request) -> LocalJobs:
    local: LocalJobs = request.app.state.local_jobs
    return local


def _to_job(record: JobRecord) -> Response:
    return RedirectResponse(job_page(record.id), status_code=303)


def _summary(record: JobRecord) -> Response:
    return json_answer(job_summary(record))


def _field(body: bytes, name: str) -> str:
    """A field of a form. Raises RefusalError where it is not there once."""
    try:
        values = parse_qs(body.decode("ascii"), max_num_fields=16, errors="strict").get(name, [])
    except ValueError:
        values = []
    if len(values) != 1:
        raise RefusalError(400, f"the form: expected one field {name}")
    return values[0]


CHANGES = [
    Route(SIGN_IN, answered(lambda request: HTMLResponse(sign_in())), methods=["GET"]),
    Route(SIGN_IN, _sign_in, methods=["POST"]),
    Route("/jobs", _start_page, methods=["POST"]),
    Route("/jobs/{number}/cancel", _change(_cancelled, _to_job), methods=["POST"]),
    Route("/jobs/{number}/resume", _change(_resumed, _to_job), methods=["POST"]),
    Route("/api/jobs", _start_api, methods=["POST"]),
    Route("/api/jobs/{number}/cancel", _change(_cancelled, _summary), methods=["POST"]),
    Route("/api/jobs/{number}/resume", _change(_resumed, _summary), methods=["POST"]),
]


MOST_STATES = 10_000_000
MOST_PROCESSES = 2
STOP_SECONDS = 10.0
PROGRAM = "from farthest.cli.entry import main; main()"


class LocalJobs:
    """The processes. Each is `farthest resume JOB --here`: it claims the job as a coordinator does, stores progress and
    checkpoints, and ends where the job is cancelled."""

    def __init__(self, database: Database, url: str | None) -> None:
        """``url``: of the database, as for ``open_database``. It is handed on in the environment, which others cannot
        read."""
        self._database = database
        self._environment = {**os.environ, **({DATABASE_URL.name: url} if url else {})}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def begin(self, number: int, puzzle: Puzzle) -> bool:
        """Runs a queued job, if it is small and few are run now; else it stays in the queue."""
        if puzzle.definition.module or not self._small(puzzle):
            return False
        with self._lock:
            self._processes = [process for process in self._processes if process.poll() is None]
            if len(self._processes) >= MOST_PROCESSES:
                return False
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, "resume", str(number), "--here"],
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C in the server's terminal is for the server
                )
            )
        return True

    def _small(self, puzzle: Puzzle) -> bool:
        try:
            needs = estimate_of(puzzle, self._database)
        except FarthestError:
            return False
        return needs.states_at_most <= MOST_STATES and not needs.problem

    def close(self) -> None:
        """Lets each store a checkpoint and end; what has not ended after ``STOP_SECONDS`` is killed."""
        with self._lock:
            for process in self._processes:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
            for process in self._processes:
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            self._processes.clear()
