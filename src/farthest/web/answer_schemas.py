"""The forms of the answers below /api/, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

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
