"""The picture of a block board: rectangles whole, other pieces cell by cell, a little apart from each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from farthest.families.blocks.definition import Blocks
from farthest.puzzles.definition import WILDCARD, MoveName
from farthest.puzzles.picture import Area, Hold, Picture, Rows, Shape, cell_places, cells_picture

_INSET = 0.06  # of a piece from the edge of its cells


def picture(definition: Blocks, board: Sequence[int]) -> Picture:
    """Pieces as wide as their cells, a little apart from each other."""
    palette = definition.palette()
    covers = definition.covers
    piece_of: dict[int, str] = {}
    first: dict[int, str] = {}
    for kind, cells in enumerate(definition.anchors(board) or ()):
        for token, cell in zip(definition.kinds[kind].tokens, cells, strict=False):
            first[cell] = token
            piece_of.update(dict.fromkeys(covers[kind][cell], f"{cell} {token}"))
    shapes: list[Shape] = []
    for x, y, cell, around in _drawn(definition, board):
        piece = piece_of.get(cell)
        if piece is None:
            text = "*" if board[cell] == WILDCARD else definition.signs[cell]
            shapes.append(Shape(x, y, colour=-1, text=text, bare=True))
            continue
        token, (wide, high) = piece.partition(" ")[2], _size(definition.kinds[board[cell] - 1].shape)
        left, right, above, below = (0.0 if piece_of.get(other) == piece else _INSET for other in around)
        if wide * high > 1:  # a rectangle, drawn whole
            left = right = above = below = _INSET
        shapes.append(
            Shape(
                x + left,
                y + above,
                wide - left - right,
                high - above - below,
                palette[token],
                first.get(cell, ""),
                bare=True,
                glides=True,
            )
        )
    return cells_picture(definition.rows, definition.cells, shapes)


def hold(definition: Blocks, board: Sequence[int], move: MoveName, after: Sequence[int]) -> Hold:
    """The piece that is on other cells afterwards."""
    before, now = (definition.anchors(each) or [] for each in (board, after))
    kind = next(kind for kind, cells in enumerate(before) if cells != now[kind])
    (source,), (target,) = set(before[kind]) - set(now[kind]), set(now[kind]) - set(before[kind])
    places = {cell: (x, y) for x, y, cell, _ in _places(definition.rows, definition.cells)}
    covered, covered_after = (definition.covers[kind][first] for first in (source, target))
    drawn = (cell for _, _, cell, _ in _drawn(definition, board))
    shapes = tuple(number for number, cell in enumerate(drawn) if cell in covered)
    return Hold(
        Area.of_cells(places[cell] for cell in covered),
        Area.of_cells(places[cell] for cell in covered_after),
        shapes,
    )


def _drawn(definition: Blocks, board: Sequence[int]) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """The cells that have a shape: all but those within a rectangle, which is drawn whole at its first cell."""
    within = {
        cell
        for kind, firsts in enumerate(definition.anchors(board) or ())
        if _size(definition.kinds[kind].shape) != (1, 1)
        for first in firsts
        for cell in definition.covers[kind][first]
        if cell != first
    }
    return [each for each in _places(definition.rows, definition.cells) if each[2] not in within]


def _size(shape: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Width and height of a piece that is a rectangle; 1 and 1 for others, whose cells are drawn one by one."""
    high, wide = (1 + max(line) - min(line) for line in zip(*shape, strict=True))
    return (wide, high) if wide * high == len(shape) else (1, 1)


@lru_cache(maxsize=16)
def _places(rows: Rows, cells: int) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """Column, row and number of each cell, and the cells to the left, to the right, above and below; -1 where there is
    none."""
    places = cell_places(rows, cells)
    at = {(x, y): cell for x, y, cell in places}
    return [
        (x, y, cell, tuple(at.get(place, -1) for place in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))))
        for x, y, cell in places
    ]
