"""Where people take hold of a drawn board to make a move, and where what they take goes.

A move is made by pressing its source, by dragging the source to the target, or by choosing one after the other. Places
are those of the picture: x to the right, y downward, in cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.puzzles.picture import cell_places

if TYPE_CHECKING:
    from farthest.puzzles.picture import Point, Rows


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle: its corner (x, y) and its size."""

    x: float
    y: float
    width: float = 1.0
    height: float = 1.0

    @classmethod
    def of_cells(cls, cells: Iterable[Point]) -> Area:
        """The area round some cells, each given by its corner."""
        xs, ys = zip(*cells, strict=True)
        return cls(min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1)

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
