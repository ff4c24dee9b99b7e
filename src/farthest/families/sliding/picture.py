"""The picture of a sliding board: tiles in their cells."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.sliding.definition import Sliding
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.picture import Picture, Shape, cell_places, cells_picture


def picture(definition: Sliding, board: Sequence[int]) -> Picture:
    """Tiles in their cells."""
    tiles = [
        _tile(definition, x, y, board[cell]) for x, y, cell in cell_places(definition.rows, definition.cells)
    ]
    return cells_picture(definition.rows, definition.cells, tiles)


def _tile(definition: Sliding, x: int, y: int, label: int) -> Shape:
    if label == 0:
        return Shape(x, y, colour=-1)
    if label == WILDCARD:
        return Shape(x, y, text="*")
    token = definition.tokens[label]
    return Shape(x, y, colour=definition.palette()[token], text=token, glides=True)
