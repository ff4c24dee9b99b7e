"""The picture of a block board: a box with a frame, which is open where an exit is; the places of the goal; and each
piece as one shape, a little apart from the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from farthest.families.blocks.definition import Blocks
from farthest.puzzles.definition import WILDCARD, MoveName
from farthest.puzzles.picture import Area, Hold, Picture, Place, Point, Shape, cell_places

_INSET, _MARK_INSET = 0.05, 0.1  # of a piece from the edge of its cells; of where it must be
_FRAME = 3 / 16  # width; sums of it are exact
_COLOUR = "brown"  # of the frame
_MOST_MARKS = 4  # places where a piece must be, over all goals


def picture(definition: Blocks, board: Sequence[int]) -> Picture:
    """The pieces are the last shapes, in the order of ``anchors``."""
    ground = _ground(definition)
    pieces = [
        _piece(definition, kind, first, token)
        for kind, firsts in enumerate(definition.anchors(board) or ())
        for token, first in zip(definition.kinds[kind].tokens, firsts, strict=False)
    ]
    return Picture(ground.width, ground.height, (*ground.shapes, *pieces))


def hold(definition: Blocks, board: Sequence[int], move: MoveName, after: Sequence[int]) -> Hold:
    """The piece that is on other cells afterwards."""
    before, now = (definition.anchors(each) or [] for each in (board, after))
    kind = next(kind for kind, cells in enumerate(before) if cells != now[kind])
    (source,), (target,) = set(before[kind]) - set(now[kind]), set(now[kind]) - set(before[kind])
    places = _places(definition)
    took, went = (
        Area.of_cells(places[cell] for cell in definition.covers[kind][each]) for each in (source, target)
    )
    number = (
        len(picture(definition, board).shapes) - sum(map(len, before[kind:])) + before[kind].index(source)
    )
    return Hold(took, went, (number,))


def _piece(definition: Blocks, kind: int, first: int, token: str = "") -> Shape:
    """A piece of a kind from its first cell on. Without ``token``: where it must be."""
    found, (x, y) = definition.kinds[kind], _places(definition)[first]
    rows, columns = zip(*found.shape, strict=True)
    left = min(columns)
    return Shape(
        x + left,
        y,
        max(columns) - left + 1,
        max(rows) + 1,
        definition.palette()[found.tokens[0]],
        token,
        bare=True,
        cells=tuple((column - left, row) for row, column in found.shape),
        inset=_INSET if token else _MARK_INSET,
        dashed=not token,
        glides=bool(token),
    )


@lru_cache(maxsize=16)
def _ground(definition: Blocks) -> Picture:
    """What lies under the pieces: the frame, the cells, the signs of exits, and where pieces must be."""
    rows = definition.rows
    at = {cell: (x, y) for x, y, cell in cell_places(rows, definition.cells)}
    walled = {place for cell, place in at.items() if not definition.signs[cell]}
    marks = {
        (kind, first)
        for goal in definition.goals
        if WILDCARD in goal
        for kind, firsts in enumerate(definition.anchors(goal) or ())
        for first in firsts
    }
    marks = marks if len(marks) <= _MOST_MARKS else set()
    marked = {cell for kind, first in marks for cell in definition.covers[kind][first]}
    width, height = max(map(len, rows)), len(rows)
    size = _FRAME, _FRAME, width, height
    shapes = [Shape(*size, -1, bare=True, cells=tuple(at.values()))]
    if walled:
        shapes.insert(0, Shape(*size, _COLOUR, bare=True, cells=_filled(walled), inset=-_FRAME))
    places = _places(definition)
    shapes += [
        Shape(*places[cell], text=sign, bare=True)
        for cell, sign in enumerate(definition.signs)
        if sign and cell not in marked
    ]
    shapes += [_piece(definition, kind, first) for kind, first in sorted(marks)]
    return Picture(width + 2 * _FRAME, height + 2 * _FRAME, tuple(shapes))


@lru_cache(maxsize=16)
def _places(definition: Blocks) -> dict[int, Point]:
    """The corner of each cell."""
    found = cell_places(definition.rows, definition.cells)
    return {cell: (x + _FRAME, y + _FRAME) for x, y, cell in found}


def _filled(places: Collection[Place]) -> tuple[Place, ...]:
    """The places, and those that they enclose."""
    right, bottom = (max(place[i] for place in places) + 1 for i in (0, 1))
    outside, open_ = set[Place](), [(-1, -1)]
    while open_:
        x, y = here = open_.pop()
        if -1 <= x <= right and -1 <= y <= bottom and here not in outside and here not in places:
            outside.add(here)
            open_ += [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
    return tuple((x, y) for y in range(bottom) for x in range(right) if (x, y) not in outside)
