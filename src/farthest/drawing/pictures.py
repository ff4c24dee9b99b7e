"""The picture of a board: each family's own way, else its text."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.drawing import grids, rows
from farthest.families.blocks.definition import Blocks
from farthest.families.hanoi.definition import Hanoi
from farthest.families.jugs.definition import Jugs
from farthest.families.lights.definition import Lights
from farthest.families.pegs.definition import Pegs
from farthest.families.permutation.definition import Permutation
from farthest.families.sliding.definition import Sliding
from farthest.puzzles.definition import PuzzleDefinition
from farthest.puzzles.picture import Picture, Shape


def picture(definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
    """The picture of a board; ``WILDCARD`` is allowed."""
    match definition:
        case Sliding():
            return grids.sliding(definition, board)
        case Lights():
            return grids.lights(definition, board)
        case Blocks():
            return grids.blocks(definition, board)
        case Pegs():
            return grids.pegs(definition, board)
        case Permutation():
            return rows.permutation(definition, board)
        case Hanoi():
            return rows.hanoi(definition, board)
        case Jugs():
            return rows.jugs(definition, board)
    return _written(definition, board)


def _written(definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
    """The lines of the text drawing, a cell for two characters."""
    palette = definition.palette()
    lines = definition.draw_board(board)
    shapes = [
        Shape(x / 2, y / 1.5, 0.5, 0.6, palette.get(sign), sign, bare=True)
        for y, line in enumerate(lines)
        for x, sign in enumerate(line)
        if sign != " "
    ]
    return Picture(max(0.5, *(len(line) / 2 for line in lines)), len(lines) / 1.5, tuple(shapes))
