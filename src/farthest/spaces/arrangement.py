"""Arrangement spaces: labels on cells, permuted by moves. Moves, the layout of keys, boards to keys and back, and one
move's neighbours.

A board is one label for each cell, in cell order, uint8. A key is an unsigned 64-bit integer. Which cell is which slot,
in which order labels are placed, and whether parity halves the keys, says the layout, which is stored with every map
(docs/key-layout.md); the choices made here change speed and memory, never distances.
A move is active on contents (docs/permutations.md): after it, the content of cell i is in cell ``to[i]``.
numpy is imported where it is used: enumerating a puzzle does without it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any, NamedTuple

from farthest import _kernel
from farthest.arrays import np
from farthest.puzzles.definition import Board
from farthest.puzzles.grid import closure
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import check_keys, damaged_layout, kernel_limits, layout_json, read_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.spaces.contract import EngineKind


@dataclass(frozen=True, slots=True)
class Move:
    """A permutation of cells, legal where every cell in the bit mask ``require`` is blank and none in ``forbid`` is.

    ``name`` is (from, to): pieces move so that cell ``from`` becomes blank and cell ``to``, which was, is filled.
    """

    to: tuple[int, ...]
    require: int
    forbid: int
    name: tuple[int, int]

    @property
    def odd(self) -> bool:
        """Whether the permutation is odd."""
        return is_odd([target for cell, target in enumerate(self.to) if target != cell])

    def inverse(self) -> Move:
        """The move that undoes this one, legal exactly on its results."""
        back = [0] * len(self.to)
        for cell, target in enumerate(self.to):
            back[target] = cell
        return Move(
            tuple(back),
            _image(self.require, self.to),
            _image(self.forbid, self.to),
            (self.name[1], self.name[0]),
        )


def is_odd(numbers: Sequence[int]) -> bool:
    """Whether different numbers in this order are an odd permutation of their ascending order."""
    return sum(a > b for a, b in combinations(numbers, 2)) % 2 == 1


def _image(mask: int, to: tuple[int, ...]) -> int:
    return sum(1 << target for cell, target in enumerate(to) if mask >> cell & 1)


VERSION = 1
WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class Layout:
    """Slot i is cell ``slots[i]``; label ``classes[j]`` is placed j-th and occurs ``counts[j]`` times.

    ``parity``: None, or for each slot the parity of the digit sum of boards whose blank is there.
    """

    slots: tuple[int, ...]
    classes: tuple[int, ...]
    counts: tuple[int, ...]
    parity: tuple[int | bool, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """As stored with a job."""
        return {"version": VERSION, **layout_json(self)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any], label_counts: Sequence[int]) -> Layout:
        """Inverse of ``to_dict``. ``label_counts``: of the puzzle, by label. Raises StorageError when the fields are of
        another version, damaged or of another puzzle."""
        layout = read_layout(fields, cls, VERSION)
        if not layout._fits(label_counts):
            raise damaged_layout("it is not one of this puzzle")
        return layout

    def _fits(self, label_counts: Sequence[int]) -> bool:
        """Whether cells and labels are the puzzle's, with the blank first, and parities are parities."""
        cells = sum(label_counts)
        return (
            sorted(self.slots) == list(range(cells))
            and sorted(self.classes) == list(range(len(label_counts)))
            and self.classes[0] == 0
            and self.counts == tuple(label_counts[label] for label in self.classes)
            and (self.parity is None or (len(self.parity) == cells and set(self.parity) <= {0, 1}))
            and (self.parity is None or set(self.counts) == {1})
        )


def choose_layout(
    rows: Sequence[Sequence[int]],
    edges: Sequence[tuple[int, int]],
    counts: Sequence[int],
    moves: Sequence[Move],
    origins: Iterable[Sequence[int]],
    classes: tuple[int, ...] | None = None,
) -> Layout:
    """The layout that enumerates fastest. ``counts`` by label, label 0 the blank; ``edges``: cells that moves join.
    ``classes``: an order of the labels that is kept."""
    slots = _slot_order(rows, edges, sum(counts))
    classes = classes or _class_order(counts)
    layout = Layout(slots, classes, tuple(counts[label] for label in classes), None)
    return Layout(slots, classes, layout.counts, _parities(layout, moves, origins))


