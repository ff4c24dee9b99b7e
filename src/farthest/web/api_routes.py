"""The addresses below /api/: the fields of the command line's --json, and answers for neighbourhoods and lists.

The progress of unfinished jobs comes as server-sent events. The database is read once a second for each job that is
followed, however many follow it. Each event says all that is known, so that a reader whose connection was lost needs
nothing of what it has missed. What a page shows of it is in it as texts, made once for all readers.
"""

from __future__ import annotations

import asyncio
import json
import logging
from itertools import islice
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

import farthest
from farthest.documents import plain
from farthest.documents.jobs import enumeration_document, job_summary, progress_rows
from farthest.documents.maps import distance_answer, map_facts, path_document, state_of
from farthest.documents.puzzles import estimate_document, puzzle_document, puzzle_summary
from farthest.documents.searches import iteration_rows, search_document
from farthest.documents.surveys import document_of, estimates_document
from farthest.documents.workers import WorkersDocument, living_workers
from farthest.drawing.chart import Chart
from farthest.errors import UnavailableError
from farthest.models.records import QUEUED, RUNNING, SEARCH
from farthest.models.searches import Searches
from farthest.models.surveys import StoredSurvey, Surveys
from farthest.puzzles import catalogue
from farthest.queries.coset_estimates import estimates, known_layers
from farthest.web.asking import (
    BATCH_BYTES,
    BoardsBody,
    RefusalError,
    answered,
    ask,
    body_of,
    check_wanted,
    json_body,
)
from farthest.web.openapi import openapi
from farthest.web.shelf import (
    board_asked,
    damages_told,
    estimate_of,
    number_asked,
    number_in,
    puzzle_named,
    random_boards,
    settings_of,
    shelf_of,
    too_many_cosets,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from starlette.requests import Request

    from farthest.documents.jobs import JobDocument, JobsDocument
    from farthest.documents.maps import (
        DistancesDocument,
        LayerDocument,
        PathDocument,
        RandomDocument,
        StateDocument,
    )
    from farthest.documents.puzzles import EstimateDocument, PuzzlesDocument
    from farthest.documents.surveys import CosetsDocument, EstimatesDocument, SurveyDocument
    from farthest.queries.distance_map import DistanceMap
    from farthest.web.shelf import Shelf

_LOG = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
QUIET_SECONDS = 15.0
"""After so long without an event a comment is sent: what is between the two does not end a silent connection."""

STREAM_SECONDS = 3600.0
"""A connection is ended after so long; the reader makes a new one."""

MOST_READERS = 1000
RETRY = b"retry: 2000\n\n"


class Feed:
    """What is known of one job, for all who follow it."""

    def __init__(self) -> None:
        self.event = b""
        self.chart = b""
        self.ended = False
        self.readers = 0
        self.changed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def tell(self, event: bytes, chart: bytes, *, ended: bool) -> None:
        """Wakes all readers, if there is something new. ``chart``: an event of its own, which is only sent when there
        is another layer."""
        if event != self.event:
            self.event, self.chart, self.ended = event, chart, ended
            self.changed.set()
            self.changed = asyncio.Event()


class Feeds:
    """The feeds of the jobs that are followed now. ``look_seconds``: how often the database is asked."""

    def __init__(self, shelf: Shelf, look_seconds: float = LOOK_SECONDS) -> None:
        self._shelf = shelf
        self._look_seconds = look_seconds
        self._feeds: dict[int, Feed] = {}

    def check_room(self) -> None:
        """Raises RefusalError where too many follow jobs already."""
        if sum(feed.readers for feed in self._feeds.values()) >= MOST_READERS:
            raise RefusalError(503, "too many readers follow jobs now; try again later")

    async def follow(self, number: int) -> AsyncIterator[bytes]:
        """The events of a job until it has ended."""
        feed = self._feeds.setdefault(number, Feed())
        feed.readers += 1
        if feed.task is None:
            feed.task = asyncio.create_task(self._look(number, feed))
        try:
            yield RETRY
            told = drawn = b""
            until = asyncio.get_running_loop().time() + STREAM_SECONDS
            while asyncio.get_running_loop().time() < until:
                changed = feed.changed
                if feed.event != told:
                    if feed.chart != drawn:
                        drawn = feed.chart
                        yield drawn
                    told = feed.event
                    yield told
                    if feed.ended:
                        return
                    continue
                try:
                    async with asyncio.timeout(QUIET_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    yield b": nothing new\n\n"
        finally:
            feed.readers -= 1
            if not feed.readers:
                feed.task.cancel()
                if self._feeds.get(number) is feed:
                    del self._feeds[number]

    async def _look(self, number: int, feed: Feed) -> None:
        while not feed.ended:
            try:
                document = await anyio.to_thread.run_sync(self._document, number)
            except UnavailableError:  # the next look may find it
                await asyncio.sleep(self._look_seconds)
                continue
            except Exception as error:
                # Deleted meanwhile, or damaged; or an error of the program, at which readers must not wait for ever.
                _LOG.info("job %s cannot be followed any more: %s", number, error)
                document = {"job": number, "status": "gone"}
            ended = document["status"] not in (QUEUED, RUNNING)
            layers = document.get("layers") or []
            chart = (
                event_of("chart", Chart(layers, logarithmic=True).part_of_page())
                if layers and not ended
                else b""
            )
            feed.tell(event_of("end" if ended else "progress", document), chart, ended=ended)
            await asyncio.sleep(self._look_seconds)

    def _document(self, number: int) -> dict[str, Any]:
        record = self._shelf.job(number)
        document = {**job_summary(record), "told": progress_rows(record)}
        if record.kind == SEARCH:
            iterations = Searches(self._shelf.database).iterations(number)
            return {**document, "iterations": iterations, "rows": iteration_rows(iterations)}
        return {**document, "layers": [layer.states for layer in self._shelf.layers(record)]}


def event_of(kind: str, document: Any) -> bytes:
    """One server-sent event; JSON on one line."""
    return f"event: {kind}\ndata: {json.dumps(document, default=plain)}\n\n".encode()


async def events(request: Request) -> Response:
    """The progress of a job. Raises JobError where there is none."""
    shelf, number = shelf_of(request), number_in(request)
    await ask(request, lambda: shelf.job(number))
    feeds: Feeds = request.app.state.feeds
    feeds.check_room()
    return StreamingResponse(
        feeds.follow(number), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
    )


MOST_BOARDS = 100_000
"""Boards that are asked at once."""

MOST_LISTED = 1_000
"""Jobs, boards of a layer, random states and solutions that can be given at once."""

SOLUTIONS_GIVEN = 1
FOR_EVER = "private, max-age=31536000"


def json_answer(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON object as an answer."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=plain)
    # Halves of characters, which a database may hold, are no UTF-8.
    return Response(text.encode("utf-8", "backslashreplace"), status, headers, "application/json")


def _of_map(
    document: Callable[[Request, DistanceMap], Any],
) -> Callable[[Request], Awaitable[Response]]:
    """The route for a document that depends on a finished map alone: its ETag is the map's digest, and it is kept for
    ever."""

    async def answer(request: Request) -> Response:
        shelf, number = shelf_of(request), number_in(request)
        asked = request.headers.get("if-none-match", "")

        def found() -> tuple[str, Any]:
            with shelf.asked(number) as opened:
                tag = f'"{opened.digest}-{farthest.__version__}"'
                return tag, None if tag in asked else document(request, opened)

        tag, told = await ask(request, found)
        headers = {"etag": tag, "cache-control": FOR_EVER}
        if told is None:
            return Response(status_code=304, headers=headers)
        return json_answer(told, 200, headers)

    return answer


def _jobs(request: Request) -> JobsDocument:
    shelf, before = shelf_of(request), number_asked(request, "before")
    limit = number_asked(request, "limit", MOST_LISTED, MOST_LISTED) or MOST_LISTED
    listed = shelf.jobs.page(limit, before)
    jobs = [job_summary(record) for record in reversed(listed.records)]
    return {"jobs": jobs, "older": listed.older, "damaged": damages_told(shelf, listed)}


def _job(request: Request) -> JobDocument:
    shelf = shelf_of(request)
    record = shelf.job(number_in(request))
    if record.kind == SEARCH:
        return search_document(record, Searches(shelf.database))
    return enumeration_document(record, shelf.layers(record))


def _state(request: Request, opened: DistanceMap) -> StateDocument:
    return state_of(opened, board_asked(request)).document(opened)


def _path(request: Request, opened: DistanceMap) -> PathDocument:
    board = board_asked(request)
    limit = number_asked(request, "limit", SOLUTIONS_GIVEN, MOST_LISTED)
    graph = opened.solution_graph(board)
    return path_document(opened, board, graph, opened.solutions_of(graph, limit))


def _layer(request: Request, opened: DistanceMap) -> LayerDocument:
    depth, limit = number_in(request, "depth"), number_asked(request, "limit", MOST_LISTED, MOST_LISTED)
    boards = list(islice(opened.states_at(depth), limit))
    return {**map_facts(opened), "depth": depth, "states": opened.layers[depth], "boards": boards}


def _random(request: Request) -> RandomDocument:
    depth, count = number_asked(request, "depth"), number_asked(request, "count", 1, MOST_LISTED) or 0
    record, boards = random_boards(shelf_of(request), number_in(request), count, depth)
    return {"job": record.id, "puzzle": record.name, "depth": depth, "boards": boards}


async def _distances(request: Request) -> Response:
    shelf, number = shelf_of(request), number_in(request)
    body = await body_of(request, BATCH_BYTES)

    def found() -> DistancesDocument:
        boards = json_body(body, BoardsBody).boards
        if len(boards) > MOST_BOARDS:
            raise RefusalError(
                413, f"boards: {len(boards):,} are more than the {MOST_BOARDS:,} that can be answered at once"
            )
        with shelf.asked(number) as opened:
            distances = opened.distances(_while_wanted(boards)).tolist()
            answers = (
                distance_answer(opened, board, distance)
                for board, distance in zip(_while_wanted(boards), distances, strict=True)
            )
            return {**map_facts(opened), "distances": list(answers)}

    return json_answer(await ask(request, found))


def _while_wanted(boards: list[str]) -> Iterator[str]:
    """The boards one by one, as long as somebody waits for the answer: reading one may take long."""
    for board in boards:
        check_wanted()
        yield board


def _puzzles(request: Request) -> PuzzlesDocument:
    words = request.query_params.get("q", "").strip()
    names = catalogue.search(words) if words else catalogue.names()
    return {"puzzles": [puzzle_summary(catalogue.load(name)) for name in names]}


def _puzzle(request: Request) -> dict[str, Any]:
    return puzzle_document(puzzle_named(request.path_params["name"]))


def _estimate(request: Request) -> EstimateDocument:
    puzzle = puzzle_named(request.path_params["name"])
    return estimate_document(puzzle, estimate_of(puzzle, shelf_of(request).database))


def _survey(request: Request) -> SurveyDocument | CosetsDocument:
    return document_of(*_survey_asked(request))


def _survey_estimate(request: Request) -> EstimatesDocument:
    known, stored = _survey_asked(request)
    layers = known_layers(request.query_params.getlist("known"), stored, shelf_of(request).database)
    return estimates_document(stored, estimates(known, stored, layers))


def _survey_asked(request: Request) -> tuple[Surveys, StoredSurvey]:
    """Raises RefusalError for more cosets than one answer has."""
    known = Surveys(shelf_of(request).database)
    stored = known.get(number_in(request))
    if problem := too_many_cosets(stored):
        raise RefusalError(413, f"survey {stored.id}: {problem}")
    return known, stored


def _workers(request: Request) -> WorkersDocument:
    if not settings_of(request).redis:
        raise RefusalError(
            404, "this server was started without FARTHEST_REDIS_URL, so it cannot see workers"
        )
    return living_workers()


API = [
    Route("/api/openapi.json", answered(lambda request: openapi(), json_answer)),
    Route("/api/jobs", answered(_jobs, json_answer)),
    Route("/api/jobs/{number}", answered(_job, json_answer)),
    Route("/api/jobs/{number}/state", _of_map(_state)),
    Route("/api/jobs/{number}/path", _of_map(_path)),
    Route("/api/jobs/{number}/layers/{depth}", _of_map(_layer)),
    Route("/api/jobs/{number}/random", answered(_random, json_answer)),
    Route("/api/jobs/{number}/distances", _distances, methods=["POST"]),
    Route("/api/jobs/{number}/events", events),
    Route("/api/puzzles", answered(_puzzles, json_answer)),
    Route("/api/puzzles/{name}", answered(_puzzle, json_answer)),
    Route("/api/puzzles/{name}/estimate", answered(_estimate, json_answer)),
    Route("/api/surveys/{number}", answered(_survey, json_answer)),
    Route("/api/surveys/{number}/estimate", answered(_survey_estimate, json_answer)),
    Route("/api/workers", answered(_workers, json_answer)),
]
