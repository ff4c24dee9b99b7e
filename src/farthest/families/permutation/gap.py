"""Generators of a permutation group as people write them for GAP.

    R := (1,2,3,4)(5,6);; U := (2,5);;      cycles, products ``*`` and powers ``^`` of permutations, PermList([...])
    G := Group(R, U);                       the generators: of the last group, else of the last list of permutations,
    gens := [R, U];                         else all permutations that have a name

A session may be kept with its prompts: only lines that begin with ``gap>`` or ``>`` are read then. assembly.py says how
points become pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import of_generators
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.fields import MAX_POINTS
from farthest.families.permutation.moves import MAX_MOVES, repeated
from farthest.wording import near_match, shown


@dataclass(frozen=True)
class Perm:
    """A permutation. ``images``: of the points that are moved. ``name``: of the variable that held it, else empty."""

    images: dict[int, int]
    name: str = ""
    line: int = 0

    def then(self, other: Perm) -> Perm:
        points = {*self.images, *other.images}
        images = {point: other.image(self.image(point)) for point in points}
        return Perm({point: image for point, image in images.items() if image != point}, "", self.line)

    def image(self, point: int) -> int:
        return self.images.get(point, point)

    def power(self, exponent: int) -> Perm:
        base = Perm({image: point for point, image in self.images.items()}) if exponent < 0 else self
        return repeated(base, abs(exponent), Perm({}, "", self.line), Perm.then)


@dataclass(frozen=True)
class Group:
    generators: list[Perm]


Value = Perm | Group | int | list["Value"]


_Generators = Sequence[tuple[tuple[int, ...], ...]]
"""Each a product of cycles without a point in common."""

_M11: _Generators = [(tuple(range(1, 12)),), ((3, 7, 11, 8), (4, 10, 5, 6))]
_M23: _Generators = [
    (tuple(range(1, 24)),),
    ((3, 17, 10, 7, 9), (4, 13, 14, 19, 5), (8, 18, 11, 12, 23), (15, 20, 22, 21, 16)),
]
_MATHIEU: dict[int, _Generators] = {
    11: _M11,
    12: [*_M11, ((1, 12), (2, 11), (3, 6), (4, 8), (5, 9), (7, 10))],
    22: [
        (tuple(range(1, 12)), tuple(range(12, 23))),
        ((1, 4, 5, 9, 3), (2, 8, 10, 7, 6), (12, 15, 16, 20, 14), (13, 19, 21, 18, 17)),
        ((1, 21), (2, 10, 8, 6), (3, 13, 4, 17), (5, 19, 9, 18), (11, 22), (12, 14, 16, 20)),
    ],
    23: _M23,
    24: [
        *_M23,
        (
            (1, 24), (2, 23), (3, 12), (4, 16), (5, 18), (6, 10),
            (7, 20), (8, 14), (9, 21), (11, 17), (13, 22), (15, 19),
        ),
    ],
}  # fmt: skip
"""As GAP's manual has them."""


_LEAST = {"SymmetricGroup": 2, "AlternatingGroup": 3, "CyclicGroup": 2, "DihedralGroup": 6}

NAMED = (*_LEAST, "MathieuGroup")
"""Functions of one number: points, elements of cyclic and dihedral groups."""


