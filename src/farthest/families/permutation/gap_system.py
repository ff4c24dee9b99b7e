"""Generators of a permutation group as people write them for GAP.

    R := (1,2,3,4)(5,6);; U := (2,5);;      cycles, products ``*`` and powers ``^`` of permutations, PermList([...])
    G := Group(R, U);                       the generators: of the last group, else of the last list of permutations,
    gens := [R, U];                         else all permutations that have a name

Points that no generator moves are left out, and orbits whose points always move with those of another. Points of one
orbit that are turned in a cycle are one piece, called by the first of them; each other point is a piece (stickers.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import assemble, slot_moduli
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.fields import MAX_SLOTS, name_problem
from farthest.families.permutation.moves import MAX_MOVES, Move, listed
from farthest.families.permutation.stickers import pieces_of
from farthest.wording import near_match, shown

_TOKEN = re.compile(
    r"(?P<space>\s+|#[^\n]*)|(?P<word>[A-Za-z_@][A-Za-z0-9_@.]*)|(?P<number>\d+)|(?P<text>\"[^\"\n]*\")"
    r"|(?P<mark>:=|[()\[\],*/^;-])|(?P<wrong>.)",
    re.DOTALL,
)
_GROUPS = ("Group", "GroupByGenerators", "GroupWithGenerators")
_ASKED = (
    "Size",
    "Order",
    "Print",
    "Display",
    "View",
    "StructureDescription",
    "Factors",
    "Collected",
    "LoadPackage",
)
_LARGEST = 999
"""The largest point."""

_DEEPEST = 50

_MOST_WORK = 2 * 10**6
"""Images of points in all products together."""

_POWER = 60
"""So many products at most is a power of nine digits."""


@dataclass(frozen=True)
class _Perm:
    """``images``: of the points that are moved. ``name``: of the variable that held it, else empty."""

    images: dict[int, int]
    name: str = ""
    line: int = 0

    def then(self, other: _Perm) -> _Perm:
        points = {*self.images, *other.images}
        images = {point: other.image(self.image(point)) for point in points}
        return _Perm({point: image for point, image in images.items() if image != point}, "", self.line)

    def image(self, point: int) -> int:
        return self.images.get(point, point)

    def power(self, exponent: int) -> _Perm:
        base = (
            self
            if exponent >= 0
            else _Perm({image: point for point, image in self.images.items()}, "", self.line)
        )
        result = _Perm({}, "", self.line)
        exponent = abs(exponent)
        while exponent:
            if exponent & 1:
                result = result.then(base)
            base = base.then(base)
            exponent >>= 1
        return result


@dataclass(frozen=True)
class _Group:
    generators: list[_Perm] = field(default_factory=list)


_Value = _Perm | _Group | int | list["_Value"]


def read_gap(text: str, place: str, metric: str) -> Permutation:
    """The puzzle of the generators in a file. Raises PuzzleError naming file, line, what was expected and a mend."""
    reader = _Reader(text, place)
    generators = reader.generators()
    points = sorted({point for generator in generators for point in generator.images})
    slot_of = {point: slot for slot, point in enumerate(points)}
    moves = [
        Move(name, tuple(slot_of[generator.image(point)] for point in points), (0,) * len(points))
        for name, generator in zip(_names(generators), generators, strict=True)
    ]
    pieces = pieces_of([str(point) for point in points], moves)
    moduli = slot_moduli(pieces.sets)
    line = generators[0].line
    if len(moduli) > MAX_SLOTS:
        raise reader.fail(
            line,
            f"the moved points are {len(moduli)} pieces; at most {MAX_SLOTS} are possible, take fewer points",
        )
    every = listed(pieces.moves, moduli, metric, inverses=True)
    if every is None:
        raise reader.fail(line, f"more than {MAX_MOVES} moves with all powers; take the metric generator")
    return assemble(pieces.sets, every)


def _names(generators: Sequence[_Perm]) -> list[str]:
    names: list[str] = []
    for number, generator in enumerate(generators, 1):
        name = generator.name if not name_problem(generator.name) else f"g{number}"
        names.append(name if name not in names else f"g{number}")
    return names


class _Reader:
    def __init__(self, text: str, place: str) -> None:
        self.place = place
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        self.depth = 0
        self.work = 0
        self.variables: dict[str, _Value] = {}
        self.groups: list[list[_Perm]] = []
        self.lists: list[list[_Perm]] = []
        line = 1
        for found in _TOKEN.finditer(text):
            kind = found.lastgroup or ""
            if kind == "wrong":
                raise self.fail(
                    line, f"{shown(found[0])} is not understood; expected permutations such as (1,2,3)"
                )
            if kind != "space":
                self.tokens.append((kind, found[0], line))
            line += found[0].count("\n")
        self.end = line

    def fail(self, line: int, problem: str) -> PuzzleError:
        return PuzzleError(f"{self.place}, line {line}: {problem}")

    def generators(self) -> list[_Perm]:
        """The generators, none of them the identity, none twice. Raises PuzzleError where there are none."""
        while self.at < len(self.tokens):
            self.statement()
        named = [value for value in self.variables.values() if isinstance(value, _Perm)]
        chosen = (self.groups or self.lists or [named])[-1]
        found: list[_Perm] = []
        for generator in chosen:
            if generator.images and all(generator.images != other.images for other in found):
                found.append(generator)
            if len(found) > MAX_MOVES:
                raise self.fail(generator.line, f"more than {MAX_MOVES} generators; leave some out")
        if not found:
            raise self.fail(self.end, "no generators; write for example G := Group((1,2,3), (3,4));")
        return found

    # Statements

    def statement(self) -> None:
        kind, word, line = self.tokens[self.at]
        if word == ";":
            self.at += 1
            return
        name = ""
        if kind == "word" and self.peek(1) == ":=":
            name = word
            self.at += 2
        elif kind == "word" and word in _ASKED and self.peek(1) == "(":
            while self.at < len(self.tokens) and self.peek() != ";":
                self.at += 1
            self.ends(line)
            return
        value = self.expression()
        self.ends(line)
        if isinstance(value, _Perm) and name:
            value = _Perm(value.images, name, line)
        if name:
            self.variables[name] = value
        if isinstance(value, _Group):
            self.groups.append(value.generators)
        elif isinstance(value, list) and value:
            permutations = [each for each in value if isinstance(each, _Perm)]
            if len(permutations) == len(value):
                self.lists.append(permutations)

    def ends(self, line: int) -> None:
        if self.peek() != ";":
            found = f"{shown(self.peek())} instead" if self.at < len(self.tokens) else "the end of the file"
            where = self.tokens[self.at][2] if self.at < len(self.tokens) else line
            raise self.fail(where, f"the statement has no end, found {found}; write ; after it")
        self.at += 1

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead][1] if self.at + ahead < len(self.tokens) else ""

    def line(self) -> int:
        return self.tokens[min(self.at, len(self.tokens) - 1)][2]

    def spend(self, images: int, line: int) -> None:
        """Counts the work of a product. Raises PuzzleError where the file asks for far more than any puzzle needs."""
        self.work += images
        if self.work > _MOST_WORK:
            raise self.fail(
                line, "too many products and powers up to here; write the generators out as cycles"
            )

    def expect(self, mark: str, what: str) -> None:
        if self.peek() != mark:
            found = shown(self.peek()) if self.at < len(self.tokens) else "the end of the file"
            raise self.fail(self.line(), f"{found} in {what}, expected {mark}; correct it")
        self.at += 1

    # Expressions

    def expression(self) -> _Value:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fail(self.line(), f"more than {_DEEPEST} brackets in each other; leave out some")
        value = self.raised()
        while self.peek() in ("*", "/"):
            mark, line = self.peek(), self.line()
            self.at += 1
            other = self.raised()
            if not isinstance(value, _Perm) or not isinstance(other, _Perm):
                raise self.fail(line, f"{mark} needs a permutation on both sides; expected for example R*U")
            self.spend(len(value.images) + len(other.images), line)
            value = value.then(other if mark == "*" else other.power(-1))
        self.depth -= 1
        return value

    def raised(self) -> _Value:
        value = self.atom()
        while self.peek() == "^":
            line = self.line()
            self.at += 1
            exponent = self.atom()
            if not isinstance(value, _Perm) or not isinstance(exponent, int | _Perm):
                raise self.fail(line, "^ needs a permutation before it; expected for example R^-1")
            self.spend(
                _POWER * len(value.images) + (0 if isinstance(exponent, int) else len(exponent.images)), line
            )
            if isinstance(exponent, _Perm):  # a conjugate
                value = exponent.power(-1).then(value).then(exponent)
            else:
                value = value.power(exponent)
        return value

    def atom(self) -> _Value:
        if self.at >= len(self.tokens):
            raise self.fail(self.end, "the file ends within a statement; complete it, with ; at its end")
        kind, word, line = self.tokens[self.at]
        if word == "(":
            if self.tokens[self.at + 1 : self.at + 2] and (
                self.tokens[self.at + 1][0] == "number" or self.peek(1) == ")"
            ):
                return self.cycles(line)
            self.at += 1
            value = self.expression()
            self.expect(")", "brackets")
            return value
        self.at += 1
        if word == "[":
            return self.items("]")
        if kind == "number" or (word == "-" and self.tokens[self.at : self.at + 1]):
            sign = 1
            if word == "-":
                sign, (kind, word, line) = -1, self.tokens[self.at]
                self.at += 1
            if kind != "number" or len(word) > 9:
                raise self.fail(line, f"{shown(word)} is too large a number; write a smaller one")
            return sign * int(word)
        if kind == "word":
            return self.call(word, line) if self.peek() == "(" else self.variable(word, line)
        raise self.fail(
            line, f"{shown(word)} begins no value; expected a permutation such as (1,2,3), or its name"
        )

    def items(self, closing: str) -> list[_Value]:
        values: list[_Value] = []
        while self.peek() != closing:
            values.append(self.expression())
            if self.peek() != closing:
                self.expect(",", "a list")
        self.at += 1
        return values

    def variable(self, name: str, line: int) -> _Value:
        if name not in self.variables:
            mend = near_match(name, self.variables) or f"define it above: {name} := (1,2,3);"
            raise self.fail(line, f"{shown(name)} is not defined; {mend}")
        return self.variables[name]

    def call(self, name: str, line: int) -> _Value:
        self.at += 1
        values = self.items(")")
        if name == "PermList" and len(values) == 1 and isinstance(values[0], list):
            images = values[0]
            numbers = [image for image in images if isinstance(image, int)]
            if sorted(numbers) != list(range(1, len(images) + 1)):
                raise self.fail(line, f"PermList needs a permutation of 1 to {len(images)}; correct the list")
            return _Perm({i: image for i, image in enumerate(numbers, 1) if image != i}, "", line)
        if name in _GROUPS:
            if values and isinstance(values[0], list):
                values = values[0]
            generators = [value for value in values if isinstance(value, _Perm)]
            if not generators or len(generators) != len(values):
                raise self.fail(
                    line, f"{name}: expected permutations; write for example Group((1,2,3), (3,4))"
                )
            return _Group(generators)
        raise self.fail(
            line,
            f"the function {shown(name)} cannot be read here, only Group and PermList; write the generators as cycles",
        )

    def cycles(self, line: int) -> _Perm:
        result = _Perm({}, "", line)
        while self.peek() == "(" and (self.peek(1).isdecimal() or self.peek(1) == ")"):
            self.at += 1
            points: list[int] = []
            while self.peek() != ")":
                kind, word, here = self.tokens[self.at] if self.at < len(self.tokens) else ("", "", self.end)
                if kind != "number":
                    found = shown(word) if word else "the end of the file"
                    raise self.fail(
                        here, f"{found} in a cycle, expected a point; write cycles such as (1,2,3)"
                    )
                if len(word) > 9 or not 1 <= int(word) <= _LARGEST:
                    raise self.fail(here, f"the point {word} is out of range; expected 1 to {_LARGEST}")
                if int(word) in points:
                    raise self.fail(here, f"the point {word} is twice in a cycle; leave it out once")
                points.append(int(word))
                self.at += 1
                if self.peek() != ")":
                    self.expect(",", "a cycle")
            self.at += 1
            images = {point: points[(i + 1) % len(points)] for i, point in enumerate(points)}
            self.spend(len(result.images) + len(points), line)
            result = result.then(_Perm(images if len(points) > 1 else {}, "", line))
        return _Perm(result.images, "", line)
