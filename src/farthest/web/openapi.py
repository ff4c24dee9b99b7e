"""What is below /api/, as an OpenAPI document, made of the declarations in ``documents``. A test compares it with real
answers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypedDict

import msgspec

import farthest
from farthest.documents.jobs import EnumerationDocument, JobDocument, JobsDocument
from farthest.documents.maps import (
    DistancesDocument,
    LayerDocument,
    PathDocument,
    RandomDocument,
    StateDocument,
)
from farthest.documents.puzzles import DefinitionDocument, EstimateDocument, PuzzlesDocument
from farthest.documents.searches import SearchDocument
from farthest.documents.surveys import CosetsDocument, EstimatesDocument, SurveyDocument
from farthest.documents.workers import WorkersDocument
from farthest.models.records import Progress
from farthest.web.asking import BoardsBody, PuzzleBody

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}


class ErrorDocument(TypedDict):
    """Why there is no answer."""

    error: str
    status: int


DECLARED: dict[type, None] = {}
"""What the calls ask and answer, in their order."""
OPEN = (DefinitionDocument, Progress)
"""They may have more fields: those of a family, those of another version."""


def _named(kind: type) -> Schema:
    DECLARED[kind] = None
    return {"$ref": f"#/components/schemas/{kind.__name__.removesuffix('Document')}"}


def _path_schema(kind: type) -> Schema:
    """Of the only type in documents that msgspec does not know."""
    assert kind is Path, kind
    return TEXT


def _schemas() -> dict[str, Schema]:
    """The forms of all objects. What has a default is always there all the same."""
    _, found = msgspec.json.schema_components(
        DECLARED, schema_hook=_path_schema, ref_template="#/components/schemas/{name}"
    )
    for name, schema in found.items():
        properties = schema.get("properties", {})
        always = [field for field, form in properties.items() if form.pop("default", ...) is not ...]
        schema["required"] = sorted({*schema.get("required", ()), *always})
        schema["additionalProperties"] = name in {kind.__name__ for kind in OPEN}
    text = msgspec.json.encode(found).replace(b'Document"', b'"')
    return msgspec.json.decode(text, type=dict[str, Schema])


def _parameter(name: str, where: str, schema: Schema, meaning: str) -> Schema:
    return {"name": name, "in": where, "required": where == "path", "schema": schema, "description": meaning}


NUMBER_IN = _parameter("number", "path", WHOLE, "The job's number.")
SURVEY_IN = _parameter("number", "path", WHOLE, "The survey's number.")
NAME_IN = _parameter("name", "path", TEXT, "A name of the catalogue, or a parametric name.")
BOARD = {
    **_parameter(
        "board", "query", TEXT, "A board in any form that the command line takes; or goal, or start."
    ),
    "required": True,
}


def _call(
    summary: str,
    answer: type | tuple[type, ...],
    *parameters: Schema,
    body: type | None = None,
    status: int = 200,
) -> Schema:
    schema = {"anyOf": [*map(_named, answer)]} if isinstance(answer, tuple) else _named(answer)
    answers = {
        str(status): {"description": "The answer.", "content": {"application/json": {"schema": schema}}},
        "default": {
            "description": "Why there is no answer.",
            "content": {"application/json": {"schema": _named(ErrorDocument)}},
        },
    }
    call: Schema = {"summary": summary, "parameters": list(parameters), "responses": answers}
    if body is not None:
        call["requestBody"] = {"required": True, "content": {"application/json": {"schema": _named(body)}}}
    return call


_EVENTS: Schema = {
    "summary": "The progress of an unfinished job: events `progress`, and `end` when it has ended; each has "
    "all that is known. "
    "Events `chart` have the chart of the layers as SVG.",
    "parameters": [NUMBER_IN],
    "responses": {
        "200": {"description": "Server-sent events.", "content": {"text/event-stream": {"schema": TEXT}}}
    },
}

MAY_CHANGE = "Only for the user who started the server, on that machine, or with --allow-jobs and the token."

PATHS: dict[str, Schema] = {
    "/api/jobs": {
        "get": _call(
            "The newest jobs, the oldest of them first, and what is wrong with those that cannot be read. `older` is "
            "the `before` of the next older ones, or null.",
            JobsDocument,
            _parameter("before", "query", WHOLE, "Only jobs with smaller numbers."),
            _parameter("limit", "query", WHOLE, "How many, 1000 at most; without it 1000."),
        ),
        "post": _call(
            f"Start an enumeration, or queue it for a coordinator. {MAY_CHANGE}",
            JobDocument,
            body=PuzzleBody,
            status=201,
        ),
    },
    "/api/jobs/{number}": {"get": _call("One job.", (EnumerationDocument, SearchDocument), NUMBER_IN)},
    "/api/jobs/{number}/cancel": {"post": _call(f"Cancel it. {MAY_CHANGE}", JobDocument, NUMBER_IN)},
    "/api/jobs/{number}/resume": {
        "post": _call(f"Run it again, or queue it. {MAY_CHANGE}", JobDocument, NUMBER_IN)
    },
    "/api/jobs/{number}/state": {
        "get": _call(
            "A board's distance, and every move with the distance after it, the least first. `solutions` is null where "
            "counting them would take long.",
            StateDocument,
            NUMBER_IN,
            BOARD,
        )
    },
    "/api/jobs/{number}/path": {
        "get": _call(
            "Optimal solutions, and how many there are.",
            PathDocument,
            NUMBER_IN,
            BOARD,
            _parameter("limit", "query", WHOLE, "How many are listed, 1000 at most; without it one."),
        )
    },
    "/api/jobs/{number}/distances": {
        "post": _call(
            "The distances of up to 100,000 boards.",
            DistancesDocument,
            NUMBER_IN,
            body=BoardsBody,
        )
    },
    "/api/jobs/{number}/layers/{depth}": {
        "get": _call(
            "The first boards of a depth.",
            LayerDocument,
            NUMBER_IN,
            _parameter("depth", "path", WHOLE, "The depth."),
            _parameter("limit", "query", WHOLE, "How many, 1000 at most; without it 1000."),
        )
    },
    "/api/jobs/{number}/random": {
        "get": _call(
            "Random states, each with the same chance.",
            RandomDocument,
            NUMBER_IN,
            _parameter("depth", "query", WHOLE, "Only of this depth; without it of any depth."),
            _parameter("count", "query", WHOLE, "How many, 1000 at most; without it one."),
        )
    },
    "/api/jobs/{number}/events": {"get": _EVENTS},
    "/api/puzzles": {
        "get": _call(
            "The catalogue.",
            PuzzlesDocument,
            _parameter("q", "query", TEXT, "Only puzzles whose name or title has these words."),
        )
    },
    "/api/puzzles/{name}": {
        "get": _call("One puzzle; each family has more fields.", DefinitionDocument, NAME_IN)
    },
    "/api/puzzles/{name}/estimate": {
        "get": _call("What enumerating it here would need.", EstimateDocument, NAME_IN)
    },
    "/api/surveys/{number}": {
        "get": _call(
            "One survey, finished or not: counts of components by pieces, or cosets, 10,000 at most.",
            (SurveyDocument, CosetsDocument),
            SURVEY_IN,
        )
    },
    "/api/surveys/{number}/estimate": {
        "get": _call(
            "The puzzle's layers, estimated from cosets at random, or exact from all.",
            EstimatesDocument,
            SURVEY_IN,
            _parameter(
                "known",
                "query",
                {"type": "array", "items": TEXT},
                "Layers that are known: DEPTH=COUNT, or the number of a job.",
            ),
        )
    },
    "/api/workers": {
        "get": _call("The workers, if the server was started with FARTHEST_REDIS_URL.", WorkersDocument)
    },
}


@cache
def openapi() -> dict[str, Any]:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "farthest",
            "version": farthest.__version__,
            "description": "Stored distance maps of puzzles. A server with a token needs `Authorization: "
            "Bearer TOKEN`.",
        },
        "paths": PATHS,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
