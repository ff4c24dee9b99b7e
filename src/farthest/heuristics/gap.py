"""Pancakes: the pairs of neighbours in a stack that are not neighbours in the goal.

Source: M. Helmert, Landmark heuristics for the pancake problem, 2010. The plate is the last pancake's neighbour. A flip
of the top pancakes separates one pair of neighbours and makes another, so the number changes by at most one. A pair of
burnt pancakes includes their sides up; turned over as a whole it is the same pair. Among equal pancakes, a kind of pair
counts at most as often as it is in the goal.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.cell_sums import least, slot_contents, told
from farthest.heuristics.contract import Gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.permutation.definition import Permutation
    from farthest.heuristics.contract import Component
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Boards


def is_pancake(definition: Permutation) -> bool:
    """Whether each move flips the contents of the first slots, as a pile, and all pancakes or none are burnt."""
    if len(set(definition.moduli)) > 1 or definition.moduli[0] > 2:
        return False
    burnt = definition.oriented
    for move in definition.generators:
        changed = [slot for slot in range(definition.slots) if move.to[slot] != slot or move.delta[slot] != 0]
        top = max(changed) + 1
        reversal = (*range(top - 1, -1, -1), *range(top, definition.slots))
        turned = tuple(int(burnt and slot < top) for slot in range(definition.slots))
        if move.to != reversal or move.delta != turned:
            return False
    return True


class GapCounts:
    """How many of the goal's pairs of neighbours are missing in a stack; the least over the goals."""

    admissible = True
    consistent = True
    name = "gap"

    def __init__(self, definition: Permutation, goals: Sequence[Board]) -> None:
        self._slots = definition.slots
        self._turns = 2 if definition.oriented else 1
        self._plate = len(definition.tokens) * self._turns
        self._turned_over = [
            content ^ int(self._turns == 2 and not definition.ignore[content // self._turns])
            for content in range(self._plate)
        ]
        self._distinct = max(definition.counts) == 1
        self._kinds = self._kinds_of_pairs()
        self._goals = [self._pairs(goal) for goal in goals]

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        contents = slot_contents(boards, self._turns).astype(numpy.intp)
        plate = numpy.full((len(boards), 1), self._plate, dtype=numpy.intp)
        after = numpy.concatenate([contents[:, 1:], plate], axis=1)
        kinds = self._kinds[contents, after]
        return told(least([self._missing(kinds, goal) for goal in self._goals]))

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: where there is one goal, and no pancakes are equal."""
        if len(self._goals) > 1 or not self._distinct:
            return None
        missing = numpy.ones(len(self._kinds) ** 2, dtype=numpy.uint8)
        missing[list(self._goals[0])] = 0
        table = missing[self._kinds]
        plate = self._plate
        return [[Gaps(self._turns, table[:plate, :plate].tobytes(), table[:plate, plate].tobytes())]]

    def _kinds_of_pairs(self) -> NDArray[numpy.intp]:
        """A number for each pair, upper content first, the same for a pair turned over as a whole."""
        contents = self._plate + 1
        kinds = numpy.empty((contents, contents), dtype=numpy.intp)
        for upper in range(contents):
            for lower in range(contents):
                number = upper * contents + lower
                if self._plate not in (upper, lower):
                    number = min(number, self._turned_over[lower] * contents + self._turned_over[upper])
                kinds[upper, lower] = number
        return kinds

    def _pairs(self, goal: Board) -> Counter[int]:
        (contents,) = slot_contents(numpy.array([goal], dtype=numpy.uint8), self._turns).tolist()
        return Counter(
            int(self._kinds[pair]) for pair in zip(contents, [*contents[1:], self._plate], strict=True)
        )

    def _missing(self, kinds: NDArray[numpy.intp], goal: Counter[int]) -> NDArray[numpy.int32]:
        found = numpy.zeros(len(kinds), dtype=numpy.int32)
        if self._distinct:
            wanted = numpy.zeros(len(self._kinds) ** 2, dtype=numpy.int32)
            wanted[list(goal)] = 1
            found = wanted[kinds].sum(axis=1, dtype=numpy.int32)
        else:
            for kind, times in goal.items():
                found += numpy.minimum((kinds == kind).sum(axis=1, dtype=numpy.int32), times)
        return numpy.int32(self._slots) - found
