"""Sliding puzzles: boards by a ranking of its own, moves as paths of cells.

The layout places the classes of pieces one after another into the slots that are still free. Class j, put in the free
places p1 < ... < pk (counted among the free slots, from 0), has the digit C(p1,1) + ... + C(pk,k) of radix C(free, k);
the digits, first class first, are the mixed radix number ``full``. Without parity the key is ``full``. With parity
(every piece distinct, one blank) the digits of a board that has a key sum to ``parity[slot of the blank]`` modulo 2.
The last digit that can vary has two values, follows from the others, and is dropped: the key is ``full >> 1``.

Boards are held piece by piece: ``slots[i, n]`` (uint8) is the slot of piece i in board n; pieces are in class order
and, as they come from a key, ascending within a class.

A path (c0, c1, ..., ck) is the move that applies where c0 holds the blank and c1 ... ck hold pieces: the piece in each
cell goes to the cell before it, and ck becomes blank. The same path read backwards takes the move back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb, prod
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import (
    NO_KEY,
    Boards,
    CodedModel,
    LayoutError,
    Packed,
    joined,
    pieces_below,
    trailing_products,
)

Slots = NDArray[np.uint8]
Keys = NDArray[np.unsignedinteger[Any]]
Path = tuple[int, ...]

_MOST_CELLS = 255
_MOST_KEYS = 2**63


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> PackedSliding | SlidingModel:
    """See models."""
    return (PackedSliding if layout.get("kind") == "packed" else SlidingModel)(puzzle, origin, layout)


class SlidingMoves:
    """The moves of a Model. ``paths``: those from a board to the boards that may be one nearer to the origin."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self.definition = sliding(puzzle)
        self.paths = paths_toward_origin(puzzle, origin)
        self.templates: list[Board] = list(origin_patterns(self.definition, origin.where, puzzle.name))
        """The boards at distance 0; goals may hold wildcards."""

    def origins(self) -> Boards:
        boards = [board for template in self.templates for board in self.filled(template)]
        return np.array(boards, dtype=np.uint8)

    def filled(self, template: Board) -> Iterator[Board]:
        """The boards that a template stands for."""
        if WILDCARD not in template:
            yield template
            return
        at = template.index(WILDCARD)
        for label, count in enumerate(self.definition.counts):
            if template.count(label) < count:
                yield from self.filled((*template[:at], label, *template[at + 1 :]))

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        return self.moved(boards, [path[::-1] for path in self.paths])

    def moved(self, boards: Boards, paths: Sequence[Path]) -> tuple[NDArray[np.intp], Boards]:
        """What the moves of these paths make of boards, and of which."""
        parts = []
        for path in paths:
            legal = boards[:, path[0]] == 0
            for cell in path[1:]:
                legal &= boards[:, cell] != 0
            rows = np.flatnonzero(legal)
            after = boards[rows]
            after[:, list(path)] = boards[rows][:, [*path[1:], path[0]]]
            parts.append((rows, after))
        return joined(parts, boards.shape[1])


