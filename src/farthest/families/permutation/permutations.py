"""Generators of a permutation group as Python users write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
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
    ``"a=(1,2,3)(4,5); b=(1,5)"``. Each is a text of cycles, a list of cycles, or the list of the images of all points;
    a numpy array or a permutation of sympy is such a list. Point i goes to the i-th image. Points are numbered from 0
    or from 1; if they are in one list of images, they are so in all. In the metric ``generator`` each generator is a
    move, and with ``inverses`` its inverse; in ``power`` each of its powers. Raises PuzzleError telling which is wrong.
    """
    if isinstance(generators, str):
        return puzzle_of_generators(read_generators(generators), metric, inverses=inverses)
    if isinstance(generators, Mapping):
        each = [(str(name), given) for name, given in generators.items()]
    else:
        each = [("", given) for given in generators]
        if each and all(_is_point(_plain(given)) for _, given in each):
            raise PuzzleError(
                f"{PLACE}: got a list of numbers, expected a list of permutations; put it in brackets: "
                "[[2, 3, 1]] for images, [[[1, 2, 3]]] for a cycle"
            )
    places = [f"{PLACE}, {name or f'number {number}'}" for number, (name, _) in enumerate(each, 1)]
    read = [_named(name, given, place) for (name, given), place in zip(each, places, strict=True)]
    firsts = {first: place for (_, first), place in reversed(list(zip(read, places, strict=True)))}
    if {0, 1} <= set(firsts):
        raise PuzzleError(
            f"{firsts[1]}: its images are those of points from 1, those of {firsts[0].removeprefix(f'{PLACE}, ')} of "
            "points from 0; number all from 0 or all from 1"
        )
    return puzzle_of_generators([generator for generator, _ in read], metric, inverses=inverses)


def _named(name: str, given: GivenGenerator, place: str) -> tuple[Generator, int | None]:
    """The generator, and from what its points are numbered; None: that is not known."""
    if isinstance(given, str):
        found = read_generators(given)
        if len(found) != 1:
            raise PuzzleError(
                f"{place}: {len(found)} permutations in one text, expected one; write them apart"
            )
        return (name or found[0][0], found[0][1]), None
    values = _listed(given, place)
    if values and all(type(value) is int for value in values):
        first = 0 if 0 in values else 1
        return (name, _images(values, first, place)), first
    images: dict[int, int] = {}
    for cycle in values:
        points = _listed(cycle, place)
        for at, point in enumerate(points):
            if not _is_point(point):
                raise PuzzleError(f"{place}: {shown(point)} is no point; {_EXPECTED}")
            if point in images:
                raise PuzzleError(f"{place}: the point {point} is twice in the cycles; leave it out once")
            images[point] = points[(at + 1) % len(points)]
    return (name, {point: image for point, image in images.items() if point != image}), None


def _images(values: Sequence[int], first: int, place: str) -> dict[int, int]:
    if sorted(values) != list(range(first, len(values) + first)):
        raise PuzzleError(
            f"{place}: the images are not those of a permutation, each point from {first} to "
            f"{len(values) - 1 + first} once; correct the list, or write cycles in a list: [[1, 2, 3]]"
        )
    moved = {point: image for point, image in enumerate(values, first) if point != image}
    if not moved:
        raise PuzzleError(
            f"{place}: each point is its own image, so nothing is moved; leave it out, or write a cycle in a list: "
            "[[1, 2, 3]]"
        )
    return moved


def _listed(given: object, place: str) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise PuzzleError(f"{place}: got {shown(given)}; {_EXPECTED}")
    return [_plain(value) for value in given]


def _plain(value: Any) -> Any:
    """A whole number of any library as an int, anything else as it is."""
    if isinstance(value, bool):
        return value
    try:
        return index(value)
    except TypeError:
        return value


def _is_point(value: object) -> bool:
    return type(value) is int and value >= 0
