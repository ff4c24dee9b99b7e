"""Sliding puzzles with several blanks, on any graph whose moves can be taken back: the blanks walk about and come back,
and have permuted the pieces; two boards are joined where such a walk makes one of the other.
"""

from __future__ import annotations

from math import comb, factorial, prod
from typing import TYPE_CHECKING

from farthest.families.permutation.assembly import PieceSet, assemble, parts
from farthest.families.permutation.groups import Group
from farthest.families.permutation.moved_pieces import MovedPieces
from farthest.families.permutation.moves import Move
from farthest.families.sliding.definition import sliding
from farthest.families.sliding.wilson import neighbours_of
from farthest.puzzles.solvable import undecided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.random_source import RandomSource

MOST_PLACES = 4_000
"""Sets of cells that the blanks may fill: more would take seconds."""


class BlankWalks:
    """What walks of the blanks do. The pieces are told by slots: where they are while the first cells are blank.

    ``walks``: generators of all permutations of the slots that walks make.
    """

    def __init__(self, puzzle: Puzzle) -> None:
        """Raises UndecidedError where the blanks have too many places."""
        self.definition = sliding(puzzle)
        cells, blanks = self.definition.cells, self.definition.counts[0]
        if comb(cells, blanks) > MOST_PLACES:
            raise undecided(puzzle)
        beside = neighbours_of(cells, self.definition.edges + self.definition.arcs)
        first = tuple(range(blanks, cells))
        self._places = {frozenset(range(blanks)): first}  # blanks -> where the piece of each slot is
        found = set[tuple[int, ...]]()
        queue = [first]
        for held in queue:
            blank = frozenset(range(cells)).difference(held)
            for slot, cell in enumerate(held):
                for to in blank.intersection(beside[cell]):
                    after = (*held[:slot], to, *held[slot + 1 :])
                    known = self._places.setdefault(blank - {to} | {cell}, after)
                    if known is after:
                        queue.append(after)
                    elif known != after:
                        found.add(tuple(map(known.index, after)))
        self.walks = _generators(len(first), sorted(found))

    def slots(self, board: Board) -> tuple[int, ...]:
        """The pieces of a board by slots, after its blanks have walked to the first cells."""
        held = self._places[frozenset(cell for cell, label in enumerate(board) if not label)]
        return tuple(board[cell] for cell in held)

    def tokens(self, pieces: Sequence[int]) -> str:
        """The pieces for messages."""
        return " ".join(self.definition.tokens[label] for label in pieces)

    def told(self, orbit: Sequence[int], pieces: Sequence[int]) -> str:
        """Which pieces some slots hold, for messages."""
        cells = " ".join(str(self.definition.counts[0] + slot) for slot in orbit)
        one = len(orbit) == 1
        return f"{'cell' if one else 'the cells'} {cells} {'holds' if one else 'hold'} {self.tokens(pieces)}"

    def board(self, pieces: Sequence[int], rng: RandomSource) -> Board:
        """The board after the blanks have walked from the first cells to any others, all with the same chance."""
        held = rng.chosen(list(self._places.values()))
        board = [0] * self.definition.cells
        for cell, label in zip(held, pieces, strict=True):
            board[cell] = label
        return tuple(board)


class Joined:
    """The boards that walks join to one board."""

    def __init__(self, walks: BlankWalks, board: Board) -> None:
        self._walks = walks
        self._pieces = walks.slots(board)
        moves = [Move(str(i), walk, (0,) * len(walk)) for i, walk in enumerate(walks.walks)]
        self._orbits = parts(len(self._pieces), moves)
        self._moved: MovedPieces | None = None
        if moves:
            definition = assemble([PieceSet("", 1, tuple((str(label), 0) for label in self._pieces))], moves)
            labels = list(map(int, definition.tokens))
            self._moved, (self._goal,), self._piece_of = MovedPieces(definition), definition.goals, labels
            self._label_of = {
                key: label for label, key in enumerate(zip(definition.label_orbit, labels, strict=True))
            }

    def why_not(self, board: Board) -> str | None:
        """Why the board is not one of them; None: it is. Raises UndecidedError."""
        pieces = self._walks.slots(board)
        blanks = " ".join(map(str, range(self._walks.definition.counts[0])))
        told = [0] * len(pieces)
        for number, orbit in enumerate(self._orbits):
            here, there = (sorted(held[slot] for slot in orbit) for held in (pieces, self._pieces))
            if here != there:
                return (
                    f"pieces: with the blanks brought to the cells {blanks}, {self._walks.told(orbit, here)}, and at "
                    f"the target {self._walks.tokens(there)}; no piece comes there from other cells, so put these "
                    "pieces there"
                )
            for slot in orbit if self._moved else ():
                told[slot] = self._label_of[number, pieces[slot]]
        if self._moved is None or self._moved.joined(tuple(told), self._goal):
            return None
        return (
            f"order: the blanks, brought to the cells {blanks} and walking from there, make {self._moved.order:,} "
            f"permutations of the pieces, and none of them takes {self._walks.tokens(pieces)} to "
            f"{self._walks.tokens(self._pieces)}"
        )

    def drawn(self, rng: RandomSource) -> Board:
        """One of them, each with the same chance. Raises UndecidedError."""
        pieces = self._pieces
        if self._moved is not None:
            pieces = tuple(self._piece_of[label] for label in self._moved.drawn(self._goal, rng))
        return self._walks.board(pieces, rng)


def _generators(slots: int, permutations: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """A few of the permutations that generate all of them."""
    every = parts(slots, [Move("", to, ()) for to in permutations])
    most = prod(factorial(len(part)) for part in every)
    kept: list[tuple[int, ...]] = []
    group = Group(slots, kept)
    for permutation in permutations:
        if group.order == most:
            break
        if not group.knows(permutation):
            kept.append(permutation)
            group = Group(slots, kept)
    return kept
