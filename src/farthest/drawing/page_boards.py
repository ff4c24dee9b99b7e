"""Boards as SVG elements of a page: a board on which moves are made, and the boards of a path, of which a script shows
one after the other.

Each move is a link over the piece that it takes. The links work without scripts. Those that share a source divide it
among them, and each shows by an arrow where its piece goes. A script that lets people drag pieces reads from each link,
in the units of the picture: ``data-from`` and ``data-to``, rectangles (x y width height), and ``data-shapes``, the
values of ``data-shape`` of what is dragged. Where there is ``data-chosen``, pressing a source chooses it, and pressing
a target makes the move.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING

from farthest.drawing.svg import CELL, board_class, escape, part_of_page, shape_svg
from farthest.puzzles.family import board_picture, family
from farthest.puzzles.move_text import move_text
from farthest.puzzles.picture import Area, Canvas, Hold, Picture, Shape, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from farthest.puzzles.definition import NamedPath
    from farthest.puzzles.puzzle import Puzzle


_ARROW = 0.13
"""From the middle of an arrow to its point, in cells."""


@dataclass(frozen=True, slots=True)
class MoveLink:
    """A move on the drawn board. ``address``: of the page after it. ``said``: what is told of it; ``kind``: a class for
    the page's style."""

    hold: Hold
    address: str
    said: str
    kind: str


def board_with_moves(picture: Picture, moves: Sequence[MoveLink], title: str) -> str:
    """The element; its classes are ``board`` and ``moving``."""
    taken = {number for move in moves for number in move.hold.shapes}
    areas = [Area(0.0, 0.0, picture.width, picture.height), *(move.hold.source for move in moves)]
    left, top = min(area.x for area in areas), min(area.y for area in areas)
    width = max(area.x + area.width for area in areas) - left
    height = max(area.y + area.height for area in areas) - top
    box = f"{left * CELL - 1:g} {top * CELL - 1:g} {width * CELL + 2:g} {height * CELL + 2:g}"
    sources: dict[Area, list[MoveLink]] = defaultdict(list)
    for move in moves:
        sources[move.hold.source].append(move)
    size = f'width="{width * CELL + 2:g}" height="{height * CELL + 2:g}"'
    name = f'class="{board_class(width, height)} moving" role="group" aria-label="{escape(title)}"'
    parts = [f'<svg {name} viewBox="{box}" {size}>']
    for number, shape in enumerate(picture.shapes):
        drawn = shape_svg(shape)
        parts.append(f'<g data-shape="{number}">{drawn}</g>' if number in taken else drawn)
    for source, several in sources.items():
        parts += (_link(move, part) for move, part in _divided(source, several))
    parts.append("</svg>")
    return "".join(parts)


def _divided(source: Area, moves: list[MoveLink]) -> Iterator[tuple[MoveLink, Area]]:
    """Each move with its part of the source: columns or rows of it, in the order of the targets."""
    ways = [_way(move.hold) for move in moves]
    upright = sum(abs(y) for _, y in ways) > sum(abs(x) for x, _ in ways)
    order = sorted(range(len(moves)), key=lambda number: ways[number][upright])
    for place, number in enumerate(order):
        if upright:
            height = source.height / len(moves)
            yield moves[number], replace(source, y=source.y + place * height, height=height)
        else:
            width = source.width / len(moves)
            yield moves[number], replace(source, x=source.x + place * width, width=width)


def _way(hold: Hold) -> tuple[float, float]:
    """From the middle of the source to that of the target; nothing where the source is pressed."""
    if hold.target is None:
        return 0.0, 0.0
    (x, y), (to_x, to_y) = hold.source.middle, hold.target.middle
    return to_x - x, to_y - y


def _link(move: MoveLink, part: Area) -> str:
    hold = move.hold
    target = "" if hold.target is None else f' data-to="{_numbers(hold.target)}"'
    shapes = " ".join(map(str, hold.shapes))
    said, chosen = escape(move.said), " data-chosen" if hold.chosen else ""
    return (
        f'<a href="{escape(move.address)}" class="{move.kind}" aria-label="{said}" data-from="{_numbers(hold.source)}"'
        f'{target}{chosen} data-shapes="{shapes}"><title>{said}</title>{_area(part)}{_mark(hold, part)}</a>'
    )


def _mark(hold: Hold, part: Area) -> str:
    """An arrow to the target; of a source that is pressed its sign, or a dot."""
    x, y = part.middle
    if hold.sign:
        place = f'x="{x * CELL:g}" y="{y * CELL:g}" font-size="{part.height * CELL * 0.6:g}"'
        return f"<text {place}>{escape(hold.sign)}</text>"
    if hold.target is None:
        dot = part.y + part.height - 1.2 * _ARROW
        return f'<circle class="go" cx="{x * CELL:g}" cy="{dot * CELL:g}" r="{_ARROW * CELL * 0.7:.3g}"/>'
    across, down = _way(hold)
    length = hypot(across, down)
    across, down = (across / length, down / length) if length else (0.0, 1.0)
    # On the ellipse within the part, so far from its edge that the point just lies within.
    wide, high = (max(size / 2 - _ARROW, 0.01) for size in (part.width, part.height))
    reach = 1 / hypot(across / wide, down / high)
    x, y = x + across * reach, y + down * reach
    tip, base, side = _ARROW, -0.6 * _ARROW, 0.9 * _ARROW
    corners = (
        (x + across * tip, y + down * tip),
        (x + across * base - down * side, y + down * base + across * side),
        (x + across * base + down * side, y + down * base - across * side),
    )
    points = " ".join(f"{a * CELL:.4g},{b * CELL:.4g}" for a, b in corners)
    return f'<polygon class="go" points="{points}"/>'


