"""Which boards can be solved, and why a board cannot: decided exactly wherever that is possible."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.family import family
from farthest.puzzles.solvable import Solvable, UndecidedError
from farthest.random_source import RandomSource
from farthest.search.problem import targets as targets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle


def why_unsolvable(puzzle: Puzzle, board: Board, targets: Sequence[Board]) -> str | None:
    """Why no moves lead from ``board`` to any of ``targets``, in one sentence; None: moves lead there, or it is not
    known.

    ``board``: a board of the puzzle. ``targets``: one or more, perhaps with ``WILDCARD``.
    """
    wanted = tuple(targets)
    if any(
        all(content in (WILDCARD, cell) for content, cell in zip(target, board, strict=True))
        for target in wanted
    ):
        return None
    try:
        return _of_family(puzzle, wanted).why_not(board)
    except UndecidedError:
        from farthest.search.component import why_not_reached

        return why_not_reached(puzzle, board, wanted)


def draw_solvable(puzzle: Puzzle, target: str = "goal") -> Callable[[RandomSource], Board]:
    """A function that draws one of the boards from which moves lead to the target (``goal``, ``start`` or a board's
    text), each with the same chance.

    Raises PuzzleError or BoardError for the target, UndecidedError where it is not known which boards these are.
    """
    wanted = targets_of(puzzle, target)
    try:
        found = _of_family(puzzle, wanted)
        found.draw(RandomSource(0))  # raises now what it would raise later
        return found.draw
    except UndecidedError:
        from farthest.search.component import component_of

        boards = component_of(puzzle, target)
        return lambda rng: tuple(boards[rng.below(len(boards))].tolist())


@lru_cache(maxsize=16)
def _of_family(puzzle: Puzzle, targets: tuple[Board, ...]) -> Solvable:
    return family(puzzle.family).solvable(puzzle, targets)
