"""Cubes written as facelets, as programs that solve cubes exchange them: ``UUUUUUUUURRRRRRRRRFFFFFFFFF...``.

The faces are U R F D L B (H. Kociemba's order), each row by row as the net shows it. Only a puzzle whose net is that
of a cube, six faces of squares, each of one colour on the goal, is written so. A sign stands for the face that has its
colour. Where no move touches the middles of the faces, these tell which face a sign stands for: any six signs will do.
Where other facelets are held, as those of a corner of the 2x2x2, the cube is turned as a whole until they fit.

A 3x3x3 may also be written as the stickers at each place, in the order of M. Reid's and T. Rokicki's programs, which
on the goal are the places' names: ``UF UR UB UL DF DR DB DL FR FL BR BL UFR URB UBL ULF DRF DFL DLB DBR``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt

from farthest.errors import BoardError
from farthest.families.permutation.fields import PermutationFields
from farthest.families.permutation.groups import Element, product
from farthest.families.permutation.net import FIXED, Net, Sticker, Vector, piece_colours
from farthest.families.permutation.solid import ON_BOX, ON_NET
from farthest.puzzles.grid import closure

FACES = "URFDLB"
_PLACES = [
    "U8F2",
    "U6R2",
    "U2B2",
    "U4L2",
    "D2F8",
    "D6R8",
    "D8B8",
    "D4L8",
    "F6R4",
    "F4L6",
    "B4R6",
    "B6L4",
    "U9F3R1",
    "U3R3B1",
    "U1B3L1",
    "U7L3F1",
    "D3R7F9",
    "D1F7L9",
    "D7L7B9",
    "D9B7R9",
]
"""The places of a 3x3x3, UF to DBR, with the numbers of their facelets on each face."""

_SIGNS_BETWEEN = str.maketrans("", "", " \t\n\r,;/|")


@dataclass(frozen=True, slots=True)
class Cube:
    """The stickers of a cube's net in the order of facelets; ``size``: of a face, in stickers; ``colours``: of the
    faces on the goal."""

    stickers: tuple[Sticker, ...]
    size: int
    colours: tuple[str, ...]

    @property
    def middles(self) -> tuple[int, ...]:
        """The facelets in the middles of the faces, if no move touches any of them; else none."""
        area = self.size**2
        found = tuple(range(area // 2, 6 * area, area)) if self.size % 2 else ()
        return found if all(self.stickers[at].slot == FIXED for at in found) else ()


@lru_cache(maxsize=16)
def cube_of(net: Net) -> Cube | None:
    """The net's stickers as facelets; None: it is not the net of a cube."""
    size = isqrt(len(net.stickers) // 6)
    if size < 2:
        return None
    squares = {}
    for sticker in net.stickers:
        x, y = sticker.points[0]
        if sticker.points == ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)):
            squares[x, y] = sticker
    places = [
        (column * size + x, row * size + y)
        for column, row in ON_NET.values()
        for y in range(size)
        for x in range(size)
    ]
    if len(net.stickers) != len(places) or any(place not in squares for place in places):
        return None
    stickers = [squares[place] for place in places]
    faces = [
        {sticker.colour for sticker in stickers[at : at + size**2]} for at in range(0, 6 * size**2, size**2)
    ]
    colours = [colour for face in faces for colour in face]
    if len(colours) != 6 or len(set(colours)) != 6:
        return None
    return Cube(tuple(stickers), size, tuple(colours))


def facelets_mend(definition: PermutationFields) -> str:
    """How a board may be written besides its pieces; empty: in no other way."""
    cube = None if definition.net is None else cube_of(definition.net)
    return "" if cube is None else f", or as {len(cube.stickers)} facelets, those of the faces U R F D L B"


def pieces_of_facelets(
    definition: PermutationFields, text: str, place: str
) -> tuple[list[int], list[int]] | None:
    """Label and orientation of each slot; None: it is no text of a sign for each sticker. Raises BoardError."""
    if definition.net is None or "+" in text:  # as most boards that are written by their pieces have
        return None
    cube = cube_of(definition.net)
    signs = _of_places(text) or text.translate(_SIGNS_BETWEEN)
    if cube is None or not signs.isalpha():
        return None
    # Perhaps some too many or too few: no piece has so many letters as a face.
    if len(signs) != len(cube.stickers) and len(max(text.split(), key=len)) < cube.size**2:
        return None
    meant = _meant(cube, signs, place)
    held = [meant[sign] for sign in signs]
    fixed = [(at, sticker.colour) for at, sticker in enumerate(cube.stickers) if sticker.slot == FIXED]
    fitting = (
        order for order in _orders(cube.size) if all(held[order[at]] == colour for at, colour in fixed)
    )
    turned = next(fitting, None)
    if (
        turned is None
    ):  # however the cube is turned, it does not show the goal's colours where no move changes them
        at, wanted = next((at, colour) for at, colour in fixed if held[at] != colour)
        expected = FACES[cube.colours.index(wanted)]
        raise BoardError(
            f"{place}: facelet {at + 1} shows {signs[at]!r}, but no move changes the one on {expected} there, however "
            "the cube is turned; correct the colours"
        )
    found: dict[int, list[int]] = defaultdict(list)
    for at, sticker in enumerate(cube.stickers):
        found[sticker.slot].append(at)
    colours = [held[at] for at in turned]

    def shown(slot: int) -> str:
        seen = [turned[at] for at in found[slot]]
        numbers = " ".join(str(at + 1) for at in seen)
        why = _why_no_piece(cube, [colours[at] for at in found[slot]])
        return f"(facelets {numbers}) shows {''.join(signs[at] for at in seen)}, {why}; correct it"

    stickers = {
        slot: [(cube.stickers[at], colours[at]) for at in found[slot]] for slot in range(definition.slots)
    }
    return pieces_seen(definition, stickers, place, shown)


