"""Jobs as JSON objects: `farthest jobs`, `farthest show`, and the web."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from farthest.models.records import JobRecord, LayerRecord
    from farthest.models.searches import Searches
    from farthest.models.verifications import Verification


def origin_text(record: JobRecord) -> str:
    """Where moves are counted from or to, in one line; of a search its board and target. What a damaged row lacks is
    left out."""
    from farthest.puzzles.origin_names import where_text

    asked = record.parameters
    if "board" in asked:
        return f"{asked['board']} to {where_text(str(asked.get('target', 'goal')))}"
    return f"{asked.get('direction', '')} {where_text(str(asked.get('where', '')))}"


def job_summary(record: JobRecord) -> dict[str, Any]:
    """What lists of jobs say of each."""
    return {
        "job": record.id,
        "puzzle": record.name,
        "kind": record.kind,
        "status": record.state_now,
        "parameters": record.parameters,
        "states": record.states,
        "eccentricity": record.eccentricity,
        "complete": record.complete,
        "has_map": record.has_map,
        "depth": record.depth,
        "seconds": record.seconds,
        "digest": record.digest,
        "created": _iso(record.created),
        "started": _iso(record.started),
        "finished": _iso(record.finished),
        "error": record.error,
        "not_before": _iso(record.not_before),
        "submitted": record.submitted,
        "progress": record.progress,
        "result": record.result,
        "version": record.version,
        "verified": _verified(record.verified),
    }


def enumeration_document(record: JobRecord, layers: Sequence[LayerRecord]) -> dict[str, Any]:
    """One enumeration with its layers."""
    return {
        **job_summary(record),
        "puzzle_digest": record.puzzle_digest,
        "layout": record.layout,
        "keys": record.keys,
        "unit": record.unit,
        "layers": [layer.states for layer in layers],
        "layer_seconds": [layer.seconds for layer in layers],
    }


def search_document(record: JobRecord, searches: Searches) -> dict[str, Any]:
    """One search with its iterations and listed solutions. Raises StorageError where they are not what was stored."""
    return {
        **job_summary(record),
        "puzzle_digest": record.puzzle_digest,
        "engine": record.layout,
        "iterations": [asdict(one) for one in searches.iterations(record.id)],
        "paths": search_paths(record, searches, None),
    }


def search_paths(record: JobRecord, searches: Searches, limit: int | None) -> list[Any]:
    """The listed solutions of a search, at most ``limit``, as moves: each piece keeps its name. Raises StorageError."""
    from farthest.models.stored_job import puzzle_of
    from farthest.models.stored_values import damaged
    from farthest.search.replay import named_moves
    from farthest.search.serialized import way_of

    puzzle, paths = puzzle_of(record), searches.solutions(record.id, limit)
    if not puzzle.definition.names_swap:
        return paths
    board = puzzle.definition.parse_board(record.parameters["board"], name=puzzle.name)
    try:
        return list(named_moves(puzzle, board, map(way_of, paths)))
    except (TypeError, ValueError) as error:
        raise damaged("solution", f"of job {record.id}", f"column moves: {error}", record.id) from None


def _verified(found: Verification | None) -> dict[str, Any] | None:
    return None if found is None else {**asdict(found), "made": _iso(found.made)}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
