"""The picture of a block board: pieces as wide as their cells, a little apart from each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from farthest.families.blocks.boards import anchors
from farthest.families.blocks.definition import Blocks
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.picture import Picture, Rows, Shape, cell_places, cells_picture

_INSET = 0.06  # of a piece from the edge of its cells


def picture(definition: Blocks, board: Sequence[int]) -> Picture:
    """Pieces as wide as their cells, a little apart from each other."""
    palette = definition.palette()
    covers = definition.covers
    piece_of: dict[int, str] = {}
    first: dict[int, str] = {}
    for kind, cells in enumerate(anchors(definition, board) or ()):
        for token, cell in zip(definition.kinds[kind].tokens, cells, strict=False):
            first[cell] = token
            piece_of.update(dict.fromkeys(covers[kind][cell], f"{cell} {token}"))
    shapes: list[Shape] = []
    for x, y, cell in cell_places(definition.rows, definition.cells):
        if cell not in piece_of:
            text = "*" if board[cell] == WILDCARD else definition.signs[cell]
            shapes.append(Shape(x, y, colour=-1, text=text, bare=True))
            continue
        left, right, above, below = (
            0.0 if piece_of.get(other) == piece_of[cell] else _INSET
            for other in _around(definition.rows, x, y)
        )
        shapes.append(
            Shape(
                x + left,
                y + above,
                1 - left - right,
                1 - above - below,
                palette[piece_of[cell].partition(" ")[2]],
                first.get(cell, ""),
                bare=True,
                piece=int(piece_of[cell].partition(" ")[0]),
            )
        )
    return cells_picture(definition.rows, definition.cells, shapes)


def _around(rows: Rows, x: int, y: int) -> Iterator[int]:
    """The cells to the left, the right, above and below; -1 where there is none."""
    for column, row in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
        inside = 0 <= row < len(rows) and 0 <= column < len(rows[row])
        yield rows[row][column] if inside else -1
