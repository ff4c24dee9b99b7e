"""The picture of a board: each family's own way, else its text."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.drawing import grids, rows
from farthest.drawing.scene import Picture, Shape
from farthest.puzzles.blocks import Blocks
from farthest.puzzles.body import Body
from farthest.puzzles.hanoi import Hanoi
from farthest.puzzles.jugs import Jugs
from farthest.puzzles.lights import Lights
from farthest.puzzles.pegs import Pegs
from farthest.puzzles.permutation import Permutation
from farthest.puzzles.sliding import Sliding


def picture(body: Body, board: Sequence[int]) -> Picture:
    """The picture of a board; ``WILDCARD`` is allowed."""
    match body:
        case Sliding():
            return grids.sliding(body, board)
        case Lights():
            return grids.lights(body, board)
        case Blocks():
            return grids.blocks(body, board)
        case Pegs():
            return grids.pegs(body, board)
        case Permutation():
            return rows.permutation(body, board)
        case Hanoi():
            return rows.hanoi(body, board)
        case Jugs():
            return rows.jugs(body, board)
    return _written(body, board)


def _written(body: Body, board: Sequence[int]) -> Picture:
    """The lines of the text drawing, a cell for two characters."""
    palette = body.palette()
    lines = body.draw_board(board)
    shapes = [
        Shape(x / 2, y / 1.5, 0.5, 0.6, palette.get(sign), sign, bare=True)
        for y, line in enumerate(lines)
        for x, sign in enumerate(line)
        if sign != " "
    ]
    return Picture(max(0.5, *(len(line) / 2 for line in lines)), len(lines) / 1.5, tuple(shapes))
