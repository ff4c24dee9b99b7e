"""Permutation puzzles: a board can be solved exactly where an element of the group of the moves takes it to a target.

Every element permutes the slots of each orbit and turns the pieces there. An orbit is *free* where the group has all
those that permute only this orbit, evenly, and whose turns there sum to 0. Where all orbits are, as in most puzzles,
the parities of the permutations and the sums of the turns decide (search/turning_sums.py); two equal pieces are an odd
permutation that does nothing, a piece whose orientation is ignored a turn that does nothing. Where some are not, the
images of their slots are tried one after the other.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from farthest.puzzles.definition import Origin
from farthest.puzzles.permutation import permutation
from farthest.search.permutation_groups import Group, inverse, product
from farthest.search.solvable_contract import undecided
from farthest.search.turning_sums import TurningSums
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from farthest.puzzles.body import Board
    from farthest.puzzles.definition import Puzzle
    from farthest.search.chance import Chance
    from farthest.search.permutation_groups import Permutation as Element

MOST_PRODUCTS = 400_000
"""Of permutations, to know that a group is known whole: about a second."""
MOST_TRIED = 100_000
"""Images of slots that are tried to take a board to another."""
MOST_DRAWN = 5_000
"""Boards that are drawn until one can be solved, on average."""


class PermutationBoards:
    """See Solvable.

    The group is one of permutations of *points*: a point is a slot with one of its orientations, that of piece i in
    slot s turned by x is ``first[s] + x``.
    """

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> None:
        self._puzzle = puzzle
        self._body = permutation(puzzle)
        self._targets = targets
        self._sums = TurningSums(self._body)
        self._place: list[tuple[int, int]] = []
        self._first = []
        for slot, modulus in enumerate(self._body.slot_moduli):
            self._first.append(len(self._place))
            self._place += [(slot, turn) for turn in range(modulus)]
        moves = [self._element(move.to, move.delta) for move in self._body.generators]
        self._group = Group(len(self._place), moves, most=self._sums.most_elements)
        self._stuck = [slot for orbit in self._body.orbits if not self._is_free(orbit) for slot in orbit]
        if self._stuck:
            first = [self._first[slot] for slot in self._stuck]
            self._group = Group(len(self._place), moves, first=first)

    def why_not(self, board: Board) -> str | None:
        """See Solvable."""
        if any(self._joined(board, target) for target in self._targets):
            return None
        if self._stuck and not self._is_whole:
            raise undecided(self._puzzle)
        origin = Origin("to", self._body.format_board(self._targets[0]))
        reason = compile_space(self._puzzle, origin).why_unreachable(board) or self._reason()
        return reason if len(self._targets) == 1 else f"{reason}; nor can any other target be reached"

    def draw(self, chance: Chance) -> Board:
        """See Solvable."""
        targets = self._apart
        if not self._stuck:
            return self._drawn(targets, chance)
        alone = max(self._body.counts) == 1 and not any(self._body.ignore)
        if not self._is_whole or (len(targets) > 1 and not alone):  # of different sizes, perhaps
            raise undecided(self._puzzle)
        return self._after(chance.chosen(targets), self._group.random(chance))

    def _reason(self) -> str:
        if self._stuck:
            slots = " ".join(map(str, self._stuck))
            return (
                f"group: the moves make {self._group.order:,} permutations and turns of the pieces, and none of them "
                f"takes this board to the target; the pieces of the slots {slots} cannot be moved freely"
            )
        return (
            "parity: the moves change the parities of the pieces' permutations and the sums of their orientations only "
            "together, and this board would need another such change; exchange two pieces, or turn one"
        )

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
        return all(self._group.knows(self._element(to, delta)) for to, delta in needed)

    @cached_property
    def _is_whole(self) -> bool:
        return self._group.is_whole(MOST_PRODUCTS)

    @cached_property
    def _free_sums(self) -> frozenset[tuple[int, ...]]:
        """What the elements that move no slot of the orbits that are not free do to the sums; equal and ignored pieces
        too."""
        levels = self._group.levels[len(self._stuck) :]
        moves = self._group.generators if not self._stuck else levels[0].generators if levels else []
        return self._sums.generated([self._sums.of_move(*self._slotwise(move)) for move in moves])

    @cached_property
    def _apart(self) -> list[Board]:
        """The targets without those that another one can be taken to."""
        found: list[Board] = []
        for target in self._targets:
            if not any(self._joined(target, other) for other in found):
                found.append(target)
        return found

    def _drawn(self, targets: list[Board], chance: Chance) -> Board:
        """Boards are drawn from all that have the pieces until one is joined to a target."""
        if self._sums.values > MOST_DRAWN * len(self._free_sums):
            raise undecided(self._puzzle)
        while True:
            board = self._any_board(chance)
            if any(self._joined(board, target) for target in targets):
                return board

    def _any_board(self, chance: Chance) -> Board:
        body, held = self._body, [0] * self._body.cells
        for number, orbit in enumerate(body.orbits):
            pieces = [
                label
                for label, (of, count) in enumerate(zip(body.label_orbit, body.counts, strict=True))
                if of == number
                for _ in range(count)
            ]
            chance.shuffle(pieces)
            for slot, label in zip(orbit, pieces, strict=True):
                held[slot] = label
                if body.moduli[number] > 1 and not body.ignore[label]:
                    held[body.slots + slot] = chance.below(body.moduli[number])
        return tuple(held)

    def _joined(self, board: Board, target: Board) -> bool:
        """Whether a known element takes the board to the target. Raises UndecidedError after ``MOST_TRIED`` images."""
        for element in self._taking(board, target):
            if (
                self._sums.between(board, self._after(target, inverse(element)), self._stuck)
                in self._free_sums
            ):
                return True
        return False

    def _taking(self, board: Board, target: Board) -> Iterator[Element]:
        """Elements, each with other images of the slots that are not free, that take the pieces there to the
        target's."""
        tried = 0
        stack = [(0, self._group.unit)]
        while stack:
            depth, element = stack.pop()
            if depth == len(self._stuck):
                yield element
                continue
            slot, level = self._stuck[depth], self._group.levels[depth]
            for place, way in level.ways.items():
                tried += 1
                if self._fits(board, slot, target, *self._place[element[place]]):
                    stack.append((depth + 1, product(way, element)))
            if tried > MOST_TRIED:
                raise undecided(self._puzzle)

    def _fits(self, board: Board, slot: int, target: Board, to: int, turn: int) -> bool:
        """Whether the piece, moved to a slot and turned, is the target's there."""
        if board[slot] != target[to]:
            return False
        if self._body.slot_moduli[slot] == 1 or self._body.ignore[board[slot]]:
            return True
        slots = self._body.slots
        return (board[slots + slot] + turn - target[slots + to]) % self._body.slot_moduli[slot] == 0

    def _element(self, to: Sequence[int], delta: Sequence[int]) -> Element:
        """A move as a permutation of points."""
        return tuple(
            self._first[to[slot]] + (turn + delta[slot]) % self._body.slot_moduli[slot]
            for slot, turn in self._place
        )

    def _slotwise(self, element: Element) -> tuple[list[int], list[int]]:
        """Inverse of ``_element``."""
        images = [self._place[element[first]] for first in self._first]
        return [slot for slot, _ in images], [turn for _, turn in images]

    def _after(self, board: Board, element: Element) -> Board:
        """The board after an element of the group."""
        body, slots = self._body, self._body.slots
        held = list(board)
        for slot, (to, turn) in enumerate(zip(*self._slotwise(element), strict=True)):
            held[to] = board[slot]
            if body.oriented:
                ignored = body.ignore[board[slot]]
                held[slots + to] = 0 if ignored else (board[slots + slot] + turn) % body.slot_moduli[slot]
        return tuple(held)


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> PermutationBoards:
    """See solvable_contract."""
    return PermutationBoards(puzzle, targets)
