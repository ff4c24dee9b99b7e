"""Where people take hold of a drawn board to make a move, and where what they take goes.

A move is made by pressing its source, by dragging the source to the target, or by choosing one after the other. Places
are those of the picture: x to the right, y downward, in cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from farthest.puzzles.picture import cell_places

if TYPE_CHECKING:
    from farthest.puzzles.picture import Picture, Point, Rows, Shape


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle: its corner (x, y) and its size."""

    x: float
    y: float
    width: float = 1.0
    height: float = 1.0

    @property
    def middle(self) -> Point:
        """Its centre."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Hold:
    """``source``: what is pressed or dragged; moves may share one. ``target``: where it goes; None: it is only pressed.
    ``shapes``: the numbers of the picture's shapes that go along. ``sign``: a text that the source shows, where the
    picture has nothing there. ``said``: the move in words, where its name does not say it. ``chosen``: the source is
    pressed first, then the target, as with pegs that discs go between."""

    source: Area
    target: Area | None = None
    shapes: tuple[int, ...] = ()
    sign: str = ""
    said: str = ""
    chosen: bool = False


def cell_hold(rows: Rows, cells: int, source: int, target: int | None = None, said: str = "") -> Hold:
    """The hold of what is in one cell of a grid or graph, drawn by ``cells_picture`` with one shape a cell."""
    found = {cell: (number, x, y) for number, (x, y, cell) in enumerate(cell_places(rows, cells))}
    number, x, y = found[source]
    return Hold(Area(x, y), None if target is None else Area(*found[target][1:]), (number,), said=said)


def moved_piece(before: Picture, after: Picture) -> Hold | None:
    """The hold of the one piece that is in another place afterwards; None where there is none such, or several."""
    kept = set(before.shapes) & set(after.shapes)
    gone = _pieces(shape for shape in before.shapes if shape not in kept)
    come = _pieces(shape for shape in after.shapes if shape not in kept)
    if len(gone) != 1 or len(come) != 1 or _look(gone[0]) != _look(come[0]):
        return None
    numbers = tuple(number for number, shape in enumerate(before.shapes) if shape in gone[0])
    return Hold(_round(gone[0]), _round(come[0]), numbers)


def _pieces(shapes: Iterable[Shape]) -> list[list[Shape]]:
    """The shapes of each piece; holes are left out."""
    found: dict[object, list[Shape]] = {}
    for shape in shapes:
        if shape.colour != -1:
            found.setdefault(shape if shape.piece is None else shape.piece, []).append(shape)
    return list(found.values())


def _look(piece: list[Shape]) -> set[Shape]:
    """The shapes of a piece, wherever it is."""
    area = _round(piece)
    return {
        replace(shape, x=round(shape.x - area.x, 3), y=round(shape.y - area.y, 3), piece=None)
        for shape in piece
    }


def _round(piece: list[Shape]) -> Area:
    """The area of a piece."""
    x, y = min(shape.x for shape in piece), min(shape.y for shape in piece)
    right, bottom = (
        max(shape.x + shape.width for shape in piece),
        max(shape.y + shape.height for shape in piece),
    )
    return Area(x, y, right - x, bottom - y)
