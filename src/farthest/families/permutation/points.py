"""Pieces on slots as permutations of points: a point is a slot with one of its orientations.

The point of slot s and orientation x is ``first[s] + x``. A move takes the point that a piece's mark is at to the point
where the mark is after the move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.families.permutation.groups import Permutation as Element


class Points:
    """The points of slots with these numbers of orientations. ``places``: slot and orientation of each point."""

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

    def slotwise(self, element: Element) -> tuple[list[int], list[int]]:
        """Inverse of ``element``: ``to`` and ``delta``."""
        images = [self.places[element[first]] for first in self.first]
        return [slot for slot, _ in images], [turn for _, turn in images]