def _area(area: Area) -> str:
    x, y, width, height = _numbers(area).split()
    return f'<rect class="take" x="{x}" y="{y}" width="{width}" height="{height}" rx="3"/>'


def _numbers(area: Area) -> str:
    return " ".join(f"{value * CELL:.4g}" for value in (area.x, area.y, area.width, area.height))


@dataclass(frozen=True, slots=True)
class Frames:
    """``svg``: the element, whose child i is shape i. ``changes``: for each picture after the first the numbers of the
    shapes that come, and after ``-`` of those that go, separated by spaces; but see ``path_frames``."""

    svg: str
    changes: list[str]


def frames(pictures: Sequence[Picture], title: str) -> Frames:
    """``title``: what a screen reader says. A shape keeps its place among those that it lies over and under."""
    order: dict[Shape, int] = {}
    for picture in pictures:
        for place, shape in enumerate(picture.shapes):
            order.setdefault(shape, place)
    number_of = {shape: number for number, shape in enumerate(sorted(order, key=order.__getitem__))}
    numbers = [{number_of[shape] for shape in picture.shapes} for picture in pictures]
    changes = [
        f"{_listed(after - before)} - {_listed(before - after)}" for before, after in pairwise(numbers)
    ]
    width = max(picture.width for picture in pictures) * CELL + 2
    height = max(picture.height for picture in pictures) * CELL + 2
    shown = numbers[0]
    none = ' display="none"'
    shapes = "".join(
        f"<g{'' if number in shown else none}>{shape_svg(shape)}</g>" for shape, number in number_of.items()
    )
    size = f'viewBox="-1 -1 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    head = f'<svg class="{board_class(width, height)}" {size} role="img"'
    return Frames(f'{head} aria-label="{escape(title)}">{shapes}</svg>', changes)


def path_frames(puzzle: Puzzle, path: NamedPath) -> Frames:
    """The boards of a path. Of a puzzle in space each change is the move's name, and the colours of the stickers after
    it."""
    boards, title = path.boards.tolist(), path.texts[0]
    space = family(puzzle.family).in_space(path.definition, boards)
    if space is None:
        return frames([board_picture(puzzle, board, path.definition) for board in boards], title)
    first = board_picture(puzzle, boards[0], path.definition)
    changes = zip(map(move_text, path.moves), space.boards[1:], strict=True)
    return Frames(part_of_page(first, title, space), [" ".join(change) for change in changes])


def _listed(numbers: Iterable[int]) -> str:
    return " ".join(map(str, sorted(numbers)))


_NOTHING = Value("", None)
"""What a cell without a value looks like."""


def canvas_svg(canvas: Canvas, title: str) -> str:
    """A board to be drawn on: of each cell an element with ``data-value``, the number of its value, and ``data-end``,
    what stands behind it in the text; its first child is its shape, the second what is written on it."""
    longest = max(len(value.text) for value in canvas.values)
    parts = []
    for number, ((shape, end), value) in enumerate(zip(canvas.cells, canvas.held, strict=True)):
        fixed = " data-fixed" if number in canvas.fixed else ""
        looks = _looks(shape, canvas.values[value] if value >= 0 else _NOTHING, longest)
        parts.append(f'<g data-value="{value}" data-end="{escape(end)}"{fixed}>{looks}</g>')
    return _element(
        canvas.width,
        canvas.height,
        f'class="board canvas" role="group" aria-label="{escape(title)}"',
        parts,
    )


def value_svg(value: Value | None) -> str:
    """A cell with a value, for a palette; None: without one."""
    shown = value or _NOTHING
    return _element(1, 1, 'class="board" aria-hidden="true"', [_looks(Shape(0, 0), shown, len(shown.text))])


def _element(width: float, height: float, kind: str, parts: Iterable[str]) -> str:
    wide, high = width * CELL + 2, height * CELL + 2
    size = f'viewBox="-1 -1 {wide:g} {high:g}" width="{wide:g}" height="{high:g}"'
    return f"<svg {kind} {size}>{''.join(parts)}</svg>"


def _looks(shape: Shape, value: Value, longest: int) -> str:
    """``longest``: characters of the longest text of a cell."""
    drawn = shape_svg(replace(shape, colour=-1 if value is _NOTHING else value.colour))
    if value is _NOTHING:
        drawn = drawn.replace('class="h s"', 'class="u s"')
    x, y = (shape.x + shape.width / 2) * CELL, (shape.y + shape.height / 2) * CELL
    size = min(0.5, 1.5 / max(1, longest)) * shape.height * CELL
    return f'{drawn}<text x="{x:.4g}" y="{y:.4g}" font-size="{size:.3g}">{escape(value.text)}</text>'
