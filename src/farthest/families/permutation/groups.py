"""Groups of permutations by chains of stabilisers (C. Sims, 1970): order, membership, random elements; and turns of a
whole puzzle, which are a small group.

A permutation p of the points 0 .. n - 1 is a tuple: it takes point i to p[i]. Products are made from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import TypeVar

from farthest.families.permutation.moves import Move
from farthest.puzzles.grid import closure, parts_of
from farthest.random_source import RandomSource

T = TypeVar("T")

Element = tuple[int, ...]

QUIET_ROUNDS = 24
"""So many random elements in a row that the chain knows end its building: a part knows at most half of them."""


def product(first: Element, second: Element) -> Element:
    """The permutation that does ``first`` and then ``second``."""
    return tuple(map(second.__getitem__, first))


def inverse(permutation: Element) -> Element:
    """The permutation that takes it back."""
    back = [0] * len(permutation)
    for point, image in enumerate(permutation):
        back[image] = point
    return tuple(back)


def conjugate(by: Element, element: Element) -> Element:
    """What takes the image of each point to the image of the point after ``element``."""
    found = [0] * len(element)
    for point, after in enumerate(element):
        found[by[point]] = by[after]
    return tuple(found)


def images_of(point: int, generators: Sequence[Element]) -> set[int]:
    """The points that products of the generators take one to."""
    return set(closure(point, lambda each: (generator[each] for generator in generators)))


def orbits(points: int, generators: Sequence[Element]) -> list[tuple[int, ...]]:
    """The sets of points that products of the generators take to each other, each ascending, by their first points."""
    return parts_of(points, lambda point: (generator[point] for generator in generators))


def orbit_map(
    point: int, image: int, generators: Sequence[Element], others: Sequence[Element]
) -> dict[int, int] | None:
    """The map of the orbit of a point that takes the point to ``image``, and what a generator makes of a point to what
    the other with its number makes of that point's image; None: there is no such map."""
    to, queue = {point: image}, [point]
    for each in queue:
        for generator, other in zip(generators, others, strict=True):
            after, wanted = generator[each], other[to[each]]
            if after not in to:
                to[after] = wanted
                queue.append(after)
            elif to[after] != wanted:
                return None
    return to


class Level:
    """The elements that fix the base points before ``point``. ``generators`` make them; ``ways[q]`` is one that takes
    ``point`` to q, ``back[q]`` its inverse."""

    def __init__(self, point: int, unit: Element) -> None:
        self.point = point
        self.generators: list[Element] = []
        self.ways = {point: unit}
        self.back = {point: unit}

    def add(self, generator: Element) -> None:
        """One more generator."""
        self.generators.append(generator)
        queue, known = list(self.ways), len(self.ways)
        for number, place in enumerate(queue):
            # What was known before is known to be closed under the other generators.
            for each in [generator] if number < known else self.generators:
                image = each[place]
                if image not in self.ways:
                    self.ways[image] = product(self.ways[place], each)
                    self.back[image] = inverse(self.ways[image])
                    queue.append(image)


class Group:
    """The group that permutations generate, or the part of it that is known: see ``is_whole``.

    ``first``: points that the chain begins with. ``most``: an order that the group has at most, if one is known.
    ``beyond``: an order beyond which the group need not be known whole; ``images``: of points, in the elements that are
    kept, beyond which it is not.
    """

    def __init__(
        self,
        points: int,
        generators: Sequence[Element],
        *,
        first: Sequence[int] = (),
        most: int | None = None,
        beyond: int | None = None,
        images: int | None = None,
    ) -> None:
        self.unit: Element = tuple(range(points))
        self._images = images
        self.generators = [generator for generator in generators if generator != self.unit]
        self.levels = [Level(point, self.unit) for point in first]
        self._beyond = beyond
        for generator in self.generators:
            if not self._is_beyond():
                self._learn(generator)
        self._build(most)
        self.at_most = self.order == most

    @property
    def order(self) -> int:
        """The number of elements that are known."""
        return prod(len(level.ways) for level in self.levels)

    def knows(self, permutation: Element) -> bool:
        """Whether it is one of the known elements."""
        return self._sifted(permutation, 0)[0] == self.unit

    def is_whole(self, most_products: int) -> bool:
        """Whether all elements are known: since their number is the most that there can be, or by Schreier's lemma,
        which is tried where it takes so many products of permutations at most."""
        sifts = sum(len(level.ways) * len(level.generators) for level in self.levels)
        return self.at_most or (
            not self._is_beyond()
            and sifts * len(self.levels) <= most_products
            and all(  # Schreier's generators of each level are known to the next
                self._sifted(product(product(way, each), level.back[each[place]]), number + 1)[0] == self.unit
                for number, level in enumerate(self.levels)
                for place, way in level.ways.items()
                for each in level.generators
            )
        )

    def random(self, rng: RandomSource) -> Element:
        """A known element, each with the same chance."""
        steps = [rng.chosen(list(level.ways.values())) for level in reversed(self.levels)]
        return reduce(product, steps, self.unit)

    def _build(self, most: int | None) -> None:
        """Adds random elements of the group, by product replacement, until the chain knows what comes."""
        if not self.generators:
            return
        rng = RandomSource(0)
        pool = [self.generators[i % len(self.generators)] for i in range(max(11, len(self.generators) + 1))]
        quiet, warm = 0, 8 * len(pool)
        while quiet < QUIET_ROUNDS and self.order != most and not self._is_beyond():
            target = rng.below(len(pool))
            source = (target + 1 + rng.below(len(pool) - 1)) % len(pool)
            other = pool[source] if rng.below(2) else inverse(pool[source])
            pool[target] = product(pool[target], other) if rng.below(2) else product(other, pool[target])
            if warm:
                warm -= 1
            else:
                quiet = 0 if self._learn(pool[target]) else quiet + 1

    def _is_beyond(self) -> bool:
        kept = sum(len(level.ways) for level in self.levels) * len(self.unit)
        return (self._beyond is not None and self.order > self._beyond) or (
            self._images is not None and kept > self._images
        )

    def _learn(self, permutation: Element) -> bool:
        """Makes the element known; whether it was not."""
        rest, depth = self._sifted(permutation, 0)
        if rest == self.unit:
            return False
        if depth == len(self.levels):
            moved = next(point for point, image in enumerate(rest) if point != image)
            self.levels.append(Level(moved, self.unit))
        for level in self.levels[: depth + 1]:
            level.add(rest)
        return True

    def _sifted(self, permutation: Element, depth: int) -> tuple[Element, int]:
        """What is left of it when known elements have taken the base points back, and how far that was possible."""
        for number in range(depth, len(self.levels)):
            level = self.levels[number]
            back = level.back.get(permutation[level.point])
            if back is None:
                return permutation, number
            permutation = product(permutation, back)
        return permutation, len(self.levels)