@lru_cache(maxsize=4)
def _orders(size: int) -> list[Element]:
    """The ways in which a whole cube may be turned, the first not at all: for each facelet the one that comes there."""
    most = size - 1
    places: dict[Vector, int] = {}  # in halves of a sticker
    for direction in map(ON_BOX.__getitem__, FACES):
        for y in range(-most, size, 2):
            for x in range(-most, size, 2):
                places[direction(x, y, size)] = len(places)
    turns = [
        tuple(places[x, -z, y] for x, y, z in places),
        tuple(places[z, y, -x] for x, y, z in places),
    ]
    return closure(tuple(range(len(places))), lambda order: (product(order, turn) for turn in turns))


def _why_no_piece(cube: Cube, colours: Sequence[str]) -> str:
    """What is wrong with the colours of a place, in which no piece is found."""
    faces = [FACES[cube.colours.index(colour)] for colour in colours]
    twice = next((face for face in FACES if faces.count(face) > 1), None)
    if twice is not None:
        return f"and no piece has two stickers of {twice}"
    opposite = next((pair for pair in ("UD", "LR", "FB") if {*pair} <= {*faces}), None)
    if opposite is not None:
        return f"and no piece has stickers of {opposite[0]} and {opposite[1]}, which are opposite"
    return "and the piece with these colours has them in the other order round its corner"


def _of_places(text: str) -> str | None:
    """The signs of the facelets of a 3x3x3 that is written place by place; None: it is not written so."""
    words = text.replace(",", " ").split()
    if len(words) != len(_PLACES) or [len(word) for word in words] != [len(place) // 2 for place in _PLACES]:
        return None
    signs = [FACES[at // 9] for at in range(54)]
    for place, word in zip(_PLACES, words, strict=True):
        for face, number, sign in zip(place[::2], place[1::2], word, strict=True):
            signs[9 * FACES.index(face) + int(number) - 1] = sign
    return "".join(signs)


def _meant(cube: Cube, signs: str, place: str) -> dict[str, str]:
    """The colour that each sign stands for. Raises BoardError, also for a wrong number of signs."""
    if len(signs) != len(cube.stickers):
        raise BoardError(
            f"{place}: {len(signs)} facelets, expected {len(cube.stickers)}; write one sign for each sticker"
        )
    if cube.middles:
        middles = [signs[at] for at in cube.middles]
        if len(set(middles)) != 6 or not {*signs} <= {*middles}:
            raise BoardError(
                f"{place}: the middles of the faces U R F D L B are {' '.join(middles)}; expected six signs that "
                "differ, and no others on the cube"
            )
    elif not {*signs} <= {*FACES}:
        raise BoardError(
            f"{place}: the signs are {' '.join(sorted({*signs}))}; expected the faces U R F D L B"
        )
    else:
        middles = [*FACES]
    counts = {sign: signs.count(sign) for sign in middles}
    if {*counts.values()} != {cube.size**2}:
        told = ", ".join(f"{count} {sign}" for sign, count in counts.items())
        raise BoardError(f"{place}: {told}; expected {cube.size**2} of each colour")
    return dict(zip(middles, cube.colours, strict=True))


def pieces_seen(
    definition: PermutationFields,
    seen: Mapping[int, Sequence[tuple[Sticker, str]]],
    place: str,
    shown: Callable[[int], str],
) -> tuple[list[int], list[int]]:
    """The one piece that shows in each slot the colours ``seen`` there, and how it is turned. Raises BoardError, which
    ends with what is ``shown`` in a slot."""
    assert definition.net is not None
    moduli, goal = definition.slot_moduli, definition.goals[0]
    colours = piece_colours(definition.net, moduli, goal)
    labels, turns = [], []
    for slot in range(definition.slots):
        found = {
            (label, 0 if definition.ignore[label] else turn)
            for label in definition.labels_of(definition.slot_orbits[slot])
            for turn in range(moduli[slot])
            if all(
                colours.get((label, sticker.ring, (sticker.place - turn) % moduli[slot])) == colour
                for sticker, colour in seen.get(slot, ())
            )
        }
        if len(found) != 1:
            raise BoardError(f"{place}: the place of {definition.tokens[goal[slot]]} {shown(slot)}")
        ((label, turn),) = found
        labels.append(label)
        turns.append(turn)
    return labels, turns
