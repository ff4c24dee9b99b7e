"""Pieces on slots, permuted and turned by moves that can always be made: which boards an element of the group of the
moves takes to which.

Every element permutes the slots of each orbit and turns the pieces there. An orbit is *free* where the group has all
those that permute only this orbit, evenly, and whose turns there sum to 0. Where all orbits are, as in most puzzles,
the parities of the permutations and the sums of the turns decide (families/permutation/turning_sums.py);
two equal pieces are an odd permutation that does nothing, a piece whose orientation is ignored a turn that does
nothing. Where some are not, the images of their slots are tried one after the other.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from farthest.families.permutation.groups import Group, inverse, product
from farthest.families.permutation.points import Points
from farthest.families.permutation.turning_sums import TurningSums
from farthest.puzzles.solvable import UndecidedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.groups import Permutation as Element
    from farthest.puzzles.definition import Board
    from farthest.random_source import RandomSource

MOST_PRODUCTS = 400_000
"""Of permutations, to know that a group is known whole: about a second."""
MOST_TRIED = 100_000
"""Images of slots that are tried to take a board to another."""
MOST_DRAWN = 5_000
"""Boards that are drawn until one is joined to the target, on average."""


class MovedPieces:
    """The group of a puzzle's moves.

    It is one of permutations of points (families/permutation/points.py). ``stuck``: the slots of the orbits that are
    not free.
    """

    def __init__(self, definition: Permutation) -> None:
        self._body = definition
        self._sums = TurningSums(definition)
        self._points = Points(definition.slot_moduli)
        moves = [self._points.element(move.to, move.delta) for move in definition.generators]
        self._group = Group(len(self._points.places), moves, most=self._sums.most_elements)
        self.stuck = [slot for orbit in definition.orbits if not self._is_free(orbit) for slot in orbit]
        if self.stuck:
            first = [self._points.first[slot] for slot in self.stuck]
            self._group = Group(len(self._points.places), moves, first=first)

    @property
    def order(self) -> int:
        """The number of elements that are known."""
        return self._group.order

    @property
    def classes_are_equal(self) -> bool:
        """Whether as many boards are joined to each board."""
        return not self.stuck or (max(self._body.counts) == 1 and not any(self._body.ignore))

    def joined(self, board: Board, target: Board) -> bool:
        """Whether an element takes the board to the target. Raises UndecidedError."""
        for element in self._taking(board, target):
            if (
                self._sums.between(board, self._after(target, inverse(element)), self.stuck)
                in self._free_sums
            ):
                return True
        if self.stuck and not self._is_whole:
            raise UndecidedError("the group is not known whole")
        return False

    def drawn(self, target: Board, rng: RandomSource) -> Board:
        """One of the boards that are joined to the target, each with the same chance. Raises UndecidedError."""
        if self.stuck:
            if not self._is_whole:
                raise UndecidedError("the group is not known whole")
            return self._after(target, self._group.random(rng))
        if self._sums.values > MOST_DRAWN * len(self._free_sums):
            raise UndecidedError("few boards are joined to the target")
        while True:
            board = self._any_board(rng)
            if self.joined(board, target):
                return board

    def _is_free(self, orbit: Sequence[int]) -> bool:
        """Whether all even permutations of the orbit alone are known, and the turns of it alone whose sum is 0."""
        slots = self._body.slots
        modulus = self._body.slot_moduli[orbit[0]]
        needed = []
        for other in orbit[2:]:
            to = list(range(slots))
            to[orbit[0]], to[orbit[1]], to[other] = orbit[1], other, orbit[0]
            needed.append((to, [0] * slots))
        for other in orbit[1:] if modulus > 1 else ():
            delta = [0] * slots
            delta[orbit[0]], delta[other] = 1, modulus - 1
            needed.append((list(range(slots)), delta))
        return all(self._group.knows(self._points.element(to, delta)) for to, delta in needed)

    @cached_property
    def _is_whole(self) -> bool:
        return self._group.is_whole(MOST_PRODUCTS)

    @cached_property
    def _free_sums(self) -> frozenset[tuple[int, ...]]:
        """What the elements that move no slot of the orbits that are not free do to the sums; equal and ignored pieces
        too."""
        levels = self._group.levels[len(self.stuck) :]
        moves = self._group.generators if not self.stuck else levels[0].generators if levels else []
        return self._sums.generated([self._sums.of_move(*self._points.slotwise(move)) for move in moves])

    def _any_board(self, rng: RandomSource) -> Board:
        definition, held = self._body, [0] * self._body.cells
        for number, orbit in enumerate(definition.orbits):
            pieces = [
                label
                for label, (of, count) in enumerate(
                    zip(definition.label_orbit, definition.counts, strict=True)
                )
                if of == number
                for _ in range(count)
            ]
            rng.shuffle(pieces)
            for slot, label in zip(orbit, pieces, strict=True):
                held[slot] = label
                if definition.moduli[number] > 1 and not definition.ignore[label]:
                    held[definition.slots + slot] = rng.below(definition.moduli[number])
        return tuple(held)

    def _taking(self, board: Board, target: Board) -> Iterator[Element]:
        """Elements, each with other images of the slots that are not free, that take the pieces there to the
        target's."""
        tried = 0
        stack = [(0, self._group.unit)]
        while stack:
            depth, element = stack.pop()
            if depth == len(self.stuck):
                yield element
                continue
            slot, level = self.stuck[depth], self._group.levels[depth]
            for place, way in level.ways.items():
                tried += 1
                if self._fits(board, slot, target, *self._points.places[element[place]]):
                    stack.append((depth + 1, product(way, element)))
            if tried > MOST_TRIED:
                raise UndecidedError("too many images")

    def _fits(self, board: Board, slot: int, target: Board, to: int, turn: int) -> bool:
        """Whether the piece, moved to a slot and turned, is the target's there."""
        if board[slot] != target[to]:
            return False
        if self._body.slot_moduli[slot] == 1 or self._body.ignore[board[slot]]:
            return True
        slots = self._body.slots
        return (board[slots + slot] + turn - target[slots + to]) % self._body.slot_moduli[slot] == 0

    def _after(self, board: Board, element: Element) -> Board:
        """The board after an element of the group."""
        definition, slots = self._body, self._body.slots
        held = list(board)
        for slot, (to, turn) in enumerate(zip(*self._points.slotwise(element), strict=True)):
            held[to] = board[slot]
            if definition.oriented:
                ignored = definition.ignore[board[slot]]
                held[slots + to] = (
                    0 if ignored else (board[slots + slot] + turn) % definition.slot_moduli[slot]
                )
        return tuple(held)
