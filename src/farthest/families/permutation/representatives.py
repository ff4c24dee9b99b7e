"""How searches find the place of a board in a map of representatives: tables from the digits of the plain key to the
key of the representative (kernel/include/farthest/representatives.hpp)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from farthest.families.permutation.gather_space import PermutationSpace
from farthest.spaces.reduced import RepresentativeSpace, distinct_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.permutation.layout import Layout
    from farthest.spaces.contract import Boards, Space

    Numbers = NDArray[np.int64]


Part = tuple[Literal["places", "turns"], int]
"""What digits of a key tell of an orbit, by its number in the layout."""

MOST_LEADS = 2**18
"""Numbers of the side that leads, at the most; boards are made for each."""

MOST_SIDES = 4
MOST_TERMS = 2**24
"""Numbers of another side, times lists of terms, at the most: 64 MiB."""

PROBED, CHECKED = 16, 2**16
"""Random numbers by which lists are told apart; random boards by which the tables are checked."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """``digits``: (radix, side) of the plain key, the most significant first. ``entries``: keys of the map. ``first``:
    uint64, by number of side 0; ``lists``: uint32, shape (numbers of side 0, other sides); ``added``: uint32, by number
    of side 0, bits of the key that change, those of orientations of two values; ``terms``: for each other
    side uint32, shape (lists, numbers)."""

    digits: tuple[tuple[int, int], ...]
    entries: int
    first: NDArray[np.uint64]
    lists: NDArray[np.uint32]
    added: NDArray[np.uint32]
    terms: tuple[NDArray[np.uint32], ...]


def look_up_of(space: Space, kept: Space) -> LookUp | None:
    """The tables from keys of a space to those of a space of representatives of the same states; None where the latter
    are no such sums, or tables would be large.

    The parts of a key that decide the outer number lead. Whether the others add up is found out, not derived: lists are
    told apart by some numbers, and the tables are compared with ``kept.encode`` for each number of each side.
    """
    if type(space) is not PermutationSpace or not isinstance(kept, RepresentativeSpace):
        return None
    if space.layout.parity is not None:
        return None
    sides = _Sides.of(space, kept)
    return None if sides is None else sides.look_up()


def key_digits(layout: Layout) -> list[tuple[int, Part]]:
    """The digits of keys, of radix 1 too, and what each is of, the most significant first (docs/key-layout.md)."""
    orbit_of, count_of = layout.orbit_of, layout.count_of
    of_slot = {slot: orbit for orbit, slots in enumerate(layout.orbits) for slot in slots}
    found: list[tuple[int, Part]] = [
        (radix, ("places", orbit_of[label]))
        for label, radix in zip(layout.classes, layout.radices, strict=True)
    ]
    twisted = [label for label in layout.twisted for _ in range(count_of[label])]
    found += [(layout.moduli[orbit_of[label]], ("turns", orbit_of[label])) for label in twisted]
    return found + [(layout.moduli[of_slot[slot]], ("turns", of_slot[slot])) for slot in layout.turned]


class _Sides:
    """``digits``: (radix, side). Boards are named by the numbers of their sides."""

    def __init__(
        self, space: PermutationSpace, kept: RepresentativeSpace, digits: Sequence[tuple[int, int]]
    ) -> None:
        self._space, self._kept = space, kept
        self._digits = digits
        count = max(side for _, side in digits) + 1
        self._radices = [[radix for radix, side in digits if side == each] for each in range(count)]
        self._sizes = [prod(radices) for radices in self._radices]
        word = kept.cut.word
        self._bits = word & -word
        self._rng = np.random.default_rng(1)

    @classmethod
    def of(cls, space: PermutationSpace, kept: RepresentativeSpace) -> _Sides | None:
        """Side 0 has the parts that decide the outer number; each other part is a side."""
        digits = key_digits(space.layout)
        parts = sorted({part for radix, part in digits if radix > 1})
        alone = cls(space, kept, [(radix, parts.index(part) if radix > 1 else 0) for radix, part in digits])
        leading = {part for side, part in enumerate(parts) if alone.decides(side)}
        others = [part for part in parts if part not in leading]
        found = cls(
            space,
            kept,
            [(radix, others.index(part) + 1 if part in others else 0) for radix, part in digits],
        )
        small = found._sizes[0] <= MOST_LEADS and max(found._sizes) <= MOST_TERMS
        within = kept.keys // len(kept.weights) < 2**32
        return found if small and within and len(others) < MOST_SIDES else None

    def decides(self, side: int) -> bool:
        """Whether the outer number depends on the side: of some random boards that differ there alone."""
        numbers = self._random(PROBED**2)
        boards = self._boards(numbers)
        numbers[side] = self._rng.integers(0, self._sizes[side], PROBED**2)
        return bool((self._kept.cut.split(boards)[0] != self._kept.cut.split(self._boards(numbers))[0]).any())

    def look_up(self) -> LookUp | None:
        leads = np.arange(self._sizes[0])
        alone = [leads, *(np.zeros_like(leads) for _ in self._sizes[1:])]
        boards = self._boards(alone)
        symmetry, first = self._kept.told(self._kept.cut.split(boards)[0])
        own = self._inner(boards, symmetry)
        added = own % self._bits
        own -= added
        first = first + own
        lists = np.zeros((len(leads), len(self._sizes) - 1), dtype=np.uint32)
        terms = []
        for side in range(1, len(self._sizes)):
            told = np.stack(
                [
                    (self._inner(self._with(alone, side, probe), symmetry) ^ added) - own
                    for probe in self._probes(side)
                ],
                axis=1,
            )
            _, of_list = np.unique(which := distinct_rows(told)[1], return_index=True)
            if len(of_list) * self._sizes[side] > MOST_TERMS:
                return None
            more = np.stack([self._added(side, int(lead), int(symmetry[lead])) for lead in of_list])
            least = more.min(axis=1)
            lists[:, side - 1] = which
            terms.append((more - least[:, None]).astype(np.uint32))
            first = first + least[which]
        found = LookUp(
            tuple(self._digits),
            self._kept.keys,
            first.astype(np.uint64),
            lists,
            added.astype(np.uint32),
            tuple(terms),
        )
        return found if self._is_right(found) else None

    def _probes(self, side: int) -> list[int]:
        """Numbers with one digit that is not 0, and random ones."""
        radices = self._radices[side]
        weights = [prod(radices[place + 1 :]) for place in range(len(radices))]
        single = [
            value * weight
            for radix, weight in zip(radices, weights, strict=True)
            for value in range(1, min(radix, PROBED))
        ]
        return [*single, *self._rng.integers(0, self._sizes[side], PROBED).tolist()]

    def _added(self, side: int, lead: int, symmetry: int) -> Numbers:
        """What each number of the side adds, with one number that leads."""
        numbers = [np.zeros(self._sizes[side], dtype=np.int64) for _ in self._sizes]
        numbers[0] += lead
        numbers[side] = np.arange(self._sizes[side])
        inner = self._inner(self._boards(numbers), np.full(self._sizes[side], symmetry))
        added: Numbers = (inner ^ inner[0] % self._bits) - inner[0] // self._bits * self._bits
        return added

    def _with(self, numbers: Sequence[Numbers], side: int, number: int) -> Boards:
        return self._boards([*numbers[:side], np.full_like(numbers[0], number), *numbers[side + 1 :]])

    def _inner(self, boards: Boards, symmetry: Numbers) -> Numbers:
        """What inner digits of the boards' images add to keys."""
        found = np.empty(len(boards), dtype=np.int64)
        for number in np.unique(symmetry).tolist():
            rows = np.flatnonzero(symmetry == number)
            found[rows] = self._kept.inner_of(self._kept.maps[number].images(boards[rows]))
        return found

    def _boards(self, numbers: Sequence[Numbers]) -> Boards:
        """The boards with these numbers."""
        values = [
            iter(np.unravel_index(number, radices)) if radices else iter(())
            for number, radices in zip(numbers, self._radices, strict=True)
        ]
        keys = np.zeros(len(numbers[0]), dtype=np.uint64)
        for radix, side in self._digits:
            keys = keys * np.uint64(radix) + next(values[side]).astype(np.uint64)
        return self._space.decode(keys)

    def _random(self, count: int) -> list[Numbers]:
        return [self._rng.integers(0, size, count) for size in self._sizes]

    def _is_right(self, found: LookUp) -> bool:
        """For each number of each side, with random ones of the others."""
        numbers = self._random(max(CHECKED, *self._sizes))
        for side, size in enumerate(self._sizes):
            numbers[side][:size] = self._rng.permutation(size)
        keys = found.first[numbers[0]].copy()
        for side, terms in enumerate(found.terms, 1):
            keys += terms[found.lists[numbers[0], side - 1], numbers[side]]
        keys ^= found.added[numbers[0]]
        return bool((keys == self._kept.encode(self._boards(numbers))).all())
