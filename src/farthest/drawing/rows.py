"""Pictures of boards that are rows of things: pieces on slots, discs on pegs, jugs."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.drawing.scene import Picture, Shape
from farthest.puzzles.body import WILDCARD
from farthest.puzzles.hanoi import Hanoi
from farthest.puzzles.jugs import Jugs, amounts
from farthest.puzzles.permutation import Permutation
from farthest.puzzles.permutation_boards import layout

_BETWEEN = 1.3  # from row to row
_DISC = 0.45  # height
_JUG = 4.0  # height of the largest


def permutation(body: Permutation, board: Sequence[int]) -> Picture:
    """A row of pieces for each set; a piece that is turned tells by how much."""
    shapes, sets = [], layout(body).rows
    palette = body.palette()
    for y, row in enumerate(sets):
        for x, slot in enumerate(row.slots):
            turned = board[body.slots + slot] if body.oriented else 0
            token = body.tokens[board[slot]]
            text = f"{token}+{turned}" if turned else token
            shapes.append(Shape(x, y * _BETWEEN, colour=palette[token], text=text))
    return Picture(max(len(row.slots) for row in sets), len(sets) * _BETWEEN - (_BETWEEN - 1), tuple(shapes))


def hanoi(body: Hanoi, board: Sequence[int]) -> Picture:
    """Discs on their pegs, those that may be on any peg on one of their own."""
    widest = 1 + 0.5 * (body.discs - 1)
    pegs = [*range(body.pegs), *([WILDCARD] if WILDCARD in board else [])]
    height = _DISC * (body.discs + 1)
    shapes = []
    for place, peg in enumerate(pegs):
        middle = place * (widest + 0.4) + widest / 2
        shapes.append(Shape(middle - 0.06, 0, 0.12, height, -1))
        stack = [disc for disc in reversed(range(body.discs)) if board[disc] == peg]
        for level, disc in enumerate(stack, 1):
            width = 1 + 0.5 * disc
            corner = middle - width / 2, height - level * _DISC
            shapes.append(Shape(*corner, width, _DISC, disc, str(disc + 1)))
        shapes.append(
            Shape(middle - 0.5, height, 1, 0.5, None, "*" if peg == WILDCARD else str(peg), bare=True)
        )
    return Picture(len(pegs) * (widest + 0.4) - 0.4, height + 0.5, tuple(shapes))


def jugs(body: Jugs, board: Sequence[int]) -> Picture:
    """Jugs as high as they hold, filled as far as they are."""
    unit = _JUG / max(body.capacities)
    shapes = []
    for number, (amount, capacity) in enumerate(zip(amounts(board), body.capacities, strict=True)):
        x, top = number * 1.5, _JUG - capacity * unit
        shapes.append(Shape(x, top, 1, capacity * unit, -1))
        if amount > 0:
            shapes.append(Shape(x, _JUG - amount * unit, 1, amount * unit, 1))
        text = f"{'*' if amount == WILDCARD else amount}/{capacity}"
        shapes.append(Shape(x, _JUG, 1, 0.6, None, text, bare=True))
    return Picture(1.5 * len(body.capacities) - 0.5, _JUG + 0.6, tuple(shapes))
