"""A picture of one board: a few plain shapes, which any form of output can draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from farthest.puzzles.grid import ROW_TOKEN

Rows = tuple[tuple[int, ...], ...]

COLOURS = (
    (167, "#d6604d"),
    (74, "#4393c3"),
    (107, "#7fb069"),
    (179, "#e0b050"),
    (97, "#8e6fb8"),
    (73, "#4fb3a5"),
    (174, "#d98c9f"),
    (137, "#b08a5b"),
    (146, "#9aa5ce"),
    (142, "#a9b04b"),
    (175, "#c77fb7"),
    (109, "#7f9fa5"),
)
"""For each colour number, from 0 and over again: that of 256-colour terminals, and of pages."""


NAMED_COLOURS = {
    "white": (231, "#f7f7f2"),
    "yellow": (220, "#f2cf1d"),
    "orange": (208, "#f08019"),
    "red": (160, "#c62b2b"),
    "pink": (211, "#ee86ae"),
    "purple": (97, "#7d4fa8"),
    "blue": (26, "#2b62c4"),
    "cyan": (44, "#2fb4c8"),
    "green": (34, "#2f9a48"),
    "brown": (94, "#85592f"),
    "grey": (245, "#9a9a9a"),
    "black": (236, "#303030"),
}
"""Colours that a puzzle's file may name: that of 256-colour terminals, and of pages."""

PLASTIC = "plastic"
"""The colour of what stickers are on."""

Point = tuple[float, float]
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shape:
    """A rectangle, its corner (x, y) and size in cells of the board, y downward; ``disc``: the ellipse within;
    ``points``: the polygon within that has these corners (x, y). ``cells``: the union of these unit squares, counted
    from the corner of the shape; its edges are drawn ``inset`` to the inside, with rounded corners.

    ``colour``: a number (see ``COLOURS``) or a name of ``NAMED_COLOURS``; None: no filling, only an outline; -1: a
    hole, a place without a piece. ``text`` stands in the middle. ``bare``: no outline. ``dashed``: only an outline, in
    the colour. ``glides``: a piece, or a part of one, which animations move from place to place.
    """

    x: float
    y: float
    width: float = 1.0
    height: float = 1.0
    colour: int | str | None = None
    text: str = ""
    disc: bool = False
    bare: bool = False
    points: tuple[Point, ...] = ()
    cells: tuple[Place, ...] = ()
    inset: float = 0.0
    dashed: bool = False
    glides: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes on a field of ``width`` x ``height`` cells; later ones lie over earlier ones."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class InSpace:
    """What a script needs to draw boards of a puzzle in space. ``body``: its form and its moves, as JSON;
    ``boards``: of each the colours of its stickers, a sign for each."""

    body: str
    boards: list[str]


def colour(of: int | str) -> tuple[int, str]:
    """The terminal's and the page's colour of a number or a name."""
    if of == PLASTIC:
        return 233, "#17181a"
    return NAMED_COLOURS[of] if isinstance(of, str) else COLOURS[of % len(COLOURS)]


def text_picture(lines: Sequence[str], palette: Mapping[str, int]) -> Picture:
    """The lines of a text drawing, a cell for two characters; ``palette``: colour numbers of its signs."""
    shapes = [
        Shape(x / 2, y / 1.5, 0.5, 0.6, palette.get(sign), sign, bare=True)
        for y, line in enumerate(lines)
        for x, sign in enumerate(line)
        if sign != " "
    ]
    return Picture(max(0.5, *(len(line) / 2 for line in lines)), len(lines) / 1.5, tuple(shapes))


def cell_places(rows: Rows, cells: int) -> list[tuple[int, int, int]]:
    """Column, row and number of each cell of a grid (-1: no cell); of a graph, without rows, all in one row."""
    return [
        (x, y, cell)
        for y, row in enumerate(rows or (tuple(range(cells)),))
        for x, cell in enumerate(row)
        if cell >= 0
    ]


def cells_picture(rows: Rows, cells: int, shapes: Sequence[Shape]) -> Picture:
    """The picture of a board whose cells lie in a grid; of a graph, the cells in a row above their numbers."""
    if rows:
        return Picture(max(map(len, rows)), len(rows), tuple(shapes))
    numbers = [Shape(cell, 1, 1, 0.6, None, str(cell), bare=True) for cell in range(cells)]
    return Picture(cells, 1.6, (*shapes, *numbers))


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
    """Where people take hold of a drawn board to make a move, and where what they take goes: they press the source,
    drag it to the target, or choose one after the other. Places are those of the picture: x to the right, y downward,
    in cells.

    ``source``: what is pressed or dragged; moves may share one. ``target``: where it goes; None: it is only pressed.
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


@dataclass(frozen=True, slots=True)
class Value:
    """What a cell of a canvas may have: how the text of a board writes it, and how it looks there."""

    token: str
    colour: int | str | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Canvas:
    """A board to be drawn, cell by cell.

    ``cells``: of each cell in the order of the board's text its shape, and what stands behind it there. ``values``:
    what a cell may have. ``held``: the number of each cell's value, -1 where it has none, which is written ``unset``.
    ``before``: how the text begins. ``swapped``: each value stays there as often as it is, cells exchange theirs.
    ``fixed``: cells that keep theirs.
    """

    width: float
    height: float
    cells: tuple[tuple[Shape, str], ...]
    values: tuple[Value, ...]
    held: tuple[int, ...]
    unset: str = ""
    before: str = ""
    swapped: bool = False
    fixed: frozenset[int] = frozenset()

    def with_text(self, text: str) -> Canvas:
        """The same with the values that a text tells, which need not be a board; unchanged where it does not tell
        that of each cell. Fixed cells keep theirs."""
        numbers = {value.token: number for number, value in enumerate(self.values)}
        if self.unset:
            numbers[self.unset] = -1
        words = text.strip().removeprefix(self.before).replace(ROW_TOKEN, " ").split()
        signs = words if max(map(len, numbers)) > 1 else list("".join(words))
        if len(signs) != len(self.cells) or not set(signs) <= set(numbers):
            return self
        told = zip(self.held, signs, strict=True)
        held = (own if i in self.fixed else numbers[sign] for i, (own, sign) in enumerate(told))
        return replace(self, held=tuple(held))


def grid_canvas(
    rows: Rows,
    held: Sequence[int],
    values: Sequence[Value],
    *,
    inset: float = 0.0,
    swapped: bool = False,
) -> Canvas:
    """The canvas of a board whose cells lie in a grid; of a graph, in a row. ``inset``: the cells are discs, so far
    from the edges of their places."""
    apart = " " if max(len(value.token) for value in values) > 1 else ""
    cells: list[tuple[Shape, str]] = []
    size, disc = 1 - 2 * inset, inset > 0
    for y, row in enumerate(rows or (tuple(range(len(held))),)):
        here = [
            (Shape(x + inset, y + inset, size, size, disc=disc), apart)
            for x, cell in enumerate(row)
            if cell >= 0
        ]
        if here:
            here[-1] = here[-1][0], f"{apart}{ROW_TOKEN}{apart}"
        cells += here
    cells[-1] = cells[-1][0], ""
    width, height = (max(map(len, rows)), len(rows)) if rows else (len(held), 1)
    return Canvas(width, height, tuple(cells), tuple(values), tuple(held), swapped=swapped)
