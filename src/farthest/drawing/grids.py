"""Pictures of boards whose cells lie in a grid; of graphs, the cells in a row above their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from farthest.families.blocks.boards import anchors
from farthest.families.blocks.definition import Blocks
from farthest.families.lights.definition import Lights
from farthest.families.pegs.definition import Pegs
from farthest.families.sliding.definition import Sliding
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.picture import Picture, Shape

Rows = tuple[tuple[int, ...], ...]
_INSET = 0.06  # of a piece from the edge of its cells


def sliding(definition: Sliding, board: Sequence[int]) -> Picture:
    """Tiles in their cells."""
    tiles = [
        _tile(definition, x, y, board[cell]) for x, y, cell in _places(definition.rows, definition.cells)
    ]
    return _picture(definition.rows, definition.cells, tiles)


def _tile(definition: Sliding, x: int, y: int, label: int) -> Shape:
    if label == 0:
        return Shape(x, y, colour=-1)
    if label == WILDCARD:
        return Shape(x, y, text="*")
    return Shape(x, y, colour=definition.palette()[definition.tokens[label]], text=definition.tokens[label])


def lights(definition: Lights, board: Sequence[int]) -> Picture:
    """Lamps: dark, or in the colour that their number has."""
    lamps = []
    for x, y, lamp in _places(definition.rows, definition.cells):
        shade = board[lamp]
        number = (
            None if shade == WILDCARD else -1 if shade == 0 else 2 + shade
        )  # the first: that of lamplight
        text = "*" if shade == WILDCARD else str(shade) if shade and definition.colours > 2 else ""
        lamps.append(Shape(x, y, colour=number, text=text))
    return _picture(definition.rows, definition.cells, lamps)


def pegs(definition: Pegs, board: Sequence[int]) -> Picture:
    """Pegs as full discs, holes as small ones."""
    shapes = []
    for x, y, hole in _places(definition.rows, definition.cells):
        if board[hole] == WILDCARD:
            shapes.append(Shape(x + 0.1, y + 0.1, 0.8, 0.8, text="*", disc=True))
        elif board[hole]:
            shapes.append(Shape(x + 0.1, y + 0.1, 0.8, 0.8, 1, disc=True))
        else:
            shapes.append(Shape(x + 0.35, y + 0.35, 0.3, 0.3, -1, disc=True))
    return _picture(definition.rows, definition.cells, shapes)


def blocks(definition: Blocks, board: Sequence[int]) -> Picture:
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
    for x, y, cell in _places(definition.rows, definition.cells):
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
            )
        )
    return _picture(definition.rows, definition.cells, shapes, numbered=False)


def _around(rows: Rows, x: int, y: int) -> Iterator[int]:
    """The cells to the left, the right, above and below; -1 where there is none."""
    for column, row in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
        inside = 0 <= row < len(rows) and 0 <= column < len(rows[row])
        yield rows[row][column] if inside else -1


def _places(rows: Rows, cells: int) -> list[tuple[int, int, int]]:
    """Column, row and number of each cell."""
    return [
        (x, y, cell)
        for y, row in enumerate(rows or (tuple(range(cells)),))
        for x, cell in enumerate(row)
        if cell >= 0
    ]


def _picture(rows: Rows, cells: int, shapes: list[Shape], *, numbered: bool = True) -> Picture:
    if rows or not numbered:
        return Picture(max(map(len, rows)), len(rows), tuple(shapes))
    numbers = [Shape(cell, 1, 1, 0.6, None, str(cell), bare=True) for cell in range(cells)]
    return Picture(cells, 1.6, (*shapes, *numbers))
