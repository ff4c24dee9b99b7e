"""Keys of arrangements, by the stored key layout: slots of pieces from keys, and keys from slots.

The layout places the classes of pieces one after another into the slots that are still free. Class j, put
in the free places p1 < ... < pk (counted among the free slots, from 0), has the digit C(p1,1) + ... + C(pk,k)
of radix C(free, k); the digits, first class first, are the mixed radix number ``full``. Without parity the
key is ``full``. With parity (every piece distinct, one blank) the digits of a board that has a key sum to
``parity[slot of the blank]`` modulo 2; the last digit that can vary has two values, follows from the others,
and is dropped: the key is ``full >> 1``.

In blocks, boards are held piece by piece: ``slots[i, n]`` (uint8) is the slot of piece i in board n; pieces
are in class order and, as they come from a key, ascending within a class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.puzzle import Origin, Puzzle

Slots = NDArray[np.uint8]
Keys = NDArray[np.unsignedinteger[Any]]

_MOST_CELLS = 255
_MOST_KEYS = 2**63


class LayoutError(ValueError):
    """The stored key layout is malformed or is not one of the puzzle's; ``str(error)`` says how."""


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

    # One board at a time, in plain Python: label per cell.

    def board(self, key: int) -> tuple[int, ...]:
        """The board of a key in 0 <= key < keys, as a label per cell."""
        if self.parity is None:
            return self._arrange(key)[0]
        for full in (2 * key, 2 * key + 1):
            board, digit_sum = self._arrange(full)
            if digit_sum % 2 == self._parity_of(board):
                return board
        raise AssertionError("one of the two values of the dropped digit has the right parity")

    def key(self, board: Sequence[int]) -> int | None:
        """The key of a board (label per cell), or None if its parity is the one without keys."""
        free = list(range(self.cells))
        full = digit_sum = 0
        for label, radix in zip(self.classes, self.radices, strict=True):
            places = [place for place, slot in enumerate(free) if board[self.cell_of_slot[slot]] == label]
            digit = sum(comb(place, i) for i, place in enumerate(places, 1))
            full = full * radix + digit
            digit_sum += digit
            free = [slot for slot in free if board[self.cell_of_slot[slot]] != label]
        if self.parity is None:
            return full
        return full >> 1 if digit_sum % 2 == self._parity_of(board) else None

    def _arrange(self, full: int) -> tuple[tuple[int, ...], int]:
        digits = []
        for radix in reversed(self.radices):
            full, digit = divmod(full, radix)
            digits.append(digit)
        digits.reverse()
        board = [0] * self.cells
        free = list(range(self.cells))
        for label, count, digit in zip(self.classes, self.counts, digits, strict=True):
            rest = digit
            for i in range(count, 0, -1):
                place = max(p for p in range(i - 1, len(free)) if comb(p, i) <= rest)
                rest -= comb(place, i)
                board[self.cell_of_slot[free.pop(place)]] = label
        return tuple(board), sum(digits)

    def _parity_of(self, board: Sequence[int]) -> int:
        assert self.parity is not None
        return self.parity[self.slot_of_cell[list(board).index(0)]]

    # Blocks of boards.

    def unrank(self, first: int, last: int) -> Slots:
        """Slots of all pieces of the boards with keys first to last - 1: (cells, last - first)."""
        return self.slots(np.arange(first, last, dtype=self.key_type))

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
                place = slots[i] - _below(slots[:start], slots[i]) if start else slots[i]
                if end - start == 1:
                    keys += place
                else:
                    keys += self._choose[place, _below(slots[start:end], slots[i]) + np.uint8(1)]
        return keys


def _below(slots: Slots, limit: Slots) -> Slots:
    """How many of the pieces stand in a lower slot than ``limit``, board by board."""
    below: Slots = np.add.reduce((slots < limit).view(np.uint8), axis=0, dtype=np.uint8)
    return below


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


# --- Legal moves of a sliding puzzle, as paths of cells, computed from its definition alone.
#
# A path (c0, c1, ..., ck) is the move that applies where c0 holds the blank and c1 ... ck hold pieces: the piece in
# each cell goes to the cell before it, and ck becomes blank. The same path read backwards takes the move back.

Path = tuple[int, ...]


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


# --- The local proof over one block of keys: each state against its neighbours one move toward the origin.
#
# Let d be the stored distances and N(v) the boards one move from v toward the origin. If d = 0 exactly at the
# origin, min over N(v) of d is d(v) - 1 for every other reached v, and no unreached v has a reached board in N(v),
# then by induction on d the reached states are exactly those joined to the origin, and d is their distance.

