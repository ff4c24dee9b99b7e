"""Permutation puzzles: moves are made slot by slot, keys are computed as docs/key-layout.md says.

Boards may be known by some of their pieces, those of a *base*: the others are where the element of the group takes them
that takes these pieces to where they are. Elements are pairs of arrays: the slot that the content of each slot goes to,
and by how much it turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.errors import PuzzleError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.patterns import PermutationPatterns
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.patterns import Choice
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import (
    NO_KEY,
    Boards,
    CodedModel,
    LayoutError,
    MixedRadix,
    Model,
    Packed,
    trailing_products,
)
from farthest.verify.models.ranking import Ranking

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


class PermutationMoves:
    """The moves of a Model, made slot by slot."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self._body = permutation(puzzle)
        self._origin = origin
        self._moduli = np.array(self._body.slot_moduli, dtype=np.int64)

    def origins(self) -> Boards:
        return np.array(origin_patterns(self._body, self._origin.where, ""), dtype=np.uint8)

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model: all moves made, or taken back where distances are counted to the origin."""
        found = []
        slots, forward = self._body.slots, self._origin.direction == "from"
        ignored = np.array(self._body.ignore)
        rows = []
        for number, move in enumerate(self._body.generators):
            to, delta = np.array(move.to), np.array(move.delta)
            after = np.empty_like(boards)
            if forward:
                after[:, to] = boards[:, :slots]
            else:
                after[:, :slots] = boards[:, to]
            if self._body.oriented:
                if forward:
                    after[:, slots + to] = (boards[:, slots:] + delta) % self._moduli
                else:
                    after[:, slots:] = (boards[:, slots + to].astype(np.int64) - delta) % self._moduli
                after[:, slots:][ignored[after[:, :slots]]] = 0
            made = self._made(number, boards if forward else after)
            rows.append(made)
            found.append(after[made])
        return np.concatenate(rows), np.concatenate(found)

    def _made(self, number: int, boards: Boards) -> NDArray[np.intp]:
        """The boards on which a move can be made: for each of its guards, piece by piece of those that it names, none
        stands in its slots, or, where they are joined, none or all."""
        kept = np.ones(len(boards), dtype=np.bool_)
        for guard in self._body.guards[number] if self._body.guards else ():
            inside, outside = np.zeros_like(kept), np.zeros_like(kept)
            for slot in range(self._body.slots):
                named = np.zeros_like(kept)
                for label in guard.labels:
                    named |= boards[:, slot] == label
                if slot in guard.slots:
                    inside |= named
                else:
                    outside |= named
            kept &= ~inside | (~outside if guard.joined else False)
        return np.flatnonzero(kept)


Keys = NDArray[np.uint64]


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> Model:
    """See models."""
    if "base" in layout:
        return (ChainModel if layout.get("kind") == "chain" else BasedModel)(puzzle, origin, layout)
    return (PackedPermutation if layout.get("kind") == "packed" else PermutationModel)(puzzle, origin, layout)


class PackedPermutation(PermutationMoves, CodedModel):
    """The model of packed codes. The content of a slot is the number of the label among those of its orbit, times the
    number of orientations there, plus the orientation."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        self.coder = Packed(layout, self.radices)

    @property
    def radices(self) -> list[int]:
        """For each slot the number of its contents."""
        kinds = self._body.label_orbit
        found = {
            slot: kinds.count(orbit) * self._body.moduli[orbit]
            for orbit, slots in enumerate(self._body.orbits)
            for slot in slots
        }
        return [found[slot] for slot in range(self._body.slots)]

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        slots = self._body.slots
        found = np.empty((len(boards), slots), dtype=np.int64)
        for orbit, own in enumerate(self._body.orbits):
            number = np.full(256, -1, dtype=np.int64)
            number[self._labels(orbit)] = range(len(self._labels(orbit)))
            found[:, list(own)] = number[boards[:, list(own)]] * self._body.moduli[orbit]
        if self._body.oriented:
            turns = boards[:, slots:].astype(np.int64)
            found = np.where((found >= 0) & (turns < self._moduli), found + turns, -1)
        return found

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        boards = np.zeros((len(contents), self._body.cells), dtype=np.uint8)
        for orbit, own in enumerate(self._body.orbits):
            labels = np.array(self._labels(orbit))
            for slot in own:
                number, turn = np.divmod(contents[:, slot], self._moduli[slot])
                boards[:, slot] = labels[number]
                if self._body.oriented:
                    boards[:, self._body.slots + slot] = turn
        return boards

    def _labels(self, orbit: int) -> list[int]:
        return [label for label, of in enumerate(self._body.label_orbit) if of == orbit]


