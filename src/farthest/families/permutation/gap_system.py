"""Generators of a permutation group as people write them for GAP.

    R := (1,2,3,4)(5,6);; U := (2,5);;      cycles, products ``*`` and powers ``^`` of permutations, PermList([...])
    G := Group(R, U);                       the generators: of the last group, else of the last list of permutations,
    gens := [R, U];                         else all permutations that have a name

A session may be kept with its prompts: only lines that begin with ``gap>`` or ``>`` are read then.
Points that no generator moves are left out, and orbits whose points always move with those of another. Points of one
orbit that are turned in a cycle are one piece, called by the first of them; each other point is a piece (stickers.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.families.permutation.gap_expressions import ExpressionReader
from farthest.families.permutation.gap_values import Group, Perm
from farthest.families.permutation.moves import MAX_MOVES
from farthest.families.permutation.of_generators import of_generators

if TYPE_CHECKING:
    from farthest.families.permutation.definition import Permutation

# Functions whose names begin so make no group.
_ASKED = (
    "Is",
    "Size",
    "Order",
    "Print",
    "Display",
    "View",
    "StructureDescription",
    "Factors",
    "Collected",
    "LoadPackage",
    "SetName",
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
        while self.at < len(self.tokens):
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
        elif kind == "word" and word.startswith(_ASKED) and self.peek(1) == "(":
            while self.at < len(self.tokens) and self.peek() != ";":
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
