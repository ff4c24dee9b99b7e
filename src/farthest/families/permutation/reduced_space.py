"""Spaces of representatives of permutation puzzles (``spaces/reduced.py``).

The outer number tells which of the pieces' blocks is in each slot; inner digits are the order of the pieces of a block
in their slots, arrangements and orientations that depend on no other digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from farthest.families.permutation.gather_space import PermutationBoards, origin_boards
from farthest.families.permutation.layout import twist_sum
from farthest.families.permutation.reduced_layout import (
    Action,
    Arrangements,
    Orbit,
    Part,
    Turns,
    layouts,
    slot_symmetries,
)
from farthest.spaces.reduced import Cut, DigitImages, RepresentativeSpace, subgroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.symmetries import Conjugation
    from farthest.puzzles.puzzle import Origin, Puzzle

    Numbers = NDArray[np.int64]
    Rows = NDArray[np.int8]
    """Shape (boards, slots of an orbit)."""


def moved(rows: Rows, to: NDArray[np.intp]) -> Rows:
    """What is in slot i goes to slot ``to[i]``."""
    found = np.empty_like(rows)
    found[:, to] = rows
    return found


class _PartCut:
    """An orbit's part of the outer number, and its inner digits."""

    def __init__(self, orbit: Orbit, part: Part) -> None:
        self.orbit, self.part = orbit, part
        self.block_of = np.array(
            [
                next(b for b, block in enumerate(part.blocks) if label in block)
                for label in range(len(orbit.labels))
            ],
            dtype=np.int8,
        )
        self.arrangements = Arrangements(
            [sum(orbit.counts[label] for label in block) for block in part.blocks]
        )
        self.turns = Turns(orbit.size, orbit.modulus, orbit.total) if orbit.turns else None
        self.outer_turns = self.turns if part.turns == "outer" else None
        self._outer_turned = 1 if self.outer_turns is None else self.outer_turns.size
        self.orders = [Arrangements([orbit.counts[label] for label in block]) for block in part.blocks]
        self._local = np.array(
            [part.blocks[self.block_of[label]].index(label) for label in range(len(orbit.labels))],
            dtype=np.int8,
        )
        self.block_images = [
            np.array([self.block_of[action.labels[block[0]]] for block in part.blocks], dtype=np.int8)
            for action in orbit.symmetries
        ]
        self.order_images = [
            [self._local[action.labels[list(block)]] for block in part.blocks] for action in orbit.symmetries
        ]

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

    def off(self, action: Action) -> NDArray[np.int8]:
        """What the action takes off the orientations of the pieces of each block."""
        found: NDArray[np.int8] = action.off[[block[0] for block in self.part.blocks]]
        return found

    def outer_rows(self) -> tuple[Rows, Rows]:
        """The blocks and the orientations of all its outer numbers."""
        turns = self._outer_turned
        blocks = np.repeat(self.arrangements.rows, turns, axis=0)
        if self.outer_turns is None:
            return blocks, np.zeros_like(blocks)
        return blocks, np.tile(self.outer_turns.rows(np.arange(turns)), (len(self.arrangements), 1))

    def outer_numbers(self, blocks: Rows, turned: Rows) -> Numbers:
        if self.part.in_line:
            return np.zeros(len(blocks), dtype=np.int64)
        found = self.arrangements.numbers(blocks)
        if self.outer_turns is not None:
            found = found * self.outer_turns.size + self.outer_turns.numbers(turned)
        return found

    def split(self, boards: NDArray[np.uint8], slots: int) -> tuple[Rows, Rows]:
        """The labels in the orbit's slots, and their orientations, counted from the references."""
        orbit = self.orbit
        local = np.zeros(256, dtype=np.int8)
        local[orbit.labels] = np.arange(len(orbit.labels))
        labels = local[boards[:, orbit.slots]]
        if not orbit.turns:
            return labels, np.zeros_like(labels)
        turned = (
            boards[:, slots + orbit.slots].astype(np.int8) + orbit.reference - orbit.piece_reference[labels]
        )
        return labels, (turned % orbit.modulus).astype(np.int8)

    def inner(self, labels: Rows, turned: Rows) -> dict[tuple[str, int], Numbers]:
        """The inner digits of boards."""
        found: dict[tuple[str, int], Numbers] = {}
        blocks = self.block_of[labels]
        if self.part.in_line:
            found["arrangement", 0] = self.arrangements.numbers(blocks)
        else:
            order = np.argsort(blocks, axis=1, kind="stable")
            local = np.take_along_axis(self._local[labels], order, 1)
            first = 0
            for block, orders in enumerate(self.orders):
                after = first + orders.rows.shape[1]
                found["order", block] = orders.numbers(local[:, first:after])
                first = after
        if self.turns is not None:
            found["turns", 0] = self.turns.numbers(turned)
        return found

    def write(
        self, boards: NDArray[np.uint8], slots: int, outer: Numbers, digits: dict[tuple[str, int], Numbers]
    ) -> None:
        """Writes the orbit's labels and orientations into boards."""
        orbit = self.orbit
        turns = self._outer_turned
        blocks = self.arrangements.rows[digits["arrangement", 0] if self.part.in_line else outer // turns]
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
        if self.turns is not None:
            number = outer % turns if self.outer_turns is not None else digits["turns", 0]
            turned = self.turns.rows(number) - orbit.reference + orbit.piece_reference[labels]
            boards[:, slots + orbit.slots] = turned % orbit.modulus

    def outer_images(self, action: Action, blocks_to: NDArray[np.int8] | None) -> Numbers:
        """What the action makes of each outer number. ``blocks_to``: of each block; None: itself."""
        if self.part.in_line:
            return np.zeros(1, dtype=np.int64)
        blocks, turned = self.outer_rows()
        if self.outer_turns is not None:
            turned = (action.sign * turned + action.turn - self.off(action)[blocks]) % self.orbit.modulus
        there = blocks if blocks_to is None else blocks_to[blocks]
        return self.outer_numbers(moved(there, action.to), moved(turned.astype(np.int8), action.to))


@dataclass(frozen=True, slots=True)
class Digit:
    """An inner digit: of part ``part`` the arrangement, the order of the pieces of ``block``, or the orientations."""

    part: int
    kind: str
    size: int
    block: int = 0


class PermutationCut(Cut):
    """A permutation puzzle's states, in parts."""

    def __init__(self, plain: PermutationBoards, maps: Sequence[Conjugation], parts: Sequence[Part]) -> None:
        self.maps = maps
        self._definition, self._fixed = plain.definition, plain.origins[0]
        self._parts = [
            _PartCut(
                Orbit(
                    plain.definition,
                    part.orbit,
                    self._fixed,
                    plain.moves_toward,  # a step pulls: the moves away from the origin are undone
                    maps,
                    twist_sum(plain.definition, part.orbit, plain.origins),
                ),
                part,
            )
            for part in parts
        ]
        self.pulls = len(plain.moves_toward)
        self.outer = prod(part.outer for part in self._parts)
        digits = [digit for number, part in enumerate(self._parts) for digit in _digits(number, part)]
        digits.sort(key=self._is_word)
        self.line = [digit.size for digit in digits if not self._is_word(digit)]
        self.word = digits[-1].size if digits and self._is_word(digits[-1]) else 1
        self._digits = digits
        self._place = {(digit.part, digit.kind, digit.block): place for place, digit in enumerate(digits)}

    def _is_word(self, digit: Digit) -> bool:
        return digit.kind == "turns" and self._parts[digit.part].part.turns == "word"

    def outer_images(self, symmetry: int) -> Numbers:
        return self._outer_images(
            [
                part.outer_images(part.orbit.symmetries[symmetry], part.block_images[symmetry])
                for part in self._parts
            ]
        )

    def outer_pulls(self, pull: int) -> Numbers:
        return self._outer_images([part.outer_images(part.orbit.pulls[pull], None) for part in self._parts])

    def _outer_images(self, images: Sequence[Numbers]) -> Numbers:
        """Of the images of the parts' numbers those of the outer numbers."""
        found = np.zeros(1, dtype=np.int64)
        for part, image in zip(self._parts, images, strict=True):
            found = (found[:, None] * part.outer + image).ravel()
        return found

    def _outer_digit(self, number: Numbers, part: int) -> Numbers:
        """The part's digit of outer numbers."""
        return number // prod(each.outer for each in self._parts[part + 1 :]) % self._parts[part].outer

    def digit_images(self, place: int, outer: Numbers, pull: int | None, symmetry: int) -> DigitImages:
        none = np.zeros((len(outer), 0), dtype=np.int8)
        if place == len(self._digits):  # no digit is the word's
            return DigitImages((), none, place, lambda _: np.zeros(1, dtype=np.int64))
        digit = self._digits[place]
        part = self._parts[digit.part]
        action = part.orbit.after(pull, symmetry)
        if digit.kind == "arrangement":
            to = part.block_images[symmetry]
            return DigitImages(
                (pull, symmetry),
                none,
                place,
                lambda _: part.arrangements.numbers(moved(to[part.arrangements.rows], action.to)),
            )
        blocks = part.blocks_of(self._outer_digit(outer, digit.part))
        if digit.kind == "turns":
            assert part.turns is not None
            turns = part.turns

            def turned(off: Rows) -> Numbers:
                rows = action.sign * turns.rows(np.arange(turns.size)) + action.turn - off
                return turns.numbers(moved((rows % part.orbit.modulus).astype(np.int8), action.to))

            return DigitImages((pull, symmetry), part.off(action)[blocks], place, turned)
        goes = action.to[np.nonzero(blocks == digit.block)[1].reshape(len(outer), -1)]
        there = int(part.block_images[symmetry][digit.block])
        labels = part.order_images[symmetry][digit.block][part.orders[digit.block].rows]
        return DigitImages(
            symmetry,
            np.argsort(np.argsort(goes, axis=1), axis=1),
            self._place[digit.part, digit.kind, there],
            lambda places: part.orders[there].numbers(moved(labels, places)),
        )

    def split(self, boards: NDArray[np.uint8]) -> tuple[Numbers, Numbers]:
        outer = np.zeros(len(boards), dtype=np.int64)
        digits = np.zeros((len(boards), len(self.line) + 1), dtype=np.int64)
        for number, part in enumerate(self._parts):
            labels, turned = part.split(boards, self._definition.slots)
            outer = outer * part.outer + part.outer_numbers(part.block_of[labels], turned)
            for name, value in part.inner(labels, turned).items():
                if (number, *name) in self._place:
                    digits[:, self._place[number, *name]] = value
        return outer, digits

    def joined(self, outer: Numbers, digits: Numbers) -> NDArray[np.uint8]:
        slots = self._definition.slots
        boards = np.zeros((len(outer), self._definition.cells), dtype=np.uint8)
        boards[:, :slots] = self._fixed[:slots]
        for number, part in enumerate(self._parts):
            own = {
                (kind, block): digits[:, place]
                for (of, kind, block), place in self._place.items()
                if of == number
            }
            part.write(boards, slots, self._outer_digit(outer, number), own)
        return boards


def _digits(number: int, part: _PartCut) -> list[Digit]:
    found = [Digit(number, "arrangement", len(part.arrangements))] if part.part.in_line else []
    if not part.part.in_line:
        found += [
            Digit(number, "order", len(orders), block)
            for block, orders in enumerate(part.orders)
            if len(orders) > 1
        ]
    if part.turns is not None and part.part.turns in ("line", "word"):
        found.append(Digit(number, "turns", part.turns.size))
    return found


def reduced_space(puzzle: Puzzle, origin: Origin, order: int | None = None) -> RepresentativeSpace | None:
    """The space of representatives by all symmetries that fix the origin, or by a group of ``order`` of them.

    None where there is none: the origin is several boards, pieces hold the puzzle or are ignored, there are too many
    moves to know its symmetries, or no digit fills the bits of a line.
    """
    plain = PermutationBoards(puzzle, origin, origin_boards(puzzle, origin))
    all_maps = slot_symmetries(plain.definition, plain.origins)
    if all_maps is None:
        return None
    maps = all_maps if order is None else subgroup(all_maps, order)
    if maps is None:
        return None
    # Blocks that all symmetries keep are kept by some of them.
    choices = layouts(plain.definition, plain.origins, all_maps)
    if not choices:
        return None
    return RepresentativeSpace(plain, PermutationCut(plain, maps, choices[0]), undirected=plain.undirected)
