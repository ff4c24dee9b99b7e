"""Boards of permutation puzzles that are known by some of their pieces, as docs/key-layout.md describes: the others are
where the element of the group takes them that takes these pieces to where they are.

Elements are pairs of arrays: the slot that the content of each slot goes to, and by how much it turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.permutation.definition import Permutation
from farthest.verify.models import Boards
from farthest.verify.ranking import LayoutError

Element = tuple[NDArray[np.int64], NDArray[np.int64]]


class Base:
    """The base of a layout. ``slots``: the base slots."""

    def __init__(self, definition: Permutation, origin: Sequence[int], fields: Any) -> None:
        self._body = definition
        self._origin = np.array(origin, dtype=np.int64)
        self._moduli = np.array(definition.slot_moduli, dtype=np.int64)
        try:
            self.slots = [int(level["slot"]) for level in fields]
            elements = [[self._read(one) for one in level["elements"]] for level in fields]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise LayoutError(f"the layout's base is malformed ({error!r})") from None
        if not set(self.slots) <= set(range(definition.slots)) or len(set(self.slots)) != len(self.slots):
            raise LayoutError(f"the layout's base slots are {self.slots}; expected slots, none twice")
        for level, given in enumerate(elements):
            if any(to[s] != s or turn[s] for s in self.slots[:level] for to, turn in given):
                raise LayoutError(f"an element of the layout's base level {level} moves an earlier base slot")
        self._levels = [self._level(slot, given) for slot, given in zip(self.slots, elements, strict=True)]

    @property
    def radices(self) -> list[int]:
        """How many elements each level has."""
        return [len(to) for _, to, _ in self._levels]

    def whole(self, boards: Boards, base: NDArray[np.bool_]) -> Boards:
        """The boards, which have pieces of the base in the slots ``base`` (N, slots) and are read there alone, with all
        pieces where they follow to be. Where no element takes the base there, the others stand in the order that they
        have in the origin, not turned."""
        known, numbers = self.numbers(boards, base)
        found = self.made(numbers)
        found[~known] = self._in_order(boards[~known], base[~known])
        return found

    def numbers(
        self, boards: Boards, base: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], list[NDArray[np.int64]]]:
        """Whether an element takes the base to where it is on the boards, and which one of each level it is made of."""
        count, slots = len(boards), self._body.slots
        at = np.empty((count, len(self.slots)), dtype=np.int64)
        turned = np.zeros_like(at)
        for number, slot in enumerate(self.slots):
            at[:, number] = ((boards[:, :slots] == self._origin[slot]) & base).argmax(axis=1)
            if self._moduli[slot] > 1:
                there = boards[np.arange(count), slots + at[:, number]].astype(np.int64)
                turned[:, number] = (there - self._origin[slots + slot]) % self._moduli[slot]
        known = np.ones(count, dtype=np.bool_)
        steps = []
        for number, (table, to, turn) in enumerate(self._levels):
            which = table[at[:, number], turned[:, number]]
            known &= which >= 0
            which = np.maximum(which, 0)
            steps.append(which)
            back = np.argsort(to, axis=1)[which[:, None], at]
            turned = (turned - turn[which[:, None], back]) % self._moduli[back]
            at = back
        return known, steps

    def made(self, numbers: Sequence[NDArray[np.int64]]) -> Boards:
        """What the elements that are made of these make of the origin."""
        count, slots = len(numbers[0]), self._body.slots
        goes = np.tile(np.arange(slots), (count, 1))
        turns = np.zeros_like(goes)
        for (_, to, turn), which in zip(reversed(self._levels), reversed(numbers), strict=True):
            turns += turn[which[:, None], goes]
            goes = to[which[:, None], goes]
        found = np.zeros((count, self._body.cells), dtype=np.uint8)
        rows = np.arange(count)[:, None]
        found[rows, goes] = self._origin[:slots]
        if self._body.oriented:
            ignored = np.array(self._body.ignore)[self._origin[:slots]]
            found[rows, slots + goes] = np.where(ignored, 0, (turns + self._origin[slots:]) % self._moduli)
        return found

    def _in_order(self, boards: Boards, base: NDArray[np.bool_]) -> Boards:
        slots = self._body.slots
        held = boards.copy()
        if self._body.oriented:
            held[:, slots:][~base] = 0
        for orbit in self._body.orbits:
            others = [int(self._origin[slot]) for slot in orbit if slot not in self.slots]
            rows, places = np.nonzero(~base[:, np.array(orbit)])
            held[rows, np.array(orbit)[places]] = np.tile(np.array(others, dtype=np.uint8), len(boards))
        return held

    def _read(self, element: Any) -> Element:
        to, turn = element
        slots = np.array([int(slot) for slot in to], dtype=np.int64)
        turns = np.array([int(each) for each in turn], dtype=np.int64)
        if sorted(slots.tolist()) != list(range(self._body.slots)) or len(turns) != len(slots):
            raise ValueError("not a permutation of the slots")
        return slots, turns % self._moduli

    def _level(
        self, slot: int, given: Sequence[Element]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """For each place and turn of the base slot's content the number of an element that takes it there, -1: none;
        and the elements, by number."""
        slots = self._body.slots
        table = np.full((slots, int(self._moduli.max())), -1)
        table[slot, 0] = 0
        found = [(np.arange(slots), np.zeros(slots, dtype=np.int64))]
        for to, turn in found:
            for after, more in given:
                both = after[to], (turn + more[to]) % self._moduli
                if table[both[0][slot], both[1][slot]] < 0:
                    table[both[0][slot], both[1][slot]] = len(found)
                    found.append(both)
        return table, np.array([to for to, _ in found]), np.array([turn for _, turn in found])
