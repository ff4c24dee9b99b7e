"""The picture of jugs: as high as they hold, filled as far as they are."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.jugs.definition import Jugs, amounts
from farthest.puzzles.definition import WILDCARD, MoveName
from farthest.puzzles.holds import Area, Hold
from farthest.puzzles.picture import Picture, Shape

_JUG = 4.0  # height of the largest
_APART = 1.5  # from jug to jug


def picture(definition: Jugs, board: Sequence[int]) -> Picture:
    """Jugs as high as they hold, filled as far as they are."""
    unit = _JUG / max(definition.capacities)
    shapes = []
    for number, (amount, capacity) in enumerate(zip(amounts(board), definition.capacities, strict=True)):
        x, top = number * _APART, _JUG - capacity * unit
        shapes.append(Shape(x, top, 1, capacity * unit, -1))
        if amount > 0:
            shapes.append(Shape(x, _JUG - amount * unit, 1, amount * unit, 1))
        text = f"{'*' if amount == WILDCARD else amount}/{capacity}"
        shapes.append(Shape(x, _JUG, 1, 0.6, None, text, bare=True))
    return Picture(_APART * (len(definition.capacities) - 1) + 1, _JUG + 0.6, tuple(shapes))


def hold(definition: Jugs, board: Sequence[int], move: MoveName) -> Hold:
    """A jug that is poured into another one; words below it that fill or empty it."""
    del definition, board
    kind, _, jugs = str(move).partition(" ")
    numbers = [int(jug) - 1 for jug in jugs.split("→")]
    if kind == "pour":
        source, target = (Area(number * _APART, 0.0, 1.0, _JUG) for number in numbers)
        return Hold(source, target, chosen=True)
    return Hold(Area(numbers[0] * _APART - 0.1, _JUG + (0.7 if kind == "fill" else 1.3), 1.2, 0.5), sign=kind)
