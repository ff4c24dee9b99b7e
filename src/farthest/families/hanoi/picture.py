"""The picture of a hanoi board: discs on their pegs."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.hanoi.definition import Hanoi
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.picture import Picture, Shape

_DISC = 0.45  # height


def picture(definition: Hanoi, board: Sequence[int]) -> Picture:
    """Discs on their pegs, those that may be on any peg on one of their own."""
    widest = 1 + 0.5 * (definition.discs - 1)
    pegs = [*range(definition.pegs), *([WILDCARD] if WILDCARD in board else [])]
    height = _DISC * (definition.discs + 1)
    shapes = []
    for place, peg in enumerate(pegs):
        middle = place * (widest + 0.4) + widest / 2
        shapes.append(Shape(middle - 0.06, 0, 0.12, height, -1))
        stack = [disc for disc in reversed(range(definition.discs)) if board[disc] == peg]
        for level, disc in enumerate(stack, 1):
            width = 1 + 0.5 * disc
            corner = middle - width / 2, height - level * _DISC
            shapes.append(Shape(*corner, width, _DISC, disc, str(disc + 1), glides=True))
        shapes.append(
            Shape(middle - 0.5, height, 1, 0.5, None, "*" if peg == WILDCARD else str(peg), bare=True)
        )
    return Picture(len(pegs) * (widest + 0.4) - 0.4, height + 0.5, tuple(shapes))
