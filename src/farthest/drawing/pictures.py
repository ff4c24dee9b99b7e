"""The picture of a board: each family's own way, else its text."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.drawing.scene import Picture, Shape
from farthest.puzzles.body import WILDCARD, Body
from farthest.puzzles.permutation import Permutation
from farthest.puzzles.permutation_boards import layout
from farthest.puzzles.sliding import Sliding


def picture(body: Body, board: Sequence[int]) -> Picture:
    """The picture of a board; ``WILDCARD`` is allowed."""
    if isinstance(body, Sliding):
        return sliding(body, board)
    if isinstance(body, Permutation):
        return permutation(body, board)
    return written(body, board)


def written(body: Body, board: Sequence[int]) -> Picture:
    """The lines of the text drawing, a cell for two characters."""
    palette = body.palette()
    lines = body.draw_board(board)
    shapes = []
    for y, line in enumerate(lines):
        for x, sign in enumerate(line):
            if sign != " ":
                number = palette.get(sign)
                shapes.append(Shape(x / 2, y / 1.5, 0.5, 0.6, number, sign, bare=True))
    return Picture(max(map(len, lines), default=0) / 2, len(lines) / 1.5, tuple(shapes))


def sliding(body: Sliding, board: Sequence[int]) -> Picture:
    """Tiles in their cells; of a graph, the cells in a row with their numbers below."""
    if not body.rows:
        shapes = [_tile(body, cell, 0, label) for cell, label in enumerate(board)]
        shapes += [Shape(cell, 1, 1, 0.6, None, str(cell), bare=True) for cell in range(body.cells)]
        return Picture(body.cells, 1.6, tuple(shapes))
    places = [(x, y, cell) for y, row in enumerate(body.rows) for x, cell in enumerate(row) if cell >= 0]
    tiles = tuple(_tile(body, x, y, board[cell]) for x, y, cell in places)
    return Picture(len(body.rows[0]), len(body.rows), tiles)


def _tile(body: Sliding, x: int, y: int, label: int) -> Shape:
    if label == 0:
        return Shape(x, y, colour=-1)
    if label == WILDCARD:
        return Shape(x, y, text="*")
    return Shape(x, y, colour=body.palette()[body.tokens[label]], text=body.tokens[label])


def permutation(body: Permutation, board: Sequence[int]) -> Picture:
    """A row of pieces for each set; a piece that is turned tells by how much."""
    shapes = []
    rows = layout(body).rows
    for y, row in enumerate(rows):
        for x, slot in enumerate(row.slots):
            label = board[slot]
            turned = board[body.slots + slot] if body.oriented else 0
            token = body.tokens[label]
            text = f"{token}+{turned}" if turned else token
            shapes.append(Shape(x, y * 1.3, colour=body.palette()[token], text=text))
    return Picture(max(len(row.slots) for row in rows), len(rows) * 1.3 - 0.3, tuple(shapes))