def digit_parity(classes: Sequence[int], labels: Sequence[int]) -> bool:
    """Parity of the sum of the key's digits, all labels distinct: that of the permutation label order -> slot.
    ``labels``: of the slots."""
    slot_of = {label: slot for slot, label in enumerate(labels)}
    return is_odd([slot_of[label] for label in classes])


def _slot_order(
    rows: Sequence[Sequence[int]], edges: Sequence[tuple[int, int]], cells: int
) -> tuple[int, ...]:
    """An order of the cells in which moves join near slots: then most moves keep the order of the other pieces."""
    orders: list[list[int]] = [list(range(cells))]
    if rows:
        orders.append([row[c] for c in range(len(rows[0])) for row in rows if row[c] >= 0])
    else:
        near: list[list[int]] = [[] for _ in range(cells)]
        for a, b in edges:
            near[a].append(b)
            near[b].append(a)
        orders.extend(closure(root, near.__getitem__) for root in range(cells))

    def length(order: Iterable[int]) -> int:
        slot = {cell: i for i, cell in enumerate(order)}
        return sum(abs(slot[a] - slot[b]) for a, b in edges)

    return tuple(min(orders, key=length))


def word_labels(counts: Sequence[int], labels: Sequence[int], most: int) -> tuple[int, ...]:
    """At most ``most`` of the labels, those whose arrangements fill a word's 64 bits best, in order of placing."""
    words = [word for word in _words(counts, list(labels)) if len(word) <= most]
    word = max(words, key=lambda chosen: (_word_bits(counts, chosen), chosen))
    return tuple(sorted(word, key=lambda label: (-counts[label], label)))


def _class_order(counts: Sequence[int]) -> tuple[int, ...]:
    """The blank first; last the labels that share a word."""
    pieces = range(1, len(counts))
    word = word_labels(counts, pieces, len(counts))
    rest = sorted(set(pieces) - set(word), key=lambda label: (-counts[label], label))
    return (0, *rest, *word)


def _words(counts: Sequence[int], pieces: list[int]) -> Iterable[tuple[int, ...]]:
    """Sets of labels that fit a word; of labels that occur equally often only the last ones, for fewness."""
    by_count: dict[int, list[int]] = {}
    for label in pieces:
        by_count.setdefault(counts[label], []).append(label)
    partial: list[tuple[int, ...]] = [()]
    for labels in by_count.values():
        partial = [
            (*chosen, *labels[len(labels) - n :])
            for chosen in partial
            for n in range(len(labels) + 1)
            if _word_bits(counts, (*chosen, *labels[len(labels) - n :])) >= 0
        ]
    return [labels for labels in partial if labels]


def _word_bits(counts: Sequence[int], labels: Sequence[int]) -> int:
    """Bits of a word that these labels use, or -1 when their arrangements do not fit one."""
    free, arrangements = 0, 1
    for label in labels:
        free += counts[label]
        arrangements *= comb(free, counts[label])
        if arrangements > 2 * WORD_BITS:
            return -1
    if arrangements <= WORD_BITS:
        return arrangements
    # Five distinct labels: a word for the 60 even arrangements and one for the odd ones.
    return 60 if len(labels) == 5 and free == 5 else -1


def _parities(
    layout: Layout, moves: Sequence[Move], origins: Iterable[Sequence[int]]
) -> tuple[int, ...] | None:
    """For each slot the parity of all reachable boards with the blank there, if there is just one."""
    cells = len(layout.slots)
    if cells < 3 or any(count != 1 for count in layout.counts):
        return None
    links: list[list[tuple[int, int]]] = [[] for _ in range(cells)]
    for move in moves:
        source, target = move.name[1], move.name[0]  # the blank's way
        links[source].append((target, move.odd))
        links[target].append((source, move.odd))
    starts = [
        (board.index(0), digit_parity(layout.classes, [board[cell] for cell in layout.slots]))
        for board in origins
    ]
    parity = sums_along(starts, links.__getitem__, 2)
    # Stored as true and false.
    return None if parity is None else tuple(bool(parity.get(cell, 0)) for cell in layout.slots)


