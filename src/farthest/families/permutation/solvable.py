"""Permutation puzzles: a board can be solved exactly where an element of the group of the moves takes it to a
target."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from farthest.families.permutation.definition import permutation
from farthest.families.permutation.moved_pieces import MovedPieces
from farthest.families.permutation.neighbours import PermutationBoards as Boards
from farthest.puzzles.puzzle import Origin
from farthest.puzzles.solvable import undecided

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.random_source import RandomSource


class PermutationBoards:
    """The boards that are joined to one of the targets; see Solvable."""

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> None:
        self._puzzle = puzzle
        self._targets = targets
        self._moved = MovedPieces(permutation(puzzle))

    def why_not(self, board: Board) -> str | None:
        """See Solvable."""
        if any(self._moved.joined(board, target) for target in self._targets):
            return None
        origin = Origin("to", self._puzzle.definition.format_board(self._targets[0]))
        reason = Boards(self._puzzle, origin, [self._targets[0]]).why_unreachable(board) or self._reason()
        return reason if len(self._targets) == 1 else f"{reason}; nor can any other target be reached"

    def draw(self, rng: RandomSource) -> Board:
        """See Solvable."""
        targets = self._apart
        if len(targets) > 1 and not self._moved.classes_are_equal:
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

    def _reason(self) -> str:
        if self._moved.stuck:
            slots = " ".join(map(str, self._moved.stuck))
            return (
                f"group: the moves make {self._moved.order:,} permutations and turns of the pieces, and none of them "
                f"takes this board to the target; the pieces of the slots {slots} cannot be moved freely"
            )
        return (
            "parity: the moves change the parities of the pieces' permutations and the sums of their orientations only "
            "together, and this board would need another such change; exchange two pieces, or turn one"
        )


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> PermutationBoards:
    """See Family."""
    return PermutationBoards(puzzle, targets)
