"""The distances of a piece of a sliding puzzle between cells, and the cells where a goal has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.cell_sums import NO_WAY
from farthest.puzzles.definition import WILDCARD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.sliding.definition import Sliding
    from farthest.puzzles.definition import Board


def piece_distances(definition: Sliding) -> NDArray[numpy.int32]:
    """The least number of passages, ``[from, to]``, that a piece takes; ``NO_WAY`` where it cannot get there."""
    step = numpy.eye(definition.cells, dtype=numpy.int32)
    for a, b in (*definition.edges, *((b, a) for a, b in definition.edges), *definition.arcs):
        step[a, b] = 1
    distances = numpy.where(numpy.eye(definition.cells, dtype=bool), 0, NO_WAY).astype(numpy.int32)
    reached = numpy.eye(definition.cells, dtype=numpy.int32)
    for moves in range(1, definition.cells):
        reached = (reached @ step > 0).astype(numpy.int32)
        distances[(reached > 0) & (distances == NO_WAY)] = moves
    return distances


def wanted(definition: Sliding, goal: Board) -> NDArray[numpy.bool_]:
    """Whether a piece of the label in the cell is as the goal has it: shape (labels, cells); blanks nowhere.

    A wildcard takes no piece whose kind has all its cells without it.
    """
    cells = numpy.array(goal)
    labels = numpy.arange(len(definition.tokens))[:, None]
    spare = numpy.array([count - goal.count(label) for label, count in enumerate(definition.counts)])[:, None]
    found: NDArray[numpy.bool_] = ((cells == labels) | ((cells == WILDCARD) & (spare > 0))) & (labels > 0)
    return found


def nearest_table(definition: Sliding, goal: Board) -> NDArray[numpy.int32]:
    """The distance of each label in each cell to the nearest cell where the goal has it; of blanks 0.

    Shape (labels, cells). Every goal has every label, as it has all pieces.
    """
    distances = piece_distances(definition)
    table = numpy.zeros((len(definition.tokens), definition.cells), dtype=numpy.int32)
    for label, cells in enumerate(wanted(definition, goal)):
        if label:
            table[label] = distances[:, cells].min(axis=1)
    return table


def distinct(definition: Sliding) -> bool:
    """Whether no two pieces are alike; blanks may be."""
    return max(definition.counts[1:]) == 1
