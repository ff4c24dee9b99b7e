"""Generators in one line, as on a command line: ``(1,2,3)(4,5);(1,5)``, with names ``a=(1,2,3)(4,5); b=(1,5)``.

Each is written as GAP writes permutations: a product of cycles, or products and powers of those before it by name; or
as the images of the points from 1, ``[2,3,1,5,4]``. A group stands for its generators: ``Group((1,2,3),(4,5))``,
``MathieuGroup(24)``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.families.permutation.fields import name_problem
from farthest.families.permutation.gap_expressions import ExpressionReader
from farthest.families.permutation.gap_functions import GROUPS, called
from farthest.families.permutation.gap_values import Group, Perm
from farthest.families.permutation.named_groups import NAMED
from farthest.families.permutation.of_generators import of_generators
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.wording import counted, shown

if TYPE_CHECKING:
    from farthest.families.permutation.of_generators import Generator

PLACE = "generators"
FORM = '"(1,2,3)(4,5); (1,5)" or "a=(1,2,3)(4,5); b=(1,5)"'

_NAMED = re.compile(r"\s*(?:(?P<name>[^\s:=()\[\];,*/^]+)\s*:?=)?(?P<value>.*)", re.DOTALL)
_GROUP = re.compile(rf"\s*(?:\(|\[\s*\d|(?:{'|'.join((*GROUPS, *NAMED))})\s*\()")


def is_generators(text: str) -> bool:
    """Whether the text is meant as generators: it begins with a cycle, a list of images or a group, or with
    a name and one of these."""
    found = _NAMED.fullmatch(text)
    return found is not None and _GROUP.match(found["value"]) is not None


def check_generators(text: str) -> None:
    """Raises PuzzleError for a text that is not meant as generators."""
    if not is_generators(text):
        raise PuzzleError(f"{PLACE}: got {shown(text)}, expected permutations; write {FORM}")


def read_generators(text: str) -> list[Generator]:
    """The generators of a text. Raises PuzzleError telling which is wrong, what was expected and a mend."""
    parts = text.replace("\n", " ").split(";")
    while parts and not parts[-1].strip():
        parts.pop()
    matches = [_NAMED.fullmatch(part) for part in parts]
    values = [found["value"] if found else part for found, part in zip(matches, parts, strict=True)]
    reader = ExpressionReader("".join(f"{value};\n" for value in values), PLACE, "number")
    generators: list[Generator] = []
    for number, found in enumerate(matches, 1):
        name = (found["name"] or "") if found else ""
        if name and name in reader.variables:
            raise reader.fail(number, f"the name {name} is that of two generators; choose another")
        if not values[number - 1].strip():
            raise reader.fail(number, f"nothing is there, expected cycles; write {FORM}")
        value = reader.expression()
        reader.ends(number)
        if isinstance(value, Group):
            if name:
                reader.variables[name] = value
            generators += [(generator.name, generator.images) for generator in value.generators]
            continue
        if isinstance(value, list):  # the images of the points from 1
            value = called("PermList", [value], number, partial(reader.fail, number))
        if not isinstance(value, Perm):
            raise reader.fail(number, f"it is no permutation; write {FORM}")
        if name:
            reader.variables[name] = Perm(value.images, name, number)
        generators.append((name or value.name, value.images))
    return generators


def puzzle_of_generators(
    generators: Sequence[Generator], metric: str, *, inverses: bool = True, name: str = "", title: str = ""
) -> Puzzle:
    """The puzzle of generators, none of them empty or twice. Without a name it is called after what they are. Raises
    PuzzleError."""
    seen: dict[tuple[tuple[int, int], ...], int] = {}
    for number, (given, images) in enumerate(generators, 1):
        problem = name_problem(given) if given else None
        if problem:
            raise PuzzleError(
                f"{PLACE}, number {number}: the name {shown(given)} {problem}; choose a short word"
            )
        same = seen.setdefault(tuple(sorted(images.items())), number)
        if same != number or not images:
            what = f"the same as number {same}" if images else "the identity, which moves nothing"
            raise PuzzleError(f"{PLACE}, number {number}: it is {what}; leave it out")
    if not generators:
        raise PuzzleError(f"{PLACE}: there are none; write {FORM}")
    definition = of_generators(
        generators, metric, lambda problem: PuzzleError(f"{PLACE}: {problem}"), inverses=inverses
    )
    written = "; ".join(_written(images) for _, images in generators)
    digest = sha256(repr((written, metric, inverses)).encode()).hexdigest()[:8]
    return Puzzle(
        name=name or f"group-{digest}",
        title=title or f"the group generated by {counted(len(generators), 'permutation')}",
        source=written if len(written) <= 200 else written[:197] + "...",
        family="permutation",
        metric=metric,
        origin=Origin(),
        known=(),
        definition=definition,
    )


def _written(images: Mapping[int, int]) -> str:
    """As a product of cycles."""
    out, seen = [], set[int]()
    for start in sorted(images):
        cycle: list[int] = []
        point = start
        while point not in seen:
            seen.add(point)
            cycle.append(point)
            point = images[point]
        if cycle:
            out.append(f"({','.join(map(str, cycle))})")
    return "".join(out)
