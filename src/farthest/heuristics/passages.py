"""How far a piece of a sliding puzzle is from each cell, and which cells a goal wants it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.cell_sums import NO_WAY
from farthest.puzzles.body import WILDCARD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.puzzles.body import Board
    from farthest.puzzles.sliding import Sliding


def piece_distances(body: Sliding) -> NDArray[numpy.int32]:
    """The number of passages, ``[from, to]``, that a piece takes at least; ``NO_WAY`` where it cannot get there."""
    step = numpy.eye(body.cells, dtype=numpy.int32)
    for a, b in (*body.edges, *((b, a) for a, b in body.edges), *body.arcs):
        step[a, b] = 1
    distances = numpy.where(numpy.eye(body.cells, dtype=bool), 0, NO_WAY).astype(numpy.int32)
    reached = numpy.eye(body.cells, dtype=numpy.int32)
    for moves in range(1, body.cells):
        reached = (reached @ step > 0).astype(numpy.int32)
        distances[(reached > 0) & (distances == NO_WAY)] = moves
    return distances


def wanted(body: Sliding, goal: Board) -> NDArray[numpy.bool_]:
    """Whether a piece of the label in the cell is as the goal has it: shape (labels, cells); blanks nowhere.

    A wildcard takes no piece whose kind has all its cells without it.
    """
    cells = numpy.array(goal)
    labels = numpy.arange(len(body.tokens))[:, None]
    spare = numpy.array([count - goal.count(label) for label, count in enumerate(body.counts)])[:, None]
    found: NDArray[numpy.bool_] = ((cells == labels) | ((cells == WILDCARD) & (spare > 0))) & (labels > 0)
    return found


def nearest_table(body: Sliding, goal: Board) -> NDArray[numpy.int32]:
    """The distance of each label in each cell to the nearest cell where the goal has it; of blanks 0.

    Shape (labels, cells). A label that the goal has nowhere cannot be: every goal has all pieces.
    """
    distances = piece_distances(body)
    table = numpy.zeros((len(body.tokens), body.cells), dtype=numpy.int32)
    for label, cells in enumerate(wanted(body, goal)):
        if label:
            table[label] = distances[:, cells].min(axis=1)
    return table


def distinct(body: Sliding) -> bool:
    """Whether no two pieces are alike; blanks may be."""
    return max(body.counts[1:]) == 1
