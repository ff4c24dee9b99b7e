"""The goals nearest to the start, in a map that is counted from the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.queries.states import key_blocks

if TYPE_CHECKING:
    from farthest.queries.stored_map import StoredMap

BOARDS_KEPT = 24


@dataclass(frozen=True, slots=True)
class FirstGoals:
    """The goal states nearest the origin: their ``depth``, how many there are, and the first of them as texts."""

    depth: int
    states: int
    boards: list[str]


def first_goals(distance_map: StoredMap) -> FirstGoals | None:
    """The goal states at the least distance; None where no goal is reached. Reads the whole map."""
    definition = distance_map.puzzle.definition
    depth, states, boards = -1, 0, list[str]()
    for block in key_blocks(distance_map):
        # Only states that are no farther than the nearest goal so far need be decoded.
        near = slice(None) if depth < 0 else block.distances <= depth
        distances = block.distances[near]
        if not distances.size:
            continue
        labels = distance_map.space.decode(block.codes[near])
        goals = definition.at_goal(labels)
        if not goals.any():
            continue
        nearest = int(distances[goals].min())
        if nearest != depth:
            depth, states, boards = nearest, 0, []
        found = labels[goals & (distances == nearest)]
        states += len(found)
        boards += definition.texts(found[: BOARDS_KEPT - len(boards)])
    return None if depth < 0 else FirstGoals(depth, states, boards)
