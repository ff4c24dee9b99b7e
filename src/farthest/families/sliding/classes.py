"""Classes of the boards of a sliding puzzle that moves join, where each move can be taken back.

On a ring or a line the order of the pieces never changes. On other graphs with one blank Wilson's theorem decides,
block by block (families/sliding/wilson.py); with several blanks, where no single cell cuts the graph in two, all boards
are one class.
"""

from __future__ import annotations

from collections import Counter
from math import comb
from typing import TYPE_CHECKING, Protocol

from farthest.families.sliding.wilson import RING, ListedBlock, blocks_of, neighbours_of, ring_order

if TYPE_CHECKING:
    from collections.abc import Hashable

    from farthest.families.sliding.definition import Sliding
    from farthest.families.sliding.wilson import Block
    from farthest.puzzles.definition import Board
    from farthest.random_source import RandomSource


class Classes(Protocol):
    """The classes of boards that moves join."""

    def class_of(self, board: Board) -> Hashable:
        """Equal for the boards of one class, and only for those."""

    def size(self, board: Board) -> int:
        """How many boards are in the class of this one."""

    def drawn(self, board: Board, rng: RandomSource) -> Board:
        """A board of its class, each with the same chance."""

    def why_apart(self, board: Board, target: Board) -> str:
        """Why the two are not in one class."""


def classes_of(definition: Sliding) -> Classes | None:
    """The classes of boards, where moves can be taken back; None where blanks are several and single cells cut the
    graph."""
    beside = neighbours_of(definition.cells, definition.edges + definition.arcs)
    ends = [cell for cell, others in enumerate(beside) if len(others) == 1]
    if all(len(others) <= 2 for others in beside):
        return OneRow(definition, ring_order(ends[0] if ends else 0, beside), ring=not ends)
    blocks = blocks_of(definition.cells, definition.edges + definition.arcs)
    if definition.counts[0] == 1:
        return OneBlank(definition, blocks)
    return AllJoined(definition) if len(blocks) == 1 else None


class OneBlank:
    """One blank: the arrangement of each block, the blank moved to cell 0."""

    def __init__(self, definition: Sliding, blocks: list[Block]) -> None:
        self._body = definition
        self._blocks = blocks
        self._before = _ways_back(definition)

    def class_of(self, board: Board) -> Hashable:
        """See Classes."""
        held = self._home(board)
        return tuple(block.class_of(_on(block, held)) for block in self._blocks)

    def size(self, board: Board) -> int:
        """See Classes: each cell is as often blank as any other."""
        held, size = self._home(board), self._body.cells
        for block in self._blocks:
            size *= block.size(_on(block, held))
        return size

    def drawn(self, board: Board, rng: RandomSource) -> Board:
        """See Classes."""
        held = self._home(board)
        for block in self._blocks:
            for cell, label in zip(block.cells, block.drawn(_on(block, held), rng), strict=True):
                held[cell] = label
        way = [rng.below(self._body.cells)]
        while way[-1]:
            way.append(self._before[way[-1]])
        for cell in reversed(way):
            blank = held.index(0)
            held[blank], held[cell] = held[cell], 0
        return tuple(held)

    def why_apart(self, board: Board, target: Board) -> str:
        """See Classes."""
        here, there = self._home(board), self._home(target)
        block = next(
            block
            for block in self._blocks
            if block.class_of(_on(block, here)) != block.class_of(_on(block, there))
        )
        mine, wanted = _on(block, here), _on(block, there)
        whole = len(self._blocks) == 1
        place = "" if whole else f" on the cells {_listed(sorted((*block.cells, block.root)))}"
        brought = "" if board[0] == target[0] == 0 else "with the blank brought to cell 0, "
        if Counter(mine) != Counter(wanted):
            return (
                f"pieces: {brought}{'cell' if len(mine) == 1 else 'the cells'} {_listed(block.cells)} "
                f"{'holds' if len(mine) == 1 else 'hold'} {self._tokens(sorted(mine))}, and at the target "
                f"{self._tokens(sorted(wanted))}; no piece comes past cell {block.root}, so put these pieces there"
            )
        if not isinstance(block, ListedBlock):
            return (
                f"parity: all pieces{place} are distinct, so half of all boards cannot be reached from the other half, "
                "and this one is in the wrong half (it would be in the right one with any two of these "
                "pieces exchanged)"
            )
        if block.name == RING:
            return (
                f"order: the pieces{place} can only go round, {brought}from cell {block.cells[0]} on in the order "
                f"{self._tokens(mine)}, and at the target {self._tokens(wanted)}; put them in that order"
            )
        return (
            f"Wilson's theta graph: {len(block.group)} of its permutations of six pieces can be made, and none of them "
            f"takes {self._tokens(mine)} to {self._tokens(wanted)} on the cells {_listed(block.cells)}"
        )

    def _home(self, board: Board) -> list[int]:
        """The board after the blank has walked to cell 0."""
        held = list(board)
        blank = held.index(0)
        while blank:
            after = self._before[blank]
            held[blank], held[after] = held[after], 0
            blank = after
        return held

    def _tokens(self, labels: list[int] | tuple[int, ...]) -> str:
        return " ".join(self._body.tokens[label] for label in labels)


