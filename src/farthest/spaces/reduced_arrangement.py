"""Representatives of arrangements: symmetries permute slots and relabel pieces.

Labels that symmetries take to each other are placed one after another. The outer number is the places of the blanks and
of the first such sets of labels, the line those of the next, and the last share the bits of a line. So a symmetry takes
a line to a line, and permutes its bits in a way that depends on which slots are left for it; the kernel's programs are
for a move and a symmetry together (kernel/include/farthest/program.hpp). The number of a key within its shard is what
it is among all arrangements with that outer number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import comb, log2
from typing import TYPE_CHECKING, NamedTuple, Protocol

from farthest import _kernel
from farthest.arrays import np
from farthest.spaces import compile_space
from farthest.spaces.arrangement import ShardClasses
from farthest.spaces.contract import NO_KEY, gather
from farthest.spaces.reduced import LARGEST_SHARD, Representatives

if TYPE_CHECKING:
    from farthest.spaces.contract import Boards, Codes, MovedBoards
    from farthest.spaces.reduced import Numbers, Symmetry

    class Arrangements(MovedBoards, Protocol):
        """A space of all arrangements of a puzzle, whose labels are placed in the order of a cut."""

        undirected: bool

        @property
        def keys(self) -> int: ...

        def shards_at(self, shard_classes: int) -> int: ...

        def encode(self, boards: Boards) -> Codes: ...

        def decode(self, codes: Codes) -> Boards: ...

        def compile_kernel(
            self, shard_classes: int = 1, isa: str = "", kept: ShardClasses | None = None
        ) -> _kernel.ArrangementSpace: ...


MOST_OUTER = 2**20
"""Outer numbers at the most: what symmetries make of each is a table."""

SHARD_BYTES = 2**24
"""Of a shard at the most, where so many outer numbers are enough for it."""

LEAST_OUTER = 64
"""Outer numbers for each symmetry at the least: of few, many would have a stabiliser."""

LINE = 6
"""The logarithm of the words that a line should have: of longer ones, symmetries have many large programs."""

WORD_BYTES = 8

MOST_KEPT = 2 / 3
"""Of the words of all states, where a run is to pay: a link costs about the same with a symmetry and without."""

LAST_SETS = 3
"""Sets of labels, last ones, whose orders are compared."""


class Cut(NamedTuple):
    """``sets``: the labels in the order in which they are placed, in sets that symmetries keep, the blank's first; the
    outer number is the places of the first ``outer`` sets."""

    sets: tuple[tuple[int, ...], ...]
    outer: int

    @property
    def classes(self) -> tuple[int, ...]:
        """The labels in the order in which they are placed."""
        return tuple(label for labels in self.sets for label in labels)

    @property
    def starts(self) -> list[int]:
        """How many labels the first sets have: one set, two, and so on but for the last."""
        return [sum(map(len, self.sets[:count])) for count in range(1, len(self.sets))]


class ReducedArrangementSpace(Representatives):
    """The space of representatives of the boards of ``plain``. ``maps``: a group of symmetries, the identity first.
    ``relabellings``: of each the slots that slots become, and of labels, by position in ``cut.classes``, the positions
    that they become."""

    def __init__(
        self,
        plain: Arrangements,
        maps: Sequence[Symmetry],
        relabellings: Sequence[tuple[list[int], list[int]]],
        cut: Cut,
    ) -> None:
        self._plain, self._relabellings, self._cut = plain, relabellings, cut
        self._shard_classes = cut.starts[cut.outer - 1]
        outer = plain.shards_at(self._shard_classes)
        self._each = np.uint64(plain.keys // outer)
        firsts = plain.decode(np.arange(outer, dtype=np.uint64) * self._each)
        super().__init__(
            plain,
            maps,
            outer,
            lambda number: self._outer(plain.encode(maps[number].images(firsts))),
            undirected=plain.undirected,
        )

    def _outer(self, keys: Codes) -> Numbers:
        """The outer numbers of keys of all arrangements."""
        return (keys // self._each).astype(np.int64)

    @property
    def keys(self) -> int:
        return len(self.representatives) * int(self._each)

    def pays(self, *, mapped: bool) -> bool:
        if mapped:  # it would be proved in minutes
            return False
        plain = gather(compile_space(self.puzzle, self.origin)).kernel
        fits = self.kernel.words_per_shard <= LARGEST_SHARD
        return fits and self.kernel.words <= MOST_KEPT * plain.words

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.Space:
        """One shard for each class of outer numbers, at every level."""
        shards = (self.representatives, self.weights, self._shard, self._symmetry)
        kept = ShardClasses(self._cut.starts, self._relabellings, tuple(each.tolist() for each in shards))
        return self._plain.compile_kernel(self._shard_classes, isa, kept)

    def encode(self, boards: Boards) -> Codes:
        rows = np.ascontiguousarray(boards, dtype=np.uint8).reshape(-1, self.cells)
        keys = self._plain.encode(rows)
        found = np.flatnonzero(keys != NO_KEY)
        outer = self._outer(keys[found])
        symmetry = self._symmetry[outer]
        for number in np.unique(symmetry):
            some = found[symmetry == number]
            keys[some] = self._plain.encode(self.maps[number].images(rows[some]))
        keys[found] = self._shard[outer].astype(np.uint64) * self._each + keys[found] % self._each
        return keys

    def decode(self, codes: Codes) -> Boards:
        self.check(codes)
        outer = self.representatives[self._outer(codes)].astype(np.uint64)
        return self._plain.decode(outer * self._each + codes % self._each)


def label_sets(maps: Sequence[Sequence[int]], labels: Sequence[int]) -> list[tuple[int, ...]]:
    """The labels that a group takes to each other, together. ``maps``: of each of its maps what labels become."""
    return sorted({tuple(sorted({each[label] for each in maps})) for label in labels})


def choose_cut(
    sets: Sequence[tuple[int, ...]],
    counts: Sequence[int],
    symmetries: int,
    *,
    halved: bool,
) -> Cut | None:
    """The cut with the fewest words, in which the fewest labels leave words; None where no line holds whole sets.

    ``sets``: of labels, the blanks' first; ``counts``: by label. ``halved``: whether parity halves the keys.
    """
    ranked = []
    for order in _orders(sets, counts):
        cut = Cut((sets[0], *order), 1)
        placed = [counts[label] for label in cut.classes]
        parity = (0,) * sum(placed) if halved else ()
        try:
            kernel = _kernel.ArrangementSpace(sum(placed), placed, parity, (), starts=cut.starts)
        except ValueError:
            continue
        words = kernel.words // kernel.lines
        leave = _labels_that_leave(cut, counts, kernel.bits)
        ranked.append(
            ((-kernel.bits, leave, abs(log2(words) - LINE)), _with_outer(cut, counts, symmetries, kernel))
        )
    return min(ranked, key=lambda each: each[0])[1] if ranked else None


def _orders(sets: Sequence[tuple[int, ...]], counts: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All sets but the first in orders: of those that are alike in size and counts the last ones come last."""

    def kind(labels: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(counts[label] for label in labels)

    rest = sorted(sets[1:], key=lambda labels: (-len(labels), [-count for count in kind(labels)], labels))
    kinds = [kind(labels) for labels in rest]
    for last in product(sorted(set(kinds)), repeat=min(LAST_SETS, len(rest))):
        if any(last.count(wanted) > kinds.count(wanted) for wanted in last):
            continue
        left = list(rest)
        tail: list[tuple[int, ...]] = []
        for wanted in reversed(last):
            tail.insert(0, next(labels for labels in reversed(left) if kind(labels) == wanted))
            left.remove(tail[0])
        yield (*left, *tail)


def _labels_that_leave(cut: Cut, counts: Sequence[int], bits: int) -> int:
    """How many labels of a word are in a set that is not all in it."""
    classes, free, arrangements, in_word = cut.classes, 0, 1, 0
    for label in reversed(classes):
        free += counts[label]
        arrangements *= comb(free, counts[label])
        if arrangements > 2 * bits:
            break
        in_word += 1
    first = len(classes) - in_word
    return min(start for start in (*cut.starts, len(classes)) if start >= first) - first


def _with_outer(cut: Cut, counts: Sequence[int], symmetries: int, kernel: _kernel.ArrangementSpace) -> Cut:
    """The cut with the fewest sets in its outer number that make the shards many and small enough."""
    outer, free, placed, best = 1, sum(counts), 0, cut
    for number, labels in enumerate(cut.sets, 1):
        placed += len(labels)
        for label in labels:
            outer *= comb(free, counts[label])
            free -= counts[label]
        if placed > kernel.shard_levels or (outer > MOST_OUTER and number > 1):
            break
        best = Cut(cut.sets, number)
        if outer >= LEAST_OUTER * symmetries and kernel.words * WORD_BYTES // outer <= SHARD_BYTES:
            break
    return best
