"""Permutation puzzles: a board can be solved where an element of the group of the moves takes it to a target."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.gather_space import PermutationBoards
from farthest.families.permutation.groups import Element, Group, Points, inverse, product
from farthest.families.permutation.reach import MOST_PRODUCTS, TurningSums
from farthest.puzzles.family import UndecidedError, undecided
from farthest.puzzles.puzzle import Origin, Puzzle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from farthest.puzzles.definition import Board
    from farthest.random_source import RandomSource


MOST_TRIED = 100_000
"""Images of slots that are tried to take a board to another."""
MOST_DRAWN = 5_000
"""Boards that are drawn until one is joined to the target, on average."""


class MovedPieces:
    """The group of a puzzle's moves, as permutations of points: which boards its elements take to which.

    Every element permutes the slots of each orbit and turns the pieces there. An orbit is *free* where the group has
    all those that permute only this orbit, evenly, and whose turns there sum to 0. Where all orbits are, as in most
    puzzles, the parities of the permutations and the sums of the turns decide (``TurningSums``); two equal pieces are
    an odd permutation that does nothing, a piece whose orientation is ignored a turn that does nothing. Where some are
    not, the images of their slots are tried one after the other. ``stuck``: the slots of the orbits that are not free.
    """

    def __init__(self, definition: Permutation) -> None:
        self._definition = definition
        self._sums = TurningSums(definition)
        self._points = Points(definition.slot_moduli)
        moves = self._points.elements(definition.generators)
        self._group = Group(len(self._points.places), moves, most=self._sums.most_elements)
        self.stuck = [slot for orbit in definition.orbits if not self._is_free(orbit) for slot in orbit]
        if self.stuck:
            first = [self._points.first[slot] for slot in self.stuck]
            self._group = Group(len(self._points.places), moves, first=first)

    @property
    def order(self) -> int:
        """The number of elements that are known."""
        return self._group.order

    def joined(self, board: Board, target: Board) -> bool:
        """Whether an element takes the board to the target. Raises UndecidedError."""
        for element in self._taking(board, target):
            if (
                self._sums.between(
                    board,
                    self._definition.after(target, *self._points.slotwise(inverse(element))),
                    self.stuck,
                )
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
            return self._definition.after(target, *self._points.slotwise(self._group.random(rng)))
        if self._sums.values > MOST_DRAWN * len(self._free_sums):
            raise UndecidedError("few boards are joined to the target")
        while True:
            board = self._any_board(rng)
            if self.joined(board, target):
                return board

    def _is_free(self, orbit: Sequence[int]) -> bool:
        """Whether all even permutations of the orbit alone are known, and the turns of it alone whose sum is 0."""
        slots = self._definition.slots
        modulus = self._definition.slot_moduli[orbit[0]]
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
        definition, held = self._definition, [0] * self._definition.cells
        for number, orbit in enumerate(definition.orbits):
            pieces = [
                label for label in definition.labels_of(number) for _ in range(definition.counts[label])
            ]
            rng.shuffle(pieces)
            for slot, label in zip(orbit, pieces, strict=True):
                held[slot] = label
                if definition.moduli[number] > 1 and not definition.ignore[label]:
                    held[definition.slots + slot] = rng.below(definition.moduli[number])
        return tuple(held)

    def _taking(self, board: Board, target: Board) -> Iterator[Element]:
        """Elements, each with other images of the slots that are not free, that take the pieces there to the target."""
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
        if self._definition.slot_moduli[slot] == 1 or self._definition.ignore[board[slot]]:
            return True
        slots = self._definition.slots
        return (board[slots + slot] + turn - target[slots + to]) % self._definition.slot_moduli[slot] == 0


class SolvableBoards:
    """The boards that are joined to one of the targets."""

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> None:
        self._puzzle = puzzle
        self._targets = targets
        self._moved = MovedPieces(permutation(puzzle))

    def why_not(self, board: Board) -> str | None:
        if any(self._moved.joined(board, target) for target in self._targets):
            if permutation(self._puzzle).guards:  # moves may be blocked that make the element
                raise undecided(self._puzzle)
            return None
        origin = Origin("to", self._puzzle.definition.format_board(self._targets[0]))
        reason = PermutationBoards(self._puzzle, origin, [self._targets[0]]).why_unreachable(board)
        if reason is None and self._moved.stuck:
            slots = " ".join(map(str, self._moved.stuck))
            reason = (
                f"group: the moves make {self._moved.order:,} permutations and turns of the pieces, and none of them "
                f"takes this board to the target; the pieces of the slots {slots} cannot be moved freely"
            )
        elif reason is None:
            reason = (
                "parity: the moves change the parities of the pieces' permutations and the sums of their orientations "
                "only together, and this board would need another such change; exchange two pieces, or turn one"
            )
        return reason if len(self._targets) == 1 else f"{reason}; no other target can be reached either"

    def draw(self, rng: RandomSource) -> Board:
        targets, definition = self._apart, permutation(self._puzzle)
        alike = max(definition.counts) > 1 or any(definition.ignore)
        sizes_differ = len(targets) > 1 and self._moved.stuck and alike  # of what is joined to each target
        if definition.guards or sizes_differ:
            raise undecided(self._puzzle)
        return self._moved.drawn(rng.chosen(targets), rng)

    @cached_property
    def _apart(self) -> list[Board]:
        """The targets without those that are joined to one before."""
        found: list[Board] = []
        for target in self._targets:
            if not any(self._moved.joined(target, other) for other in found):
                found.append(target)
        return found