class OneRow:
    """A line or a ring: the order of the pieces along it."""

    def __init__(self, definition: Sliding, order: list[int], *, ring: bool) -> None:
        self._body = definition
        self._order = order
        self._ring = ring

    def class_of(self, board: Board) -> Hashable:
        """See Classes."""
        return min(self._turned(board))

    def size(self, board: Board) -> int:
        """See Classes."""
        return comb(self._body.cells, self._body.counts[0]) * len(set(self._turned(board)))

    def drawn(self, board: Board, rng: RandomSource) -> Board:
        """See Classes: any cells blank, any turn of the row on the others."""
        pieces = rng.chosen(self._turned(board))
        cells = list(range(self._body.cells))
        rng.shuffle(cells)
        free = set(cells[: len(pieces)])
        found = [0] * self._body.cells
        for cell, label in zip((cell for cell in self._order if cell in free), pieces, strict=True):
            found[cell] = label
        return tuple(found)

    def why_apart(self, board: Board, target: Board) -> str:
        """See Classes."""
        mine, wanted = (" ".join(self._body.tokens[label] for label in self._row(b)) for b in (board, target))
        where = "can only go round the ring" if self._ring else "cannot pass each other on the line"
        return (
            f"order: the pieces {where}, and from cell {self._order[0]} on their order is {mine}, at the target "
            f"{wanted}; put them in that order"
        )

    def _row(self, board: Board) -> tuple[int, ...]:
        return tuple(board[cell] for cell in self._order if board[cell])

    def _turned(self, board: Board) -> list[tuple[int, ...]]:
        row = self._row(board)
        return [row[i:] + row[:i] for i in range(len(row))] if self._ring else [row]


class AllJoined:
    """Every board can be reached from every board."""

    def __init__(self, definition: Sliding) -> None:
        self._body = definition

    def class_of(self, board: Board) -> Hashable:
        """See Classes."""
        del board
        return ()

    def size(self, board: Board) -> int:
        """See Classes."""
        del board
        return self._body.arrangements()

    def drawn(self, board: Board, rng: RandomSource) -> Board:
        """See Classes."""
        found = list(board)
        rng.shuffle(found)
        return tuple(found)

    def why_apart(self, board: Board, target: Board) -> str:
        """See Classes: never asked."""
        raise AssertionError(f"{board} and {target} are joined")


def _on(block: Block, held: list[int]) -> tuple[int, ...]:
    return tuple(held[cell] for cell in block.cells)


def _listed(cells: list[int] | tuple[int, ...]) -> str:
    return " ".join(map(str, cells))


def _ways_back(definition: Sliding) -> list[int]:
    """For each cell the next one on a way to cell 0; -1 for cell 0."""
    beside = neighbours_of(definition.cells, definition.edges + definition.arcs)
    before, queue = {0: -1}, [0]
    for cell in queue:
        for other in beside[cell]:
            if other not in before:
                before[other] = cell
                queue.append(other)
    return [before[cell] for cell in range(definition.cells)]
