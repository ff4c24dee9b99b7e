"""Pictures of boards that are rows of things: pieces on slots, discs on pegs, jugs."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.hanoi.definition import Hanoi
from farthest.families.jugs.definition import Jugs, amounts
from farthest.families.permutation.boards import layout
from farthest.families.permutation.definition import Permutation
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.picture import Picture, Shape

_BETWEEN = 1.3  # from row to row
_DISC = 0.45  # height
_JUG = 4.0  # height of the largest


def permutation(definition: Permutation, board: Sequence[int]) -> Picture:
    """A row of pieces for each set; a piece that is turned tells by how much."""
    shapes, sets = [], layout(definition).rows
    palette = definition.palette()
    for y, row in enumerate(sets):
        for x, slot in enumerate(row.slots):
            turned = board[definition.slots + slot] if definition.oriented else 0
            token = definition.tokens[board[slot]]
            text = f"{token}+{turned}" if turned else token
            shapes.append(Shape(x, y * _BETWEEN, colour=palette[token], text=text))
    return Picture(max(len(row.slots) for row in sets), len(sets) * _BETWEEN - (_BETWEEN - 1), tuple(shapes))


def hanoi(definition: Hanoi, board: Sequence[int]) -> Picture:
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
            shapes.append(Shape(*corner, width, _DISC, disc, str(disc + 1)))
        shapes.append(
            Shape(middle - 0.5, height, 1, 0.5, None, "*" if peg == WILDCARD else str(peg), bare=True)
        )
    return Picture(len(pegs) * (widest + 0.4) - 0.4, height + 0.5, tuple(shapes))


def jugs(definition: Jugs, board: Sequence[int]) -> Picture:
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
