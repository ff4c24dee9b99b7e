"""Moves of turned pieces as permutations of points: a point is a slot with one of its orientations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.families.permutation.fields import PermutationFields
    from farthest.families.permutation.groups import Permutation as Element


class Points:
    """The points of one puzzle: that of slot s and orientation x is ``first[s] + x``, and ``place`` is its inverse."""

    def __init__(self, definition: PermutationFields) -> None:
        self._moduli = definition.slot_moduli
        self.place: list[tuple[int, int]] = []
        self.first: list[int] = []
        for slot, modulus in enumerate(self._moduli):
            self.first.append(len(self.place))
            self.place += [(slot, turn) for turn in range(modulus)]

    def __len__(self) -> int:
        return len(self.place)

    def element(self, to: Sequence[int], delta: Sequence[int]) -> Element:
        """A move as a permutation of points."""
        return tuple(
            self.first[to[slot]] + (turn + delta[slot]) % self._moduli[slot] for slot, turn in self.place
        )

    def slotwise(self, element: Element) -> tuple[list[int], list[int]]:
        """Inverse of ``element``."""
        images = [self.place[element[first]] for first in self.first]
        return [slot for slot, _ in images], [turn for _, turn in images]
