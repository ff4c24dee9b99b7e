"""Boards by the ranks of arrangements, as docs/key-layout.md says, of sliding and of permutation puzzles.

The slots of an *orbit* hold its pieces in every board; a sliding puzzle has one orbit. A layout places the classes of
pieces one after another, orbit by orbit, into the slots that are still free. A class put in the free places p1 < ... <
pk (counted among the free slots of its orbit, from 0) has the digit C(p1,1) + ... + C(pk,k) of radix C(free, k); the
digits, first class first, are the mixed radix number ``full``. Without parity the rank is ``full``. With parity (every
piece distinct) the digits of a board that has a rank sum to the parity of the first piece's slot, modulo 2. The last
digit that can vary has two values, follows from the others, and is dropped: the rank is ``full >> 1``.

Boards are held piece by piece: ``slots[i, n]`` (uint8) is the slot of piece i in board n, counted within its orbit;
pieces are in class order and, as they come from a rank, ascending within a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farthest.verify.models import Boards, LayoutError

Slots = NDArray[np.uint8]
Keys = NDArray[np.unsignedinteger[Any]]

_MOST_KEYS = 2**63


class PlacedClass(NamedTuple):
    """The rows ``first`` to ``end - 1`` of ``slots``; those of its orbit begin at row ``orbit_first``."""

    first: int
    end: int
    orbit_first: int
    orbit_end: int

    @property
    def radix(self) -> int:
        """Of its digit; 1 where it takes the slots that are left."""
        return comb(self.orbit_end - self.first, self.end - self.first)


class Ranking:
    """``orbits``: for each orbit the cells of its slots, in order. ``classes``: labels in the order of the layout,
    ``counts``: how many pieces have each of them; they fill the orbits one after the other. ``parity``: a bit for each
    slot of the first orbit, or None.

    Raises LayoutError.
    """

    def __init__(
        self,
        orbits: Sequence[Sequence[int]],
        classes: Sequence[int],
        counts: Sequence[int],
        parity: Sequence[int] | None,
    ) -> None:
        self.orbits, self.classes, self.counts, self.parity = orbits, classes, counts, parity
        self.cells = sum(counts)
        self.slot_of_cell = [0] * self.cells
        for orbit in orbits:
            for slot, cell in enumerate(orbit):
                self.slot_of_cell[cell] = slot
        self.starts = [sum(counts[:j]) for j in range(len(counts) + 1)]
        self.placed = self._placed()
        self.radices = [one.radix for one in self.placed]
        arrangements = prod(self.radices)
        self.keys = arrangements if parity is None else arrangements // 2
        if self.keys >= _MOST_KEYS:
            raise LayoutError(f"the layout has {self.keys:,} keys; expected fewer than 2**63")
        # The last class of an orbit takes the slots that are left (digit 0); with parity the last digit is dropped.
        digits = [one for one in self.placed if one.radix > 1]
        self._dropped = None if parity is None else digits.pop()
        self._digits = digits
        self.ranked = max((one.end for one in digits), default=0)
        self.key_type: np.dtype[Any] = np.dtype(np.uint32 if self.keys < 2**32 - 1 else np.uint64)
        # choose[n, k] = C(n, k), cut off above every digit that can occur.
        most = int(np.iinfo(self.key_type).max)
        self._choose = np.array(
            [
                [min(comb(n, k), most) for k in range(max(self.counts) + 1)]
                for n in range(max(map(len, orbits)))
            ],
            dtype=self.key_type,
        )
        self._order = np.zeros(256, dtype=np.uint8)  # of a label among the layout's classes
        self._order[list(classes)] = range(len(classes))

    def _placed(self) -> list[PlacedClass]:
        ends = np.cumsum([len(orbit) for orbit in self.orbits]).tolist()
        placed = []
        for first, end in zip(self.starts, self.starts[1:], strict=False):
            orbit_end = next(each for each in ends if each >= end)
            orbit_first = max((each for each in ends if each < orbit_end), default=0)
            placed.append(PlacedClass(first, end, orbit_first, orbit_end))
        return placed

    def boards(self, keys: NDArray[np.integer[Any]]) -> Boards:
        """The boards of keys, a label per cell: (keys, cells)."""
        slots = self.slots(keys)
        boards = np.empty((len(keys), self.cells), dtype=np.uint8)
        labels = np.repeat(np.array(self.classes, dtype=np.uint8), self.counts)
        first = 0
        for orbit in self.orbits:
            rows = slice(first, first + len(orbit))
            cells = np.array(orbit)[slots[rows].T]
            np.put_along_axis(boards, cells, np.broadcast_to(labels[rows], cells.shape), axis=1)
            first = rows.stop
        return boards

    def slots_of(self, boards: Boards) -> Slots:
        """The slots of all pieces of boards: (cells, boards)."""
        parts = []
        for orbit in self.orbits:
            order = np.argsort(self._order[boards[:, np.array(orbit)]], axis=1, kind="stable")
            parts.append(order.T.astype(np.uint8))
        return np.ascontiguousarray(np.concatenate(parts))

    def slots(self, keys: NDArray[np.integer[Any]]) -> Slots:
        """Slots of all pieces of the boards of keys, each in 0 <= key < ``self.keys``: (cells, keys)."""
        slots = np.empty((self.cells, len(keys)), dtype=np.uint8)
        rest = keys.astype(self.key_type)
        digit_sum = np.zeros(len(keys), dtype=np.uint8)
        for one in reversed(self._digits):
            radix = self.key_type.type(one.radix)
            above = rest // radix
            digit = rest - above * radix
            rest = above
            self._places(one, digit, slots)
            if self.parity is not None:
                digit_sum += slots[one.first]
        if self.parity is not None and self._dropped is not None:
            expected = np.array(self.parity, dtype=np.uint8)[slots[0]]
            slots[self._dropped.first] = (digit_sum ^ expected) & 1
        for one in self.placed:
            if one.radix == 1:
                slots[one.first : one.end] = np.arange(one.end - one.first, dtype=np.uint8)[:, None]
        # From places among the free slots to slots: each slot that an earlier class takes shifts the later places up.
        for one in reversed(self.placed):
            later = slots[one.end : one.orbit_end]
            if len(later):
                for i in range(one.first, one.end):
                    later += (later >= slots[i]).view(np.uint8)
        return slots

    def _places(self, one: PlacedClass, digit: Keys, slots: Slots) -> None:
        """Write the places of a class among the free slots, ascending; overwrites ``digit``."""
        count = one.end - one.first
        if count == 1:
            slots[one.first] = digit
            return
        for i in range(count, 0, -1):
            # The largest place p with C(p, i) <= digit; C(i - 1, i) = 0 always is.
            place = slots[one.first + i - 1]
            place[:] = i - 1
            for p in range(i, one.orbit_end - one.first):
                place += (digit >= self._choose[p, i]).view(np.uint8)
            digit -= self._choose[:, i][place]

    def rank(self, slots: Slots) -> Keys:
        """Keys of boards given by the slots of their first ``ranked`` pieces; order within a class is free.

        Boards whose parity has no keys get the key of their neighbour of the other parity: the caller
        has to know that they cannot occur.
        """
        keys = np.zeros(slots.shape[1], dtype=self.key_type)
        for one in self._digits:
            keys *= self.key_type.type(one.radix)
            earlier = slots[one.orbit_first : one.first]
            for i in range(one.first, one.end):
                place = slots[i] - _below(earlier, slots[i]) if len(earlier) else slots[i]
                if one.end - one.first == 1:
                    keys += place
                else:
                    keys += self._choose[place, _below(slots[one.first : one.end], slots[i]) + np.uint8(1)]
        return keys


def _below(slots: Slots, limit: Slots) -> Slots:
    """How many of the pieces stand in a lower slot than ``limit``, board by board."""
    below: Slots = np.add.reduce((slots < limit).view(np.uint8), axis=0, dtype=np.uint8)
    return below
