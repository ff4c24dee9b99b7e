"""Peg solitaire: why a board can surely not be solved. That it can, nobody knows without a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.families.pegs.layout import parities
from farthest.families.pegs.masks import jumps_of, mask_of
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.solvable import undecided

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.random_source import RandomSource


class PegsBoards:
    """See Solvable: position classes, and that jumps only take pegs away."""

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> None:
        self._puzzle = puzzle
        self._targets = targets
        self._changes = [jump.changed for jump in jumps_of(puzzle)]

    def why_not(self, board: Board) -> str | None:
        """See Solvable."""
        reasons = [self._why_not(board, target) for target in self._targets]
        if None in reasons:
            raise undecided(self._puzzle)
        return reasons[0] if len(reasons) == 1 else f"{reasons[0]}; nor can any other target be reached"

    def draw(self, rng: RandomSource) -> Board:
        """See Solvable."""
        del rng
        raise undecided(self._puzzle)

    def _why_not(self, board: Board, target: Board) -> str | None:
        pegs, fewest = sum(board), target.count(1)
        if pegs < fewest:
            return (
                f"pegs: jumps only take pegs away, and this board has {pegs}, the target {fewest}; add pegs"
            )
        if pegs == fewest and WILDCARD not in target and board != target:
            return f"pegs: the target has as many pegs, {pegs}, in other holes, and each jump takes one away; add pegs"
        here, there = mask_of(board), mask_of([hole == 1 for hole in target])
        # A hole that may be anything is as if it could be changed alone.
        anything = [1 << hole for hole, content in enumerate(target) if content == WILDCARD]
        for parity in parities(len(board), [*self._changes, *anything]):
            if ((here ^ there) & parity).bit_count() & 1:
                holes = " ".join(str(hole) for hole in range(len(board)) if parity >> hole & 1)
                return (
                    f"position class: every jump changes an even number of the holes {holes}, so whether an even "
                    f"number of them have a peg never changes; here {(here & parity).bit_count()} of them have "
                    f"one, at the target {(there & parity).bit_count()}; change one of them"
                )
        return None


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> PegsBoards:
    """See Family."""
    return PegsBoards(puzzle, targets)
