"""Keys of patterns cut in two so that symmetries act on either part alone.

The digits of a key say where the pieces of an orbit are, and how they are turned: two *parts* an orbit. What a symmetry
makes of a part depends on some parts: where pieces come to be on where those of one orbit were; how they are turned on
how they were turned, and also on where they were if the symmetry turns some slots otherwise than others. A split puts
each part on one of two sides, and has the symmetries that make each side of that side alone.

Source: H. Kociemba's coordinates reduced by symmetry, of the cube's edges (a side of 1,013,760 numbers in 64,430
classes) beside its corners.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Literal, cast

from farthest.errors import ResourceError
from farthest.families.permutation.gather_space import PermutationSpace
from farthest.families.permutation.symmetries import Conjugation, symmetries
from farthest.puzzles.definition import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.layout import Layout
    from farthest.spaces.contract import Space

Part = tuple[Literal["places", "turns"], int]
"""Of an orbit, counted as in the layout."""

GAIN = 2
"""A split must make a map so many times smaller."""

MOST_REDUCED = 2**23
MOST_MOVED = 2**24
MOST_SYMMETRIES = 256
MOST_PARTS = 10


@dataclass(frozen=True, slots=True)
class Digit:
    """A digit of a key."""

    radix: int
    part: Part


@dataclass(frozen=True, slots=True)
class Split:
    """``digits``: (radix, whether it is of the moved side), the most significant first. ``reduced``, ``moved``: how
    many numbers each side has. ``symmetries``: those that make each side of that side alone; the identity is one.
    """

    digits: tuple[tuple[int, bool], ...]
    reduced: int
    moved: int
    symmetries: tuple[Conjugation, ...]

    def bytes(self, classes: int) -> int:
        """The memory of distances of a byte each and of the tables, with so many classes of the reduced side."""
        return classes * self.moved + 4 * (self.reduced + len(self.symmetries) * self.moved)


def conjugations(space: Space) -> list[Conjugation]:
    """The symmetries of the puzzle that fix its goal; none where there is no such goal, or they are not known."""
    goals, _ = space.puzzle.definition.origin_boards
    if len(goals) != 1 or WILDCARD in goals[0]:
        return []
    try:
        found = symmetries(cast("Permutation", space.puzzle.definition), goals[0]).maps
    except ResourceError:
        return []
    return [each for each in found if isinstance(each, Conjugation)]


def smallest_split(space: Space) -> Split | None:
    """The split that takes the least memory, by the number of its symmetries; None where the gain is too small."""
    if type(space) is not PermutationSpace or space.layout.parity is not None:
        return None
    digits = key_digits(space.layout)
    parts = sorted({digit.part for digit in digits if digit.radix > 1})
    assert prod(digit.radix for digit in digits) == space.keys, "a key is made of its digits"
    if not 2 <= len(parts) <= MOST_PARTS:
        return None
    found = [
        (each, _sources(space.layout, space.definition, each)) for each in conjugations(space) if each.holds
    ]
    sized = [
        (split.bytes(-(-split.reduced // len(split.symmetries))), number, split)
        for number, split in enumerate(_splits(digits, parts, found))
    ]
    least, _, best = min(sized, default=(0, 0, None))
    return best if least * GAIN <= space.keys else None


def key_digits(layout: Layout) -> list[Digit]:
    """The digits of keys, those of radix 1 too, the most significant first (docs/key-layout.md)."""
    orbit_of: dict[int, int] = {}
    orbit, free = -1, 0
    for label, count in zip(layout.classes, layout.counts, strict=True):
        if not free:
            orbit += 1
            free = len(layout.orbits[orbit])
        orbit_of[label] = orbit
        free -= count
    count_of = dict(zip(layout.classes, layout.counts, strict=True))
    of_slot = {slot: orbit for orbit, slots in enumerate(layout.orbits) for slot in slots}
    found = [
        Digit(radix, ("places", orbit_of[label]))
        for label, radix in zip(layout.classes, layout.radices, strict=True)
    ]
    found += [
        Digit(layout.moduli[orbit_of[label]], ("turns", orbit_of[label]))
        for label in layout.twisted
        for _ in range(count_of[label])
    ]
    return found + [Digit(layout.moduli[of_slot[slot]], ("turns", of_slot[slot])) for slot in layout.turned]


def _sources(layout: Layout, definition: Permutation, symmetry: Conjugation) -> dict[Part, set[Part]]:
    """For each part of an image the parts of the board that it is made of."""
    found: dict[Part, set[Part]] = {}
    number = {slot: orbit for orbit, slots in enumerate(layout.orbits) for slot in slots}
    for orbit, slots in enumerate(layout.orbits):
        image = number[int(symmetry.to[slots[0]])]
        found["places", image] = {("places", orbit)}
        found["turns", image] = {("turns", orbit)}
        if not _turns_alike(layout, definition, symmetry, slots):
            found["turns", image].add(("places", orbit))
    return found


def _turns_alike(
    layout: Layout, definition: Permutation, symmetry: Conjugation, slots: Sequence[int]
) -> bool:
    """Whether what the digits of an orbit's orientations become does not depend on where its pieces are."""
    modulus = definition.slot_moduli[slots[0]]
    labels = [
        label for label, of in enumerate(definition.label_orbit) if definition.orbits[of][0] == slots[0]
    ]
    if set(slots) & set(layout.turned):  # told by slot
        return len({int(symmetry.off[label]) % modulus for label in labels}) == 1
    if any(label in layout.twisted and definition.counts[label] > 1 for label in labels):
        return False  # told in the order of the slots
    return len({int(symmetry.shift[slot]) % modulus for slot in slots}) == 1


def _splits(
    digits: Sequence[Digit],
    parts: Sequence[Part],
    found: Sequence[tuple[Conjugation, dict[Part, set[Part]]]],
) -> Iterator[Split]:
    for sides in product((False, True), repeat=len(parts)):
        moved = {part for part, side in zip(parts, sides, strict=True) if side}
        reduced = set(parts) - moved
        sizes = [prod(digit.radix for digit in digits if digit.part in side) for side in (reduced, moved)]
        if 1 in sizes or sizes[0] > MOST_REDUCED or sizes[1] > MOST_MOVED:
            continue
        kept = tuple(
            each
            for each, sources in found
            if all(not sources[part] & set(parts) - side for side in (reduced, moved) for part in side)
        )
        if 1 < len(kept) <= MOST_SYMMETRIES:
            told = tuple((digit.radix, digit.part in moved) for digit in digits)
            yield Split(told, sizes[0], sizes[1], kept)
