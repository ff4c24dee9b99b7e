"""Generators of a permutation group as Python users write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from farthest.errors import PuzzleError
from farthest.families.permutation.generator_text import PLACE, puzzle_of_generators, read_generators
from farthest.wording import shown

if TYPE_CHECKING:
    from farthest.families.permutation.of_generators import Generator
    from farthest.puzzles.puzzle import Puzzle

    GivenGenerator = str | Sequence[int] | Sequence[Sequence[int]]

_EXPECTED = (
    'expected cycles, as "(1,2,3)(4,5)" or [[1, 2, 3], [4, 5]], or the image of each point: [2, 3, 1, 5, 4]'
)


def Permutations(
    generators: str | Mapping[str, GivenGenerator] | Iterable[GivenGenerator],
    *,
    metric: Literal["generator", "power"] = "generator",
    inverses: bool = True,
) -> Puzzle:
    """The puzzle whose moves are these permutations.

    ``generators``: by name, ``{"a": [[1, 2, 3], [4, 5]]}``; or a list of them; or the text that the command line reads,
    ``"a=(1,2,3)(4,5); b=(1,5)"``. Each is a text of cycles, a list of cycles, or the list of the images of all points,
    which are numbered from 0 or from 1. In the metric ``generator`` each generator is a move, and with ``inverses`` its
    inverse; in ``power`` each of its powers. Raises PuzzleError telling which is wrong.
    """
    if isinstance(generators, str):
        read = read_generators(generators)
    elif isinstance(generators, Mapping):
        read = [_named(str(name), given) for name, given in generators.items()]
    else:
        read = [_named("", given, number) for number, given in enumerate(generators, 1)]
    return puzzle_of_generators(read, metric, inverses=inverses)


def _named(name: str, given: GivenGenerator, number: int = 0) -> Generator:
    place = f"{PLACE}, {name or f'number {number}'}"
    if isinstance(given, str):
        found = read_generators(given)
        if len(found) != 1:
            raise PuzzleError(
                f"{place}: {len(found)} permutations in one text, expected one; write them apart"
            )
        return name or found[0][0], found[0][1]
    values = _listed(given, place)
    if all(_is_point(value) for value in values):
        return name, _images(values, place)
    images: dict[int, int] = {}
    for cycle in values:
        points = _listed(cycle, place)
        for at, point in enumerate(points):
            if not _is_point(point):
                raise PuzzleError(f"{place}: {shown(point)} is no point; {_EXPECTED}")
            if point in images:
                raise PuzzleError(f"{place}: the point {point} is twice in the cycles; leave it out once")
            images[point] = points[(at + 1) % len(points)]
    return name, {point: image for point, image in images.items() if point != image}


def _images(values: Sequence[int], place: str) -> dict[int, int]:
    first = 0 if 0 in values else 1
    if sorted(values) != list(range(first, len(values) + first)):
        raise PuzzleError(
            f"{place}: the images are not those of a permutation, each point from {first} to "
            f"{len(values) - 1 + first} once; correct the list, or write cycles in a list: [[1, 2, 3]]"
        )
    return {point: image for point, image in enumerate(values, first) if point != image}


def _listed(given: object, place: str) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise PuzzleError(f"{place}: got {shown(given)}; {_EXPECTED}")
    return [value.__index__() if hasattr(value, "__index__") else value for value in given]


def _is_point(value: object) -> bool:
    return type(value) is int and value >= 0
