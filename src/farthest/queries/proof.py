"""A stored map handed to the proof of its family, with all that is stored beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.models.maps import Maps
from farthest.puzzles.sliding import Sliding
from farthest.verify.generic import verify_generic
from farthest.verify.pattern import verify_pattern
from farthest.verify.rows import Facts
from farthest.verify.verifier import verify_map

if TYPE_CHECKING:
    from farthest.queries.distance_map import DistanceMap
    from farthest.verify.report import Report


def prove(distance_map: DistanceMap) -> Report:
    """The report of ``farthest verify``."""
    record = distance_map.record
    facts = Facts(record.states, record.eccentricity, record.depth, record.unit)
    stored = Maps(distance_map.database).states(record.id)
    rows = ((row.key, row.distance, row.board) for row in stored)
    depth = None if distance_map.complete else distance_map.depth
    body = distance_map.puzzle.body
    if isinstance(body, Sliding):
        prove_sliding = verify_pattern if body.blanks else verify_map
        return prove_sliding(
            distance_map.puzzle,
            record.layout,
            distance_map.origin,
            (chunk.distances for chunk in distance_map.chunks()),
            unit=distance_map.unit.name,
            layers=distance_map.layers,
            digest=distance_map.digest,
            depth=depth,
            facts=facts,
            rows=rows,
        )
    return verify_generic(
        distance_map.puzzle,
        record.layout,
        distance_map.origin,
        ((chunk.codes, chunk.distances) for chunk in distance_map.chunks()),
        unit=distance_map.unit.name,
        length=record.keys or 0,
        layers=distance_map.layers,
        digest=distance_map.digest,
        depth=depth,
        facts=facts,
        rows=rows,
    )
