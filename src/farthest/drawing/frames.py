"""The boards of a path as one SVG element for a page: all shapes that they have, of which the first board's are shown.

Each further board is told by what changes, so that a script can show it; most of a board stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from farthest.drawing.svg import CELL, board_class, escape, shape_svg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from farthest.puzzles.picture import Picture, Shape


@dataclass(frozen=True, slots=True)
class Frames:
    """``svg``: the element, whose child i is shape i. ``changes``: for each picture after the first the numbers of the
    shapes that come, and after ``-`` of those that go, separated by spaces."""

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


def _listed(numbers: Iterable[int]) -> str:
    return " ".join(map(str, sorted(numbers)))