class PermutationModel(PermutationMoves):
    """See Model. Raises LayoutError unless the layout is of the puzzle's slots, labels and orbits."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        definition = self._body
        if layout.get("version") != 1:
            raise LayoutError(f"the key layout has version {layout.get('version')!r}; expected 1")
        try:
            self._orbits: list[list[int]] = [list(map(int, orbit)) for orbit in layout["orbits"]]
            labels = list(map(int, layout["classes"]))
            counts = list(map(int, layout["counts"]))
            self._twisted = list(map(int, layout["twisted"]))
            self._turned = list(map(int, layout.get("turned", ())))
            self._sums = [None if total is None else int(total) for total in layout["sums"]]
            parity = None if layout["parity"] is None else list(map(int, layout["parity"]))
        except (KeyError, TypeError, ValueError) as error:
            raise LayoutError(f"the key layout is malformed ({error!r})") from None
        if sorted(map(tuple, self._orbits)) != sorted(definition.orbits) or len(self._sums) != len(
            self._orbits
        ):
            raise LayoutError(f"the layout's orbits are {self._orbits}; the puzzle's are {definition.orbits}")
        if sorted(labels) != list(range(len(definition.counts))) or counts != [
            definition.counts[label] for label in labels
        ]:
            raise LayoutError(
                f"the layout's classes are {labels}, {counts} pieces; the puzzle has {definition.counts}"
            )
        if not set(self._twisted) <= set(labels) or len(set(self._twisted)) < len(self._twisted):
            raise LayoutError(f"the layout's twisted labels are {self._twisted}; expected labels, none twice")
        by_piece = {
            slot for label in self._twisted for slot in definition.orbits[definition.label_orbit[label]]
        }
        if not set(self._turned) <= set(range(definition.slots)) - by_piece or len(set(self._turned)) < len(
            self._turned
        ):
            raise LayoutError(
                f"the layout's turned slots are {self._turned}; expected slots of orbits without twisted labels, none "
                "twice"
            )
        if parity is not None and (len(parity) != definition.slots or max(counts) > 1):
            raise LayoutError("the layout's parity is not a bit for each slot of distinct pieces")
        own = [list(definition.orbits[definition.label_orbit[label]]) for label in labels]
        if [orbit for orbit, _ in groupby(own)] != self._orbits:
            raise LayoutError(
                f"the layout's classes are {labels}; expected those of its orbits, one orbit after the other"
            )
        # The parity is that of the first piece's slot.
        parity_there = None if parity is None else [parity[slot] for slot in self._orbits[0]]
        self._ranking = Ranking(self._orbits, labels, counts, parity_there)
        modulus_of = [self._body.moduli[orbit] for orbit in self._body.label_orbit]
        self._twists = [modulus_of[label] for label in self._twisted for _ in range(self._body.counts[label])]
        self._twists += [int(self._moduli[slot]) for slot in self._turned]
        self.code_bytes = 8
        self.keys: int | None = self._ranking.keys * prod(self._twists)

    @property
    def block_sizes(self) -> list[int]:
        # Moves exchange the digits of equal pieces, and those of the slots of an orbit: a block has all of them.
        radices = list(self._ranking.radices)
        for label in self._twisted:
            of = self._body.label_orbit[label]
            radices.append(int(self._body.moduli[of] ** self._body.counts[label]))
        orbit_of = {slot: number for number, orbit in enumerate(self._orbits) for slot in orbit}
        for _, slots in groupby(self._turned, orbit_of.__getitem__):
            radices.append(prod(int(self._moduli[slot]) for slot in slots))
        return trailing_products(radices, halved=self._ranking.parity is not None)

    def codes(self, boards: Boards) -> Keys:
        """See Model. A board that is not the board of its own key has no key."""
        codes = self._key(boards)
        codes[(self.boards(codes) != boards).any(axis=1)] = NO_KEY
        return codes

    def boards(self, codes: Keys) -> Boards:
        assert self.keys is not None
        rest = codes % np.uint64(self.keys)
        turns = []
        for radix in reversed(self._twists):
            turns.append((rest % np.uint64(radix)).astype(np.uint8))
            rest = rest // np.uint64(radix)
        turns.reverse()
        labels = self._ranking.boards(rest)
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
        keys = self._ranking.rank(self._ranking.slots_of(labels)).astype(np.uint64)
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


class BasedModel(PermutationMoves):
    """See Model. The keys are those of the pattern of the pieces that stand on the base in the first origin; boards are
    whole, so a proof shows that the other pieces follow from these."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        first = min(map(tuple, self.origins().tolist()))
        self._base = Base(self._body, first, layout["base"])
        labels = tuple(sorted(first[slot] for slot in self._base.slots))
        try:
            choice = Choice(True, tuple((label,) for label in labels))
            made, relabel = PermutationPatterns().make(self._body, puzzle.metric, choice, "base")
        except PuzzleError as error:
            raise LayoutError(str(error)) from None
        self._relabel = np.array(relabel, dtype=np.uint8)
        self._name = np.zeros(256, dtype=np.uint8)
        self._name[self._relabel[list(labels)]] = labels
        self._in_base = np.isin(np.arange(256), self._relabel[list(labels)])
        self._pattern = made
        self._ranks = PermutationModel(replace(puzzle, definition=made), origin, layout)
        self.code_bytes = 8
        self.keys = self._ranks.keys

    @property
    def block_sizes(self) -> list[int]:
        return self._ranks.block_sizes

    def codes(self, boards: Boards) -> Keys:
        """See Model. A board on which a piece is not where it follows to be has no key."""
        codes = self._ranks.codes(PermutationPatterns().boards(self._pattern, self._relabel, boards))
        codes[(self.boards(codes) != boards).any(axis=1)] = NO_KEY
        return codes

    def boards(self, codes: Keys) -> Boards:
        patterns = self._ranks.boards(codes)
        slots = self._body.slots
        boards = np.zeros((len(patterns), self._body.cells), dtype=np.uint8)
        boards[:, : patterns.shape[1]] = patterns
        boards[:, :slots] = self._name[patterns[:, :slots]]
        return self._base.whole(boards, self._in_base[patterns[:, :slots]])


class ChainModel(PermutationMoves, CodedModel):
    """See Model. Keys are the numbers of elements of the group: which one of each level they are made of."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        if layout.get("version") != 1:
            raise LayoutError(f"the key layout has version {layout.get('version')!r}; expected 1")
        self._base = Base(self._body, min(map(tuple, self.origins().tolist())), layout["base"])
        self.coder = MixedRadix(self._base.radices, dense=True)
        self.block_sizes = trailing_products(self._base.radices, halved=False)

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        known, numbers = self._base.numbers(boards, np.ones((len(boards), self._body.slots), dtype=np.bool_))
        known &= (self._base.made(numbers) == boards).all(axis=1)
        return np.where(known[:, None], np.stack(numbers, axis=1), -1)

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        return self._base.made(list(contents.T))
