'''The ``[permutation.net]`` table of a definition: the stickers of a twisty puzzle, laid flat.

colours  = { U = "white", F = "green" }   # a sign for each colour
squares  = """                            # a grid of unit squares, one row a line; . where there is none
. . U:1 U:2                               # the colour on the goal, the slot, and behind + the orientation that it shows
F F:3+1 . .                               # without a slot: a sticker that no move touches
R:1b . . .                                # a letter behind the slot: of a piece with more stickers than orientations
"""
polygons = """                            # or, or also, one sticker a line, with its corners x,y
U:1+2 0,0 1,0 0.5,1
"""
discs = """                              # or, or also, one disc a line, one unit wide, with its middle x,y
U:1 0.5,0.5
"""
'''

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from farthest.errors import PuzzleError
from farthest.families.permutation.fields import MAX_MODULUS, MAX_SLOTS, Turns
from farthest.families.permutation.moves import Move, NotationError, read_cycles
from farthest.families.permutation.net import FIXED, MOST_STICKERS, Net, Sticker, net_problem, sticker_problem
from farthest.puzzles.picture import NAMED_COLOURS, Point
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from farthest.families.permutation.definition import Permutation
    from farthest.puzzles.tables import Source


NET_TABLE = "permutation.net"
_KEYS = ("colours", "squares", "polygons", "discs")
_SIGN = re.compile(r"[^\W\d_]")
_STICKER = re.compile(
    r"(?P<sign>[^\W\d_])(?::(?P<slot>[0-9]{1,3})(?P<ring>[a-z])?(?:\+(?P<place>[0-9]{1,3}))?)?"
)
_NUMBER = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,9})?")


def read_net(table: Mapping[str, Any], source: Source, definition: Permutation) -> Net:
    """The net in ``[permutation]``, ``table``. Raises PuzzleError naming the line, what was expected and a mend."""
    return _NetReader(table, source, definition).read()


class _NetReader:
    def __init__(self, table: Mapping[str, Any], source: Source, definition: Permutation) -> None:
        net = table["net"]
        if not isinstance(net, dict):
            raise source.error(
                "permutation",
                "net",
                f"expected a table, got {shown(net)}; write [{NET_TABLE}] and keys below",
            )
        self.table: dict[str, Any] = net
        self.source = source
        self.moduli = definition.slot_moduli
        self.goal = definition.goals[0]
        self.tokens = definition.tokens
        self.first: int = table.get("numbering", 1)
        self.signs: dict[str, str] = {}
        self.stickers: list[Sticker] = []
        self.shown: dict[tuple[int, int, int], str] = {}

    def fail(self, key: str, problem: str, row: int = 0) -> PuzzleError:
        return self.source.error(NET_TABLE, key, problem, row=row)

    def read(self) -> Net:
        for key in self.table:
            if key not in _KEYS:
                mend = near_match(key, _KEYS) or f"the keys are {', '.join(_KEYS)}"
                raise self.fail(key, f"key {shown(key)} is not known; {mend}")
        self.read_colours()
        for row, line in self.lines("squares"):
            for column, word in enumerate(line.split()):
                if word != ".":
                    x, y = float(column), float(row - 1)
                    self.add("squares", row, word, ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)))
        for key in ("polygons", "discs"):
            for row, line in self.lines(key):
                if line.strip():
                    self.add(key, row, line.split()[0], self.points(key, row, line.split()[1:]))
        if not self.stickers:
            raise self.fail("", "no stickers; write squares, polygons or discs")
        net = Net(tuple(self.stickers))
        problem = net_problem(net, self.moduli, self.goal)
        if problem:
            raise self.fail("", f"{problem}; correct the stickers")
        return net

    def read_colours(self) -> None:
        colours = self.table.get("colours")
        if not isinstance(colours, dict) or not colours:
            found = "no colours" if colours is None else f"expected a table, got {shown(colours)}"
            raise self.fail("colours", f'{found}; write colours = {{ U = "white", F = "green" }}')
        for sign, name in colours.items():
            if not _SIGN.fullmatch(sign):
                raise self.fail("colours", f"the sign {shown(sign)}, expected one letter; correct it")
            if not isinstance(name, str) or name not in NAMED_COLOURS:
                known = ", ".join(NAMED_COLOURS)
                raise self.fail("colours", f"{sign} has the colour {shown(name)}; expected one of {known}")
            self.signs[sign] = name

    def lines(self, key: str) -> Iterator[tuple[int, str]]:
        """The lines of a text, numbered from 1."""
        text = self.table.get(key, "")
        if not isinstance(text, str):
            raise self.fail(key, f"expected a text of several lines, got {shown(text)}; write it in quotes")
        yield from enumerate(text.splitlines(), 1)

    def points(self, key: str, row: int, words: list[str]) -> tuple[Point, ...]:
        points = []
        for word in words:
            x, comma, y = word.partition(",")
            if not comma or not _NUMBER.fullmatch(x) or not _NUMBER.fullmatch(y):
                raise self.fail(key, f"the corner {shown(word)}, expected x,y such as 1.5,2; correct it", row)
            points.append((float(x), float(y)))
        if key == "discs" and len(points) != 1:
            raise self.fail(
                key, f"{len(points)} points, expected the middle of the disc alone; correct it", row
            )
        if key == "polygons" and len(points) == 1:
            raise self.fail(key, "a polygon has 1 corner, expected 3 or more; correct it", row)
        return tuple(points)

    def add(self, key: str, row: int, word: str, points: tuple[Point, ...]) -> None:
        found = _STICKER.fullmatch(word)
        if found is None:
            expected = "a colour's sign, slot and orientation such as U:3+1"
            raise self.fail(key, f"the sticker {shown(word)}, expected {expected}; correct it", row)
        if found["sign"] not in self.signs:
            known = ", ".join(self.signs)
            mend = f"expected one of {known}; add it to colours"
            raise self.fail(key, f"the sticker {shown(word)} has no known colour; {mend}", row)
        slot = FIXED if found["slot"] is None else int(found["slot"]) - self.first
        place, ring = int(found["place"] or 0), ord(found["ring"] or "a") - ord("a")
        if slot != FIXED or found["slot"] is not None:
            if not 0 <= slot < len(self.moduli):
                last = len(self.moduli) - 1 + self.first
                raise self.fail(
                    key, f"the sticker {shown(word)}: slots are {self.first} to {last}; correct it", row
                )
            if (slot, place, ring) in self.shown:
                other = self.shown[slot, place, ring]
                both = f"{shown(word)} and {shown(other)} show the same sticker"
                raise self.fail(key, f"{both}, expected each at most once; correct one", row)
            self.shown[slot, place, ring] = word
        sticker = Sticker(slot, place, self.signs[found["sign"]], points, ring)
        problem = sticker_problem(sticker, self.moduli)
        if problem is None and len(self.stickers) == MOST_STICKERS:
            problem = f"more than {MOST_STICKERS} stickers"
        if problem:
            raise self.fail(key, f"the sticker {shown(word)}: {problem}; correct it", row)
        self.stickers.append(sticker)


