"""The picture of a permutation board: a row of pieces for each set."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.permutation.boards import layout
from farthest.families.permutation.definition import Permutation
from farthest.puzzles.picture import Picture, Shape

_BETWEEN = 1.3  # from row to row


def picture(definition: Permutation, board: Sequence[int]) -> Picture:
    """A row of pieces for each set; a piece that is turned tells by how much."""
    shapes, sets = [], layout(definition).rows
    palette = definition.palette()
    for y, row in enumerate(sets):
        for x, slot in enumerate(row.slots):
            turned = board[definition.slots + slot] if definition.oriented else 0
            token = definition.tokens[board[slot]]
            text = f"{token}+{turned}" if turned else token
            shapes.append(Shape(x, y * _BETWEEN, colour=palette[token], text=text))
    return Picture(max(len(row.slots) for row in sets), len(sets) * _BETWEEN - (_BETWEEN - 1), tuple(shapes))
