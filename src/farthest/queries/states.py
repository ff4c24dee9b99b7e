"""The states of a map in key order, streamed: every state, or those of one depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from farthest.queries.distance_map import DistanceMap

# Bounds the memory of one block to some tens of megabytes, its boards' text included.
BLOCK_STATES = 131_072


@dataclass(frozen=True, slots=True)
class StateBlock:
    """Some states in key order.

    ``keys``: uint64, shape (states,). ``labels``: uint8, shape (states, cells). ``distances``: uint8 or
    uint16 as the map has it, shape (states,).
    """

    keys: NDArray[numpy.uint64]
    labels: NDArray[numpy.uint8]
    distances: NDArray[numpy.uint8] | NDArray[numpy.uint16]


def key_blocks(
    distance_map: DistanceMap, depth: int | None = None
) -> Iterator[tuple[NDArray[numpy.uint64], NDArray[numpy.uint8] | NDArray[numpy.uint16]]]:
    """Keys and distances of the states at ``depth`` (None: of all states), in key order, some at a time.

    Reads each chunk once, and none after the last state of the layer.
    """
    left = distance_map.states if depth is None else distance_map.layers[depth]
    for chunk in distance_map.chunks():
        if not left:
            return
        wanted = chunk.distances != chunk.no_distance if depth is None else chunk.distances == depth
        places = numpy.flatnonzero(wanted)
        left -= len(places)
        for at in range(0, len(places), BLOCK_STATES):
            some = places[at : at + BLOCK_STATES]
            yield some.astype(numpy.uint64) + numpy.uint64(chunk.first_key), chunk.distances[some]


def state_blocks(distance_map: DistanceMap, depth: int | None = None) -> Iterator[StateBlock]:
    """The same as `key_blocks`, with the boards."""
    for keys, distances in key_blocks(distance_map, depth):
        yield StateBlock(keys, distance_map.space.decode(keys), distances)
