"""A picture of one board: a few plain shapes, which any form of output can draw."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Shape:
    """A rectangle, its corner (x, y) and size in cells of the board, y downward; ``disc``: the ellipse within.

    ``colour``: a number (see ``COLOURS``); None: no filling, only an outline; -1: a hole, a place without a piece.
    ``text`` stands in the middle. ``bare``: no outline.
    """

    x: float
    y: float
    width: float = 1.0
    height: float = 1.0
    colour: int | None = None
    text: str = ""
    disc: bool = False
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes on a field of ``width`` x ``height`` cells; later ones lie over earlier ones."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


def colour(number: int) -> tuple[int, str]:
    """The terminal's and the page's colour of a number."""
    return COLOURS[number % len(COLOURS)]
