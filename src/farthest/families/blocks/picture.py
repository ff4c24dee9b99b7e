"""The picture of a block board: pieces as wide as their cells, a little apart from each other."""

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
    for x, y, cell, around in _places(definition.rows, definition.cells):
        piece = piece_of.get(cell)
        if piece is None:
            text = "*" if board[cell] == WILDCARD else definition.signs[cell]
            shapes.append(Shape(x, y, colour=-1, text=text, bare=True))
            continue
        left, right, above, below = (0.0 if piece_of.get(other) == piece else _INSET for other in around)
        token = piece.partition(" ")[2]
        shapes.append(
            Shape(
                x + left,
                y + above,
                1 - left - right,
                1 - above - below,
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
    shapes = tuple(number for number, cell in enumerate(places) if cell in covered)
    return Hold(
        Area.of_cells(places[cell] for cell in covered),
        Area.of_cells(places[cell] for cell in covered_after),
        shapes,
    )


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
