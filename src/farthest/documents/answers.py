"""Answers of a stored map as JSON objects: `farthest distance`, `farthest path`, and the web."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farthest.puzzles.definition import NamedPath
    from farthest.queries.distance_map import DistanceMap


def map_facts(opened: DistanceMap) -> dict[str, Any]:
    """Which map has answered."""
    return {"job": opened.job, "puzzle": opened.record.name}


def distance_answer(opened: DistanceMap, board: str, found: int) -> dict[str, Any]:
    """The distance of a board as it was written; ``found``: -1 where it has none."""
    return {"board": board, "distance": None if found < 0 else found, "reason": reason(opened, board, found)}


def reason(opened: DistanceMap, board: str, found: int) -> str | None:
    """Why a board has no distance; None where it has one."""
    if found >= 0:
        return None
    word, why = opened.why_no_distance(opened.labels(board))
    return why if word == "unreachable" else f"{word}: {why}"


def path_document(named: NamedPath) -> dict[str, Any]:
    """One solution: its moves, and the boards between them."""
    return {"moves": named.moves, "boards": named.texts}
