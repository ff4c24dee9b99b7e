"""Permutation puzzles: moves are made slot by slot, keys are computed as docs/key-layout.md says.

In blocks, arrangements are held piece by piece: ``slots[i, n]`` is the slot of piece i in board n, counted within its
orbit; pieces are in the order of the layout's classes, and ascending within a class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.permutation.definition import Permutation
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import Boards
from farthest.verify.models.digits import trailing_products
from farthest.verify.models.packed import PackedModel
from farthest.verify.models.permutation_moves import PermutationMoves
from farthest.verify.ranking import LayoutError

NO_KEY = np.uint64(2**64 - 1)

Keys = NDArray[np.uint64]


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> PermutationModel | PackedModel:
    """See models."""
    if "kind" not in layout:
        return PermutationModel(puzzle, origin, layout)
    moves = PermutationMoves(puzzle, origin)
    return PackedModel(moves, layout, moves.radices, None)


@dataclass(frozen=True, slots=True)
class _Class:
    """A label's pieces: rows ``first`` to ``end - 1`` of ``slots``; those of its orbit begin at row ``orbit_first``."""

    label: int
    first: int
    end: int
    orbit_first: int
    orbit_end: int
    radix: int


class PermutationModel(PermutationMoves):
    """See Model."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        read = _Fields(self._body, layout)
        self._orbits, self._sums, self._parity = read.orbits, read.sums, read.parity
        self._twisted, self._turned = read.twisted, read.turned
        self._classes = read.classes
        modulus_of = [self._body.moduli[orbit] for orbit in self._body.label_orbit]
        self._twists = [modulus_of[label] for label in self._twisted for _ in range(self._body.counts[label])]
        self._twists += [int(self._moduli[slot]) for slot in self._turned]
        # The slot of the board for each row and place within its orbit; the position of a label's class.
        self._slot_at = [np.array(orbit) for orbit in self._orbits for _ in orbit]
        self._order = np.zeros(256, dtype=np.uint8)
        self._order[[one.label for one in self._classes]] = range(len(self._classes))
        self.code_bytes = 8
        self._ranks = prod(one.radix for one in self._classes)
        self.keys: int | None = self._ranks * prod(self._twists) // (1 if self._parity is None else 2)

    @property
    def block_sizes(self) -> list[int]:
        """See BlockModel."""
        # Moves exchange the digits of equal pieces, and those of the slots of an orbit: a block has all of them.
        radices = [one.radix for one in self._classes]
        for label in self._twisted:
            of = self._body.label_orbit[label]
            radices.append(int(self._body.moduli[of] ** self._body.counts[label]))
        orbit_of = {slot: number for number, orbit in enumerate(self._orbits) for slot in orbit}
        for _, slots in groupby(self._turned, orbit_of.__getitem__):
            radices.append(prod(int(self._moduli[slot]) for slot in slots))
        return trailing_products(radices, halved=self._parity is not None)

    def codes(self, boards: Boards) -> Keys:
        """See Model. A board that is not the board of its own key has no key."""
        codes = self._key(boards)
        codes[(self.boards(codes) != boards).any(axis=1)] = NO_KEY
        return codes

    def boards(self, codes: Keys) -> Boards:
        """See Model."""
        assert self.keys is not None
        rest = codes % np.uint64(self.keys)
        turns = []
        for radix in reversed(self._twists):
            turns.append((rest % np.uint64(radix)).astype(np.uint8))
            rest = rest // np.uint64(radix)
        turns.reverse()
        if self._parity is None:
            labels = self._arranged(rest)[0]
        else:
            labels, digits = self._arranged(2 * rest)
            others, _ = self._arranged(2 * rest + np.uint64(1))
            first = (labels == self._classes[0].label).argmax(axis=1)
            wrong = digits % 2 != np.array(self._parity)[first]
            labels[wrong] = others[wrong]
        if not self._body.oriented:
            return labels
        return np.concatenate([labels, self._orientations(labels, turns)], axis=1)

    def _orientations(self, labels: Boards, turns: list[NDArray[np.uint8]]) -> Boards:
        found = np.zeros_like(labels)
        rest = iter(turns)
        for label in self._twisted:
            for slots in self._places(labels, label):
                found[np.arange(len(labels)), slots] = next(rest)
        for slot in self._turned:
            found[:, slot] = next(rest)
        for orbit, total in zip(self._orbits, self._sums, strict=True):
            if total is None:
                continue
            here = np.array(orbit)
            missing = np.zeros_like(labels, dtype=np.bool_)
            known_slots = set(orbit) & set(self._turned)
            if known_slots:
                missing[:, [slot for slot in orbit if slot not in known_slots]] = True
            else:
                missing[:, here] = ~np.isin(labels[:, here], self._twisted)
            known = found[:, here].sum(axis=1, dtype=np.int64)
            left = (total - known) % self._moduli[here[0]]
            found += (missing * left[:, None]).astype(np.uint8)
        return found

    def _key(self, boards: Boards) -> Keys:
        """The key that the layout gives, whether or not the board is one that has a key."""
        slots = self._body.slots
        labels = boards[:, :slots]
        keys = np.zeros(len(boards), dtype=np.uint64)
        pieces = self._slots_of(labels)
        for one in self._classes:
            digit = np.zeros(len(boards), dtype=np.uint64)
            for row in range(one.first, one.end):
                place = pieces[row] - _below(pieces[one.orbit_first : one.first], pieces[row])
                choose = [comb(p, row - one.first + 1) for p in range(one.orbit_end - one.orbit_first)]
                digit += np.array(choose, dtype=np.uint64)[place]
            keys = keys * np.uint64(one.radix) + digit
        if self._parity is not None:
            keys >>= np.uint64(1)
        for label in self._twisted:
            radix = self._body.moduli[self._body.label_orbit[label]]
            for place in self._places(labels, label):
                turn = boards[np.arange(len(boards)), slots + place]
                keys = keys * np.uint64(radix) + turn.astype(np.uint64)
        for slot in self._turned:
            keys = keys * np.uint64(self._moduli[slot]) + boards[:, slots + slot]
        return keys

    def _places(self, labels: Boards, label: int) -> list[NDArray[np.intp]]:
        """For each piece of a label, in the order of the slots, its slot in each board."""
        order = np.argsort(labels != label, axis=1, kind="stable")
        return [order[:, piece] for piece in range(self._body.counts[label])]

    def _slots_of(self, labels: Boards) -> NDArray[np.uint8]:
        """The slots, within their orbits, of all pieces: shape (slots, boards)."""
        parts = []
        for orbit in self._orbits:
            order = np.argsort(self._order[labels[:, np.array(orbit)]], axis=1, kind="stable")
            parts.append(order.T.astype(np.uint8))
        return np.ascontiguousarray(np.concatenate(parts))

    def _arranged(self, ranks: Keys) -> tuple[Boards, NDArray[np.int64]]:
        """The labels of arrangements, and the sum of their digits."""
        rest = ranks.copy()
        pieces = np.empty((self._body.slots, len(ranks)), dtype=np.uint8)
        digits = np.zeros(len(ranks), dtype=np.int64)
        for one in reversed(self._classes):
            digit = (rest % np.uint64(one.radix)).astype(np.int64)
            rest //= np.uint64(one.radix)
            digits += digit
            for count in range(one.end - one.first, 0, -1):
                # The largest place p with C(p, count) <= digit.
                choose = np.array([comb(p, count) for p in range(one.orbit_end - one.orbit_first)])
                place = np.searchsorted(choose, digit, side="right") - 1
                digit -= choose[place]
                pieces[one.first + count - 1] = place
        # From places among the free slots to slots: each slot that an earlier class takes shifts the later places up.
        for one in reversed(self._classes):
            later = pieces[one.end : one.orbit_end]
            for row in range(one.first, one.end):
                later += later >= pieces[row]
        labels = np.empty((len(ranks), self._body.slots), dtype=np.uint8)
        boards = np.arange(len(ranks))
        for one in self._classes:
            for row in range(one.first, one.end):
                labels[boards, self._slot_at[row][pieces[row]]] = one.label
        return labels, digits


class _Fields:
    """A stored layout. Raises LayoutError unless it is of the puzzle's slots, labels and orbits."""

    def __init__(self, definition: Permutation, layout: Mapping[str, Any]) -> None:
        if layout.get("version") != 1:
            raise LayoutError(f"the key layout has version {layout.get('version')!r}; expected 1")
        try:
            self.orbits: list[list[int]] = [list(map(int, orbit)) for orbit in layout["orbits"]]
            labels = list(map(int, layout["classes"]))
            counts = list(map(int, layout["counts"]))
            self.twisted = list(map(int, layout["twisted"]))
            self.turned = list(map(int, layout.get("turned", ())))
            self.sums = [None if total is None else int(total) for total in layout["sums"]]
            parity = layout["parity"]
            self.parity = None if parity is None else list(map(int, parity))
        except (KeyError, TypeError, ValueError) as error:
            raise LayoutError(f"the key layout is malformed ({error!r})") from None
        if sorted(map(tuple, self.orbits)) != sorted(definition.orbits) or len(self.sums) != len(self.orbits):
            raise LayoutError(f"the layout's orbits are {self.orbits}; the puzzle's are {definition.orbits}")
        if sorted(labels) != list(range(len(definition.counts))) or counts != [
            definition.counts[label] for label in labels
        ]:
            raise LayoutError(
                f"the layout's classes are {labels}, {counts} pieces; the puzzle has {definition.counts}"
            )
        if not set(self.twisted) <= set(labels) or len(set(self.twisted)) < len(self.twisted):
            raise LayoutError(f"the layout's twisted labels are {self.twisted}; expected labels, none twice")
        by_piece = {
            slot for label in self.twisted for slot in definition.orbits[definition.label_orbit[label]]
        }
        if not set(self.turned) <= set(range(definition.slots)) - by_piece or len(set(self.turned)) < len(
            self.turned
        ):
            raise LayoutError(
                f"the layout's turned slots are {self.turned}; expected slots of orbits without twisted labels, none "
                "twice"
            )
        if self.parity is not None and (len(self.parity) != definition.slots or max(counts) > 1):
            raise LayoutError("the layout's parity is not a bit for each slot of distinct pieces")
        self.classes = list(self._placed(definition, labels))

    def _placed(self, definition: Permutation, labels: list[int]) -> list[_Class]:
        """The classes with their rows; each fills its label's orbit."""
        placed, first = [], 0
        waiting = iter(labels)
        for orbit in self.orbits:
            start, end = first, first + len(orbit)
            while first < end:
                label = next(waiting)
                if list(definition.orbits[definition.label_orbit[label]]) != orbit:
                    raise LayoutError(
                        f"the layout places label {label} in the orbit {orbit}, which is not its own"
                    )
                count = definition.counts[label]
                placed.append(_Class(label, first, first + count, start, end, comb(end - first, count)))
                first += count
        return placed


def _below(slots: NDArray[np.uint8], limit: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """How many of the pieces stand in a lower slot than ``limit``, board by board."""
    below: NDArray[np.uint8] = np.add.reduce((slots < limit).view(np.uint8), axis=0, dtype=np.uint8)
    return below
