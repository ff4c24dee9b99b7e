"""The picture of a permutation board: its net of stickers, or a stack of pancakes, a ring, cycles or rows of pieces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import cos, hypot, pi, sin
from typing import Literal

from farthest.families.permutation import solid
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.fields import tables
from farthest.families.permutation.moves import cycles
from farthest.puzzles.definition import MoveName
from farthest.puzzles.picture import Area, Hold, Picture, Point, Shape

_BETWEEN = 1.3  # from row to row
_PANCAKE = 0.5  # height
_BURNT = 0.12  # height of the burnt side
_APART = 1.08  # of pieces on a ring, from middle to middle
_LEAST_CYCLES = 8  # pieces that are drawn as cycles
_MOST_NAMED = 64  # whose names are shown there
_WIDEST = 9.0  # of a circle of cycles
_WEDGE = 0.09  # half the width of its broad end


@lru_cache(maxsize=64)
def form(definition: Permutation) -> Literal["stack", "ring", "cycles", "rows"]:
    """``stack``: every move turns the first pieces over; ``ring``: a move takes every piece to the next place;
    ``cycles``: of many pieces none are alike."""
    rows, slots = tables(definition).rows, definition.slots
    if len(rows) > 1 or list(rows[0].slots) != list(range(slots)):
        return "rows"
    moves = [move.to for move in definition.generators]
    if all(turned_over(to) for to in moves):
        return "stack"
    steps = {tuple((slot + step) % slots for slot in range(slots)) for step in (1, -1)}
    if slots > 3 and steps & set(moves):
        return "ring"
    return "cycles" if slots >= _LEAST_CYCLES and len(definition.tokens) == slots else "rows"


def turned_over(to: Sequence[int]) -> int:
    """How many of the first pieces a move turns over, the first becoming the last of them; 0: it does not."""
    last = max((slot for slot, other in enumerate(to) if other != slot), default=0)
    return last + 1 if list(to[: last + 1]) == list(range(last, -1, -1)) else 0


def pancake(definition: Permutation, slot: int) -> Area:
    """Where a pancake may be in a stack."""
    return Area(0.0, slot * _PANCAKE, _width(definition, len(definition.tokens) - 1), _PANCAKE)


def _stack(definition: Permutation, board: Sequence[int]) -> Picture:
    palette = definition.palette()
    shapes = []
    for slot, label in enumerate(board[: definition.slots]):
        room, width = pancake(definition, slot), _width(definition, label)
        x, token = (room.width - width) / 2, definition.tokens[label]
        shapes.append(Shape(x, room.y, width, _PANCAKE, palette[token], token, glides=True))
        if definition.oriented:
            side = 0.0 if board[definition.slots + slot] else _PANCAKE - _BURNT
            shapes.append(Shape(x, room.y + side, width, _BURNT, "black", bare=True, glides=True))
    return Picture(room.width, definition.slots * _PANCAKE, tuple(shapes))


def _width(definition: Permutation, label: int) -> float:
    return 1.2 + 3.0 * label / max(6, len(definition.tokens) - 1)


def _ring(definition: Permutation, board: Sequence[int]) -> Picture:
    radius = _APART / 2 / sin(pi / definition.slots)
    shapes = []
    for slot in range(definition.slots):
        angle = 2 * pi * slot / definition.slots - pi / 2
        x, y = (round(radius * (1 + part), 4) for part in (cos(angle), sin(angle)))
        token, text = _piece(definition, board, slot)
        shapes.append(Shape(x, y, colour=definition.palette()[token], text=text, disc=True, glides=True))
    return Picture(2 * radius + 1, 2 * radius + 1, tuple(shapes))


def _cycles(definition: Permutation, board: Sequence[int]) -> Picture:
    """The pieces in a circle, and from each that is not at home a wedge that points there; each cycle has a colour."""
    slots = definition.slots
    home = {label: slot for slot, label in enumerate(definition.goals[0][:slots])}
    to = [home.get(label, slot) for slot, label in enumerate(board[:slots])]
    colour_of: dict[int, int | str] = {}
    turning = (cycle for cycle in cycles(to, range(slots)) if len(cycle) > 1)
    for number, cycle in enumerate(turning):
        colour_of.update(dict.fromkeys(cycle, number))
    radius = _APART / 2 / sin(pi / slots)
    scale = min(1.0, _WIDEST / (2 * radius + 1))
    places = []
    for slot in range(slots):
        angle = 2 * pi * slot / slots - pi / 2
        places.append((scale * (0.5 + radius * (1 + cos(angle))), scale * (0.5 + radius * (1 + sin(angle)))))
    shapes = [_wedge(places[slot], places[to[slot]], colour_of[slot]) for slot in colour_of]
    for slot, (x, y) in enumerate(places):
        text = definition.tokens[board[slot]] if slots <= _MOST_NAMED else ""
        corner = x - scale / 2, y - scale / 2
        shapes.append(Shape(*corner, scale, scale, colour_of.get(slot, "grey"), text, disc=True))
    size = scale * (2 * radius + 1)
    return Picture(size, size, tuple(shapes))


def _wedge(start: Point, end: Point, colour: int | str) -> Shape:
    """A triangle from a broad end to a point."""
    across, down = end[0] - start[0], end[1] - start[1]
    wide = _WEDGE / hypot(across, down)
    corners = (
        (start[0] - down * wide, start[1] + across * wide),
        (start[0] + down * wide, start[1] - across * wide),
        end,
    )
    return solid.polygon(corners, colour)


def _rows(definition: Permutation, board: Sequence[int]) -> Picture:
    shapes, sets = [], tables(definition).rows
    palette = definition.palette()
    for y, row in enumerate(sets):
        for x, slot in enumerate(row.slots):
            token, text = _piece(definition, board, slot)
            shapes.append(Shape(x, y * _BETWEEN, colour=palette[token], text=text, glides=True))
    return Picture(max(len(row.slots) for row in sets), len(sets) * _BETWEEN - (_BETWEEN - 1), tuple(shapes))


def _piece(definition: Permutation, board: Sequence[int], slot: int) -> tuple[str, str]:
    """The name of the piece in a slot, and its text."""
    turned = board[definition.slots + slot] if definition.oriented else 0
    token = definition.tokens[board[slot]]
    return token, f"{token}+{turned}" if turned else token


def picture(definition: Permutation, board: Sequence[int]) -> Picture:
    """The body seen from two sides, or the net; of a puzzle without one the pieces in their slots: a turned piece tells
    by how much, a pancake shows its burnt side."""
    stickers = solid.picture(definition, board) or definition.net_picture(board)
    if stickers is not None:
        return stickers
    return {"stack": _stack, "ring": _ring, "cycles": _cycles, "rows": _rows}[form(definition)](
        definition, board
    )


def hold(definition: Permutation, board: Sequence[int], move: MoveName, after: Sequence[int]) -> Hold | None:
    """Where a move that turns over the first pieces of a stack takes hold of them; other moves take hold of nothing."""
    if definition.net is not None or form(definition) != "stack":
        return None
    turned = turned_over(next(each.to for each in definition.generators if each.name == move))
    return Hold(pancake(definition, turned - 1), said=f"turn over {turned}")
