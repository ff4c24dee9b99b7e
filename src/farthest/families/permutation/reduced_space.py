"""Spaces of representatives: of the states that symmetries take to each other, those of one outer number are kept.

A state is an *outer number*, which of the pieces' blocks is in each slot, and inner digits: the order of the pieces of
a block in their slots, arrangements and orientations that depend on no other digit. What a move or a symmetry makes of
the outer number depends on it alone, so of the outer numbers that symmetries take to each other one has a shard, the
least (H. Kociemba's coordinates reduced by symmetry; docs/symmetry.md). A key of a shard stands for as many states as
there are such outer numbers: its *weight*. The kernel's part is kernel/include/farthest/reduced.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from farthest import _kernel
from farthest.families.permutation.definition import Permutation
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
    subgroup,
)
from farthest.spaces.contract import REPRESENTATIVES, check_version, damaged_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.symmetries import Conjugation
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.spaces.contract import EngineKind

    Numbers = NDArray[np.int64]
    Rows = NDArray[np.int8]
    """Shape (boards, slots of an orbit)."""

VERSION = 1


def moved(rows: Rows, to: NDArray[np.intp]) -> Rows:
    """What is in slot i goes to slot ``to[i]``."""
    found = np.empty_like(rows)
    found[:, to] = rows
    return found


class _PartSpace:
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

    def blocks_of(self, outer: int) -> Rows:
        """The block of the piece in each slot, by its part of the outer number; where that tells none, the first's."""
        if self.part.in_line:
            return np.zeros(self.orbit.size, dtype=np.int8)
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

    def images(self, labels: Rows, turned: Rows, symmetry: Numbers) -> tuple[Rows, Rows]:
        """The images of boards, each by its symmetry."""
        to, names, sign, turn, off = self._stacked
        if self.orbit.turns:
            turned = (
                sign[symmetry] * turned
                + turn[symmetry]
                - np.take_along_axis(off[symmetry], labels.astype(np.intp), 1)
            )
            turned = (turned % self.orbit.modulus).astype(np.int8)
        renamed = np.take_along_axis(names[symmetry], labels.astype(np.intp), 1)
        found, after = np.empty_like(labels), np.empty_like(turned)
        np.put_along_axis(found, to[symmetry], renamed, 1)
        np.put_along_axis(after, to[symmetry], turned, 1)
        return found, after

    @cached_property
    def _stacked(self) -> tuple[Any, ...]:
        actions = self.orbit.symmetries
        return tuple(
            np.array([getattr(a, name) for a in actions]) for name in ("to", "labels", "sign", "turn", "off")
        )

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


