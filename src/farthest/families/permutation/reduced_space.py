"""Spaces of representatives of permutation puzzles (``spaces/reduced.py``).

The outer number tells which of the pieces' blocks is in each slot; inner digits are the order of the pieces of a block
in their slots, arrangements and orientations that depend on no other digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from farthest.families.permutation.gather_space import PermutationBoards, origin_boards
from farthest.families.permutation.reduced_layout import (
    MOST_STATES,
    Action,
    Arrangements,
    Digit,
    Layout,
    Orbit,
    Part,
    Turns,
    best_layout,
    digits_of,
    group_of,
    image_of,
    is_linear,
    orbits_of,
    slot_symmetries,
)
from farthest.spaces.reduced import Cut, DigitImages, Odd, RepresentativeSpace, subgroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.symmetries import Conjugation
    from farthest.puzzles.puzzle import Origin, Puzzle

    Numbers = NDArray[np.int64]
    Rows = NDArray[np.int8]
    """Shape (boards, slots of an orbit)."""


LEAST_SHUFFLED = 24
"""Symmetries at the least where maps of bits are not linear: a link by words costs 5 times as much as one of all
states, and some states are kept several times."""


def moved(rows: Rows, to: NDArray[np.intp]) -> Rows:
    """What is in slot i goes to slot ``to[i]``."""
    found = np.empty_like(rows)
    found[:, to] = rows
    return found


def odd_rows(rows: Rows) -> NDArray[np.uint8]:
    """Whether each row, of numbers that all differ, has an odd number of pairs in the wrong order: 0 or 1."""
    found = np.zeros(len(rows), dtype=np.uint8)
    for one, other in combinations(rows.T, 2):
        found ^= one > other
    return found


class _PartCut:
    """An orbit's part of the outer number, and its inner digits."""

    def __init__(self, orbit: Orbit, part: Part) -> None:
        self.orbit, self.part = orbit, part
        self.block_of = np.zeros(len(orbit.labels), dtype=np.int8)
        self.local = np.zeros(len(orbit.labels), dtype=np.int8)
        """Of each label its block, and its place there."""
        for number, block in enumerate(part.blocks):
            self.block_of[list(block)] = number
            self.local[list(block)] = range(len(block))
        self.arrangements = Arrangements(
            [sum(orbit.counts[label] for label in block) for block in part.blocks]
        )
        self.orders = [Arrangements([orbit.counts[label] for label in block]) for block in part.blocks]
        self.reference = np.array(part.reference, dtype=np.int8)
        total = orbit.total
        if total is not None:
            moved_by = int(orbit.reference.sum()) - int(self.reference[orbit.home].sum())
            total = (total + moved_by) % orbit.modulus
        self.turns = Turns(orbit.counted if orbit.turns else 0, orbit.modulus, total)
        """Those of the pieces whose orientations count, by slot."""
        self._outer_turned = self.turns.size if part.turns == "outer" else 1
        self._ignored = np.array([bool(orbit.ignored[block[0]]) for block in part.blocks])

    @cached_property
    def _turn_rows(self) -> Rows:
        """All orientations, each as a row."""
        return self.turns.rows(np.arange(self.turns.size))

    @property
    def outer(self) -> int:
        """The number of values of its part of the outer number."""
        return (1 if self.part.in_line else len(self.arrangements)) * self._outer_turned

    def blocks_of(self, outer: Numbers) -> Rows:
        """The block of the piece in each slot, by its part of outer numbers; where that tells none, the first's."""
        if self.part.in_line:
            return np.zeros((len(outer), self.orbit.size), dtype=np.int8)
        found: Rows = self.arrangements.rows[outer // self._outer_turned]
        return found

    def odd_blocks(self, outer: Numbers) -> NDArray[np.uint8]:
        """Whether its part of outer numbers, of pieces that all differ, is an odd permutation of them where those of
        each block are in order: 0 or 1; of an orbit whose arrangement is a digit 0."""
        if self.part.in_line:
            return np.zeros(len(outer), dtype=np.uint8)
        blocks = self.arrangements.rows
        labels = np.empty_like(blocks)
        order = np.argsort(blocks, axis=1, kind="stable")
        np.put_along_axis(labels, order, np.concatenate(self.part.blocks).astype(np.int8)[None], 1)
        return odd_rows(labels)[outer // self._outer_turned]

    def counted(self, blocks: Rows) -> NDArray[np.intp]:
        """The slots, ascending, of the pieces whose orientations count."""
        order = np.argsort(self._ignored[blocks], axis=1, kind="stable")
        return order[:, : self.orbit.counted]

    def off(self, action: Action, there: _PartCut) -> NDArray[np.int8]:
        """What the action takes off the orientations of the pieces of each block, counted from the references."""
        first = [block[0] for block in self.part.blocks]
        sign = action.sign[[self.orbit.homes[label] for label in first]]
        off = action.off[first] + there.reference[action.labels[first]] - sign * self.reference[first]
        return (off % self.orbit.modulus).astype(np.int8)

    def outer_numbers(self, blocks: Rows, turned: Rows) -> Numbers:
        """Of the blocks and orientations of slots."""
        if self.part.in_line:
            return np.zeros(len(blocks), dtype=np.int64)
        found = self.arrangements.numbers(blocks)
        if self.part.turns == "outer":
            found = found * self.turns.size + self._turns_of(blocks, turned)
        return found

    def _turns_of(self, blocks: Rows, turned: Rows) -> Numbers:
        """The number of the orientations that count."""
        if self._ignored.any():
            turned = np.take_along_axis(turned, self.counted(blocks), 1)
        return self.turns.numbers(turned)

    def _turned(self, blocks: Rows, numbers: Numbers) -> Rows:
        """Inverse of ``_turns_of``; 0 where orientations do not count."""
        rows = self._turn_rows[numbers]
        if not self._ignored.any():
            return rows
        found = np.zeros_like(blocks)
        np.put_along_axis(found, self.counted(blocks), rows, 1)
        return found

    def outer_images(self, action: Action, there: _PartCut) -> Numbers:
        """What the action makes of each outer number."""
        if self.part.in_line:
            return np.zeros(1, dtype=np.int64)
        numbers = np.arange(self.outer)
        blocks = self.blocks_of(numbers)
        turned = np.zeros_like(blocks)
        if self.part.turns == "outer":
            turned = self._turned(blocks, numbers % self.turns.size)
            turned = action.sign * turned + action.turn - self.off(action, there)[blocks]
            turned = (turned % self.orbit.modulus).astype(np.int8)
        after = self.blocks_after(action, there)[blocks]
        return there.outer_numbers(moved(after, action.to), moved(turned, action.to))

    def blocks_after(self, action: Action, there: _PartCut) -> NDArray[np.int8]:
        """The block that the action makes of each block."""
        found: NDArray[np.int8] = there.block_of[action.labels[[block[0] for block in self.part.blocks]]]
        return found

    def digit_images(
        self, digit: Digit, outer: Numbers, action: Action, there: _PartCut, block: int
    ) -> DigitImages:
        """What the action makes of an inner digit. ``outer``: its part of outer numbers; ``block``: that of the image.
        The place of the image is left open."""
        blocks = self.blocks_of(outer)
        if digit.kind == "arrangement":
            after = self.blocks_after(action, there)
            name = (action.to.tobytes(), after.tobytes())
            return DigitImages(
                name,
                blocks[:, :0],
                0,
                lambda _: there.arrangements.numbers(moved(after[self.arrangements.rows], action.to)),
            )
        if digit.kind == "turns":
            slots = self.counted(blocks)
            off = self.off(action, there)[np.take_along_axis(blocks, slots, 1)]
            turn = ((action.turn[slots] - off) % self.orbit.modulus).astype(np.int8)
            rows = np.stack([action.sign[slots], turn, _places(action.to[slots])], axis=1)

            def turned(row: Rows) -> Numbers:
                sign, turn, places = row
                values = (sign * self._turn_rows + turn) % self.orbit.modulus
                return there.turns.numbers(moved(values.astype(np.int8), places.astype(np.intp)))

            return DigitImages((), rows, 0, turned)
        goes = action.to[np.nonzero(blocks == digit.block)[1].reshape(len(outer), -1)]
        labels = there.local[action.labels[list(self.part.blocks[digit.block])]]
        return DigitImages(
            labels.tobytes(),
            _places(goes),
            0,
            lambda places: there.orders[block].numbers(
                moved(labels[self.orders[digit.block].rows], places.astype(np.intp))
            ),
        )

    def split(self, boards: NDArray[np.uint8], slots: int) -> tuple[Rows, Rows]:
        """The labels in the orbit's slots, and their orientations, counted from the references."""
        orbit = self.orbit
        local = np.zeros(256, dtype=np.int8)
        local[orbit.labels] = np.arange(len(orbit.labels))
        labels = local[boards[:, orbit.slots]]
        if not orbit.turns:
            return labels, np.zeros_like(labels)
        turned = boards[:, slots + orbit.slots].astype(np.int8) + orbit.reference - self.reference[labels]
        return labels, (turned % orbit.modulus).astype(np.int8)

    def inner(self, labels: Rows, turned: Rows) -> dict[tuple[str, int], Numbers]:
        """The inner digits of boards."""
        found: dict[tuple[str, int], Numbers] = {}
        blocks = self.block_of[labels]
        if self.part.in_line:
            found["arrangement", 0] = self.arrangements.numbers(blocks)
        else:
            order = np.argsort(blocks, axis=1, kind="stable")
            local = np.take_along_axis(self.local[labels], order, 1)
            first = 0
            for block, orders in enumerate(self.orders):
                after = first + orders.rows.shape[1]
                found["order", block] = orders.numbers(local[:, first:after])
                first = after
        if self.orbit.turns:
            found["turns", 0] = self._turns_of(blocks, turned)
        return found

    def write(
        self, boards: NDArray[np.uint8], slots: int, outer: Numbers, digits: dict[tuple[str, int], Numbers]
    ) -> None:
        """Writes the orbit's labels and orientations into boards."""
        orbit = self.orbit
        blocks = (
            self.arrangements.rows[digits["arrangement", 0]] if self.part.in_line else self.blocks_of(outer)
        )
        order = np.argsort(blocks, axis=1, kind="stable")
        local = np.zeros_like(blocks)
        first = 0
        for block, orders in enumerate(self.orders):
            after = first + orders.rows.shape[1]
            local[:, first:after] = orders.rows[
                digits.get(("order", block), np.zeros(len(blocks), dtype=np.int64))
            ]
            first = after
        labels = np.empty_like(blocks)
        table = np.full((len(self.part.blocks), max(map(len, self.part.blocks))), 0, dtype=np.int8)
        for block, members in enumerate(self.part.blocks):
            table[block, : len(members)] = members
        np.put_along_axis(labels, order, table[np.take_along_axis(blocks, order, 1), local], 1)
        boards[:, orbit.slots] = np.array(orbit.labels, dtype=np.uint8)[labels]
        if orbit.turns:
            number = outer % self.turns.size if self.part.turns == "outer" else digits["turns", 0]
            turned = self._turned(blocks, number) + self.reference[labels] - orbit.reference
            turned[self._ignored[blocks]] = 0
            boards[:, slots + orbit.slots] = turned % orbit.modulus


def _places(slots: NDArray[np.intp]) -> Rows:
    """Of slots, shape (boards, any), the places in their order."""
    return np.argsort(np.argsort(slots, axis=1), axis=1).astype(np.int8)


class PermutationCut(Cut):
    """A permutation puzzle's states, in parts."""

    def __init__(self, plain: PermutationBoards, maps: Sequence[Conjugation], layout: Layout) -> None:
        self.maps = maps
        self._definition, self._fixed = plain.definition, plain.origins[0]
        # A step pulls: the moves away from the origin are undone.
        self._orbits = orbits_of(plain.definition, plain.origins, plain.moves_toward, maps)
        self._layout = layout
        self._parts = [_PartCut(orbit, part) for orbit, part in zip(self._orbits, layout.parts, strict=True)]
        self.pulls = len(plain.moves_toward)
        self.outer = prod(part.outer for part in self._parts)
        self._sizes = digits_of(self._orbits, layout.parts)
        self.line = [self._sizes[digit] for digit in layout.line]
        self.word = prod(self._sizes[digit] for digit in layout.word)
        self.linear = is_linear(self._orbits, layout.word)
        """Whether maps of a line's bits are linear: they take a fifth of the time of others."""
        self.odd = self._odd() if layout.even else None

    def _odd(self) -> Odd:
        """Which arrangements of blocks, with the pieces of each block in order, and which orders are odd permutations
        of the pieces of the even orbits; the origin is even."""
        outer, word = np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.uint8)
        for number, part in enumerate(self._parts):
            own = np.zeros(part.outer, dtype=np.uint8)
            if number in self._layout.even:
                own += part.odd_blocks(np.arange(part.outer)) ^ odd_rows(part.orbit.home[None])
            outer = (outer[:, None] ^ own).ravel()
        for digit in self._layout.word:
            word = (word[:, None] ^ self._odd_values(digit)).ravel()
        return Odd(outer, [self._odd_values(digit) for digit in self._layout.line], word)

    def _odd_values(self, digit: Digit) -> NDArray[np.uint8]:
        if digit.part not in self._layout.even or digit.kind == "turns":
            return np.zeros(self._sizes[digit], dtype=np.uint8)
        part = self._parts[digit.part]
        return odd_rows((part.arrangements if digit.kind == "arrangement" else part.orders[digit.block]).rows)

    def outer_images(self, symmetry: int) -> Numbers:
        return self._outer_images([orbit.symmetries[symmetry] for orbit in self._orbits])

    def outer_pulls(self, pull: int) -> Numbers:
        return self._outer_images([orbit.pulls[pull] for orbit in self._orbits])

    def _outer_images(self, actions: Sequence[Action]) -> Numbers:
        """What the actions on the orbits make of each outer number."""
        found = np.zeros(1, dtype=np.int64)
        for part, action in zip(self._parts, actions, strict=True):
            there = self._parts[action.there]
            image = part.outer_images(action, there) * self._weight(action.there)
            found = (found[:, None] + image).ravel()
        return found

    def _weight(self, part: int) -> int:
        """Of the part's digit in outer numbers."""
        return prod(each.outer for each in self._parts[part + 1 :])

    def _outer_digit(self, number: Numbers, part: int) -> Numbers:
        """The part's digit of outer numbers."""
        return number // self._weight(part) % self._parts[part].outer

    def digit_images(self, place: int, outer: Numbers, pull: int | None, symmetry: int) -> DigitImages:
        layout = self._layout
        if place < len(layout.line):
            there, images = self._digit_images(layout.line[place], outer, pull, symmetry)
            return images._replace(name=(there, images.name), there=layout.line.index(there))
        found = [self._digit_images(digit, outer, pull, symmetry) for digit in layout.word]
        weights = [
            prod(self._sizes[each] for each in layout.word[layout.word.index(there) + 1 :])
            for there, _ in found
        ]
        parts = [images.rows.reshape(len(outer), -1) for _, images in found]
        ends = np.cumsum([part.shape[1] for part in parts])[:-1]

        def values(row: Rows) -> Numbers:
            whole = np.zeros(1, dtype=np.int64)
            for (_, images), own, weight in zip(found, np.split(row, ends), weights, strict=True):
                value = images.values(own.reshape(images.rows.shape[1:])) * weight
                whole = (whole[:, None] + value).ravel()
            return whole

        return DigitImages(
            tuple((there, images.name) for there, images in found),
            np.concatenate(parts, axis=1),
            place,
            values,
        )

    def _digit_images(
        self, digit: Digit, outer: Numbers, pull: int | None, symmetry: int
    ) -> tuple[Digit, DigitImages]:
        """The digit that it becomes, and how."""
        part = self._parts[digit.part]
        there = image_of(self._orbits, self._layout.parts, digit, symmetry)
        action = part.orbit.after(pull, symmetry)
        return there, part.digit_images(
            digit, self._outer_digit(outer, digit.part), action, self._parts[there.part], there.block
        )

    def split(self, boards: NDArray[np.uint8]) -> tuple[Numbers, Numbers]:
        outer = np.zeros(len(boards), dtype=np.int64)
        values: dict[Digit, Numbers] = {}
        for number, part in enumerate(self._parts):
            labels, turned = part.split(boards, self._definition.slots)
            outer = outer * part.outer + part.outer_numbers(part.block_of[labels], turned)
            values |= {Digit(number, *name): value for name, value in part.inner(labels, turned).items()}
        word = np.zeros(len(boards), dtype=np.int64)
        for digit in self._layout.word:
            word = word * self._sizes[digit] + values[digit]
        return outer, np.stack([*(values[digit] for digit in self._layout.line), word], axis=1)

    def joined(self, outer: Numbers, digits: Numbers) -> NDArray[np.uint8]:
        values = dict(zip(self._layout.line, digits.T, strict=False))
        word = digits[:, -1]
        for digit in reversed(self._layout.word):
            values[digit] = word % self._sizes[digit]
            word = word // self._sizes[digit]
        slots = self._definition.slots
        boards = np.tile(np.array(self._fixed, dtype=np.uint8), (len(outer), 1))
        for number, part in enumerate(self._parts):
            own = {(digit.kind, digit.block): each for digit, each in values.items() if digit.part == number}
            part.write(boards, slots, self._outer_digit(outer, number), own)
        return boards


def fast_space(puzzle: Puzzle, origin: Origin) -> RepresentativeSpace | None:
    """The space of representatives that takes no more time than all states do, where there is one."""
    found = reduced_space(puzzle, origin)
    if found is None:
        return None
    linear = isinstance(found.cut, PermutationCut) and found.cut.linear
    return found if linear or found.order >= LEAST_SHUFFLED else None


def reduced_space(puzzle: Puzzle, origin: Origin, order: int | None = None) -> RepresentativeSpace | None:
    """The space of representatives by all symmetries that fix the origin, or by a group of ``order`` of them; where
    there is no layout for all, by one of the largest groups for which there is one.

    None where there is none: the origin is several boards, there are too many moves to know its symmetries, or no
    digits fill the bits of a line.
    """
    plain = PermutationBoards(puzzle, origin, origin_boards(puzzle, origin))
    many = plain.definition.arrangements() > MOST_STATES
    found = None if many else slot_symmetries(plain.definition, plain.origins)
    all_maps = None if found is None else group_of(found)
    if all_maps is None:
        return None
    # Blocks that all symmetries keep are kept by some of them.
    layout = best_layout(plain.definition, plain.origins, all_maps)
    count = len(all_maps)
    orders = [each for each in range(count, 1, -1) if count % each == 0] if order is None else [order]
    for each in orders:
        maps = subgroup(all_maps, each)
        if maps is None:
            continue
        own = layout or best_layout(plain.definition, plain.origins, maps)
        if own is not None:
            return RepresentativeSpace(plain, PermutationCut(plain, maps, own), undirected=plain.undirected)
    return None
