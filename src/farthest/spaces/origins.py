"""What the origin of an enumeration means, before wildcards are filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.errors import PuzzleError

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Origin, Puzzle

MAX_ORIGINS = 1_000_000
"""Boards at depth 0."""


def origin_patterns(puzzle: Puzzle, origin: Origin) -> tuple[Board, ...]:
    """The goals, perhaps with ``WILDCARD``, or the start, or the board. Raises BoardError when it is no board,
    PuzzleError when there is no goal, or no start."""
    definition, where = puzzle.definition, origin.where
    if where not in ("goal", "start"):
        return (definition.parse_board(where, name=puzzle.name),)
    goals, start = definition.origin_boards
    patterns = goals if where == "goal" else () if start is None else (start,)
    if not patterns:
        raise PuzzleError(
            f"puzzle {puzzle.name}: it has no {where}; name a board instead, or add {where} to its file"
        )
    return patterns
