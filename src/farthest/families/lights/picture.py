"""The picture of a board of lamps: dark, or in the colour that their number has."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.lights.definition import Lights
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.picture import Picture, Shape, cell_places, cells_picture


def picture(definition: Lights, board: Sequence[int]) -> Picture:
    """Lamps: dark, or in the colour that their number has."""
    lamps = []
    for x, y, lamp in cell_places(definition.rows, definition.cells):
        shade = board[lamp]
        number = (
            None if shade == WILDCARD else -1 if shade == 0 else 2 + shade
        )  # the first: that of lamplight
        text = "*" if shade == WILDCARD else str(shade) if shade and definition.colours > 2 else ""
        lamps.append(Shape(x, y, colour=number, text=text))
    return cells_picture(definition.rows, definition.cells, lamps)
