"""Hanoi: with three pegs or more, between which discs can get from each to each other, every board can be reached from
every board: the larger discs never hinder the smaller ones, so all discs smaller than one can be put out of its way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.families.hanoi.definition import Hanoi, hanoi
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.solvable import draw_of_union, undecided

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.random_source import RandomSource


class HanoiBoards:
    """All boards; with two pegs those whose discs but the smallest lie as in a target. See Solvable."""

    def __init__(self, definition: Hanoi, targets: tuple[Board, ...]) -> None:
        self._pegs = definition.pegs
        # Which discs can be moved at all, and where the others have to be.
        movable = definition.discs if definition.pegs > 2 else 1
        self._targets = [(WILDCARD,) * movable + target[movable:] for target in targets]

    def why_not(self, board: Board) -> str | None:
        """See Solvable."""
        if any(self._holds(target, board) for target in self._targets):
            return None
        wanted = self._targets[0]
        disc, peg = next((i, peg) for i, peg in enumerate(wanted) if peg not in (WILDCARD, board[i]))
        return (
            f"with two pegs no disc but the smallest can ever move, and disc {disc + 1} is on peg "
            f"{board[disc]}, at the target on peg {peg}; put it there, or add a peg"
        )

    def draw(self, rng: RandomSource) -> Board:
        """See Solvable."""
        return draw_of_union(
            [self._pegs ** target.count(WILDCARD) for target in self._targets],
            lambda i: tuple(rng.below(self._pegs) if peg == WILDCARD else peg for peg in self._targets[i]),
            lambda i, board: self._holds(self._targets[i], board),
            rng,
        )

    def _holds(self, target: Board, board: Board) -> bool:
        return all(wanted in (WILDCARD, peg) for wanted, peg in zip(target, board, strict=True))


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> HanoiBoards:
    """See Family. UndecidedError where discs cannot get from each peg to each other."""
    definition = hanoi(puzzle)
    reached = [_reached(definition, peg) for peg in range(definition.pegs)]
    if any(len(pegs) < definition.pegs for pegs in reached):
        raise undecided(puzzle)
    return HanoiBoards(definition, targets)


def _reached(definition: Hanoi, peg: int) -> set[int]:
    queue, seen = [peg], {peg}
    for here in queue:
        for a, b in definition.arcs:
            if a == here and b not in seen:
                seen.add(b)
                queue.append(b)
    return seen
