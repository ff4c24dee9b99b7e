"""What a family knows of its boards that can be solved: which they are, and how to draw one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from farthest.errors import PuzzleError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.random_source import RandomSource


class UndecidedError(PuzzleError):
    """It is not known which boards can be solved."""


class Solvable(Protocol):
    """The boards of a puzzle from which moves lead to one of some targets."""

    def why_not(self, board: Board) -> str | None:
        """Why no moves lead from the board to a target, in one sentence, with a mend where there is one; None: they do.
        Raises UndecidedError."""

    def draw(self, rng: RandomSource) -> Board:
        """One of the boards, each with the same chance. Raises UndecidedError."""


def undecided(puzzle: Puzzle) -> UndecidedError:
    """Says so, and what helps."""
    return UndecidedError(
        f"puzzle {puzzle.name}: which of its boards can be solved is known only from a map of all distances to the "
        f"target; store one first: farthest enumerate {puzzle.name} --to goal"
    )


def draw_of_union(
    sizes: Sequence[int],
    draw: Callable[[int], Board],
    holds: Callable[[int, Board], bool],
    rng: RandomSource,
) -> Board:
    """One of the boards in any of some sets, each with the same chance, also where the sets overlap.

    ``sizes[i]``: of set i. ``draw(i)``: one of its boards, each with the same chance. ``holds(i, board)``: whether it
    is there.
    """
    while True:
        board = draw(rng.weighed(sizes))
        # A board of k sets is drawn k times as often as one of a single set.
        if rng.below(sum(holds(i, board) for i in range(len(sizes)))) == 0:
            return board