# --- The ``[permutation.turns]`` table of a definition: how a puzzle that a piece holds may be turned as a whole.
#
# held = [3] # of each held piece the number of orientations; in slots behind the others y = "(1 2 3 4)(5 6 8 7)" #
# turns that make all, as generators are written; here 8 is the held piece's slot

TURNS_TABLE = "permutation.turns"


def with_turns(table: Mapping[str, Any], source: Source, definition: Permutation) -> Permutation:
    """The definition with the turns in ``[permutation]``, ``table``. Raises PuzzleError naming the line, what was
    expected and a mend."""

    def fail(key: str, problem: str) -> PuzzleError:
        return source.error(TURNS_TABLE, key, problem)

    told = table["turns"]
    if not isinstance(told, dict):
        raise source.error(
            "permutation",
            "turns",
            f"expected a table, got {shown(told)}; write [{TURNS_TABLE}] and keys below",
        )
    held = told.get("held")
    if (
        not isinstance(held, list)
        or not 1 <= len(held) <= MAX_SLOTS
        or any(type(modulus) is not int or not 1 <= modulus <= MAX_MODULUS for modulus in held)
    ):
        raise fail(
            "held",
            f"expected the number of orientations of each held piece, got {shown(held)}; write held = [3]",
        )
    moduli = (*definition.slot_moduli, *held)
    first = table.get("numbering", 1)
    moves = []
    for name, value in told.items():
        if name == "held":
            continue
        if not isinstance(value, str):
            raise fail(name, f'expected cycles, got {shown(value)}; write {name} = "(1 2 3 4)"')
        try:
            to, delta = read_cycles(value, len(moduli), first)
        except NotationError as error:
            raise fail(name, str(error)) from None
        turned = tuple(turn % modulus for turn, modulus in zip(delta, moduli, strict=True))
        moves.append(Move(name, tuple(to), turned))
    if not moves:
        raise fail("", "no turns; correct the turns")
    try:
        return replace(definition, turns=Turns(tuple(held), tuple(moves)))
    except PuzzleError as error:
        problem = str(error).removeprefix("permutation puzzle: ")
        raise fail("", f"{problem}; correct the turns") from None
