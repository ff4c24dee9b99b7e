"""Generators in one line, as on a command line: ``(1,2,3)(4,5);(1,5)``, with names ``a=(1,2,3)(4,5); b=(1,5)``.

Each is written as GAP writes permutations: a product of cycles, or products and powers of those before it by name; or
as the images of the points from 1, ``[2,3,1,5,4]``. A group stands for its generators: ``Group((1,2,3),(4,5))``,
``MathieuGroup(24)``; so does a list, as GAP prints generators: ``[ (1,2,3,4,5), (1,2) ]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from operator import index
from typing import Any, Literal, Protocol, runtime_checkable

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import Generator, of_generators
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.fields import MAX_NAME, name_problem
from farthest.families.permutation.gap import GROUPS, NAMED, ExpressionReader, Group, Perm
from farthest.families.permutation.moves import cycles
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.wording import counted, shown

GivenGenerator = str | Sequence[int] | Sequence[Sequence[int]]


PLACE = "generators"
FORM = '"(1,2,3)(4,5); (1,5)" or "a=(1,2,3)(4,5); b=(1,5)"'

_NAMED = re.compile(r"\s*(?:(?P<name>[^\s:=()\[\];,*/^]+)\s*:?=)?(?P<value>.*)", re.DOTALL)
_GROUP = re.compile(rf"\s*(?:\(|\[\s*[\d(]|(?:{'|'.join((*GROUPS, *NAMED))})\s*\()")


def is_generators(text: str) -> bool:
    """Whether the text is meant as generators: it begins with a cycle, a list or a group, perhaps after a name."""
    return _GROUP.match(_named_text(text)[1]) is not None


def _named_text(text: str) -> tuple[str, str]:
    """The name before a permutation, perhaps empty, and the permutation."""
    found = _NAMED.fullmatch(text)
    assert found is not None, "any text matches"
    return found["name"] or "", found["value"]


def check_generators(text: str) -> None:
    """Raises PuzzleError for a text that is not meant as generators."""
    if not is_generators(text):
        raise PuzzleError(f"{PLACE}: got {shown(text)}, expected permutations; write {FORM}")


def read_generators(text: str) -> list[Generator]:
    """The generators of a text. Raises PuzzleError telling which is wrong, what was expected and a mend."""
    parts = text.replace("\n", " ").split(";")
    while parts and not parts[-1].strip():
        parts.pop()
    named = list(map(_named_text, parts))
    reader = ExpressionReader("".join(f"{text};\n" for _, text in named), PLACE, "number")
    generators: list[Generator] = []
    for number, (name, text) in enumerate(named, 1):
        if name and name in reader.variables:
            raise reader.fail(number, f"the name {name} is that of two generators; choose another")
        if not text.strip():
            raise reader.fail(number, f"nothing is there, expected cycles; write {FORM}")
        value = reader.expression()
        reader.ends(number)
        if isinstance(value, list) and value and all(isinstance(each, Perm) for each in value):
            value = reader.called("Group", value, number)
        elif isinstance(value, list):  # the images of the points from 1
            value = reader.called("PermList", [value], number)
        if isinstance(value, Group):
            if name:
                reader.variables[name] = value
            generators += [(generator.name, generator.images) for generator in value.generators]
            continue
        if not isinstance(value, Perm):
            raise reader.fail(number, f"it is not a permutation; write {FORM}")
        if name:
            reader.variables[name] = Perm(value.images, name, number)
        generators.append((name or value.name, value.images))
    return generators


def written_puzzle(text: str) -> Puzzle | None:
    """The puzzle of generators, ``(1,2,3)(4,5);(1,5)``; None: the text is none of these. Raises PuzzleError."""
    return puzzle_of_generators(read_generators(text), "generator") if is_generators(text) else None


def puzzle_of_generators(
    generators: Sequence[Generator],
    metric: str,
    *,
    inverses: bool = True,
    contents: Mapping[int, str] | None = None,
    title: str = "",
) -> Puzzle:
    """The puzzle of generators, none of them empty or twice, called after what they are. ``contents``: the pieces that
    are on the points, where some are alike. Raises PuzzleError."""
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
        generators,
        metric,
        lambda problem: PuzzleError(f"{PLACE}: {problem}"),
        inverses=inverses,
        contents=contents,
    )
    written = "; ".join(_written(images) for _, images in generators)
    made_of = (written, metric, inverses, *([] if contents is None else [contents]))
    digest = sha256(repr(made_of).encode()).hexdigest()[:8]
    return Puzzle(
        name=f"group-{digest}",
        title=title or f"the group generated by {counted(len(generators), 'permutation')}",
        source=written if len(written) <= 200 else written[:197] + "...",
        family="permutation",
        metric=metric,
        origin=Origin(),
        known=(),
        definition=definition,
    )


def _written(images: Mapping[int, int]) -> str:
    """A permutation as a product of cycles."""
    return "".join(f"({','.join(map(str, cycle))})" for cycle in cycles(images, sorted(images)))


@runtime_checkable
class CayleyGraphDefinition(Protocol):
    """A ``CayleyGraphDef`` of cayleypy: ``[state[i] for i in p]`` is the state after the generator p."""

    @property
    def generators_permutations(self) -> Sequence[Sequence[int]]: ...

    @property
    def generator_names(self) -> Sequence[str]: ...

    @property
    def central_state(self) -> Sequence[int]: ...

    @property
    def name(self) -> str: ...


_EXPECTED = (
    'expected cycles, as "(1,2,3)(4,5)" or [[1, 2, 3], [4, 5]], or the image of each point: [2, 3, 1, 5, 4]'
)


def Permutations(
    generators: str | Mapping[str, GivenGenerator] | Iterable[GivenGenerator] | CayleyGraphDefinition,
    *,
    metric: Literal["generator", "power"] = "generator",
    inverses: bool | None = None,
) -> Puzzle:
    """The puzzle whose moves are these permutations.

    ``generators``: by name, ``{"a": [[1, 2, 3], [4, 5]]}``; or a list of them; or the text that the command line reads,
    ``"a=(1,2,3)(4,5); b=(1,5)"``; or a ``CayleyGraphDef`` of cayleypy. Each is a text of cycles, a list of cycles, or
    the list of the images of all points; a numpy array or a permutation of sympy is such a list. Point i goes to the
    i-th image. Points are numbered from 0 or from 1; if they are in one list of images, they are so in all. In the
    metric ``generator`` each generator is a move, and with ``inverses`` its inverse (the default, but not of a
    ``CayleyGraphDef``, whose moves are its generators alone); in ``power`` each of its powers. Raises PuzzleError
    telling which is wrong.
    """
    if isinstance(generators, CayleyGraphDefinition):
        return _puzzle_of_cayley_graph(generators, metric, bool(inverses))
    inverses = inverses is not False
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


def _puzzle_of_cayley_graph(graph: CayleyGraphDefinition, metric: str, inverses: bool) -> Puzzle:
    """The puzzle whose layers are those of the breadth-first search from the central state.

    Equal numbers of it are pieces that are alike. Generators that move nothing or do what an earlier one does are left
    out: they lead nowhere else. Marks in names that no move's name may hold become hyphens: ``(0,1)`` is called 0-1.
    """
    if not graph.generators_permutations:
        raise PuzzleError(
            f"{PLACE}: those of this graph are matrices, expected permutations; give those that the matrices "
            "make of the states or of some vectors"
        )
    found: dict[tuple[tuple[int, int], ...], Generator] = {}
    for number, (name, sources) in enumerate(
        zip(graph.generator_names, graph.generators_permutations, strict=True), 1
    ):
        place = f"{PLACE}, number {number}"
        images = _images(_listed(sources, place), 0, place, still=True)
        back = {image: point for point, image in images.items()}
        word = re.sub(r"[^\w'.+]+", "-", name).strip("-")
        if back:
            found.setdefault(tuple(sorted(back.items())), (word if len(word) <= MAX_NAME else "", back))
    central = [str(_plain(value)) for value in graph.central_state]
    alike = len(set(central)) < len(central)
    puzzle = puzzle_of_generators(
        list(found.values()),
        metric,
        inverses=inverses,
        contents=dict(enumerate(central)) if alike else None,
        title=graph.name,
    )
    return puzzle if permutation(puzzle).symmetric else replace(puzzle, origin=Origin("from", "goal"))


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
                raise PuzzleError(f"{place}: {shown(point)} is not a point; {_EXPECTED}")
            if point in images:
                raise PuzzleError(f"{place}: the point {point} is twice in the cycles; leave it out once")
            images[point] = points[(at + 1) % len(points)]
    return (name, {point: image for point, image in images.items() if point != image}), None


def _images(values: Sequence[int], first: int, place: str, still: bool = False) -> dict[int, int]:
    """The images of the points that are moved; ``still``: there may be none."""
    if sorted(values) != list(range(first, len(values) + first)):
        raise PuzzleError(
            f"{place}: the images are not those of a permutation, each point from {first} to "
            f"{len(values) - 1 + first} once; correct the list, or write cycles in a list: [[1, 2, 3]]"
        )
    moved = {point: image for point, image in enumerate(values, first) if point != image}
    if not moved and not still:
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
