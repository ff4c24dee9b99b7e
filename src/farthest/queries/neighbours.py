"""The moves that the player can make on a board, with the distance after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from farthest.families.given import GivenBoard
    from farthest.puzzles.definition import Board, MoveName
    from farthest.queries.stored_map import StoredMap


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A move, the board that it leads to (its canonical text and its labels), and the distance of that board: -1 where
    it has none."""

    move: MoveName
    board: str
    labels: Board
    distance: int


def neighbours(distance_map: StoredMap, board: GivenBoard) -> list[Neighbour]:
    """The player's moves on a board, least distance first, boards without a distance last; equal ones in the order of
    the space's moves. Empty for an additive pattern, which has no moves. Raises BoardError where the board is
    malformed."""
    definition = distance_map.puzzle.definition
    if not definition.has_moves:
        return []
    here = numpy.array([distance_map.labels(board)], dtype=numpy.uint8)
    # The player moves toward the origin where distances are to it, and away from it where they are from it.
    toward = distance_map.origin.direction == "to"
    made = [
        (name, after)
        for name, _, boards in distance_map.space.neighbours(here, toward=toward)
        for after in boards
    ]
    if not made:
        return []
    after = numpy.array([boards for _, boards in made], dtype=numpy.uint8)
    distances = distance_map.lookup(distance_map.space.encode(after)).tolist()
    texts = definition.texts(after)
    found = []
    for number, (name, _) in enumerate(made):
        move = name
        if definition.names_swap:
            step = numpy.concatenate([here, after[number : number + 1]])
            move = definition.named_path(step, [name]).moves[0]
        found.append(Neighbour(move, texts[number], tuple(after[number].tolist()), distances[number]))
    return sorted(found, key=lambda each: (each.distance < 0, each.distance))