Distances = NDArray[np.unsignedinteger[Any]]
Mask = NDArray[np.bool_]
Template = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: how many states were checked, how many are wrong, and the first wrong key."""

    checked: int
    failed: int
    first: int | None

    def merge(self, later: "Finding") -> "Finding":
        """This finding and that of a block with greater keys as one."""
        first = later.first if self.first is None else self.first
        return Finding(self.checked + later.checked, self.failed + later.failed, first)


@dataclass(frozen=True, slots=True)
class BlockResult:
    """``counts[d]``: states of the block at distance d, the unreachable last. ``findings``: by check name."""

    counts: NDArray[np.int64]
    findings: dict[str, Finding]


@dataclass(frozen=True, slots=True)
class Proof:
    """What every block is checked against; read only, shared by the threads.

    ``distances`` are those of all keys; ``paths`` lead one move toward the origin; ``origins`` are boards
    (a label per cell), perhaps with wildcards; ``depth`` is the last layer of a map with limited depth, else
    None.
    """

    ranking: Ranking
    distances: Distances
    paths: Sequence[Path]
    origins: Sequence[Template]
    depth: int | None

    @property
    def unreachable(self) -> int:
        """The value that stands for no distance: 255 or 65535."""
        return int(np.iinfo(self.distances.dtype).max)

    def check(self, first: int, last: int) -> BlockResult:
        """Check the states with keys first <= key < last."""
        slots = self.ranking.unrank(first, last)
        own = self.distances[first:last]
        nearest = self._nearest_neighbour(slots)
        reached = own != self.unreachable
        at_origin = self._at_origin(slots)
        counts = np.bincount(own, minlength=self.unreachable + 1)

        findings = {}

        def look(name: str, checked: int, wrong: Mask) -> None:
            failed = int(np.count_nonzero(wrong))
            findings[name] = Finding(checked, failed, first + int(wrong.argmax()) if failed else None)

        states = int(np.count_nonzero(reached))
        later = reached & ~at_origin
        # At distance 0, own - 1 wraps round to the largest value: such a state off the origin fails "origin".
        before = own - self.distances.dtype.type(1)
        look("origin", len(own), (own == 0) != at_origin)
        look("nearer", states - int(counts[0]), later & (nearest > before))
        look("jump", states - int(counts[0]), later & (own != 0) & (nearest < before))
        stop = self.unreachable if self.depth is None else self.depth
        look("closed", len(own) - states, ~reached & (nearest < stop))
        if self.depth is not None:
            look("depth", states, reached & (own > self.depth))
        return BlockResult(counts, findings)

    def _nearest_neighbour(self, slots: Slots) -> Distances:
        """The least distance among the neighbours of each board; ``unreachable`` where there is none."""
        nearest = np.full(slots.shape[1], self.unreachable, dtype=self.distances.dtype)
        blanks = slots[: self.ranking.starts[1]]
        # Keys place the blanks first, so in most blocks all boards have them in the same cells, and a move applies to
        # all boards or to none.
        if (blanks[:, 0] == blanks[:, -1]).all():
            blanks = blanks[:, :1]
        for path in self.paths:
            route = [self.ranking.slot_of_cell[cell] for cell in path]
            applies = (blanks == route[0]).any(axis=0)
            for slot in route[1:]:
                applies &= ~(blanks == slot).any(axis=0)
            if not applies.any():
                continue
            if applies.all():
                np.minimum(nearest, self._distances_after(slots, route), out=nearest)
            else:
                after = self._distances_after(slots[:, applies], route)
                nearest[applies] = np.minimum(nearest[applies], after)
        return nearest

    def _distances_after(self, slots: Slots, route: list[int]) -> Distances:
        """The distances of the boards that a move makes of these, to all of which it applies."""
        before = slots[: self.ranking.ranked]
        after = before.copy()
        for source, target in zip(route, route[-1:] + route[:-1], strict=True):
            # A piece in slot `source` goes to `target`: as a change of bits, so that it needs no branch.
            after ^= (before == source).view(np.uint8) * np.uint8(source ^ target)
        return self.distances[self.ranking.rank(after)]

    def _at_origin(self, slots: Slots) -> Mask:
        """Which boards are origins; a wildcard stands for any piece."""
        found = np.zeros(slots.shape[1], dtype=np.bool_)
        for template in self.origins:
            candidates: NDArray[np.intp] | None = None
            for slot, pieces in self._demands(template):
                if candidates is None:
                    candidates = np.flatnonzero((slots[pieces] == slot).any(axis=0))
                else:
                    candidates = candidates[(slots[pieces, candidates] == slot).any(axis=0)]
                if not candidates.size:
                    break
            found[candidates] = True
        return found

    def _demands(self, template: Template) -> list[tuple[int, slice]]:
        """The slots that a template fills, blanks first, each with the rows of the pieces that fit."""
        ranking = self.ranking
        return [
            (ranking.slot_of_cell[cell], slice(ranking.starts[j], ranking.starts[j + 1]))
            for j, label in enumerate(ranking.classes)
            for cell, content in enumerate(template)
            if content == label
        ]
