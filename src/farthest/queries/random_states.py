"""Random states of a stored map: of one layer, or of all layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.queries.goals import first_goals
from farthest.queries.states import key_blocks
from farthest.spaces.contract import scatter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from farthest.queries.stored_map import StoredMap
    from farthest.random_source import RandomSource


DRAWN_AT_ONCE = 1 << 18

SCANNED_KEYS = 2**24
"""In residue maps of more keys random keys are looked up until enough of them are wanted states, ..."""

WORTH = 256
"""... where there are so many of these for each board that is drawn: reading all distances takes as long as looking one
key of some hundred up."""

LOOKED_UP = 1 << 12
"""Random keys that are looked up together, at least."""


def random_states(
    distance_map: StoredMap, count: int, rng: RandomSource, depth: int | None = None
) -> Iterator[str]:
    """The boards of ``count`` states at ``depth`` (None: of all states): each is drawn with the same chance and
    independently of the others, so a board may occur twice. In the order in which they were drawn.

    Where each key is a state and no depth is given, the map is not read; in a large residue map random keys are
    looked up; else the map is read once for each ``DRAWN_AT_ONCE`` boards, some states at a time, up to the last state
    that was drawn. Raises JobError beyond the last layer.
    """
    if depth is not None:
        distance_map.check_depth(depth)
    return (
        board
        for first in range(0, count, DRAWN_AT_ONCE)
        for board in _drawn(distance_map, min(count - first, DRAWN_AT_ONCE), rng, depth)
    )


def _drawn(distance_map: StoredMap, count: int, rng: RandomSource, depth: int | None) -> list[str]:
    states = distance_map.states if depth is None else distance_map.layers[depth]
    keys = distance_map.space.keys
    large = keys is not None and keys > SCANNED_KEYS and distance_map.record.keeps_residues
    if keys is not None and states < keys and large and count * WORTH <= states:
        return _met(distance_map, keys, count, rng, depth)
    drawn = numpy.array([rng.below(states) for _ in range(count)], dtype=numpy.uint64)
    if states == keys:  # each key is a state of those that are drawn from: its number is its key
        return distance_map.puzzle.definition.texts(distance_map.space.decode(drawn))
    order = numpy.argsort(drawn, kind="stable")
    ascending = drawn[order]
    boards = [""] * count
    first = at = 0
    for block in key_blocks(distance_map, depth):
        if at == count:
            break
        end = int(numpy.searchsorted(ascending, numpy.uint64(first + len(block.codes))))
        if end > at:
            codes = block.codes[(ascending[at:end] - numpy.uint64(first)).astype(numpy.intp)]
            texts = distance_map.puzzle.definition.texts(distance_map.space.decode(codes))
            for place, text in zip(order[at:end].tolist(), texts, strict=True):
                boards[place] = text
        first += len(block.codes)
        at = end
    return boards


def _met(distance_map: StoredMap, keys: int, count: int, rng: RandomSource, depth: int | None) -> list[str]:
    found: list[NDArray[numpy.uint64]] = []
    missing = count
    while missing:
        drawn = numpy.array([rng.below(keys) for _ in range(max(missing, LOOKED_UP))], dtype=numpy.uint64)
        distances = distance_map.lookup(drawn)
        wanted = drawn[distances >= 0 if depth is None else distances == depth][:missing]
        found.append(wanted)
        missing -= len(wanted)
    codes = numpy.concatenate(found) if found else numpy.empty(0, dtype=numpy.uint64)
    return distance_map.puzzle.definition.texts(distance_map.space.decode(codes))


def holds_the_solvable(distance_map: StoredMap, target: str = "goal") -> bool:
    """Whether the states of the map are the boards from which moves lead to the target (``goal``, ``start`` or a
    board's text): either it has all distances to the target; or the target is the goal, moves can be taken back, and
    the map, counted from the start, reaches the goal (then its states are those that moves join to the start)."""
    if not distance_map.complete:
        return False
    if distance_map.origin.direction == "to":
        return _place(distance_map, distance_map.origin.where) == _place(distance_map, target)
    space = distance_map.space
    undirected = space.engine == "scatter" and scatter(space).undirected
    from_start = distance_map.origin.where == "start"
    return target == "goal" and from_start and undirected and first_goals(distance_map) is not None


def _place(distance_map: StoredMap, where: str) -> str:
    return where if where in ("goal", "start") else distance_map.text(where)
