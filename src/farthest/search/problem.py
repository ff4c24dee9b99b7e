"""A problem: a board, what it is to become, and the heuristic that guides the search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.families.given import board_given
from farthest.heuristics.contract import check_text
from farthest.json_fields import integers, text
from farthest.puzzles.definition import matching
from farthest.puzzles.origin_boards import origin_patterns
from farthest.puzzles.puzzle import Puzzle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.families.given import GivenBoard
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Boards


@dataclass(frozen=True, slots=True)
class Problem:
    """Find the fewest moves of the player, as the puzzle's metric counts them, from ``board`` to a target.

    ``target``: ``goal``, ``start``, a board's text, or a set of these (puzzles/origin_names.py). ``heuristic``: as
    written on the command line (heuristics/registry.py); SettingError where it is not a text.
    """

    puzzle: Puzzle
    board: Board
    target: str
    heuristic: str

    def __post_init__(self) -> None:
        check_text(self.heuristic)

    def targets(self) -> tuple[Board, ...]:
        """The boards that end the search, perhaps with ``WILDCARD``. Raises PuzzleError, BoardError."""
        return targets(self.puzzle, self.target)

    def at_target(self, boards: Boards) -> NDArray[np.bool_]:
        """Which of the boards, uint8 (N, cells), are targets."""
        return matching(boards, self.targets())

    def fields(self) -> dict[str, Any]:
        """What decides the search, for JSON, without the puzzle."""
        return {"board": list(self.board), "target": self.target, "heuristic": self.heuristic}

    @classmethod
    def from_fields(cls, puzzle: Puzzle, fields: dict[str, Any]) -> Problem:
        """The problem whose ``fields`` these were."""
        board = integers(fields["board"])
        return cls(puzzle, board, text(fields["target"]), text(fields["heuristic"]))


def targets(puzzle: Puzzle, target: str) -> tuple[Board, ...]:
    """The boards that ``target`` means, perhaps with ``WILDCARD``. Raises PuzzleError, BoardError."""
    return origin_patterns(puzzle.definition, target, puzzle.name)


def start_or(puzzle: Puzzle, board: GivenBoard | None) -> Board:
    """The board to be solved, or where it is None the puzzle's start. Raises BoardError."""
    return board_given(puzzle, "start" if board is None else board)
