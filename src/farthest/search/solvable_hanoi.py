"""Hanoi: with three pegs or more, between which discs can get from each to each other, every board can be reached from
every board: the larger discs never hinder the smaller ones, so all discs smaller than one can be put out of its way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.puzzles.body import WILDCARD
from farthest.puzzles.hanoi import Hanoi, hanoi
from farthest.search.solvable_contract import draw_of_union, undecided

if TYPE_CHECKING:
    from farthest.puzzles.body import Board
    from farthest.puzzles.definition import Puzzle
    from farthest.search.chance import Chance


class HanoiBoards:
    """All boards; with two pegs those whose discs but the smallest lie as in a target. See Solvable."""

    def __init__(self, body: Hanoi, targets: tuple[Board, ...]) -> None:
        self._pegs = body.pegs
        # Which discs can be moved at all, and where the others have to be.
        movable = body.discs if body.pegs > 2 else 1
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

    def draw(self, chance: Chance) -> Board:
        """See Solvable."""
        return draw_of_union(
            [self._pegs ** target.count(WILDCARD) for target in self._targets],
            lambda i: tuple(chance.below(self._pegs) if peg == WILDCARD else peg for peg in self._targets[i]),
            lambda i, board: self._holds(self._targets[i], board),
            chance,
        )

    def _holds(self, target: Board, board: Board) -> bool:
        return all(wanted in (WILDCARD, peg) for wanted, peg in zip(target, board, strict=True))


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> HanoiBoards:
    """See solvable_contract. UndecidedError where discs cannot get from each peg to each other."""
    body = hanoi(puzzle)
    reached = [_reached(body, peg) for peg in range(body.pegs)]
    if any(len(pegs) < body.pegs for pegs in reached):
        raise undecided(puzzle)
    return HanoiBoards(body, targets)


def _reached(body: Hanoi, peg: int) -> set[int]:
    queue, seen = [peg], {peg}
    for here in queue:
        for a, b in body.arcs:
            if a == here and b not in seen:
                seen.add(b)
                queue.append(b)
    return seen