def sums_along(
    starts: Iterable[tuple[int, int]], links: Callable[[int], Iterable[tuple[int, int]]], modulus: int
) -> dict[int, int] | None:
    """A number for each place that links lead to; None where two ways lead to different numbers for a place.

    ``starts``: places and their numbers. ``links``: of a place, the places that it leads to, and what is added, modulo
    the modulus, on the way.
    """
    sums: dict[int, int] = {}
    for start, number in starts:
        if sums.setdefault(start, number % modulus) != number % modulus:
            return None
        queue = [start]
        for place in queue:
            for target, added in links(place):
                there = (sums[place] + added) % modulus
                if target not in sums:
                    queue.append(target)
                if sums.setdefault(target, there) != there:
                    return None
    return sums


class ShardClasses(NamedTuple):
    """One shard for all that symmetries take to each other; see ``_kernel.ArrangementSpace``."""

    starts: list[int]
    symmetries: Sequence[tuple[list[int], list[int]]]
    shards: tuple[list[int], list[int], list[int], list[int]]


MEND = "make it smaller: make more pieces identical, or take a pattern of some pieces (PUZZLE@PIECES)"
"""What makes such a puzzle smaller."""


class ArrangementSpace:
    """A puzzle compiled for enumeration, with its origin.

    ``moves_toward`` lead from a state to states at most one nearer the origin, ``moves_away`` are their inverses:
    distances to the origin count the puzzle's moves along ``moves_toward``, distances from it along ``moves_away``.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        origin: Origin,
        origins: list[Board],
        layout: Layout,
        *,
        moves_toward: Sequence[Move],
        moves_away: Sequence[Move],
        undirected: bool,
    ) -> None:
        self.undirected = undirected
        self.puzzle = puzzle
        self.origin = origin
        self.origins = origins
        self.layout = layout
        self.moves_toward = moves_toward
        self.moves_away = moves_away
        self.cells = puzzle.definition.cells
        self.engine: EngineKind = "gather"
        self.code_bytes = 8
        self.moves_both_ways = True
        self._class_of = bytearray(b"\xff" * 256)
        for position, label in enumerate(layout.classes):
            self._class_of[label] = position
        self._labels = bytes(layout.classes)

    def compile_kernel(
        self, shard_classes: int = 1, isa: str = "", kept: ShardClasses | None = None
    ) -> _kernel.ArrangementSpace:
        """The kernel's space, cut into shards by the places of the first ``shard_classes`` labels (as many as it
        allows, if fewer), of which some may be kept. Raises ResourceError when there are more keys than it can number.
        """
        slot_of = {cell: slot for slot, cell in enumerate(self.layout.slots)}

        def mask(cells: int) -> int:
            return sum(1 << slot for cell, slot in slot_of.items() if cells >> cell & 1)

        moves = [
            (
                [slot_of[move.to[cell]] for cell in self.layout.slots],
                mask(move.require),
                mask(move.forbid),
            )
            for move in self.moves_away
        ]

        def build(classes: int) -> _kernel.ArrangementSpace:
            return _kernel.ArrangementSpace(
                self.cells,
                self.layout.counts,
                self.layout.parity or (),
                moves,
                classes,
                isa,
                **({} if kept is None else kept._asdict()),
            )

        check_keys(self.puzzle, self.arrangements, MEND)
        with kernel_limits(self.puzzle, self.keys, MEND):
            if kept is not None:
                return build(shard_classes)
            kernel = build(1)
            levels = min(shard_classes, kernel.shard_levels)
            return kernel if levels == 1 else build(levels)

    def shards_at(self, shard_classes: int) -> int:
        shards, free = 1, self.cells
        for count in self.layout.counts[:shard_classes]:
            shards *= comb(free, count)
            free -= count
        return shards

    @cached_property
    def kernel(self) -> _kernel.ArrangementSpace:
        """The kernel's space with the fewest shards."""
        return self.compile_kernel()

    @property
    def arrangements(self) -> int:
        """The number of arrangements of the pieces, reachable or not (a multinomial coefficient)."""
        return factorial(self.cells) // prod(factorial(count) for count in self.layout.counts)

    def layout_fields(self) -> dict[str, Any]:
        return self.layout.to_dict()

    @property
    def keys(self) -> int:
        """The number of keys: an upper bound of the number of states, half the arrangements if parity is known."""
        return self.arrangements // (1 if self.layout.parity is None else 2)

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        """The boards' keys, or NO_KEY. Each board: a label for each cell."""
        keys = array("Q", bytes(8 * len(boards)))
        labels = bytes(chain.from_iterable(boards))
        self.kernel.encode(labels, self.cells, self.layout.slots, self._class_of, keys)
        return keys.tolist()

    def shard_order(self, shards: int) -> list[int]:
        """By the cells of the labels, the blanks' last, which each move changes."""
        firsts = np.arange(shards, dtype=np.uint64) * np.uint64(self.keys // shards)
        position = np.frombuffer(bytes(self._class_of), dtype=np.uint8)[self.decode(firsts)]
        cells = np.argsort(position, axis=1, kind="stable")
        blanks = self.layout.counts[0]
        places = [cells[:, at] for at in (*range(blanks, self.cells), *range(blanks))]
        return [int(shard) for shard in np.lexsort(places[::-1])]

    def encode(self, boards: bytes | bytearray | memoryview | NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Keys uint64 (N,) of N boards, given as N x cells bytes; ``NO_KEY`` where a board has none."""
        flat = np.frombuffer(boards, dtype=np.uint8)
        keys = np.empty(flat.size // self.cells, dtype=np.uint64)
        self.kernel.encode(flat, self.cells, self.layout.slots, self._class_of, keys)
        return keys

    def decode(self, keys: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Boards uint8 (N, cells) of N keys. Raises ValueError when a key is out of range."""
        boards = np.empty((keys.size, self.cells), dtype=np.uint8)
        wanted = np.ascontiguousarray(keys, dtype=np.uint64)
        self.kernel.decode(wanted, self.cells, self.layout.slots, self._labels, boards.reshape(-1))
        return boards

    def write_boards(self, keys: Sequence[int], rows: bytearray, positions: Sequence[int]) -> None:
        """Writes the labels of the keys' boards into equally long ``rows``, cell i's at byte ``positions[i]`` of each.

        Fastest for a ``range``. Raises ValueError when a key is out of range.
        """
        places = [positions[cell] for cell in self.layout.slots]
        width = len(rows) // len(keys)
        if isinstance(keys, range) and keys.step == 1:
            self.kernel.decode_range(keys.start, len(keys), width, places, self._labels, rows)
        else:
            self.kernel.decode(array("Q", keys), width, places, self._labels, rows)

    def neighbours(
        self, boards: NDArray[np.uint8], *, toward: bool
    ) -> Iterator[tuple[tuple[int, int], NDArray[np.intp], NDArray[np.uint8]]]:
        blanks = np.where(boards == 0, self._bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        anywhere = np.bitwise_or.reduce(blanks)  # a move into other cells can be made on none of the boards
        played = toward == (self.origin.direction == "to")
        table = self._tables[toward]
        for number in np.flatnonzero(table.require & ~anywhere == 0).tolist():
            legal = blanks & table.masks[number] == table.require[number]
            rows = np.flatnonzero(legal)
            if rows.size:
                name = table.names[number]
                yield name if played else name[::-1], rows, boards[rows[:, None], table.sources[number]]

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        return np.uint64(1) << np.arange(self.cells, dtype=np.uint64)

    @cached_property
    def _tables(self) -> tuple[_MoveTable, _MoveTable]:
        """The moves away from the origin, and those toward it."""
        return _MoveTable.of(self.moves_away), _MoveTable.of(self.moves_toward)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """The structural reason why no moves join the board to the origin, or None when there is no obvious one."""
        if self.layout.parity is not None:
            slot = self.layout.slots.index(board.index(0))
            labels = [board[cell] for cell in self.layout.slots]
            if digit_parity(self.layout.classes, labels) != self.layout.parity[slot]:
                return (
                    "parity: where all pieces are distinct, only half of the boards can be reached, and this one is "
                    "in the other half; exchange any two pieces to get one that can be reached"
                )
        return None


@dataclass(frozen=True, slots=True)
class _MoveTable:
    """Moves as arrays. Move m is legal on a board where those of its blanks that are in ``masks[m]`` are
    ``require[m]`` (uint64 masks of cells); after it cell i holds what was in ``sources[m, i]`` (intp)."""

    names: list[tuple[int, int]]
    require: NDArray[np.uint64]
    masks: NDArray[np.uint64]
    sources: NDArray[np.intp]

    @classmethod
    def of(cls, moves: Sequence[Move]) -> _MoveTable:
        require = np.array([move.require for move in moves], dtype=np.uint64)
        forbid = np.array([move.forbid for move in moves], dtype=np.uint64)
        sources = np.array([move.inverse().to for move in moves], dtype=np.intp)
        return cls([move.name for move in moves], require, require | forbid, sources)
