"""Functions of GAP that make permutations and groups: PermList([...]), Group(...), SymmetricGroup(5) and the like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from farthest.errors import PuzzleError
from farthest.families.permutation.gap_values import Group, Perm, Value
from farthest.families.permutation.named_groups import NAMED, named_generators

GROUPS = ("Group", "GroupByGenerators", "GroupWithGenerators")
_EXAMPLES = {
    "PermList": "a list of images, as PermList([2,3,1])",
    "Subgroup": "a group and a list, as Subgroup(G, [a, b])",
    "GeneratorsOfGroup": "a group, as GeneratorsOfGroup(G)",
}


def called(name: str, values: list[Value], line: int, fail: Callable[[str], PuzzleError]) -> Value:
    """What the function makes of the values. ``fail`` makes the error of a problem."""
    if name == "PermList" and len(values) == 1 and isinstance(values[0], list):
        return _of_images(values[0], line, fail)
    if name in GROUPS:
        return _group(name, values, fail)
    if (
        name == "Subgroup"
        and len(values) == 2
        and isinstance(values[0], Group)
        and isinstance(values[1], list)
    ):
        return _group(name, values[1], fail)
    if name == "GeneratorsOfGroup" and len(values) == 1 and isinstance(values[0], Group):
        return list(values[0].generators)
    if name in NAMED:
        return _named(name, values, line, fail)
    if name in _EXAMPLES:
        raise fail(f"{name}: expected {_EXAMPLES[name]}; correct it")
    raise fail(
        f"the function {name!r} cannot be read here, only {', '.join(('Group', *_EXAMPLES, *NAMED))}; write the "
        f"generators as cycles, as GAP does with Print(GeneratorsOfGroup({name}(...)));"
    )


def _of_images(images: Sequence[Value], line: int, fail: Callable[[str], PuzzleError]) -> Perm:
    numbers = [image for image in images if isinstance(image, int)]
    if sorted(numbers) != list(range(1, len(images) + 1)):
        raise fail(f"PermList needs a permutation of 1 to {len(images)}; correct the list")
    return Perm({i: image for i, image in enumerate(numbers, 1) if image != i}, "", line)


def _group(name: str, values: Sequence[Value], fail: Callable[[str], PuzzleError]) -> Group:
    if values and isinstance(values[0], list):
        values = values[0]
    generators = [value for value in values if isinstance(value, Perm)]
    if not generators or len(generators) != len(values):
        raise fail(f"{name}: expected permutations; write for example Group((1,2,3), (3,4))")
    return Group(generators)


def _named(name: str, values: Sequence[Value], line: int, fail: Callable[[str], PuzzleError]) -> Group:
    number = values[0] if len(values) == 1 else None
    if not isinstance(number, int):
        raise fail(
            f"{name}: expected one number, as {name}({24 if name == 'MathieuGroup' else 6}); correct it"
        )
    try:
        generators = named_generators(name, number)
    except PuzzleError as problem:
        raise fail(f"{name}: {problem}; choose another number") from None
    return Group(
        [
            Perm(
                {point: image for cycle in cycles for point, image in pairwise((*cycle, cycle[0]))}, "", line
            )
            for cycles in generators
        ]
    )
