"""The tables by which a map is kept by representatives: classes of the numbers of one side of its keys, and what
symmetries make of those of the other (kernel/include/farthest/representatives.hpp).

Source: H. Kociemba's coordinates reduced by symmetry, of the cube's edges (a side of 1,013,760 numbers in 64,430
classes) beside its corners.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from farthest import _kernel
from farthest.errors import ResourceError
from farthest.families.permutation.gather_space import PermutationSpace
from farthest.families.permutation.symmetries import Conjugation, symmetries
from farthest.puzzles.definition import WILDCARD
from farthest.spaces.contract import NO_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.layout import Layout
    from farthest.families.permutation.symmetries import Image
    from farthest.spaces.contract import Space
    from farthest.spaces.reduced import RepresentativeSpace


Part = tuple[Literal["places", "turns"], int]
"""A part of an orbit, which has the number that it has in the layout."""

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
    """Keys cut in two so that symmetries act on either part alone.

    The digits of a key say where the pieces of an orbit are, and how they are turned: two *parts* an orbit. What a
    symmetry makes of a part depends on some parts: where pieces come to be on where those of one orbit were; how they
    are turned on how they were turned, and also on where they were if the symmetry turns some slots otherwise than
    others. A split puts each part on one of two sides, and has the symmetries that make each side of that side alone.

    ``digits``: (radix, whether it is of the moved side), the most significant first. ``reduced``, ``moved``: how
    many numbers each side has. ``symmetries``: those that make each side of that side alone; the identity is one.
    """

    digits: tuple[tuple[int, bool], ...]
    reduced: int
    moved: int
    symmetries: tuple[Conjugation, ...]

    def radices(self, moved: bool) -> list[int]:
        """The radices of the digits of a side but those of radix 1."""
        return [radix for radix, side in self.digits if side == moved and radix > 1]

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
    orbit_of, count_of = layout.orbit_of, layout.count_of
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
    labels = definition.labels_of(definition.slot_orbits[slots[0]])
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
        acting = tuple(
            each
            for each, sources in found
            if all(not sources[part] & set(parts) - side for side in (reduced, moved) for part in side)
        )
        if 1 < len(acting) <= MOST_SYMMETRIES:
            digits_of_sides = tuple((digit.radix, digit.part in moved) for digit in digits)
            yield Split(digits_of_sides, sizes[0], sizes[1], acting)


if TYPE_CHECKING:
    Numbers = NDArray[np.uint32]

SAMPLED = 2**12
"""Entries whose keys in a space of representatives are also found by boards."""

AT_ONCE = 2**15
"""Images of so many boards are made together."""

MOST_CLASSES = 2**24


@dataclass(frozen=True, slots=True)
class Pair:
    """What a symmetry makes of each number of the reduced and of the moved side."""

    reduced: Numbers
    moved: Numbers

    def after(self, other: Pair) -> Pair:
        """The other symmetry, then this one."""
        return Pair(self.reduced[other.reduced], self.moved[other.moved])


class Representatives:
    """``split``: of the keys of a space. ``classes``: of the reduced side. ``reductions``: for each of its numbers
    256 * class + the symmetry that takes it to the least number of its class. ``moves``: what each symmetry makes of
    each number of the moved side. ``unmoved``: for each symmetry the classes whose least number it leaves unchanged.
    ``orbits``: how many sets of keys there are that symmetries take to each other.
    """

    def __init__(self, space: PermutationSpace, split: Split) -> None:
        self.split = split
        numbers = np.arange(split.reduced, dtype=np.uint32)
        least, by = numbers.copy(), np.zeros(split.reduced, dtype=np.uint32)
        turned = np.arange(split.moved, dtype=np.uint32)
        moves: list[Numbers] = []
        fixed: list[Numbers] = []
        unchanged = 0
        for number, pair in enumerate(_group(_Sides(space, split), split.symmetries)):
            moves.append(pair.moved)
            smaller = pair.reduced < least
            least[smaller] = pair.reduced[smaller]
            by[smaller] = number
            fixed.append(numbers[pair.reduced == numbers])
            unchanged += len(fixed[-1]) * int((pair.moved == turned).sum())
        self.moves = np.stack(moves)
        self.orbits = unchanged // len(moves)  # Burnside's lemma
        first = least == numbers
        place = np.cumsum(first, dtype=np.uint32) - np.uint32(1)
        self.classes = int(place[-1]) + 1
        self.reductions: Numbers = place[least] << np.uint32(8) | by
        self.unmoved = [place[some[first[some]]] for some in fixed]

    @property
    def symmetries(self) -> int:
        """How many there are."""
        return len(self.moves)

    @cached_property
    def kernel(self) -> _kernel.Representatives:
        """For the kernel."""
        return _kernel.Representatives(self.split.digits, self.reductions.reshape(-1), self.moves.reshape(-1))

    @property
    def nbytes(self) -> int:
        """The memory of the tables."""
        return int(self.reductions.nbytes + self.moves.nbytes)

    def entries(self, keys: NDArray[np.integer]) -> NDArray[np.uint64]:
        """The entry of each key."""
        entries = np.empty(len(keys), dtype=np.uint64)
        self.kernel.entries_of(np.ascontiguousarray(keys, dtype=np.uint64), entries)
        return entries

    def differing(self, entries: NDArray[np.uint8]) -> int | None:
        """An entry that a symmetry of its class's least number takes to one with another distance, or None.
        ``entries``: the distances of all of them."""
        rows = entries.reshape(self.classes, self.split.moved)
        for moves, unmoved in zip(self.moves, self.unmoved, strict=True):
            some = max(1, 2**24 // self.split.moved)
            for at in range(0, len(unmoved), some):
                classes = unmoved[at : at + some]
                wrong = rows[classes] != rows[classes[:, None], moves[None, :]]
                if wrong.any():
                    place, number = np.unravel_index(int(wrong.argmax()), wrong.shape)
                    return int(classes[place]) * self.split.moved + int(number)
        return None

    def places_in(
        self, space: Space, kept: RepresentativeSpace
    ) -> Iterator[tuple[int, NDArray[np.int64]]] | None:
        """The keys of a space of representatives that stand for the entries, some at a time from entry 0 on: (the first
        entry, keys). ``space``: that of the entries' keys. None where a side alone does not tell its share of them."""
        leads = np.flatnonzero(self.reductions & 255 == 0)  # of each class the least number
        moved = np.arange(self.split.moved)
        of_leads = _Shares(kept, space.decode(_keys(self.split, leads, np.zeros_like(leads))))
        of_moved = _Shares(kept, space.decode(_keys(self.split, np.zeros_like(moved), moved)))

        def keys(classes: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
            outer = of_leads.outer[classes] + (of_moved.outer - of_moved.outer[0])[numbers]
            symmetry, first = kept.told(outer % kept.cut.outer)
            found = first + of_leads.inner[symmetry, classes]
            found += (of_moved.inner - of_moved.inner[:, :1])[symmetry, numbers]
            return found

        rng = np.random.default_rng(1)
        some, there = rng.integers(0, len(leads), SAMPLED), rng.integers(0, len(moved), SAMPLED)
        if (keys(some, there) != kept.encode(space.decode(_keys(self.split, leads[some], there)))).any():
            return None
        together = max(2**20 // len(moved), 1)
        return (
            (
                at * len(moved),
                keys(np.arange(at, min(at + together, len(leads)))[:, None], moved[None, :]).ravel(),
            )
            for at in range(0, len(leads), together)
        )

    def key_of(self, entry: int) -> int:
        """The representative key of an entry."""
        number, moved = divmod(entry, self.split.moved)
        reduced = np.flatnonzero(self.reductions == number << 8)[0]
        return int(_keys(self.split, np.array([reduced]), np.array([moved]))[0])


class _Shares:
    """Of boards the outer numbers in a space of representatives, shape (boards,), and the inner digits of all images as
    parts of a key, shape (symmetries, boards)."""

    def __init__(self, kept: RepresentativeSpace, boards: NDArray[np.uint8]) -> None:
        self.outer, _ = kept.cut.split(boards)
        self.inner = np.stack([kept.inner_of(each.images(boards)) for each in kept.maps])


def representatives_of(space: Space) -> Representatives | None:
    """The tables for the keys of a space; None where the gain is too small."""
    split = smallest_split(space)
    if split is None:
        return None
    found = Representatives(space, split)  # type: ignore[arg-type]
    small = split.bytes(found.classes) * GAIN <= split.reduced * split.moved
    return found if small and found.classes < MOST_CLASSES and found.symmetries <= MOST_SYMMETRIES else None


class _Sides:
    """Images of numbers of the sides, by boards.

    Where pieces come to be depends on where they were. The digits of an image's orientations are those of the board, in
    another order, counted in one direction or the other, and more by what depends on where the pieces were. So boards
    are made for each way to place pieces, unturned, and for each way to turn those that are placed in one way; the
    others are sums. Not where orientations of alike pieces are told in the order of their slots.
    """

    def __init__(self, space: PermutationSpace, split: Split) -> None:
        self._space = space
        self._split = split
        layout = space.layout
        self._ordered = any(layout.count_of[label] > 1 for label in layout.twisted)
        self._turned = [digit.part[0] == "turns" for digit in key_digits(layout)]

    def unit(self) -> Pair:
        """What the identity makes of the numbers."""
        return Pair(
            np.arange(self._split.reduced, dtype=np.uint32), np.arange(self._split.moved, dtype=np.uint32)
        )

    def pair(self, symmetry: Conjugation) -> Pair:
        """What a symmetry makes of the numbers."""
        return Pair(*(self._images(symmetry, moved) for moved in (False, True)))

    def _images(self, symmetry: Conjugation, moved: bool) -> Numbers:
        """What a symmetry makes of the numbers of a side."""
        split = self._split
        count = split.moved if moved else split.reduced
        if self._ordered:
            return self._by_boards(symmetry, moved, np.arange(count, dtype=np.uint64))
        digits = self._digits(moved)
        places, turns = (
            _sums([each for each in digits if each.turned == turned]) for turned in (False, True)
        )
        of_places = self._by_boards(symmetry, moved, places)
        of_turns = self._by_boards(symmetry, moved, turns)
        images = np.empty(count, dtype=np.uint32)
        whole = np.zeros((len(places), len(turns)), dtype=np.uint32)
        for each in digits:
            here = of_places // each.weight % each.radix
            if not each.turned:
                whole += (here * each.weight)[:, None]
                continue
            # The first of both is the same board, of which nothing is turned and all pieces are in the first places.
            added = (of_turns // each.weight + each.radix - here[0]) % each.radix
            whole += (here[:, None] + added[None, :]) % each.radix * each.weight
        images[places[:, None] + turns[None, :]] = whole
        return images

    def _by_boards(self, symmetry: Conjugation, moved: bool, numbers: NDArray[np.uint64]) -> Numbers:
        """The images of some numbers of a side."""
        split = self._split
        images = np.empty(len(numbers), dtype=np.uint32)
        for at in range(0, len(numbers), AT_ONCE):
            some = numbers[at : at + AT_ONCE]
            none = np.zeros_like(some)
            keys = _keys(split, none, some) if moved else _keys(split, some, none)
            found = self._space.encode(symmetry.images(self._space.decode(keys)))
            assert not (found == NO_KEY).any(), "a symmetry takes keys to keys"
            images[at : at + len(some)] = _numbers(split, found)[moved]
        return images

    def _digits(self, moved: bool) -> list[_SideDigit]:
        """The digits of the numbers of a side, the last first."""
        found, weight = [], 1
        for (radix, side), turned in zip(reversed(self._split.digits), reversed(self._turned), strict=True):
            if side == moved and radix > 1:
                found.append(_SideDigit(np.uint32(radix), np.uint32(weight), turned))
                weight *= radix
        return found


@dataclass(frozen=True, slots=True)
class _SideDigit:
    radix: np.uint32
    weight: np.uint32
    turned: bool


def _sums(digits: Sequence[_SideDigit]) -> NDArray[np.uint64]:
    """All numbers with these digits alone, ascending."""
    found = np.zeros(1, dtype=np.uint64)
    for each in digits:
        values = np.arange(each.radix, dtype=np.uint64) * np.uint64(each.weight)
        found = (values[:, None] + found[None, :]).reshape(-1)
    return found


def _group(sides: _Sides, symmetries: Sequence[Conjugation]) -> Iterator[Pair]:
    """What each symmetry of the group that these make makes of the numbers, the identity first. Boards are made for
    generators alone."""
    unit = _unit(symmetries)
    generators: list[Conjugation] = []
    after = _tree(unit, generators)
    for each in symmetries:
        if each.image not in after:
            generators.append(each)
            after = _tree(unit, generators)
    made = [sides.pair(each) for each in generators]
    stack = [(unit, sides.unit())]
    while stack:
        each, pair = stack.pop()
        yield pair
        stack += [(child, made[number].after(pair)) for number, child in after[each.image]]


def _unit(symmetries: Sequence[Conjugation]) -> Conjugation:
    return next(each for each in symmetries if each.then(each).image == each.image)


def _tree(unit: Conjugation, generators: Sequence[Conjugation]) -> dict[Image, list[tuple[int, Conjugation]]]:
    """For each element that the generators make those that were first made of it, each with its generator."""
    after: dict[Image, list[tuple[int, Conjugation]]] = {unit.image: []}
    queue = [unit]
    for each in queue:
        for number, generator in enumerate(generators):
            child = each.then(generator)
            if child.image not in after:
                after[child.image] = []
                after[each.image].append((number, child))
                queue.append(child)
    return after


def _keys(split: Split, reduced: NDArray[np.integer], moved: NDArray[np.integer]) -> NDArray[np.uint64]:
    """The keys with these numbers."""
    sides = [
        iter(np.unravel_index(numbers.astype(np.int64), split.radices(side)))
        for side, numbers in ((False, reduced), (True, moved))
    ]
    digits = [(radix, side) for radix, side in split.digits if radix > 1]
    numbers = tuple(next(sides[side]) for _, side in digits)
    return np.ravel_multi_index(numbers, [radix for radix, _ in digits]).astype(np.uint64)


def _numbers(split: Split, keys: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
    """Inverse of ``_keys``."""
    digits = [(radix, side) for radix, side in split.digits if radix > 1]
    numbers = np.unravel_index(keys.astype(np.int64), [radix for radix, _ in digits])
    found = []
    for wanted in (False, True):
        own = tuple(number for number, (_, side) in zip(numbers, digits, strict=True) if side == wanted)
        found.append(np.ravel_multi_index(own, split.radices(wanted)).astype(np.uint64))
    return found
