"""The net of a twisty puzzle: a polygon for each sticker, and which colour it has on a board.

A sticker is shown at a *place* of a slot, 0 to the modulus less one: the first sticker of a piece is at place ``o``
where the piece has orientation ``o``, and its sticker ``i`` at place ``(o + i) mod m``. A piece with more stickers than
orientations has several *rings* of them, each of which goes round as the piece is turned.

The table ``[permutation.net]`` has the stickers laid flat: docs/pictures.md says what its keys mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite

from farthest.puzzles.definition import Board
from farthest.puzzles.picture import NAMED_COLOURS, Picture, Point, Shape
from farthest.puzzles.tables import Given, Table
from farthest.wording import shown

MOST_STICKERS = 1000
MOST_CORNERS = 32
MOST_RINGS = 26
LARGEST = 100.0
"""Coordinates are from 0 to this."""

Vector = tuple[float, float, float]
"""A point in space."""

FIXED = -1
"""The slot of a sticker that no move touches."""

_OfPiece = tuple[int, int, int]
"""A sticker of a piece: label, ring, number in the ring."""

_SIGN = re.compile(r"[^\W\d_]")
_STICKER = re.compile(
    r"(?P<sign>[^\W\d_])(?::(?P<slot>[0-9]{1,3})(?P<ring>[a-z])?(?:\+(?P<place>[0-9]{1,3}))?)?"
)
_FOLDED = re.compile(r"{0},{0}={0},{0},{0}".format(r"(-?[0-9]{1,4}(?:\.[0-9]{1,9})?)"))
_NUMBER = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class Sticker:
    """One sticker. ``slot``, ``place``, ``ring``: where it is (see above), or ``FIXED``, 0 and 0; ``colour``: a name of
    ``NAMED_COLOURS``, that which it has on the first goal; ``points``: its corners (x, y), y downward; one point: the
    middle of a disc that is one unit wide. ``space``: its corners in space, if the net tells where its face is."""

    slot: int
    place: int
    colour: str
    points: tuple[Point, ...]
    ring: int = 0
    space: tuple[Vector, ...] = ()

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
    if len(sticker.space) not in (0, len(sticker.points)):
        return f"{len(sticker.space)} corners in space, expected {len(sticker.points)}"
    if not all(isfinite(value) and abs(value) <= 10 * LARGEST for point in sticker.space for value in point):
        return f"a corner is in space beyond {10 * LARGEST:g}"
    return None


def area(points: Sequence[Point]) -> float:
    """The area of a polygon."""
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


_WIDTH = 7.0  # wider nets are drawn smaller


def net_picture(net: Net, colours: Sequence[str | None]) -> Picture:
    """The net with these colours of its stickers."""
    areas = [sticker.area for sticker in net.stickers]
    left, top = min(x for x, _, _, _ in areas), min(y for _, y, _, _ in areas)
    width, height = max(right for _, _, right, _ in areas) - left, max(bottom for *_, bottom in areas) - top
    scale = min(1.0, _WIDTH / width)
    shapes = []
    for sticker, colour, (x, y, right, bottom) in zip(net.stickers, colours, areas, strict=True):
        points = tuple(((x - left) * scale, (y - top) * scale) for x, y in sticker.points)
        shapes.append(
            Shape(
                (x - left) * scale,
                (y - top) * scale,
                (right - x) * scale,
                (bottom - y) * scale,
                colour=colour,
                disc=sticker.is_disc,
                points=() if sticker.is_disc else points,
            )
        )
    return Picture(width * scale, height * scale, tuple(shapes))


def _by_piece(net: Net, moduli: tuple[int, ...], goal: Board) -> list[tuple[_OfPiece, Sticker]]:
    return [
        (_sticker_at(sticker, moduli, goal), sticker) for sticker in net.stickers if sticker.slot != FIXED
    ]


def _sticker_at(sticker: Sticker, moduli: tuple[int, ...], board: Sequence[int]) -> _OfPiece:
    """The sticker of a piece that is where the sticker of the net is."""
    slots, slot = len(moduli), sticker.slot
    turned = board[slots + slot] if len(board) > slots else 0
    return board[slot], sticker.ring, (sticker.place - turned) % moduli[slot]


@dataclass(frozen=True, slots=True)
class _Face:
    """Three points of the net, and where they are in space: x, y, x, y, z."""

    first: Sequence[float]
    second: Sequence[float]
    third: Sequence[float]

    def folded(self, point: Point) -> Vector:
        """Where a point of the face is in space."""
        (x, y, *at), (x1, y1, *at1), (x2, y2, *at2) = self.first, self.second, self.third
        u, v = point[0] - x, point[1] - y
        whole = (x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)
        along, across = (u * (y2 - y) - v * (x2 - x)) / whole, (v * (x1 - x) - u * (y1 - y)) / whole
        a, b, c = (
            round(start + along * (one - start) + across * (two - start), 4)
            for start, one, two in zip(at, at1, at2, strict=True)
        )
        return a, b, c


class NetTable(Table):
    """The table ``[permutation.net]``."""

    header = "permutation.net"
    colours = Given()
    squares = Given()
    polygons = Given()
    discs = Given()
    faces = Given()

    def read(self, moduli: Sequence[int], goal: Board, first: int) -> Net:
        """The net of a puzzle with these moduli of the slots and this first goal. ``first``: the number of the first
        slot. Raises PuzzleError naming the line, what was expected and a mend."""
        signs = self._signs()
        faces = self._faces(signs)
        words: dict[tuple[int, int, int], str] = {}
        stickers: list[Sticker] = []
        for key, row, word, points in self._written():
            found = _STICKER.fullmatch(word)
            if found is None:
                expected = "a colour's sign, slot and orientation such as U:3+1"
                raise self.fail(key, f"the sticker {shown(word)}, expected {expected}; correct it", row=row)
            if found["sign"] not in signs:
                mend = f"expected one of {', '.join(signs)}; add it to colours"
                raise self.fail(key, f"the sticker {shown(word)} has no known colour; {mend}", row=row)
            slot = FIXED
            place, ring = int(found["place"] or 0), ord(found["ring"] or "a") - ord("a")
            if found["slot"] is not None:
                slot = int(found["slot"]) - first
                if not 0 <= slot < len(moduli):
                    last = len(moduli) - 1 + first
                    raise self.fail(
                        key, f"the sticker {shown(word)}: slots are {first} to {last}; correct it", row=row
                    )
                if (slot, place, ring) in words:
                    both = f"{shown(word)} and {shown(words[slot, place, ring])} show the same sticker"
                    raise self.fail(key, f"{both}, expected each at most once; correct one", row=row)
                words[slot, place, ring] = word
            face = faces.get(found["sign"]) if len(points) > 1 else None
            space = () if face is None else tuple(map(face.folded, points))
            sticker = Sticker(slot, place, signs[found["sign"]], points, ring, space)
            problem = sticker_problem(sticker, moduli)
            if problem is None and len(stickers) == MOST_STICKERS:
                problem = f"more than {MOST_STICKERS} stickers"
            if problem:
                raise self.fail(key, f"the sticker {shown(word)}: {problem}; correct it", row=row)
            stickers.append(sticker)
        if not stickers:
            raise self.fail("", "no stickers; write squares, polygons or discs")
        net = Net(tuple(stickers))
        if problem := net_problem(net, moduli, goal):
            raise self.fail("", f"{problem}; correct the stickers")
        return net

    def _signs(self) -> dict[str, str]:
        """The colour of each sign."""
        colours = self.colours
        if not isinstance(colours, dict) or not colours:
            found = "no colours" if colours is None else f"expected a table, got {shown(colours)}"
            raise self.fail("colours", f'{found}; write colours = {{ U = "white", F = "green" }}')
        for sign, name in colours.items():
            if not _SIGN.fullmatch(sign):
                raise self.fail("colours", f"the sign {shown(sign)}, expected one letter; correct it")
            if not isinstance(name, str) or name not in NAMED_COLOURS:
                known = ", ".join(NAMED_COLOURS)
                raise self.fail("colours", f"{sign} has the colour {shown(name)}; expected one of {known}")
        return colours

    def _faces(self, signs: Mapping[str, str]) -> dict[str, _Face]:
        """The faces that are told, by their signs."""
        faces = {}
        for row, words in self._lines("faces"):
            pairs = [_FOLDED.fullmatch(word) for word in words[1:]]
            if not words:
                continue
            if words[0] not in signs or len(pairs) != 3 or not all(pairs):
                expected = "a sign of colours and three points such as U 0,0=-1,1,-1 2,0=1,1,-1 0,2=-1,1,1"
                raise self.fail(
                    "faces", f"{shown(' '.join(words))}, expected {expected}; correct it", row=row
                )
            numbers = [[float(part) for part in pair.groups()] for pair in pairs if pair]
            (x, y, *_), (x1, y1, *_), (x2, y2, *_) = numbers
            if abs((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) < 1e-9:
                raise self.fail("faces", f"the points of {words[0]} lie in a line; choose others", row=row)
            faces[words[0]] = _Face(*numbers)
        return faces

    def _written(self) -> Iterator[tuple[str, int, str, tuple[Point, ...]]]:
        """The stickers: the key that tells one, the number of the line from 1, its text and its corners."""
        for row, words in self._lines("squares"):
            for column, word in enumerate(words):
                if word != ".":
                    x, y = float(column), float(row - 1)
                    yield "squares", row, word, ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1))
        for key in ("polygons", "discs"):
            for row, words in self._lines(key):
                if words:
                    yield key, row, words[0], self._points(key, row, words[1:])

    def _lines(self, key: str) -> Iterator[tuple[int, list[str]]]:
        """The words of the lines of a text, numbered from 1."""
        text = self.fields.get(key, "")
        if not isinstance(text, str):
            raise self.fail(key, f"expected a text of several lines, got {shown(text)}; write it in quotes")
        for row, line in enumerate(text.splitlines(), 1):
            yield row, line.split()

    def _points(self, key: str, row: int, words: list[str]) -> tuple[Point, ...]:
        points = []
        for word in words:
            x, comma, y = word.partition(",")
            if not comma or not _NUMBER.fullmatch(x) or not _NUMBER.fullmatch(y):
                raise self.fail(
                    key, f"the corner {shown(word)}, expected x,y such as 1.5,2; correct it", row=row
                )
            points.append((float(x), float(y)))
        if key == "discs" and len(points) != 1:
            raise self.fail(
                key, f"{len(points)} points, expected the middle of the disc alone; correct it", row=row
            )
        if key == "polygons" and len(points) == 1:
            raise self.fail(key, "a polygon has 1 corner, expected 3 or more; correct it", row=row)
        return tuple(points)
