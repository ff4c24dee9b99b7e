"""What moves do with a twisty puzzle in space, for the page that turns its parts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import atan2, degrees, dist, hypot
from typing import TYPE_CHECKING

from farthest.families.permutation.net import FIXED, Net, Vector, board_colours
from farthest.families.permutation.solid import (
    DISTANCE,
    NEAR,
    VIEWS,
    ZERO,
    Body,
    body,
    cross,
    dot,
    plus,
    unit,
    views,
)
from farthest.puzzles.picture import PLASTIC, InSpace, colour

if TYPE_CHECKING:
    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.moves import Move


@dataclass(frozen=True, slots=True)
class Turn:
    """What a move does with the body. ``parts``: what goes round the axis: by how many degrees, counterclockwise for
    whom the axis points to, and which stickers. All others stay."""

    axis: Vector
    parts: tuple[tuple[float, tuple[int, ...]], ...]


@lru_cache(maxsize=256)
def turn(net: Net, move: Move) -> Turn | None:
    """None: the move does not only turn parts about one axis, or the puzzle is flat. Only the places of pieces are
    asked for: not every puzzle tells how they are turned."""
    of = body(net)
    if of is None:
        return None
    shown: dict[int, list[int]] = defaultdict(list)
    for number, sticker in enumerate(net.stickers):
        shown[sticker.slot].append(number)
    rest = [
        slot
        for slot in range(len(move.to))
        if shown.get(slot) and (move.to[slot] != slot or move.delta[slot])
    ]
    axis: Vector | None = None
    parts = []
    while rest:
        found = [
            (rotation, [slot for slot in rest if _fits(of, shown[slot], shown[move.to[slot]], rotation)])
            for rotation in _rotations(of, rest, shown, move)
        ]
        rotation, slots = max(found, key=lambda each: len(each[1]), default=(None, []))
        if rotation is None or not slots:
            return None
        axis = axis or rotation.axis
        if hypot(*cross(axis, rotation.axis)) > NEAR:
            return None
        stickers = [number for slot in slots for number in shown[slot]]
        levels = [dot(axis, of.places[number]) for number in stickers]
        stickers += [
            number
            for number in shown[FIXED]
            if any(abs(level - dot(axis, of.places[number])) < NEAR for level in levels)
            and _fits(of, [number], shown[FIXED], rotation)
        ]
        parts.append((rotation.angle * (1 if dot(axis, rotation.axis) > 0 else -1), tuple(sorted(stickers))))
        rest = [slot for slot in rest if slot not in slots]
    return None if axis is None else Turn(axis, tuple(parts))


@dataclass(frozen=True, slots=True)
class _Rotation:
    """About an axis, by degrees; ``frames``: three directions before and after it."""

    axis: Vector
    angle: float
    frames: tuple[tuple[Vector, Vector, Vector], tuple[Vector, Vector, Vector]]

    def __call__(self, point: Vector) -> Vector:
        before, after = self.frames
        parts = [dot(each, point) for each in before]
        return plus(plus(plus(ZERO, after[0], parts[0]), after[1], parts[1]), after[2], parts[2])


def _rotations(
    of: Body, slots: Sequence[int], shown: Mapping[int, Sequence[int]], move: Move
) -> Iterator[_Rotation]:
    """Those that take a sticker of one of the slots to one of the slot that its piece goes to."""
    for slot in slots:
        before = [frame for number in shown[slot] if (frame := _frame(of, number)) is not None]
        after = [frame for number in shown[move.to[slot]] if (frame := _frame(of, number)) is not None]
        found = [rotation for a in before for b in after if (rotation := _rotation(a, b)) is not None]
        if found:
            yield from found
            return


def _frame(of: Body, sticker: int) -> tuple[Vector, Vector, Vector] | None:
    """Three directions that a rotation of the body takes along with the sticker; None: in the middle of a face."""
    normal, place = of.normals[sticker], of.places[sticker]
    aside = plus(place, normal, -dot(place, normal))
    if hypot(*aside) < NEAR:
        return None
    across = unit(aside)
    return normal, across, cross(normal, across)


def _rotation(
    before: tuple[Vector, Vector, Vector], after: tuple[Vector, Vector, Vector]
) -> _Rotation | None:
    """That which takes one frame to another; None: there is nothing to turn."""
    # Of the sum of all v x Rv the axis times twice the sine, of the sum of v . Rv one more than twice the cosine.
    twist = ZERO
    for a, b in zip(before, after, strict=True):
        twist = plus(twist, cross(a, b))
    cosine = (sum(dot(a, b) for a, b in zip(before, after, strict=True)) - 1) / 2
    angle = degrees(atan2(hypot(*twist) / 2, cosine))
    if angle < 1:
        return None
    if angle < 179:
        return _Rotation(unit(twist), angle, (before, after))
    # Half a turn takes v to what lies opposite beyond the axis: their sum is along it.
    sums = [plus(a, b) for a, b in zip(before, after, strict=True)]
    return _Rotation(unit(max(sums, key=lambda each: hypot(*each))), 180.0, (before, after))


def _fits(of: Body, before: Sequence[int], after: Sequence[int], rotation: _Rotation) -> bool:
    """Whether a rotation takes the places of these stickers to places of those."""
    return all(any(dist(rotation(of.places[a]), of.places[b]) < NEAR for b in after) for a in before)


_THOUSANDTHS = 1000
_SIGNS = "0123456789abcdefghijklmnopqrstuvwxyz"


def in_space(definition: Permutation, boards: Sequence[Sequence[int]]) -> InSpace | None:
    """The body, and each board's colours; None: the puzzle is flat."""
    net = definition.net
    of = None if net is None else body(net)
    if net is None or of is None:
        return None
    moduli, goal = definition.slot_moduli, definition.goals[0]
    named = sorted({sticker.colour for sticker in net.stickers})
    sign_of = {name: _SIGNS[number] for number, name in enumerate(named)}
    return InSpace(
        _document(net, of, tuple(named), definition.generators),
        [
            "".join(sign_of.get(name or "", ".") for name in board_colours(net, moduli, goal, board))
            for board in boards
        ],
    )


@lru_cache(maxsize=16)
def _document(net: Net, of: Body, named: tuple[str, ...], moves: tuple[Move, ...]) -> str:
    """What the script ``solid.js`` reads, as JSON: lengths in thousandths of the body's radius, but the places of the
    views and ``scale``, which are in cells; angles in radians, of turns in degrees. ``sets``: of stickers that turn."""
    both = views(of)
    sets: dict[tuple[int, ...], int] = {}
    turns = {}
    for move in moves:
        found = turn(net, move)
        if found is not None:
            parts = [[round(angle), sets.setdefault(numbers, len(sets))] for angle, numbers in found.parts]
            turns[move.name] = [_whole(found.axis), parts]
    whole = {
        "faces": [_whole([part for corner in face for part in corner]) for face in of.faces],
        "inset": round(of.inset * _THOUSANDTHS),
        "round": round(of.round * _THOUSANDTHS),
        "scale": round(both.scale, 4),
        "distance": DISTANCE * _THOUSANDTHS,
        "views": [
            [round(part, 4) for part in (*place, *way)]
            for place, way in zip(both.middles, VIEWS, strict=True)
        ],
        "colours": [colour(name)[1] for name in named],
        "plastic": colour(PLASTIC)[1],
        "sets": list(sets),
        "turns": turns,
    }
    return json.dumps(whole, separators=(",", ":"))


def _whole(values: Sequence[float]) -> list[int]:
    return [round(value * _THOUSANDTHS) for value in values]
