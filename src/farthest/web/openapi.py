"""What is below /api/, as an OpenAPI document. A test compares it with real answers."""

from __future__ import annotations

from functools import cache
from typing import Any

import farthest
from farthest.web.answer_schemas import SCHEMAS, TEXT, WHOLE, Schema, list_of, named, object_of


def _parameter(name: str, where: str, schema: Schema, meaning: str) -> Schema:
    return {"name": name, "in": where, "required": where == "path", "schema": schema, "description": meaning}


NUMBER_IN = _parameter("number", "path", WHOLE, "The job's number.")
NAME_IN = _parameter("name", "path", TEXT, "A name of the catalogue, or a parametric name.")
BOARD = {
    **_parameter("board", "query", TEXT, "A board in any form that the command line takes; goal; start."),
    "required": True,
}


def _call(
    summary: str,
    answer: str | tuple[str, ...],
    *parameters: Schema,
    body: Schema | None = None,
    status: int = 200,
) -> Schema:
    names = (answer,) if isinstance(answer, str) else answer
    schema = named(names[0]) if len(names) == 1 else {"anyOf": [named(name) for name in names]}
    answers = {
        str(status): {"description": "The answer.", "content": {"application/json": {"schema": schema}}},
        "default": {
            "description": "Why there is none.",
            "content": {"application/json": {"schema": named("Error")}},
        },
    }
    call: Schema = {"summary": summary, "parameters": list(parameters), "responses": answers}
    if body is not None:
        call["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return call


_EVENTS: Schema = {
    "summary": "The progress of an unfinished job: events `progress`, and `end` when it has ended; each says all. "
    "Events `chart` have the chart of the layers as SVG.",
    "parameters": [NUMBER_IN],
    "responses": {
        "200": {"description": "Server-sent events.", "content": {"text/event-stream": {"schema": TEXT}}}
    },
}

PATHS: dict[str, Schema] = {
    "/api/jobs": {
        "get": _call(
            "The newest jobs, the oldest of them first, and what is wrong with those that cannot be read. `older` is "
            "the `before` of the next older ones, or null.",
            "Jobs",
            _parameter("before", "query", WHOLE, "Only jobs with smaller numbers."),
            _parameter("limit", "query", WHOLE, "How many, 1000 at most; without it 1000."),
        ),
        "post": _call(
            "Queue an enumeration; small ones are run at once (--allow-jobs).",
            "Job",
            body=object_of({"puzzle": TEXT}),
            status=201,
        ),
    },
    "/api/jobs/{number}": {"get": _call("One job.", ("Enumeration", "Search"), NUMBER_IN)},
    "/api/jobs/{number}/cancel": {"post": _call("Cancel it (--allow-jobs).", "Job", NUMBER_IN)},
    "/api/jobs/{number}/resume": {"post": _call("Queue it again (--allow-jobs).", "Job", NUMBER_IN)},
    "/api/jobs/{number}/state": {
        "get": _call(
            "A board's distance, and every move with the distance after it, the least first. `solutions` is null where "
            "counting them would take long.",
            "State",
            NUMBER_IN,
            BOARD,
        )
    },
    "/api/jobs/{number}/path": {
        "get": _call(
            "Optimal solutions, and how many there are.",
            "Path",
            NUMBER_IN,
            BOARD,
            _parameter("limit", "query", WHOLE, "How many are listed, 1000 at most; without it one."),
        )
    },
    "/api/jobs/{number}/distances": {
        "post": _call(
            "The distances of up to 100,000 boards.",
            "Distances",
            NUMBER_IN,
            body=object_of({"boards": list_of(TEXT)}),
        )
    },
    "/api/jobs/{number}/layers/{depth}": {
        "get": _call(
            "The first boards of a depth.",
            "Layer",
            NUMBER_IN,
            _parameter("depth", "path", WHOLE, "The depth."),
            _parameter("limit", "query", WHOLE, "How many, 1000 at most; without it 1000."),
        )
    },
    "/api/jobs/{number}/random": {
        "get": _call(
            "Random states, each with the same chance.",
            "Random",
            NUMBER_IN,
            _parameter("depth", "query", WHOLE, "Of this depth; without it of any."),
            _parameter("count", "query", WHOLE, "How many, 1000 at most; without it one."),
        )
    },
    "/api/jobs/{number}/events": {"get": _EVENTS},
    "/api/puzzles": {
        "get": _call(
            "The catalogue.", "Puzzles", _parameter("q", "query", TEXT, "Words that names and titles have.")
        )
    },
    "/api/puzzles/{name}": {
        "get": _call("One puzzle; its family has fields of its own.", "Definition", NAME_IN)
    },
    "/api/puzzles/{name}/estimate": {
        "get": _call("What enumerating it here would need.", "Estimate", NAME_IN)
    },
    "/api/workers": {"get": _call("The workers, where the server knows Redis.", "Workers")},
}


@cache
def openapi() -> dict[str, Any]:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "farthest",
            "version": farthest.__version__,
            "description": "Stored distance maps of puzzles. One with a token wants `Authorization: Bearer TOKEN`.",
        },
        "paths": PATHS,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
