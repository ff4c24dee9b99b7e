"""The picture of a hanoi board: discs on their pegs."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.hanoi.definition import Hanoi
from farthest.puzzles.definition import WILDCARD, MoveName
from farthest.puzzles.holds import Area, Hold
from farthest.puzzles.picture import Picture, Shape

_DISC = 0.45  # height
_BETWEEN = 0.4  # the widest discs on two pegs


def picture(definition: Hanoi, board: Sequence[int]) -> Picture:
    """Discs on their pegs, those that may be on any peg on one of their own."""
    widest, height = _sizes(definition)
    pegs = [*range(definition.pegs), *([WILDCARD] if WILDCARD in board else [])]
    shapes = []
    for place, peg in enumerate(pegs):
        middle = place * (widest + _BETWEEN) + widest / 2
        shapes.append(Shape(middle - 0.06, 0, 0.12, height, -1))
        stack = [disc for disc in reversed(range(definition.discs)) if board[disc] == peg]
        for level, disc in enumerate(stack, 1):
            width = 1 + 0.5 * disc
            corner = middle - width / 2, height - level * _DISC
            shapes.append(Shape(*corner, width, _DISC, disc, str(disc + 1), glides=True))
        shapes.append(
            Shape(middle - 0.5, height, 1, 0.5, None, "*" if peg == WILDCARD else str(peg), bare=True)
        )
    return Picture(len(pegs) * (widest + _BETWEEN) - _BETWEEN, height + 0.5, tuple(shapes))


def hold(definition: Hanoi, board: Sequence[int], move: MoveName) -> Hold:
    """The uppermost disc of a peg, taken anywhere on the peg."""
    widest, height = _sizes(definition)
    source, target = (int(peg) for peg in str(move).split("→"))
    area, target_area = (Area(peg * (widest + _BETWEEN), 0.0, widest, height) for peg in (source, target))
    # Of each peg the picture has the peg, its discs from the lowest up, and its number.
    shape = sum(list(board).count(peg) + 2 for peg in range(source)) + list(board).count(source)
    return Hold(
        area, target_area, (shape,), said=f"disc {list(board).index(source) + 1} to peg {target}", chosen=True
    )


def _sizes(definition: Hanoi) -> tuple[float, float]:
    """The width of the widest disc, and the height of a peg."""
    return 1 + 0.5 * (definition.discs - 1), _DISC * (definition.discs + 1)
