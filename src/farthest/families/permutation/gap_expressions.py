"""Permutations as GAP writes them: cycles, products ``*`` and powers ``^``, names, lists and their items; groups and
other functions are in ``gap_functions``."""

from __future__ import annotations

import re

from farthest.errors import PuzzleError
from farthest.families.permutation.fields import MAX_POINTS
from farthest.families.permutation.gap_functions import called
from farthest.families.permutation.gap_values import Group, Perm, Value
from farthest.wording import near_match, shown

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


class ExpressionReader:
    """Reads the expressions of a text, statement by statement. ``unit``: what a line of it is called in messages."""

    def __init__(self, text: str, place: str, unit: str = "line") -> None:
        self.place = place
        self._unit = unit
        self.tokens: list[tuple[str, str, int]] = []
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
                self.tokens.append((kind, found[0], line))
            line += found[0].count("\n")
        self.end = line

    def fail(self, line: int, problem: str) -> PuzzleError:
        return PuzzleError(f"{self.place}, {self._unit} {line}: {problem}")

    def ends(self, line: int, value: Value | None = None) -> None:
        """The end of a statement; after the last of a file, a group or a list, it may be left out."""
        if self.at == len(self.tokens) and isinstance(value, Group | list):
            return
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

    def expression(self) -> Value:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fail(self.line(), f"more than {_DEEPEST} brackets in each other; leave out some")
        value = self.raised()
        while self.peek() in ("*", "/"):
            mark, line = self.peek(), self.line()
            self.at += 1
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
            line = self.line()
            self.at += 1
            if self.tokens[self.at - 1][1] == "[":
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
                value = Perm(value.power(exponent).images, _power_name(value.name, exponent), value.line)
        return value

    def atom(self) -> Value:
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
        while self.peek() != closing:
            values.append(self.expression())
            if self.peek() != closing:
                self.expect(",", "a list")
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
        return called(name, self.items(")"), line, lambda problem: self.fail(line, problem))

    def cycles(self, line: int) -> Perm:
        """A product of cycles, the points of each divided by commas or all by spaces."""
        result = Perm({}, "", line)
        while self.peek() == "(" and (self.peek(1).isdecimal() or self.peek(1) == ")"):
            self.at += 1
            points: list[int] = []
            commas = self.peek(1) == ","
            while self.peek() != ")":
                kind, word, here = self.tokens[self.at] if self.at < len(self.tokens) else ("", "", self.end)
                if kind != "number":
                    found = shown(word) if word else "the end of the file"
                    raise self.fail(
                        here, f"{found} in a cycle, expected a point; write cycles such as (1,2,3)"
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
            images = {point: points[(i + 1) % len(points)] for i, point in enumerate(points)}
            self.spend(len(result.images) + len(points), line)
            result = result.then(Perm(images if len(points) > 1 else {}, "", line))
        return Perm(result.images, "", line)


def _power_name(name: str, exponent: int) -> str:
    """As twisty puzzles write powers; empty where the base has no name, or is such a power."""
    if not name or not name[-1].isalpha():
        return ""
    return f"{name}{abs(exponent) if abs(exponent) > 1 else ''}{chr(39) if exponent < 0 else ''}"