class Points:
    """Pieces on slots as permutations of points: a point is a slot with one of its orientations.

    The slots have these numbers of orientations. The point of slot s and orientation x is ``first[s] + x``; ``places``:
    slot and orientation of each point. A move takes the point that a piece's mark is at to the point where the mark is
    after the move.
    """

    def __init__(self, moduli: Sequence[int]) -> None:
        self.moduli = tuple(moduli)
        self.places: list[tuple[int, int]] = []
        self.first: list[int] = []
        for slot, modulus in enumerate(moduli):
            self.first.append(len(self.places))
            self.places += [(slot, turn) for turn in range(modulus)]

    def element(self, to: Sequence[int], delta: Sequence[int]) -> Element:
        """A move as a permutation of the points."""
        return tuple(
            self.first[to[slot]] + (turn + delta[slot]) % self.moduli[slot] for slot, turn in self.places
        )

    def elements(self, moves: Sequence[Move]) -> list[Element]:
        """Moves as permutations of the points; the last slots, which the moves may lack, stay as they are."""
        slots = range(len(self.moduli))
        return [
            self.element(
                (*move.to, *slots[len(move.to) :]), (*move.delta, *(0 for _ in slots[len(move.to) :]))
            )
            for move in moves
        ]

    def slotwise(self, element: Element) -> tuple[list[int], list[int]]:
        """Inverse of ``element``: ``to`` and ``delta``."""
        images = [self.places[element[first]] for first in self.first]
        return [slot for slot, _ in images], [turn for _, turn in images]


MOST_TURNS = 1_000
"""Ways to turn a whole puzzle."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Turns of a whole puzzle that a piece holds.

    A puzzle without fixed parts, such as the 2x2x2 cube, is enumerated with a piece held: boards that are one another
    turned as a whole are one state. Its moves then do not show all its symmetries.
    ``held``: for each held piece the number of its orientations. ``moves``: turns that make all; each acts on the
    puzzle's slots, then on those of the held pieces."""

    held: tuple[int, ...]
    moves: tuple[Move, ...]


def turn_group(turns: Turns, points: Points) -> list[Element] | None:
    """All turns as permutations of the points; None where they are more than ``MOST_TURNS``."""
    moves = points.elements(turns.moves)
    unit = tuple(range(len(points.places)))
    found = closure(unit, lambda element: (product(element, move) for move in moves), MOST_TURNS)
    return found if len(found) <= MOST_TURNS else None


def all_moves(moves: Sequence[Element], group: Sequence[Element]) -> list[Element]:
    """The moves, each seen from every side: conjugated by every turn."""
    return list(dict.fromkeys(conjugate(turn, move) for turn in group for move in moves))


def turns_problem(turns: Turns, moduli: Sequence[int], moves: Sequence[Move]) -> str | None:
    """Why these cannot be the turns of a puzzle with these slots and moves, or None when they can."""
    slots = len(moduli) + len(turns.held)
    points = Points((*moduli, *turns.held))
    for move in turns.moves:
        if sorted(move.to) != list(range(slots)) or len(move.delta) != slots:
            return f"the turn {move.name} is not a permutation of {slots} slots, those of the held pieces among them"
        for slot, (to, delta) in enumerate(zip(move.to, move.delta, strict=True)):
            if points.moduli[slot] != points.moduli[to] or not 0 <= delta < points.moduli[slot]:
                return f"the turn {move.name} takes a piece to a slot with other orientations"
    group = turn_group(turns, points)
    if group is None:
        return f"they make more than {MOST_TURNS:,} turns of the whole puzzle"
    first = len(points.places) - sum(turns.held)
    homes = {tuple(turn[first:]): turn for turn in group}
    if len(homes) < len(group):
        return "two turns take the held pieces to the same places; hold more pieces"
    held = tuple(range(first, len(points.places)))
    own = points.elements(moves)
    own_moves = set(own)
    back = {tuple(turn.index(point) for point in held): turn for turn in group}
    for seen in all_moves(own, group):
        turn = back.get(tuple(seen[point] for point in held))
        if turn is None or product(seen, turn) not in own_moves:
            return "a move, seen from another side, is none of the moves followed by a turn"
    return None
