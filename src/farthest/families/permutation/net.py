"""The net of a twisty puzzle: a polygon for each sticker, and which colour it has on a board.

A sticker is shown at a *place* of a slot, 0 to the modulus less one: the first sticker of a piece is at place ``o``
where the piece has orientation ``o``, and its sticker ``i`` at place ``(o + i) mod m``. A piece with more stickers than
orientations has several *rings* of them, each of which goes round as the piece is turned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any

from farthest.puzzles.definition import Board
from farthest.puzzles.picture import NAMED_COLOURS, Point
from farthest.untrusted_json import integers, items, text

MOST_STICKERS = 1000
MOST_CORNERS = 32
MOST_RINGS = 26
LARGEST = 100.0
"""Coordinates are from 0 to this."""

FIXED = -1
"""The slot of a sticker that no move touches."""

_OfPiece = tuple[int, int, int]
"""A sticker of a piece: label, ring, number in the ring."""


@dataclass(frozen=True, slots=True)
class Sticker:
    """One sticker. ``slot``, ``place``, ``ring``: where it is (see above), or ``FIXED``, 0 and 0; ``colour``: a name of
    ``NAMED_COLOURS``, that which it has on the first goal; ``points``: its corners (x, y), y downward; one point: the
    middle of a disc that is one unit wide."""

    slot: int
    place: int
    colour: str
    points: tuple[Point, ...]
    ring: int = 0

    @property
    def is_disc(self) -> bool:
        """Whether it is a disc; else it is a polygon."""
        return len(self.points) == 1

    @property
    def area(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        round_ = 0.5 if self.is_disc else 0.0
        xs, ys = [x for x, _ in self.points], [y for _, y in self.points]
        return min(xs) - round_, min(ys) - round_, max(xs) + round_, max(ys) + round_


@dataclass(frozen=True, slots=True)
class Net:
    """All stickers."""

    stickers: tuple[Sticker, ...]


def net_problem(net: Net, moduli: Sequence[int], goal: Board) -> str | None:
    """Why this is no net of a puzzle with these moduli of the slots and this first goal, or None when it is one."""
    if not 1 <= len(net.stickers) <= MOST_STICKERS:
        return f"the net has {len(net.stickers)} stickers, expected 1 to {MOST_STICKERS}"
    shown: set[tuple[int, int, int]] = set()
    for sticker in net.stickers:
        problem = sticker_problem(sticker, moduli)
        place = sticker.slot, sticker.place, sticker.ring
        if problem is None and sticker.slot != FIXED and place in shown:
            problem = f"slot {sticker.slot}, orientation {sticker.place}, is shown twice"
        if problem:
            return f"net: {problem}"
        shown.add(place)
    found: dict[_OfPiece, str] = {}
    for key, sticker in _by_piece(net, tuple(moduli), goal):
        if found.setdefault(key, sticker.colour) != sticker.colour:
            return (
                f"net: identical pieces (label {key[0]}) have the colours {found[key]} and {sticker.colour}"
            )
    return None


def sticker_problem(sticker: Sticker, moduli: Sequence[int]) -> str | None:
    """Why there is no such sticker, or None."""
    slot, place = sticker.slot, sticker.place
    if not FIXED <= slot < len(moduli):
        return f"slot {slot} is out of range"
    most = 1 if slot == FIXED else moduli[slot]
    if not 0 <= place < most:
        return f"orientation {place}, expected one below {most}"
    if not 0 <= sticker.ring < (1 if slot == FIXED else MOST_RINGS):
        return f"ring {sticker.ring}, expected one below {MOST_RINGS}"
    if sticker.colour not in NAMED_COLOURS:
        return f"there is no colour {sticker.colour!r}"
    if not (sticker.is_disc or 3 <= len(sticker.points) <= MOST_CORNERS):
        return f"a polygon has {len(sticker.points)} corners, expected 3 to {MOST_CORNERS}"
    if not all(isfinite(value) and 0 <= value <= LARGEST for point in sticker.points for value in point):
        return f"a corner is outside 0 to {LARGEST:g}"
    if not sticker.is_disc and not area(sticker.points):
        return "a polygon has no area"
    return None


def area(points: Sequence[Point]) -> float:
    """Of a polygon."""
    rolled = [*points[1:], *points[:1]]
    return abs(sum(x * v - u * y for (x, y), (u, v) in zip(points, rolled, strict=True))) / 2


@lru_cache(maxsize=16)
def piece_colours(net: Net, moduli: tuple[int, ...], goal: Board) -> Mapping[_OfPiece, str]:
    """The colour of each sticker of each piece that the goal shows."""
    return {key: sticker.colour for key, sticker in _by_piece(net, moduli, goal)}


def board_colours(net: Net, moduli: tuple[int, ...], goal: Board, board: Sequence[int]) -> list[str | None]:
    """The colour of each sticker of the net on a board; None: the goal does not show that sticker of the piece."""
    colours = piece_colours(net, moduli, goal)
    return [
        sticker.colour if sticker.slot == FIXED else colours.get(_sticker_at(sticker, moduli, board))
        for sticker in net.stickers
    ]


def net_from_fields(fields: Any) -> Net:
    """The net that had these fields, as JSON gives them. Raises TypeError, KeyError."""
    return Net(
        tuple(
            Sticker(
                slot=integers([each["slot"]])[0],
                place=integers([each["place"]])[0],
                colour=text(each["colour"]),
                points=tuple(_point(point) for point in items(each["points"])),
                ring=integers([each["ring"]])[0] if "ring" in each else 0,  # older ones have none
            )
            for each in items(fields["stickers"])
        )
    )


def _by_piece(net: Net, moduli: tuple[int, ...], goal: Board) -> list[tuple[_OfPiece, Sticker]]:
    return [
        (_sticker_at(sticker, moduli, goal), sticker) for sticker in net.stickers if sticker.slot != FIXED
    ]


def _sticker_at(sticker: Sticker, moduli: tuple[int, ...], board: Sequence[int]) -> _OfPiece:
    """The sticker of a piece that is where the sticker of the net is."""
    slots, slot = len(moduli), sticker.slot
    turned = board[slots + slot] if len(board) > slots else 0
    return board[slot], sticker.ring, (sticker.place - turned) % moduli[slot]


def _point(values: Any) -> Point:
    point = items(values)
    if len(point) != 2 or any(type(value) not in (int, float) for value in point):
        raise TypeError("expected a point of two numbers")
    return float(point[0]), float(point[1])