class PackedSliding(SlidingMoves, CodedModel):
    """The model of packed codes: the labels, cell by cell."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        counts = self.definition.counts
        total = sum(label * count for label, count in enumerate(counts))
        self.coder = Packed(layout, [len(counts)] * sum(counts), total)

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        return boards.astype(np.int64)

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        return contents.astype(np.uint8)


class SlidingModel(SlidingMoves):
    """The model of ranked keys."""

    code_bytes = 8

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        self.ranking = Ranking(layout, self.definition.counts)
        self.keys: int | None = self.ranking.keys
        self._place_of = np.zeros(256, dtype=np.uint8)  # of a label among the layout's classes
        self._place_of[self.ranking.classes] = range(len(self.ranking.classes))

    @property
    def block_sizes(self) -> list[int]:
        return trailing_products(self.ranking.radices, halved=self.ranking.parity is not None)

    def codes(self, boards: Boards) -> NDArray[np.uint64]:
        cells = np.argsort(self._place_of[boards], axis=1, kind="stable")
        slots = np.array(self.ranking.slot_of_cell, dtype=np.uint8)[cells].T
        codes: NDArray[np.uint64] = self.ranking.rank(slots[: self.ranking.ranked]).astype(np.uint64)
        codes[(self.boards(codes) != boards).any(axis=1)] = NO_KEY  # of the parity that has no keys
        return codes

    def boards(self, codes: NDArray[Any]) -> Boards:
        return self.ranking.boards(np.where(codes < self.ranking.keys, codes, 0).astype(np.int64))


def paths_toward_origin(puzzle: Puzzle, origin: Origin) -> list[Path]:
    """The moves from a board to the boards that may be one nearer to the origin.

    Where distances are counted to the origin these are the legal moves; where they are counted from it, the
    legal moves taken back.
    """
    definition = sliding(puzzle)
    paths = _slides(definition) if puzzle.metric == "slide" else _steps(definition)
    if origin.direction == "from":
        paths = {path[::-1] for path in paths}
    return sorted(paths)


def _steps(definition: Sliding) -> set[Path]:
    """One piece into a neighbouring blank: either way along an edge, forward along an arc."""
    if definition.rows:
        return {path for path in _slides(definition) if len(path) == 2}
    return set(definition.edges) | {(b, a) for a, b in definition.edges + definition.arcs}


def _slides(definition: Sliding) -> set[Path]:
    """Pieces in a straight row or column with no wall among them, each one cell toward the blank."""
    lines = [list(row) for row in definition.rows] + [
        list(column) for column in zip(*definition.rows, strict=True)
    ]
    paths: set[Path] = set()
    for line in lines + [line[::-1] for line in lines]:
        for start in range(len(line)):
            path: Path = ()
            for cell in line[start:]:
                if cell < 0:
                    break
                path += (cell,)
                if len(path) > 1:
                    paths.add(path)
    return paths


class Ranking:
    """The bijection between keys and boards that a key layout describes.

    ``counts`` is the puzzle's own number of pieces per label, which the layout must agree with.
    Raises LayoutError.
    """

    def __init__(self, layout: Mapping[str, Any], counts: Sequence[int]) -> None:
        self.cells = sum(counts)
        self.cell_of_slot, self.classes, self.parity = _read(layout, counts)
        self.slot_of_cell = [0] * self.cells
        for slot, cell in enumerate(self.cell_of_slot):
            self.slot_of_cell[cell] = slot
        self.counts = [counts[label] for label in self.classes]
        self.starts = [sum(self.counts[:j]) for j in range(len(self.counts) + 1)]
        self.radices = [
            comb(self.cells - start, count) for start, count in zip(self.starts, self.counts, strict=False)
        ]
        self.arrangements = prod(self.radices)
        self.keys = self.arrangements if self.parity is None else self.arrangements // 2
        if self.keys >= _MOST_KEYS:
            raise LayoutError(f"the layout has {self.keys:,} keys; expected fewer than 2**63")
        # The last class takes the slots that are left (digit 0); with parity the digit before it is dropped.
        self.digits = len(self.classes) - (1 if self.parity is None else 2)
        self.ranked = self.starts[self.digits]
        self.key_type: np.dtype[Any] = np.dtype(np.uint32 if self.keys < 2**32 - 1 else np.uint64)
        # choose[n, k] = C(n, k), cut off above every digit that can occur.
        most = int(np.iinfo(self.key_type).max)
        self._choose = np.array(
            [[min(comb(n, k), most) for k in range(max(self.counts) + 1)] for n in range(self.cells)],
            dtype=self.key_type,
        )

    def boards(self, keys: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
        """The boards of keys, a label per cell: (keys, cells)."""
        slots = self.slots(keys)
        boards = np.empty((len(keys), self.cells), dtype=np.uint8)
        labels = np.repeat(np.array(self.classes, dtype=np.uint8), self.counts)
        cells = np.array(self.cell_of_slot)[slots.T]
        np.put_along_axis(boards, cells, np.broadcast_to(labels, cells.shape), axis=1)
        return boards

    def slots(self, keys: NDArray[np.integer[Any]]) -> Slots:
        """Slots of all pieces of the boards of keys, each in 0 <= key < ``self.keys``: (cells, keys)."""
        slots = np.empty((self.cells, len(keys)), dtype=np.uint8)
        rest = keys.astype(self.key_type)
        digit_sum = np.zeros(len(keys), dtype=np.uint8)
        for j in reversed(range(self.digits)):
            above = rest // self.key_type.type(self.radices[j])
            digit = rest - above * self.key_type.type(self.radices[j])
            rest = above
            self._places(j, digit, slots)
            if self.parity is not None:
                digit_sum += slots[j]
        if self.parity is not None:
            expected = np.array(self.parity, dtype=np.uint8)[slots[0]]
            slots[self.digits] = (digit_sum ^ expected) & 1
        slots[self.starts[-2] :] = np.arange(self.counts[-1], dtype=np.uint8)[:, None]
        # From places among the free slots to slots: each slot that an earlier class takes shifts the later places up.
        for j in reversed(range(len(self.classes) - 1)):
            later = slots[self.starts[j + 1] :]
            for i in range(self.starts[j], self.starts[j + 1]):
                later += (later >= slots[i]).view(np.uint8)
        return slots

    def _places(self, j: int, digit: Keys, slots: Slots) -> None:
        """Write the places of class j among the free slots, ascending; overwrites ``digit``."""
        start, count = self.starts[j], self.counts[j]
        if count == 1:
            slots[start] = digit
            return
        free = self.cells - start
        for i in range(count, 0, -1):
            # The largest place p with C(p, i) <= digit; C(i - 1, i) = 0 always is.
            place = slots[start + i - 1]
            place[:] = i - 1
            for p in range(i, free):
                place += (digit >= self._choose[p, i]).view(np.uint8)
            digit -= self._choose[:, i][place]

    def rank(self, slots: Slots) -> Keys:
        """Keys of boards given by the slots of their first ``ranked`` pieces; order within a class is free.

        Boards whose parity has no keys get the key of their neighbour of the other parity: the caller
        has to know that they cannot occur.
        """
        keys = np.zeros(slots.shape[1], dtype=self.key_type)
        for j in range(self.digits):
            start, end = self.starts[j], self.starts[j + 1]
            keys *= self.key_type.type(self.radices[j])
            for i in range(start, end):
                place = slots[i] - pieces_below(slots[:start], slots[i]) if start else slots[i]
                if end - start == 1:
                    keys += place
                else:
                    keys += self._choose[place, pieces_below(slots[start:end], slots[i]) + np.uint8(1)]
        return keys


def _read(layout: Mapping[str, Any], counts: Sequence[int]) -> tuple[list[int], list[int], list[int] | None]:
    """The slots, classes and parity bits of a layout. Raises LayoutError unless they fit the puzzle."""
    cells = sum(counts)
    if layout.get("version") != 1:
        raise LayoutError(f"the key layout has version {layout.get('version')!r}; expected 1")
    if not 1 <= cells <= _MOST_CELLS:
        raise LayoutError(f"the puzzle has {cells} cells; expected 1 to {_MOST_CELLS}")
    # JSON gives lists; a layout that was not yet stored may hold tuples.
    slots, classes, found, parity = (
        list(value) if isinstance(value, tuple) else value
        for value in map(layout.get, ("slots", "classes", "counts", "parity"))
    )
    if not _is_permutation(slots, cells):
        raise LayoutError(f"the layout's slots are {slots!r}; expected each cell from 0 to {cells - 1} once")
    if not _is_permutation(classes, len(counts)) or classes[0] != 0:
        raise LayoutError(
            f"the layout's classes are {classes!r}; "
            f"expected each label from 0 to {len(counts) - 1} once, 0 first"
        )
    expected = [counts[label] for label in classes]
    if found != expected:
        raise LayoutError(f"the layout's counts are {found!r}; the puzzle has {expected}")
    if parity is None:
        return slots, classes, None
    if max(counts) > 1 or cells < 3:
        raise LayoutError("the layout has parity bits; that needs three or more pieces, all distinct")
    if not isinstance(parity, list) or len(parity) != cells or any(bit not in (0, 1) for bit in parity):
        raise LayoutError(f"the layout's parity is {parity!r}; expected {cells} bits")
    return slots, classes, parity


def _is_permutation(values: Any, size: int) -> TypeGuard[list[int]]:
    return (
        isinstance(values, list)
        and all(type(value) is int for value in values)
        and sorted(values) == list(range(size))
    )
