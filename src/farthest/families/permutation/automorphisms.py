"""Automorphisms of a move set: permutations of the points that take each move to a move.

A *point* is a slot with one of its orientations (families/permutation/points.py). Where s m s^-1 is a move for each
move m, conjugation by s is an automorphism of the graph of the states that fixes the solved one. They are found as
those of a graph are: choose the images of some moves that make all, then that of one point of each orbit; all other
images follow, or a contradiction does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from farthest.families.permutation.groups import Permutation as Element
from farthest.families.permutation.groups import product

MOST_TRIED = 200_000
"""Images of moves that are tried: a second or two."""


class TooManyError(Exception):
    """More images of moves would have to be tried than ``MOST_TRIED``."""


def automorphisms(moves: Sequence[Element], slot_of: Sequence[int]) -> Iterator[Element]:
    """For each way to take moves to moves a permutation of the points that does it and takes the points of a slot to
    those of a slot; the identity is one. ``slot_of``: the slot of each point. Raises TooManyError."""
    basis = _basis(moves)
    kinds = {move: _cycle_lengths(move) for move in moves}
    tried = 0

    def assigned(images: list[Element]) -> Iterator[list[Element]]:
        """Images of the basis; products of two have cycles as long as the products of their images."""
        nonlocal tried
        if len(images) == len(basis):
            yield images
            return
        move = basis[len(images)]
        for image in moves:
            tried += 1
            if tried > MOST_TRIED:
                raise TooManyError
            if kinds[image] == kinds[move] and all(
                _cycle_lengths(product(move, other)) == _cycle_lengths(product(image, there))
                for other, there in zip(basis, images, strict=False)
            ):
                yield from assigned([*images, image])

    known = set(moves)
    for images in assigned([]):
        found = _point_map(basis, images, slot_of)
        if found is not None and all(_conjugate(found, move) in known for move in moves):
            yield found


def _basis(moves: Sequence[Element]) -> list[Element]:
    """The moves that are no powers of moves before them."""
    found: list[Element] = []
    made: set[Element] = set()
    for move in moves:
        if move in made:
            continue
        found.append(move)
        power = move
        while power not in made:
            made.add(power)
            power = product(power, move)
    return found


def _point_map(basis: list[Element], images: list[Element], slot_of: Sequence[int]) -> Element | None:
    """A permutation of the points that takes the basis to the images; None: there is none."""
    points = range(len(slot_of))
    to: dict[int, int] = {}
    taken: set[int] = set()
    for first in points:
        if first in to:
            continue
        for there in points:
            orbit = {} if there in taken else _orbit_map(first, there, basis, images)
            if orbit and _keeps_slots(orbit, slot_of):
                to |= orbit
                taken |= set(orbit.values())
                break
        else:
            return None
    return tuple(to[point] for point in points)


def _orbit_map(first: int, there: int, basis: list[Element], images: list[Element]) -> dict[int, int]:
    """The images of the points of an orbit, where that of the first is ``there``; empty for a contradiction."""
    to = {first: there}
    stack = [first]
    while stack:
        point = stack.pop()
        for move, image in zip(basis, images, strict=True):
            after, wanted = move[point], image[to[point]]
            if after not in to:
                to[after] = wanted
                stack.append(after)
            elif to[after] != wanted:
                return {}
    return to if len(set(to.values())) == len(to) else {}


def _keeps_slots(to: dict[int, int], slot_of: Sequence[int]) -> bool:
    """Whether points of one slot go to points of one slot."""
    there: dict[int, int] = {}
    return all(
        there.setdefault(slot_of[point], slot_of[image]) == slot_of[image] for point, image in to.items()
    )


def _conjugate(by: Element, move: Element) -> Element:
    """The move that takes the image of each point to the image of the point after ``move``."""
    found = [0] * len(move)
    for point, after in enumerate(move):
        found[by[point]] = by[after]
    return tuple(found)


def _cycle_lengths(element: Element) -> tuple[int, ...]:
    lengths = []
    seen = bytearray(len(element))
    for first in range(len(element)):
        length, point = 0, first
        while not seen[point]:
            seen[point] = 1
            point = element[point]
            length += 1
        if length > 1:
            lengths.append(length)
    return tuple(sorted(lengths))
