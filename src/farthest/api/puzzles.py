"""Puzzles by name, and boards of theirs."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, SupportsIndex

from farthest.api.numbers import whole
from farthest.families.given import puzzle_given, target_given
from farthest.puzzles import catalogue
from farthest.puzzles.puzzle import Puzzle

if TYPE_CHECKING:
    from farthest.families.given import GivenBoard, GivenPuzzle


def puzzle_names() -> list[str]:
    """The names of the catalogue's puzzles; parametric names such as ``sliding-3x4`` are known besides."""
    return catalogue.names()


def load_puzzle(puzzle: GivenPuzzle) -> Puzzle:
    """The puzzle of a catalogue name, a parametric name or a TOML file; or of an object of a class of one's own. Such a
    class may run in this process from then on, also where a stored job or a file names it. Raises PuzzleError."""
    return puzzle_given(puzzle)


def random_boards(
    puzzle: GivenPuzzle, count: SupportsIndex = 1, *, seed: SupportsIndex, to: GivenBoard = "goal"
) -> list[str]:
    """Boards from which moves lead to ``to`` (a board; ``goal``: to any of the goals): each is any of them with the
    same chance, so that one may come twice. The same for the same ``seed``, 0 or more.

    Raises PuzzleError, also where it is not known which boards can be solved, or BoardError.
    """
    from farthest.search.random_boards import random_boards as drawn

    loaded = puzzle_given(puzzle)
    boards = drawn(loaded, whole("count", count) or 0, index(seed), target_given(loaded, to))
    return [loaded.definition.format_board(board) for board in boards]
