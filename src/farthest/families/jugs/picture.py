"""The picture of jugs: as high as they hold, filled as far as they are."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.jugs.definition import Jugs, amounts
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.picture import Picture, Shape

_JUG = 4.0  # height of the largest


def picture(definition: Jugs, board: Sequence[int]) -> Picture:
    """Jugs as high as they hold, filled as far as they are."""
    unit = _JUG / max(definition.capacities)
    shapes = []
    for number, (amount, capacity) in enumerate(zip(amounts(board), definition.capacities, strict=True)):
        x, top = number * 1.5, _JUG - capacity * unit
        shapes.append(Shape(x, top, 1, capacity * unit, -1))
        if amount > 0:
            shapes.append(Shape(x, _JUG - amount * unit, 1, amount * unit, 1))
        text = f"{'*' if amount == WILDCARD else amount}/{capacity}"
        shapes.append(Shape(x, _JUG, 1, 0.6, None, text, bare=True))
    return Picture(1.5 * len(definition.capacities) - 0.5, _JUG + 0.6, tuple(shapes))
