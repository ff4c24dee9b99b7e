"""The addresses below /api/: the fields of the command line's --json, and answers for neighbourhoods and lists."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.responses import Response
from starlette.routing import Route

import farthest
from farthest.documents.answers import distance_answer, map_facts, path_document
from farthest.documents.jobs import enumeration_document, job_summary, search_document
from farthest.documents.puzzles import estimate_document, puzzle_document, puzzle_summary
from farthest.documents.workers import living_workers
from farthest.models.records import SEARCH
from farthest.models.searches import Searches
from farthest.puzzles import catalogue
from farthest.untrusted_json import read_json_object
from farthest.web.asking import BATCH_BYTES, ask, body_of, check_wanted
from farthest.web.events import events
from farthest.web.openapi import openapi
from farthest.web.refusals import RefusalError
from farthest.web.requests import (
    board_asked,
    damages_told,
    estimate_of,
    number_asked,
    number_in,
    puzzle_named,
    random_boards,
    settings_of,
    shelf_of,
)
from farthest.web.state import state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.requests import Request

    from farthest.queries.distance_map import DistanceMap

MOST_BOARDS = 100_000
"""Boards that are asked at once."""

MOST_LISTED = 1_000
"""Jobs, boards of a layer, random states and solutions that are given at once."""

SOLUTIONS_GIVEN = 1
FOR_EVER = "private, max-age=31536000"


def json_answer(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON object as an answer."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    # Halves of characters, which a database may hold, are no UTF-8.
    return Response(text.encode("utf-8", "backslashreplace"), status, headers, "application/json")


async def _jobs(request: Request) -> Response:
    shelf, before = shelf_of(request), number_asked(request, "before")
    limit = number_asked(request, "limit", MOST_LISTED, MOST_LISTED) or MOST_LISTED

    def found() -> dict[str, Any]:
        listed = shelf.jobs.page(limit, before)
        jobs = [job_summary(record) for record in reversed(listed.records)]
        return {"jobs": jobs, "older": listed.older, "damaged": damages_told(shelf, listed)}

    return json_answer(await ask(request, found))


async def _job(request: Request) -> Response:
    shelf, number = shelf_of(request), number_in(request)

    def found() -> dict[str, Any]:
        record = shelf.job(number)
        if record.kind == SEARCH:
            return search_document(record, Searches(shelf.database))
        return enumeration_document(record, shelf.layers(record))

    return json_answer(await ask(request, found))


async def _of_map(request: Request, document: Callable[[DistanceMap], dict[str, Any]]) -> Response:
    """An answer that depends on a finished map alone: its ETag is the map's digest, and it is kept for ever."""
    shelf, number = shelf_of(request), number_in(request)
    asked = request.headers.get("if-none-match", "")

    def found() -> tuple[str, dict[str, Any] | None]:
        with shelf.asked(number) as opened:
            tag = f'"{opened.digest}-{farthest.__version__}"'
            return tag, None if tag in asked else document(opened)

    tag, answer = await ask(request, found)
    headers = {"etag": tag, "cache-control": FOR_EVER}
    return Response(status_code=304, headers=headers) if answer is None else json_answer(answer, 200, headers)


async def _state(request: Request) -> Response:
    board = board_asked(request)
    return await _of_map(request, lambda opened: state_of(opened, board).document(opened))


async def _path(request: Request) -> Response:
    board = board_asked(request)
    limit = number_asked(request, "limit", SOLUTIONS_GIVEN, MOST_LISTED)

    def document(opened: DistanceMap) -> dict[str, Any]:
        graph = opened.solution_graph(board)
        ways = [path_document(opened.named(way)) for way in opened.solutions_of(graph, limit)]
        facts = {"board": opened.text(board), "distance": graph.distance, "solutions": graph.count()}
        return {**map_facts(opened), **facts, "paths": ways}

    return await _of_map(request, document)


async def _layer(request: Request) -> Response:
    depth, limit = number_in(request, "depth"), number_asked(request, "limit", MOST_LISTED, MOST_LISTED)

    def document(opened: DistanceMap) -> dict[str, Any]:
        boards = list(islice(opened.states_at(depth), limit))
        return {**map_facts(opened), "depth": depth, "states": opened.layers[depth], "boards": boards}

    return await _of_map(request, document)


async def _random(request: Request) -> Response:
    shelf, number = shelf_of(request), number_in(request)
    depth, count = number_asked(request, "depth"), number_asked(request, "count", 1, MOST_LISTED) or 0

    def found() -> dict[str, Any]:
        record, boards = random_boards(shelf, number, count, depth)
        return {"job": record.id, "puzzle": record.name, "depth": depth, "boards": boards}

    return json_answer(await ask(request, found))


async def _distances(request: Request) -> Response:
    shelf, number = shelf_of(request), number_in(request)
    body = await body_of(request, BATCH_BYTES)

    def found() -> dict[str, Any]:
        boards = _boards_in(body)
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


def _boards_in(body: bytes) -> list[str]:
    try:
        boards = read_json_object(body.decode("utf-8"))["boards"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RefusalError(400, 'the body: expected JSON such as {"boards": ["goal"]}') from None
    if not isinstance(boards, list) or not all(isinstance(board, str) for board in boards):
        raise RefusalError(400, "boards: expected a list of texts")
    if len(boards) > MOST_BOARDS:
        raise RefusalError(
            413, f"boards: {len(boards):,} are more than the {MOST_BOARDS:,} that are answered at once"
        )
    return boards


async def _puzzles(request: Request) -> Response:
    words = request.query_params.get("q", "").strip()

    def found() -> dict[str, Any]:
        names = catalogue.search(words) if words else catalogue.names()
        return {"puzzles": [puzzle_summary(catalogue.load(name)) for name in names]}

    return json_answer(await ask(request, found))


async def _puzzle(request: Request) -> Response:
    name = request.path_params["name"]
    return json_answer(await ask(request, lambda: puzzle_document(puzzle_named(name))))


async def _estimate(request: Request) -> Response:
    name, database = request.path_params["name"], shelf_of(request).database

    def found() -> dict[str, Any]:
        puzzle = puzzle_named(name)
        return {**estimate_document(puzzle, estimate_of(puzzle, database)), "scratch": None}

    return json_answer(await ask(request, found))


async def _workers(request: Request) -> Response:
    if not settings_of(request).redis:
        raise RefusalError(
            404, "this server was started without FARTHEST_REDIS_URL, so it knows of no workers"
        )
    return json_answer(await ask(request, lambda: living_workers().document()))


async def _openapi(request: Request) -> Response:
    return json_answer(openapi())


API = [
    Route("/api/openapi.json", _openapi),
    Route("/api/jobs", _jobs),
    Route("/api/jobs/{number}", _job),
    Route("/api/jobs/{number}/state", _state),
    Route("/api/jobs/{number}/path", _path),
    Route("/api/jobs/{number}/layers/{depth}", _layer),
    Route("/api/jobs/{number}/random", _random),
    Route("/api/jobs/{number}/distances", _distances, methods=["POST"]),
    Route("/api/jobs/{number}/events", events),
    Route("/api/puzzles", _puzzles),
    Route("/api/puzzles/{name}", _puzzle),
    Route("/api/puzzles/{name}/estimate", _estimate),
    Route("/api/workers", _workers),
]
