"""What is below /api/, as an OpenAPI document. A test compares it with real answers."""

from __future__ import annotations

from functools import cache
from typing import Any

import farthest

# --- The forms of the answers below /api/, for the OpenAPI document.

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
TRUTH: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}


def or_none(schema: Schema) -> Schema:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def list_of(schema: Schema) -> Schema:
    """A list of what the schema describes."""
    return {"type": "array", "items": schema}


def object_of(fields: dict[str, Schema], *, others: bool = False, optional: tuple[str, ...] = ()) -> Schema:
    """All fields are there but for ``optional`` ones; ``others``: there are more, those of a family."""
    needed = [name for name in fields if name not in optional]
    return {"type": "object", "properties": fields, "required": needed, "additionalProperties": others}


def named(name: str) -> Schema:
    """One of ``SCHEMAS``."""
    return {"$ref": f"#/components/schemas/{name}"}


MOVE: Schema = {
    "anyOf": [TEXT, {"type": "array", "items": WHOLE, "minItems": 2, "maxItems": 2}],
    "description": "Its name; of sliding puzzles the cell that a piece leaves and the cell that it fills.",
}
JOB = {
    "job": WHOLE,
    "puzzle": TEXT,
    "kind": {"enum": ["enumeration", "search"]},
    "status": {"enum": ["queued", "running", "interrupted", "cancelled", "finished", "failed"]},
    "parameters": OBJECT,
    "states": or_none(WHOLE),
    "eccentricity": or_none(WHOLE),
    "complete": TRUTH,
    "has_map": TRUTH,
    "depth": or_none(WHOLE),
    "seconds": or_none(NUMBER),
    "digest": or_none(TEXT),
    "created": TEXT,
    "started": or_none(TEXT),
    "finished": or_none(TEXT),
    "error": or_none(TEXT),
    "not_before": or_none(TEXT),
    "submitted": TRUTH,
    "progress": or_none(OBJECT),
    "result": or_none(OBJECT),
    "version": or_none(TEXT),
    "verified": or_none(
        object_of(
            {
                "made": TEXT,
                "version": TEXT,
                "seconds": NUMBER,
                "checks": list_of(object_of({"name": TEXT, "proves": TEXT, "checked": WHOLE})),
            }
        )
    ),
}
PUZZLE = {
    "name": TEXT,
    "title": TEXT,
    "family": TEXT,
    "metric": TEXT,
    "cells": WHOLE,
    "arrangements": WHOLE,
    "states": or_none(WHOLE),
}
ANSWER = {"board": TEXT, "distance": or_none(WHOLE), "reason": or_none(TEXT)}
MAP = {"job": WHOLE, "puzzle": TEXT}

SCHEMAS: dict[str, Schema] = {
    "Error": object_of({"error": TEXT, "status": WHOLE}),
    "Job": object_of(JOB),
    "Jobs": object_of({"jobs": list_of(named("Job")), "older": or_none(WHOLE), "damaged": list_of(TEXT)}),
    "Enumeration": object_of(
        {
            **JOB,
            "puzzle_digest": TEXT,
            "layout": OBJECT,
            "keys": or_none(WHOLE),
            "unit": or_none(TEXT),
            "layers": list_of(WHOLE),
            "layer_seconds": list_of(or_none(NUMBER)),
        }
    ),
    "Search": object_of(
        {
            **JOB,
            "puzzle_digest": TEXT,
            "engine": OBJECT,
            "iterations": list_of(
                object_of(
                    {
                        "bound": WHOLE,
                        "nodes": WHOLE,
                        "solutions": WHOLE,
                        "pieces": WHOLE,
                        "seconds": NUMBER,
                        "next_bound": or_none(WHOLE),
                        "complete": TRUTH,
                        "kept": or_none(WHOLE),
                    }
                )
            ),
            "paths": list_of(list_of(MOVE)),
        }
    ),
    "Answer": object_of(ANSWER),
    "Distances": object_of({**MAP, "distances": list_of(named("Answer"))}),
    "State": object_of(
        {
            **MAP,
            **ANSWER,
            "solutions": or_none(WHOLE),
            "moves": list_of(object_of({"move": MOVE, "board": TEXT, "distance": or_none(WHOLE)})),
            "digest": TEXT,
        }
    ),
    "Path": object_of(
        {
            **MAP,
            "board": TEXT,
            "distance": WHOLE,
            "solutions": WHOLE,
            "paths": list_of(object_of({"moves": list_of(MOVE), "boards": list_of(TEXT)})),
        }
    ),
    "Layer": object_of({**MAP, "depth": WHOLE, "states": WHOLE, "boards": list_of(TEXT)}),
    "Random": object_of({**MAP, "depth": or_none(WHOLE), "boards": list_of(TEXT)}),
    "Puzzle": object_of(PUZZLE),
    "Puzzles": object_of({"puzzles": list_of(named("Puzzle"))}),
    "Definition": object_of(
        {
            **PUZZLE,
            "source": TEXT,
            "digest": TEXT,
            "goals": list_of(TEXT),
            "start": or_none(TEXT),
            "origin": object_of({"direction": {"enum": ["to", "from"]}, "where": TEXT}),
            "known": list_of(
                object_of(
                    {
                        "states": or_none(WHOLE),
                        "eccentricity": or_none(WHOLE),
                        "layers": or_none(list_of(WHOLE)),
                        "first_layers": or_none(list_of(WHOLE)),
                        "farthest": or_none(list_of(TEXT)),
                        "source": TEXT,
                        "goal": or_none(WHOLE),
                    }
                )
            ),
        },
        others=True,
    ),
    "Estimate": object_of(
        {
            "puzzle": TEXT,
            "fits": TRUTH,
            "states_at_most": WHOLE,
            "memory": WHOLE,
            "disk": WHOLE,
            "memory_limit": WHOLE,
            "layers_in": {"enum": ["memory", "files", "redis"]},
            "why": or_none(TEXT),
            "keys": or_none(WHOLE),
            "states": or_none(WHOLE),
            "engine": TEXT,
            "states_from": or_none(TEXT),
            "both_ways": or_none(TRUTH),
            "two_colours": or_none(TRUTH),
            "scratch": {"type": "null"},
            "layers_disk": WHOLE,
            "written": WHOLE,
            "read": WHOLE,
            "shards": WHOLE,
            "units": WHOLE,
            "depths": or_none(WHOLE),
            "layers_from": or_none(TEXT),
            "processor_seconds": or_none(NUMBER),
            "seconds": or_none(NUMBER),
            "threads": WHOLE,
            "map": {"enum": ["full", "sparse", "residues", "none"]},
            "workers": list_of(OBJECT),
            "problem": or_none(TEXT),
        }
    ),
    "Workers": object_of({"workers": list_of(OBJECT), "queue": WHOLE, "redis": list_of(OBJECT)}),
}


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
