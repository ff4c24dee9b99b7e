"""The key layout: which cell is which slot, in which order labels are placed, whether parity halves the keys.

docs/key-layout.md defines the key of a board by this layout; it is stored with every map. The choices made here change
speed and memory, never distances.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

from farthest.errors import StorageError
from farthest.spaces.moves import Move

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
    parity: tuple[int, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """As stored with a job."""
        parity = None if self.parity is None else list(self.parity)
        fields = {name: list(getattr(self, name)) for name in ("slots", "classes", "counts")}
        return {"version": VERSION, **fields, "parity": parity}

    @classmethod
    def from_dict(cls, fields: dict[str, Any], label_counts: Sequence[int]) -> Layout:
        """Inverse of ``to_dict``. ``label_counts``: of the puzzle, by label. Raises StorageError when the fields are of
        another version, damaged or of another puzzle."""
        try:
            if fields["version"] != VERSION:
                raise StorageError(
                    f"stored key layout: version {fields['version']!r}, expected {VERSION}; "
                    "the map was written by another version of farthest, use that one"
                )
            parity = fields["parity"]
            layout = cls(
                tuple(fields["slots"]),
                tuple(fields["classes"]),
                tuple(fields["counts"]),
                None if parity is None else tuple(parity),
            )
            if not layout._fits(label_counts):
                raise ValueError("it is not one of this puzzle")
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(
                f"stored key layout is damaged ({error!r}); enumerate the puzzle again"
            ) from None
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
) -> Layout:
    """The layout that enumerates fastest. ``counts`` by label, label 0 the blank; ``edges``: cells that moves join."""
    slots = _slot_order(rows, edges, sum(counts))
    classes = _class_order(counts)
    layout = Layout(slots, classes, tuple(counts[label] for label in classes), None)
    return Layout(slots, classes, layout.counts, _parities(layout, moves, origins))


def digit_parity(layout: Layout, board: Sequence[int]) -> int:
    """Parity of the sum of the key's digits, all labels distinct: that of the permutation label order -> slot."""
    slot_of = {board[cell]: slot for slot, cell in enumerate(layout.slots)}
    places = [slot_of[label] for label in layout.classes]
    return sum(a > b for a, b in combinations(places, 2)) % 2


def _slot_order(
    rows: Sequence[Sequence[int]], edges: Sequence[tuple[int, int]], cells: int
) -> tuple[int, ...]:
    """An order of the cells in which moves join near slots: then most moves keep the order of the other pieces."""
    orders: list[list[int]] = [list(range(cells))]
    if rows:
        orders.append([row[c] for c in range(len(rows[0])) for row in rows if row[c] >= 0])
    else:
        orders.extend(_breadth_first(edges, root, cells) for root in range(cells))

    def length(order: Iterable[int]) -> int:
        slot = {cell: i for i, cell in enumerate(order)}
        return sum(abs(slot[a] - slot[b]) for a, b in edges)

    return tuple(min(orders, key=length))


def _breadth_first(edges: Sequence[tuple[int, int]], root: int, cells: int) -> list[int]:
    near: list[list[int]] = [[] for _ in range(cells)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    order, queue = [root], deque([root])
    while queue:
        for cell in near[queue.popleft()]:
            if cell not in order:
                order.append(cell)
                queue.append(cell)
    return order


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
    parity: dict[int, int] = {}
    for board in origins:
        start, value = board.index(0), digit_parity(layout, board)
        if parity.setdefault(start, value) != value:
            return None
        queue = deque([start])
        while queue:
            cell = queue.popleft()
            for target, odd in links[cell]:
                if target not in parity:
                    parity[target] = parity[cell] ^ odd
                    queue.append(target)
                elif parity[target] != parity[cell] ^ odd:
                    return None
    return tuple(parity.get(cell, 0) for cell in layout.slots)
