"""Which arrangements of a graph puzzle with one blank can be reached from each other: R. M. Wilson, Graph puzzles,
homotopy, and the alternating group, J. Combin. Theory B 16 (1974) 86-96.

A graph falls into *blocks*, parts that no single cell cuts in two; two of them share a cell at most. Seen from the cell
where the blank is, each other cell belongs to one block: the one that it shares with its neighbour on the way there.
When the blank walks about and comes back, it permutes the pieces of each block among themselves, and of each block
alone:

* a passage between two cells: no piece moves;
* a ring: they go round;
* the theta graph of seven cells: a group of 120 permutations, PGL(2,5);
* any other: all permutations, or where the block is bipartite all even ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import factorial, prod

from farthest.puzzles.grid import Passages, closure, neighbours_of
from farthest.random_source import RandomSource
from farthest.spaces.arrangement import is_odd, sums_along

Pieces = tuple[int, ...]
"""The labels on the cells of a block, in the order of its ``cells``."""


@dataclass(frozen=True, slots=True)
class FreeBlock:
    """All permutations, or only the even ones. ``root``: the cell nearest the blank; ``cells``: the others.

    As of every block: ``class_of`` is equal for arrangements that can be reached from each other, and only for those;
    ``size``: how many can be reached from one; ``drawn``: one of them, each with the same chance.
    """

    root: int
    cells: tuple[int, ...]
    even: bool

    def class_of(self, pieces: Pieces) -> Hashable:
        return tuple(sorted(pieces)), self._halved(pieces) and is_odd(pieces)

    def size(self, pieces: Pieces) -> int:
        alike = prod(factorial(count) for count in Counter(pieces).values())
        return factorial(len(pieces)) // alike // (2 if self._halved(pieces) else 1)

    def drawn(self, pieces: Pieces, rng: RandomSource) -> Sequence[int]:
        found = list(pieces)
        rng.shuffle(found)
        if self._halved(pieces) and is_odd(found) != is_odd(pieces):
            found[0], found[1] = found[1], found[0]  # joins each odd order with one even one
        return found

    def _halved(self, pieces: Pieces) -> bool:
        """With two equal pieces, each arrangement is an even permutation of each other."""
        return self.even and 1 < len(set(pieces)) == len(pieces)


@dataclass(frozen=True, slots=True)
class ListedBlock:
    """A small group: ``group``, for each of its elements the places in ``cells`` that the pieces come from."""

    root: int
    cells: tuple[int, ...]
    group: list[tuple[int, ...]]
    name: str

    def class_of(self, pieces: Pieces) -> Hashable:
        return min(self._images(pieces))

    def size(self, pieces: Pieces) -> int:
        return len(set(self._images(pieces)))

    def drawn(self, pieces: Pieces, rng: RandomSource) -> Sequence[int]:
        return [pieces[place] for place in rng.chosen(self.group)]

    def _images(self, pieces: Pieces) -> Iterable[Pieces]:
        return (tuple(pieces[place] for place in places) for places in self.group)


Block = FreeBlock | ListedBlock

RING, LINE, THETA = "ring", "line", "theta graph"


def row_block(root: int, cells: Sequence[int], name: str) -> ListedBlock:
    """The block of a ``RING``, on which pieces go round, or of a ``LINE``, on which they keep their places."""
    turns = range(len(cells)) if name == RING else range(1)
    return ListedBlock(
        root, tuple(cells), [(*range(first, len(cells)), *range(first)) for first in turns], name
    )


def blocks_of(cells: int, passages: Passages, blank: int = 0) -> list[Block]:
    """The blocks of a connected graph, seen from the cell ``blank``; a block comes after those on the way to it."""
    beside = neighbours_of(cells, passages)
    return [_block(root, part, beside) for root, part in reversed(_parts(beside, blank))]


def ring_order(first: int, beside: Sequence[Sequence[int]]) -> list[int]:
    """The cells of a ring, or of a line from one of its ends, one after the other."""
    order, before = [first], -1
    while True:
        following = [cell for cell in beside[order[-1]] if cell not in (before, first)]
        if not following:
            return order
        before = order[-1]
        order.append(following[0])


def _parts(beside: list[list[int]], blank: int) -> list[tuple[int, list[int]]]:
    """For each block its cell nearest the blank, and its others (Hopcroft and Tarjan)."""
    met, low = [-1] * len(beside), [0] * len(beside)
    stack: list[int] = []
    found = []

    def visit(cell: int, before: int) -> None:
        met[cell] = low[cell] = max(met) + 1
        stack.append(cell)
        for other in beside[cell]:
            if met[other] >= 0:
                if other != before:
                    low[cell] = min(low[cell], met[other])
                continue
            visit(other, cell)
            low[cell] = min(low[cell], low[other])
            if low[other] >= met[cell]:
                at = stack.index(other)
                found.append((cell, stack[at:]))
                del stack[at:]

    visit(blank, -1)
    return found


def _block(root: int, part: list[int], beside: list[list[int]]) -> Block:
    inside = {root, *part}
    own = [
        [other for other in others if other in inside] if cell in inside else []
        for cell, others in enumerate(beside)
    ]
    passages = sum(map(len, own)) // 2
    if passages <= len(inside):  # a ring, or a passage alone
        return row_block(root, ring_order(root, own)[1:], RING)
    cells = tuple(sorted(part))
    if _is_theta(inside, own):
        return ListedBlock(root, cells, _walks(root, cells, own), THETA)
    return FreeBlock(root, cells, even=_is_bipartite(root, own))


def _is_theta(inside: set[int], own: list[list[int]]) -> bool:
    """Whether it is a ring of six cells and a seventh between two opposite ones."""
    ends = [cell for cell in inside if len(own[cell]) == 3]
    if len(inside) != 7 or len(ends) != 2 or sum(map(len, own)) != 16:
        return False
    a, b = ends
    return b not in own[a] and len(set(own[a]) & set(own[b])) == 1


def _is_bipartite(root: int, own: list[list[int]]) -> bool:
    return sums_along([(root, 0)], lambda cell: ((other, 1) for other in own[cell]), 2) is not None


def _walks(root: int, cells: tuple[int, ...], own: list[list[int]]) -> list[tuple[int, ...]]:
    """The permutations that walks of the blank from the root and back make, found one by one."""

    def moved(state: tuple[int, tuple[int, ...]]) -> Iterator[tuple[int, tuple[int, ...]]]:
        blank, held = state
        for other in own[blank]:
            after = list(held)
            after[blank], after[other] = held[other], held[blank]
            yield other, tuple(after)

    place = {cell: i for i, cell in enumerate(cells)}
    states = closure((root, tuple(range(len(own)))), moved)
    return [tuple(place[held[cell]] for cell in cells) for blank, held in states if blank == root]
