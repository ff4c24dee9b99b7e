"""The states of a map in the order of their codes, streamed: every state, or those of one depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from farthest.queries.stored_map import StoredMap
    from farthest.spaces.contract import Boards, Codes

# Bounds the memory of one block to some tens of megabytes, the text of its boards included.
BLOCK_STATES = 131_072


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Some states in the order of their codes.

    ``keys``: uint64, shape (states,): keys, or in a sparse map the states' numbers. ``codes``: shape (states,), as the
    space has them; in a dense map the keys. ``distances``: uint8 or uint16, as in the map, shape (states,).
    """

    keys: NDArray[numpy.uint64]
    codes: Codes
    distances: NDArray[numpy.uint8] | NDArray[numpy.uint16]


@dataclass(frozen=True, slots=True)
class StateBlock(CodeBlock):
    """A CodeBlock with the boards. ``labels``: uint8, shape (states, cells)."""

    labels: Boards


def key_blocks(distance_map: StoredMap, depth: int | None = None) -> Iterator[CodeBlock]:
    """The states at ``depth`` (None: all states), in order, some at a time.

    Reads each chunk once, and none after the last state of the layer; none where the map finds the layer quicker.
    """
    quick = None if depth is None else distance_map.quick_layer(depth)
    if quick is not None:
        for at in range(0, len(quick), BLOCK_STATES):
            codes = quick[at : at + BLOCK_STATES]
            yield CodeBlock(codes, codes, numpy.full(len(codes), depth, dtype=distance_map.unit))
        return
    left = distance_map.states if depth is None else distance_map.layers[depth]
    for chunk in distance_map.chunks(depth):
        if not left:
            return
        wanted = chunk.distances != chunk.no_distance if depth is None else chunk.distances == depth
        places = numpy.flatnonzero(wanted)
        left -= len(places)
        for at in range(0, len(places), BLOCK_STATES):
            some = places[at : at + BLOCK_STATES]
            keys = some.astype(numpy.uint64) + numpy.uint64(chunk.first_key)
            codes = keys if chunk.codes is None else chunk.codes[some]
            yield CodeBlock(keys, codes, chunk.distances[some])


def state_blocks(distance_map: StoredMap, depth: int | None = None) -> Iterator[StateBlock]:
    """The same as `key_blocks`, with the boards."""
    for block in key_blocks(distance_map, depth):
        yield StateBlock(block.keys, block.codes, block.distances, distance_map.space.decode(block.codes))