def _named_generators(function: str, number: int) -> _Generators:
    """The generators of the group that the function of ``NAMED`` makes of a number, none of them the identity. Raises
    PuzzleError saying which numbers there are."""
    if function == "MathieuGroup":
        if number not in _MATHIEU:
            raise PuzzleError(f"{number} is out of range; expected 11, 12, 22, 23 or 24")
        return _MATHIEU[number]
    if function == "DihedralGroup" and number % 2:
        raise PuzzleError(f"{number} is odd; expected the number of elements, twice that of the points")
    degree = number // 2 if function == "DihedralGroup" else number
    if number < _LEAST[function] or degree > MAX_POINTS:
        raise PuzzleError(
            f"{number} is out of range; expected {_LEAST[function]} or more, and at most {MAX_POINTS} points"
        )
    points = tuple(range(1, degree + 1))
    made: dict[str, _Generators] = {
        "SymmetricGroup": [(points,), ((1, 2),)][: degree - 1],
        "AlternatingGroup": [(points if degree % 2 else points[:-1],), (points[-3:],)][: degree - 2],
        "CyclicGroup": [(points,)],
        "DihedralGroup": [
            (points,),
            tuple((i, degree + 2 - i) for i in range(2, (degree + 1) // 2 + 1)),
        ],
    }
    return made[function]


GROUPS = ("Group", "GroupByGenerators", "GroupWithGenerators")
_EXAMPLES = {
    "PermList": "a list of images, as PermList([2,3,1])",
    "Subgroup": "a group and a list, as Subgroup(G, [a, b])",
    "GeneratorsOfGroup": "a group, as GeneratorsOfGroup(G)",
}


_TOKEN = re.compile(
    r"(?P<space>\s+|#[^\n]*)|(?P<word>[A-Za-z_@][A-Za-z0-9_@.]*)|(?P<number>\d+)|(?P<text>\"[^\"\n]*\")"
    r"|(?P<mark>:=|[()\[\],*/^;-])|(?P<wrong>.)",
    re.DOTALL,
)
_PROGRAM = ("local", "return", "function", "if", "for", "while", "repeat", "Read")
_DEEPEST = 50

_MOST_WORK = 2 * 10**6
"""Images of points in all products together."""

_POWER = 60
"""So many products at most is a power of nine digits."""


class _Token(NamedTuple):
    kind: str
    text: str
    line: int

    def __str__(self) -> str:
        """How messages call the token."""
        return shown(self.text) if self.text else "the end of the file"


class ExpressionReader:
    """Reads the expressions of a text, statement by statement. ``unit``: what a line of it is called in messages."""

    def __init__(self, text: str, place: str, unit: str = "line") -> None:
        self.place = place
        self._unit = unit
        self.tokens: list[_Token] = []
        self.at = 0
        self.depth = 0
        self.work = 0
        self.variables: dict[str, Value] = {}
        line = 1
        for found in _TOKEN.finditer(text):
            kind = found.lastgroup or ""
            if kind == "wrong":
                raise self.fail(
                    line, f"{shown(found[0])} is not understood; expected permutations such as (1,2,3)"
                )
            if kind != "space":
                self.tokens.append(_Token(kind, found[0], line))
            line += found[0].count("\n")
        self.end = _Token("end", "", line)
        self.tokens += [self.end, self.end]  # one may be looked at behind the next

    def fail(self, line: int, problem: str) -> PuzzleError:
        return PuzzleError(f"{self.place}, {self._unit} {line}: {problem}")

    @property
    def token(self) -> _Token:
        """The next token."""
        return self.tokens[self.at]

    def peek(self, ahead: int = 0) -> str:
        """The text of the next token, or of that behind it; empty behind the last."""
        return self.tokens[self.at + ahead].text

    def take(self) -> _Token:
        """The next token, which is left behind."""
        self.at += 1
        return self.tokens[self.at - 1]

    def ends(self, line: int, value: Value | None = None) -> None:
        """The end of a statement; after the last of a file, a group or a list, it may be left out."""
        token = self.token
        if token is self.end and isinstance(value, Group | list):
            return
        if token.text != ";":
            found = str(token) if token is self.end else f"{token} instead"
            where = line if token is self.end else token.line
            raise self.fail(where, f"the statement has no end, found {found}; write ; after it")
        self.at += 1

    def spend(self, images: int, line: int) -> None:
        """Counts the work of a product. Raises PuzzleError where the file asks for far more than any puzzle needs."""
        self.work += images
        if self.work > _MOST_WORK:
            raise self.fail(
                line, "too many products and powers up to here; write the generators out as cycles"
            )

    def expect(self, mark: str, what: str) -> None:
        if self.peek() != mark:
            line = self.tokens[self.at - (self.token is self.end)].line
            raise self.fail(line, f"{self.token} in {what}, expected {mark}; correct it")
        self.at += 1

    # Expressions

    def expression(self) -> Value:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fail(self.token.line, f"more than {_DEEPEST} brackets in each other; leave out some")
        value = self.raised()
        while self.peek() in ("*", "/"):
            _, mark, line = self.take()
            other = self.raised()
            if not isinstance(value, Perm) or not isinstance(other, Perm):
                raise self.fail(line, f"{mark} needs a permutation on both sides; expected for example R*U")
            self.spend(len(value.images) + len(other.images), line)
            value = value.then(other if mark == "*" else other.power(-1))
        self.depth -= 1
        return value

    def raised(self) -> Value:
        value = self.atom()
        while self.peek() in ("^", "["):
            _, mark, line = self.take()
            if mark == "[":
                value = self.item(value, line)
                continue
            exponent = self.atom()
            if not isinstance(value, Perm) or not isinstance(exponent, int | Perm):
                raise self.fail(line, "^ needs a permutation before it; expected for example R^-1")
            self.spend(
                _POWER * len(value.images) + (0 if isinstance(exponent, int) else len(exponent.images)), line
            )
            if isinstance(exponent, Perm):  # a conjugate
                value = exponent.power(-1).then(value).then(exponent)
            else:
                name = ""  # of a power as twisty puzzles write it, where the base has a name and is no such power
                if value.name and value.name[-1].isalpha():
                    name = (
                        f"{value.name}{abs(exponent) if abs(exponent) > 1 else ''}{chr(39) * (exponent < 0)}"
                    )
                value = Perm(value.power(exponent).images, name, value.line)
        return value

    def atom(self) -> Value:
        kind, word, line = self.token
        if kind == "end":
            raise self.fail(line, "the file ends within a statement; complete it, with ; at its end")
        if word == "(" and (self.peek(1).isdecimal() or self.peek(1) == ")"):
            return self.cycles(line)
        self.at += 1
        if word == "(":
            value = self.expression()
            self.expect(")", "brackets")
            return value
        if word == "[":
            return self.items("]")
        if kind == "number" or (word == "-" and self.token is not self.end):
            sign = 1
            if word == "-":
                sign, (kind, word, line) = -1, self.take()
            if kind != "number" or len(word) > 9:
                raise self.fail(line, f"{shown(word)} is too large a number; write a smaller one")
            return sign * int(word)
        if word in _PROGRAM:
            raise self.fail(
                line,
                f"programs of GAP cannot be read here ({word}); write only the generators, as "
                "G := Group((1,2,3), (3,4));",
            )
        if kind == "word":
            return self.call(word, line) if self.peek() == "(" else self.variable(word, line)
        raise self.fail(
            line, f"{shown(word)} begins no value; expected a permutation such as (1,2,3), or its name"
        )

    def items(self, closing: str) -> list[Value]:
        values: list[Value] = []
        begun = self.tokens[self.at - 1]
        while self.peek() != closing:
            values.append(self.expression())
            if self.peek() in ("", ";"):
                raise self.fail(
                    begun.line, f"{begun} has no end; write {closing} after the last of what follows it"
                )
            if self.peek() != closing:
                self.expect("," if self.peek() == "," else f", or {closing}", "a list")
        self.at += 1
        return values

    def item(self, value: Value, line: int) -> Value:
        """What is in a list at the number in square brackets, the first of which has been read."""
        number = self.expression()
        self.expect("]", "the number of an item")
        if not isinstance(value, list) or not isinstance(number, int) or not 1 <= number <= len(value):
            held = f"1 to {len(value)}" if isinstance(value, list) else "a list before ["
            raise self.fail(line, f"there is no such item; expected {held}, for example gens[1]")
        return value[number - 1]

    def variable(self, name: str, line: int) -> Value:
        group, _, number = name.rpartition(".")
        held = self.variables.get(group)
        if name not in self.variables and isinstance(held, Group) and number.isdecimal():
            if not 1 <= int(number[:9]) <= len(held.generators):
                raise self.fail(
                    line, f"{shown(group)} has the generators 1 to {len(held.generators)}; correct {name}"
                )
            return held.generators[int(number) - 1]
        if name not in self.variables:
            mend = near_match(name, self.variables) or f"define it above: {name} := (1,2,3);"
            raise self.fail(line, f"{shown(name)} is not defined; {mend}")
        return self.variables[name]

    def call(self, name: str, line: int) -> Value:
        self.at += 1
        if self.peek() == "IsPermGroup" and self.peek(1) == ",":  # the kind of group that is meant here
            self.at += 2
        return self.called(name, self.items(")"), line)

    def cycles(self, line: int) -> Perm:
        """A product of cycles, the points of each divided by commas or all by spaces."""
        result = Perm({}, "", line)
        while self.peek() == "(" and (self.peek(1).isdecimal() or self.peek(1) == ")"):
            self.at += 1
            points: list[int] = []
            commas = self.peek(1) == ","
            while self.peek() != ")":
                kind, word, here = self.token
                if kind != "number":
                    raise self.fail(
                        here, f"{self.token} in a cycle, expected a point; write cycles such as (1,2,3)"
                    )
                if len(word) > 9 or not 1 <= int(word) <= MAX_POINTS:
                    mend = "" if word.strip("0") else "; add 1 to each point"
                    raise self.fail(
                        here, f"the point {word} is out of range; expected 1 to {MAX_POINTS}{mend}"
                    )
                if int(word) in points:
                    raise self.fail(here, f"the point {word} is twice in a cycle; leave it out once")
                points.append(int(word))
                self.at += 1
                if self.peek() in ("", ";"):
                    raise self.fail(here, "a cycle has no end; write ) after its last point")
                if commas and self.peek() != ")":
                    self.expect(",", "a cycle")
            self.at += 1
            self.spend(len(result.images) + len(points), line)
            result = result.then(Perm(_images([points] if len(points) > 1 else []), "", line))
        return result

    # Functions

    def called(self, name: str, values: list[Value], line: int) -> Value:
        """What the function makes of the values."""
        if name in GROUPS:
            return self._group(name, values, line)
        if name in NAMED:
            return self._named(name, values, line)
        match name, values:
            case "PermList", [list(images)]:
                numbers = [image for image in images if isinstance(image, int)]
                if sorted(numbers) != list(range(1, len(images) + 1)):
                    raise self.fail(
                        line, f"PermList needs a permutation of 1 to {len(images)}; correct the list"
                    )
                return Perm({i: image for i, image in enumerate(numbers, 1) if image != i}, "", line)
            case "Subgroup", [Group(), list(generators)]:
                return self._group(name, generators, line)
            case "GeneratorsOfGroup", [Group(generators)]:
                return list(generators)
        if name in _EXAMPLES:
            raise self.fail(line, f"{name}: expected {_EXAMPLES[name]}; correct it")
        raise self.fail(
            line,
            f"the function {name!r} cannot be read here, only {', '.join(('Group', *_EXAMPLES, *NAMED))}; write the "
            f"generators as cycles, as GAP does with Print(GeneratorsOfGroup({name}(...)));",
        )

    def _group(self, name: str, values: Sequence[Value], line: int) -> Group:
        if values and isinstance(values[0], list):
            values = values[0]
        generators = [value for value in values if isinstance(value, Perm)]
        if not generators or len(generators) != len(values):
            raise self.fail(line, f"{name}: expected permutations; write for example Group((1,2,3), (3,4))")
        return Group(generators)

    def _named(self, name: str, values: Sequence[Value], line: int) -> Group:
        number = values[0] if len(values) == 1 else None
        if not isinstance(number, int):
            example = f"{name}({24 if name == 'MathieuGroup' else 6})"
            raise self.fail(line, f"{name}: expected one number, as {example}; correct it")
        try:
            generators = _named_generators(name, number)
        except PuzzleError as problem:
            raise self.fail(line, f"{name}: {problem}; choose another number") from None
        return Group([Perm(_images(cycles), "", line) for cycles in generators])


def _images(cycles: Iterable[Sequence[int]]) -> dict[int, int]:
    """The images of the points of cycles that have none in common."""
    return {point: image for cycle in cycles for point, image in pairwise((*cycle, cycle[0]))}


# Functions whose names begin so make no group.
_ASKED = re.compile(
    "Is|Size|Order|Print|Display|View|StructureDescription|Factors|Collected|LoadPackage|SetName"
)


def read_gap(text: str, place: str, metric: str) -> Permutation:
    """The puzzle of the generators in a file. Raises PuzzleError naming file, line, what was expected and a mend."""
    reader = _Reader(_typed(text), place)
    generators = reader.generators()
    named = [(generator.name, generator.images) for generator in generators]
    return of_generators(named, metric, lambda problem: reader.fail(generators[0].line, problem))


def _typed(text: str) -> str:
    """What was typed in a session of GAP that is kept with its prompts, lines in their places; else the text."""
    lines = text.split("\n")
    if not any(line.startswith("gap>") for line in lines):
        return text
    prompts = [next((prompt for prompt in ("gap>", ">") if line.startswith(prompt)), "") for line in lines]
    return "\n".join(
        line.removeprefix(prompt) if prompt else "" for line, prompt in zip(lines, prompts, strict=True)
    )


class _Reader(ExpressionReader):
    def __init__(self, text: str, place: str) -> None:
        super().__init__(text, place)
        self.groups: list[list[Perm]] = []
        self.lists: list[list[Perm]] = []

    def generators(self) -> list[Perm]:
        """The generators, none of them the identity, none twice. Raises PuzzleError where there are none."""
        while self.token is not self.end:
            self.statement()
        named = [value for value in self.variables.values() if isinstance(value, Perm)]
        chosen = (self.groups or self.lists or [named])[-1]
        found: list[Perm] = []
        for generator in chosen:
            if generator.images and all(generator.images != other.images for other in found):
                found.append(generator)
            if len(found) > MAX_MOVES:
                raise self.fail(generator.line, f"more than {MAX_MOVES} generators; leave some out")
        if not found:
            raise self.fail(self.end.line, "no generators; write for example G := Group((1,2,3), (3,4));")
        return found

    # Statements

    def statement(self) -> None:
        kind, word, line = self.token
        if word == ";":
            self.at += 1
            return
        name = ""
        if kind == "word" and self.peek(1) == ":=":
            name = word
            self.at += 2
        elif kind == "word" and _ASKED.match(word) and self.peek(1) == "(":
            while self.peek() not in ("", ";"):
                self.at += 1
            self.ends(line)
            return
        value = self.expression()
        self.ends(line, value)
        if isinstance(value, Perm) and name:
            value = Perm(value.images, name, line)
        if name:
            self.variables[name] = value
        if isinstance(value, Group):
            self.groups.append(value.generators)
        elif isinstance(value, list) and value:
            permutations = [each for each in value if isinstance(each, Perm)]
            if len(permutations) == len(value):
                self.lists.append(permutations)
