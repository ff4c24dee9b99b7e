"""How many boards the moves of a permutation puzzle can reach, and the pieces by which they can be told apart.

An element of the group of the moves is known by the images of a *base*: points that only the unit fixes all. So boards
that are reached from one are known by where the pieces of a base are, and how they are turned; all others follow
(C. Sims, 1970). Of the group M24 on 24 points seven pieces suffice: 24 * 23 * ... * 18 keys, not 24!.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import factorial, prod

from farthest.families.permutation.fields import MAX_SLOTS, PermutationFields
from farthest.families.permutation.groups import Element, Group, Points, images_of, orbits
from farthest.families.permutation.moves import odd
from farthest.puzzles.definition import Board
from farthest.puzzles.family import UndecidedError
from farthest.puzzles.grid import closure
from farthest.spaces.contract import MAX_KEYS

Sums = tuple[int, ...]
"""For each orbit the parity, then for each orbit the sum of turns modulo its modulus."""

MOST_VALUES = 1 << 16


class TurningSums:
    """What elements of a puzzle's group do to each orbit as a whole: the parity of how they permute it, and the sum of
    its turns. Both add up when elements are made one after the other.
    """

    def __init__(self, definition: PermutationFields) -> None:
        self._definition = definition
        self._moduli = [*(min(len(orbit), 2) for orbit in definition.orbits), *definition.moduli]

    @property
    def values(self) -> int:
        """The number of sums that permutations and turns could have."""
        return prod(self._moduli)

    @cached_property
    def most_elements(self) -> int | None:
        """The group has no more elements; None: the sums are too many to be counted."""
        definition = self._definition
        if self.values > MOST_VALUES:
            return None
        every = 1
        for orbit, modulus in zip(definition.orbits, definition.moduli, strict=True):
            every *= factorial(len(orbit)) * int(modulus ** len(orbit))
        moved = self._closed([self.of_move(move.to, move.delta) for move in definition.generators])
        return every // self.values * len(moved)

    def of_move(self, to: Sequence[int], delta: Sequence[int]) -> Sums:
        """The sums of a move."""
        definition = self._definition
        turned = [sum(delta[slot] for slot in orbit) for orbit in definition.orbits]
        return self._reduced([*(odd(to, orbit) for orbit in definition.orbits), *turned])

    def generated(self, sums: Iterable[Sums]) -> frozenset[Sums]:
        """The sums of what is made of elements with these sums, and of what changes no board: exchanges of equal
        pieces, turns of pieces whose orientation is ignored. Raises UndecidedError where they are too many."""
        definition, found = self._definition, list(sums)
        for label, (orbit, count) in enumerate(zip(definition.label_orbit, definition.counts, strict=True)):
            changed = [orbit] if count > 1 else []
            if definition.ignore[label]:
                changed.append(len(definition.orbits) + orbit)
            found += [self._reduced([at == sum_ for at in range(len(self._moduli))]) for sum_ in changed]
        return self._closed(found)

    def between(self, board: Board, target: Board, left_out: Sequence[int]) -> Sums:
        """The sums of an element that takes the board to the target, 0 for orbits whose slots are ``left_out``."""
        definition, slots = self._definition, self._definition.slots
        places = defaultdict[int, deque[int]](deque)
        for slot in range(slots):
            places[target[slot]].append(slot)
        to = [places[board[slot]].popleft() for slot in range(slots)]
        delta = [
            target[slots + to[slot]] - board[slots + slot] if definition.oriented else 0
            for slot in range(slots)
        ]
        for slot in left_out:
            to[slot], delta[slot] = slot, 0
        return self.of_move(to, delta)

    def _reduced(self, sums: Sequence[int]) -> Sums:
        return tuple(value % modulus for value, modulus in zip(sums, self._moduli, strict=True))

    def _closed(self, sums: Sequence[Sums]) -> frozenset[Sums]:
        """All that sums of these give."""

        def added(each: Sums) -> Iterator[Sums]:
            for other in sums:
                yield self._reduced([a + b for a, b in zip(each, other, strict=True)])

        found = closure(self._reduced([0] * len(self._moduli)), added, MOST_VALUES)
        if len(found) > MOST_VALUES:
            raise UndecidedError("the sums are too many")
        return frozenset(found)


DENSE = 32
"""A space of bits is fastest where at least about one key in so many stands for a state."""

SMALL = 2**24
"""So many keys, two megabytes of bits, are enumerated in no time, however few of them can be reached."""

MOST_PRODUCTS = 400_000
"""Products of permutations at most, to prove that a group is known whole: about a second."""

MOST_IMAGES = 2 * 10**7
"""Images of points at most, in the elements that a group is known by: seconds."""


@dataclass(frozen=True, slots=True)
class Level:
    """A base point, a slot with the orientation 0, and elements that fix the points before it and take it to all the
    places that such elements take it to. Each of these: the slots that contents go to, and their turns."""

    slot: int
    elements: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@lru_cache(maxsize=16)
def whole_group(definition: PermutationFields) -> Group | None:
    """The group of the moves on the points, proved to be known whole; None: it takes too long to know it, or some
    moves cannot be made on every board, so that the group does not tell what is reached."""
    if definition.guards:
        return None
    points = Points(definition.slot_moduli)
    moves = points.elements(definition.generators)
    beyond = MAX_KEYS if definition.slots > MAX_SLOTS else None  # then it is no use
    group = Group(
        len(points.places),
        moves,
        most=TurningSums(definition).most_elements,
        beyond=beyond,
        images=MOST_IMAGES,
    )
    return group if group.is_whole(MOST_PRODUCTS) else None


def states_reached(definition: PermutationFields, origin: Board) -> int | None:
    """How many boards can be reached from one board, where no two pieces that move are alike; else None."""
    group = whole_group(definition)
    return group.order if group is not None and _tells_all_apart(definition, origin) else None


def few_states(definition: PermutationFields, origin: Board, keys: int | None) -> int | None:
    """How many boards can be reached from one, where so many keys are too many for them, or keys are None; else None,
    also where it is not known, or more than can be numbered."""
    if keys is not None and keys <= SMALL:
        return None
    states = states_reached(definition, origin)
    if states is None or states > MAX_KEYS or (keys is not None and states * DENSE >= keys):
        return None
    return states


def base(definition: PermutationFields, origin: Board) -> tuple[Level, ...] | None:
    """Slots whose pieces on the board tell all boards that can be reached from it, in few arrangements; None where
    there are no such slots, or it takes too long to find them."""
    group = whole_group(definition)
    if group is None or not _tells_all_apart(definition, origin):
        return None
    points = Points(definition.slot_moduli)
    free = set(_distinct(definition, origin))
    taken = [0] * len(definition.orbits)
    orbit_of = definition.slot_orbits
    generators, order = group.generators, group.order
    levels = []
    while order > 1:
        orbit_at = {point: orbit for orbit in orbits(len(points.places), generators) for point in orbit}
        places = {slot: orbit_at[points.first[slot]] for slot in sorted(free)}

        def waste(slot: int) -> tuple[float, int]:
            """How many of the places that the numbering has for the piece it never comes to; then, large orbits."""
            of = orbit_of[slot]
            possible = (len(definition.orbits[of]) - taken[of]) * definition.moduli[of]
            return possible / len(places[slot]), -len(places[slot])  # noqa: B023 - used at once

        moved = [slot for slot, images in places.items() if len(images) > 1]
        if not moved:
            return None
        slot = min(moved, key=waste)
        free.remove(slot)
        taken[orbit_of[slot]] += 1
        point = points.first[slot]
        here = Group(len(points.places), generators, first=[point], most=order)
        if here.order != order:
            return None
        order //= len(places[slot])
        chosen = _enough(point, generators, len(places[slot]))
        levels.append(
            Level(slot, tuple((tuple(to), tuple(turn)) for to, turn in map(points.slotwise, chosen)))
        )
        generators = here.levels[1].generators if len(here.levels) > 1 else []
    return tuple(levels)


@lru_cache(maxsize=16)
def _tells_all_apart(definition: PermutationFields, origin: Board) -> bool:
    """Whether no element but the unit leaves all pieces where they are that are like no other."""
    if max(definition.counts) == 1 and not any(definition.ignore):
        return True
    group, points = whole_group(definition), Points(definition.slot_moduli)
    assert group is not None
    slots = _distinct(definition, origin)
    fixing = Group(
        len(points.places), group.generators, first=[points.first[slot] for slot in slots], most=group.order
    )
    return fixing.order == group.order and len(fixing.levels) <= len(slots)


def _distinct(definition: PermutationFields, origin: Board) -> list[int]:
    """The slots of the pieces that are like no other, and whose orientation counts."""
    return [
        slot
        for slot in range(definition.slots)
        if definition.counts[origin[slot]] == 1 and not definition.ignore[origin[slot]]
    ]


def _enough(point: int, generators: Sequence[Element], images: int) -> list[Element]:
    """Some of the generators that take the point to as many images."""
    chosen: list[Element] = []
    reached = {point}
    while len(reached) < images:
        # All of them together take the point to all images, so one leads out of those known.
        chosen.append(
            next(each for each in generators if any(each[place] not in reached for place in reached))
        )
        reached = images_of(point, chosen)
    return chosen
