"""The picture of a board of lamps: dark, or in the colour that their number has."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.lights.definition import Lights
from farthest.puzzles.definition import WILDCARD, MoveName
from farthest.puzzles.holds import Hold, cell_hold
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


def hold(definition: Lights, board: Sequence[int], move: MoveName) -> Hold:
    """The lamp that is pressed; the move is ``press 3``, or ``press 3 ×2``."""
    del board
    return cell_hold(definition.rows, definition.cells, int(str(move).split()[1]))
