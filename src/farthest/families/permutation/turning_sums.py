"""What elements of a permutation puzzle's group do to each orbit as a whole: the parity of how they permute it, and the
sum of its turns. Both add up when elements are made one after the other.
"""

from __future__ import annotations

from collections import defaultdict, deque
from functools import cached_property
from math import factorial, prod
from typing import TYPE_CHECKING

from farthest.families.permutation.moves import odd
from farthest.puzzles.solvable import UndecidedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from farthest.families.permutation.fields import PermutationFields
    from farthest.puzzles.definition import Board

Sums = tuple[int, ...]
"""For each orbit the parity, then for each orbit the sum of turns modulo its modulus."""

MOST_VALUES = 1 << 16


class TurningSums:
    """The sums of one puzzle."""

    def __init__(self, definition: PermutationFields) -> None:
        self._body = definition
        self._moduli = [*(min(len(orbit), 2) for orbit in definition.orbits), *definition.moduli]

    @property
    def values(self) -> int:
        """The number of sums that permutations and turns could have."""
        return prod(self._moduli)

    @cached_property
    def most_elements(self) -> int | None:
        """The group has no more elements; None: the sums are too many to be counted."""
        definition = self._body
        if self.values > MOST_VALUES:
            return None
        every = 1
        for orbit, modulus in zip(definition.orbits, definition.moduli, strict=True):
            every *= factorial(len(orbit)) * int(modulus ** len(orbit))
        moved = self._closed([self.of_move(move.to, move.delta) for move in definition.generators])
        return every // self.values * len(moved)

    def of_move(self, to: Sequence[int], delta: Sequence[int]) -> Sums:
        """The sums of a move."""
        definition = self._body
        turned = [sum(delta[slot] for slot in orbit) for orbit in definition.orbits]
        return self._reduced([*(odd(to, orbit) for orbit in definition.orbits), *turned])

    def generated(self, sums: Iterable[Sums]) -> frozenset[Sums]:
        """The sums of what is made of elements with these sums, and of what changes no board: exchanges of equal
        pieces, turns of pieces whose orientation is ignored. Raises UndecidedError where they are too many."""
        definition, found = self._body, list(sums)
        for label, (orbit, count) in enumerate(zip(definition.label_orbit, definition.counts, strict=True)):
            one = [0] * len(self._moduli)
            if count > 1:
                one[orbit] = 1
                found.append(self._reduced(one))
            if definition.ignore[label]:
                one = [0] * len(self._moduli)
                one[len(definition.orbits) + orbit] = 1
                found.append(self._reduced(one))
        return self._closed(found)

    def between(self, board: Board, target: Board, left_out: Sequence[int]) -> Sums:
        """Of one of the elements that take the board to the target; 0 for orbits whose slots are ``left_out``."""
        definition, slots = self._body, self._body.slots
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
        unit = self._reduced([0] * len(self._moduli))
        found, queue = {unit}, [unit]
        for each in queue:
            for other in sums:
                both = self._reduced([a + b for a, b in zip(each, other, strict=True)])
                if both not in found:
                    found.add(both)
                    queue.append(both)
            if len(found) > MOST_VALUES:
                raise UndecidedError("the sums are too many")
        return frozenset(found)