class ReducedSpace(PermutationBoards):
    """The space of representatives of a permutation puzzle. ``maps``: the symmetries, a group, the identity first."""

    engine: EngineKind = "gather"

    def __init__(
        self,
        puzzle: Puzzle,
        origin: Origin,
        origins: list[Board],
        maps: Sequence[Conjugation],
        parts: Sequence[Part],
    ) -> None:
        super().__init__(puzzle, origin, origins)
        self.maps = maps
        definition = self.definition
        self._parts = [
            _PartSpace(
                Orbit(
                    definition,
                    part.orbit,
                    origins[0],
                    self.moves_toward,  # a step pulls: the moves away from the origin are undone
                    maps,
                    twist_sum(definition, part.orbit, origins),
                ),
                part,
            )
            for part in parts
        ]
        inner = [digit for number, part in enumerate(self._parts) for digit in _digits(number, part)]
        word = [digit for digit in inner if self._is_word(digit)]
        self._word = word[0] if word else None
        self._line = [digit for digit in inner if digit is not self._word]
        self.bits, self.words_per_line = _word_of(self._word.size if self._word else 1)
        self._weights = [prod(digit.size for digit in self._line[i + 1 :]) for i in range(len(self._line))]
        self.lines = prod(digit.size for digit in self._line)
        self._find_shards()

    def _is_word(self, digit: Digit) -> bool:
        return digit.kind == "turns" and self._parts[digit.part].part.turns == "word"

    def _find_shards(self) -> None:
        radices = [part.outer for part in self._parts]
        count = prod(radices)
        least = np.arange(count)
        symmetry = np.zeros(count, dtype=np.int64)
        size = np.zeros(count, dtype=np.int64)
        for number in range(len(self.maps)):
            image = self._outer_images(
                [
                    part.outer_images(part.orbit.symmetries[number], part.block_images[number])
                    for part in self._parts
                ]
            )
            less = image < least
            least[less], symmetry[less] = image[less], number
            size += image == np.arange(count)
        self.representatives, self._shard = np.unique(least, return_inverse=True)
        self._symmetry = symmetry
        """Of each outer number its shard, and the first symmetry that takes it to the shard's."""
        self.weights = len(self.maps) // size[self.representatives]

    def _outer_images(self, images: Sequence[Numbers]) -> Numbers:
        """Of the images of the parts' numbers those of the outer numbers."""
        found = np.zeros(1, dtype=np.int64)
        for part, image in zip(self._parts, images, strict=True):
            found = (found[:, None] * part.outer + image).ravel()
        return found

    @property
    def keys(self) -> int:
        return len(self.representatives) * self.lines * self.bits * self.words_per_line

    @cached_property
    def kernel(self) -> _kernel.Space:
        return self.compile_kernel()

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.Space:
        pulls = range(len(self._parts[0].orbit.pulls))
        images = [
            self._outer_images([part.outer_images(part.orbit.pulls[pull], None) for part in self._parts])
            for pull in pulls
        ]
        outer = self._outer_digits(self.representatives)
        tables = _Tables(self, outer)
        sources, maps, terms = [], [], []
        for shard, number in enumerate(self.representatives.tolist()):
            for pull in pulls:
                there = int(images[pull][number])
                symmetry = int(self._symmetry[there])
                sources.append(int(self._shard[there]))
                maps.append(tables.bits(shard, pull, symmetry))
                terms += tables.terms(shard, pull, symmetry)
        first = np.arange(0, len(sources) + 1, len(pulls), dtype=np.uint64)
        return _kernel.ReducedSpace(
            self.words_per_line,
            self.bits,
            [
                (digit.size, np.array(lists, dtype=np.uint32).ravel())
                for digit, lists in zip(self._line, tables.lists, strict=True)
            ],
            first,
            np.array(sources, dtype=np.uint32),
            np.array(maps, dtype=np.uint32),
            np.array(terms, dtype=np.uint32),
            self.weights.astype(np.uint32),
            tables.maps,
            self.undirected,
            isa,
        )

    @property
    def order(self) -> int:
        """The number of symmetries."""
        return len(self.maps)

    def layout_fields(self) -> dict[str, Any]:
        return {"version": VERSION, "kind": REPRESENTATIVES, "symmetries": self.order}

    def shards_at(self, shard_classes: int) -> int:
        """One for each class of outer numbers, at every level."""
        return len(self.representatives)

    def shard_order(self, shards: int) -> Sequence[int]:
        return range(shards)

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        return [int(key) for key in self.encode(np.array(boards, dtype=np.uint8))]

    def images(self, boards: NDArray[np.uint8], most: int | None = None) -> NDArray[np.uint8]:
        """The boards, uint8 (N, cells), that symmetries take the boards to, each once, in the order of their cells;
        ``most`` of them, where there are more. Takes memory for two times as many."""
        step = len(boards) if most is None else most // self.order + 1
        found = boards[:0]
        for first in range(0, len(boards), step):
            part = boards[first : first + step]
            found = np.unique(np.concatenate([found, *(each.images(part) for each in self.maps)]), axis=0)
            if most is not None and len(found) >= most:
                return found[:most]
        return found

    def _outer_digits(self, numbers: Numbers) -> list[Numbers]:
        """Of each part the digit of the outer numbers."""
        found: list[Numbers] = []
        for part in reversed(self._parts):
            found.insert(0, numbers % part.outer)
            numbers = numbers // part.outer
        return found

    def encode(self, boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
        rows = np.ascontiguousarray(boards, dtype=np.uint8).reshape(-1, self.cells)
        split = [part.split(rows, self.definition.slots) for part in self._parts]
        outer = np.zeros(len(rows), dtype=np.int64)
        for part, (labels, turned) in zip(self._parts, split, strict=True):
            outer = outer * part.outer + part.outer_numbers(part.block_of[labels], turned)
        symmetry = self._symmetry[outer]
        digits: dict[tuple[int, str, int], Numbers] = {}
        for number, (part, (labels, turned)) in enumerate(zip(self._parts, split, strict=True)):
            digits |= {
                (number, *name): value
                for name, value in part.inner(*part.images(labels, turned, symmetry)).items()
            }
        line = np.zeros(len(rows), dtype=np.int64)
        for digit in self._line:
            line = line * digit.size + digits[digit.part, digit.kind, digit.block]
        bit = 0 if self._word is None else digits[self._word.part, self._word.kind, self._word.block]
        keys = (self._shard[outer] * self.lines + line) * (self.bits * self.words_per_line) + bit
        return keys.astype(np.uint64)

    def decode(self, codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        keys = codes.astype(np.int64)
        each = self.bits * self.words_per_line
        line, bit = keys // each, keys % each
        outer = self._outer_digits(self.representatives[line // self.lines])
        line %= self.lines
        digits: dict[tuple[int, str, int], Numbers] = {}
        for digit, weight in zip(self._line, self._weights, strict=True):
            digits[digit.part, digit.kind, digit.block] = line // weight % digit.size
        if self._word is not None:
            digits[self._word.part, self._word.kind, self._word.block] = bit
        boards = np.zeros((len(keys), self.cells), dtype=np.uint8)
        boards[:, : self.definition.slots] = self.origins[0][: self.definition.slots]
        for number, part in enumerate(self._parts):
            own = {(kind, block): value for (of, kind, block), value in digits.items() if of == number}
            part.write(boards, self.definition.slots, outer[number], own)
        return boards


def _digits(number: int, part: _PartSpace) -> list[Digit]:
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


def _word_of(size: int) -> tuple[int, int]:
    """Bits of a word, and words, that hold so many values."""
    bits = next(bits for bits in range(min(size, 64), 0, -1) if size % bits == 0)
    return bits, size // bits


class _Tables:
    """The lists of terms and the maps of bits that links share."""

    def __init__(self, space: ReducedSpace, outer: Sequence[Numbers]) -> None:
        self._space, self._outer = space, outer
        self.lists: list[list[Numbers]] = [[] for _ in space._line]
        self.maps: list[NDArray[np.uint16]] = []
        self._known: dict[Any, int] = {}
        self._place = {(digit.part, digit.kind, digit.block): i for i, digit in enumerate(space._line)}

    def terms(self, shard: int, pull: int, symmetry: int) -> list[int]:
        found = []
        for place, digit in enumerate(self._space._line):
            name, block, values = self._image(digit, shard, pull, symmetry)
            number = self._known.get((place, *name))
            if number is None:
                weight = self._space._weights[self._place[digit.part, digit.kind, block]]
                number = self._known[(place, *name)] = len(self.lists[place])
                self.lists[place].append(values() * weight)
            found.append(number)
        return found

    def bits(self, shard: int, pull: int, symmetry: int) -> int:
        digit = self._space._word
        if digit is None:
            if not self.maps:
                self.maps.append(np.zeros(1, dtype=np.uint16))
            return 0
        name, _, values = self._image(digit, shard, pull, symmetry)
        number = self._known.get(("bits", *name))
        if number is None:
            number = self._known[("bits", *name)] = len(self.maps)
            self.maps.append(values().astype(np.uint16))
        return number

    def _image(
        self, digit: Digit, shard: int, pull: int, symmetry: int
    ) -> tuple[tuple[Any, ...], int, Callable[[], Numbers]]:
        """A name of what becomes of the digit's values, the block whose digit they become, and the values."""
        part = self._space._parts[digit.part]
        action = part.orbit.after(pull, symmetry)
        if digit.kind == "arrangement":
            to = part.block_images[symmetry]
            return (
                (pull, symmetry),
                0,
                lambda: part.arrangements.numbers(moved(to[part.arrangements.rows], action.to)),
            )
        blocks = part.blocks_of(int(self._outer[digit.part][shard]))
        if digit.kind == "turns":
            assert part.turns is not None
            turns, off = part.turns, part.off(action)[blocks]

            def turned() -> Numbers:
                rows = (
                    action.sign * turns.rows(np.arange(turns.size)) + action.turn - off
                ) % part.orbit.modulus
                return turns.numbers(moved(rows.astype(np.int8), action.to))

            return (pull, symmetry, *off.tolist()), 0, turned
        goes = action.to[blocks == digit.block]
        places = np.argsort(np.argsort(goes))
        there = int(part.block_images[symmetry][digit.block])
        labels = part.order_images[symmetry][digit.block]
        return (
            (digit.block, symmetry, *places.tolist()),
            there,
            lambda: part.orders[there].numbers(moved(labels[part.orders[digit.block].rows], places)),
        )


# The choice of a layout


def reduced_space(puzzle: Puzzle, origin: Origin, order: int | None = None) -> ReducedSpace | None:
    """The space of representatives by all symmetries that fix the origin, or by a group of ``order`` of them.

    None where there is none: the origin is several boards, pieces hold the puzzle or are ignored, there are too many
    moves to know its symmetries, or no digit fills the bits of a line.
    """
    origins = origin_boards(puzzle, origin)
    definition = puzzle.defined_as(Permutation)
    all_maps = slot_symmetries(definition, origins)
    if all_maps is None:
        return None
    maps = all_maps if order is None or order == len(all_maps) else subgroup(all_maps, order)
    if maps is None:
        return None
    # Blocks that all symmetries keep are kept by some of them.
    choices = layouts(definition, origins, all_maps)
    return ReducedSpace(puzzle, origin, origins, maps, choices[0]) if choices else None


def stored_reduced(puzzle: Puzzle, origin: Origin, layout: dict[str, Any]) -> ReducedSpace:
    """The space of a stored layout. Raises StorageError."""
    check_version(layout, VERSION)
    order = layout.get("symmetries")
    space = reduced_space(puzzle, origin, order) if isinstance(order, int) else None
    if space is None or space.layout_fields() != layout:
        raise damaged_layout(f"{layout!r}")
    return space
