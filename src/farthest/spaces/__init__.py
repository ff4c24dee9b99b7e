"""Spaces: puzzles compiled for enumeration. ``compile_space`` is the entry; one module a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farthest.puzzles.definition import Origin, Puzzle
    from farthest.spaces.arrangement import ArrangementSpace


def compile_space(
    puzzle: Puzzle, origin: Origin | None = None, layout: dict[str, Any] | None = None
) -> ArrangementSpace:
    """The puzzle's space with distances counted to or from ``origin`` (default: the puzzle's own).

    ``layout``: the key layout of a stored map, else one is chosen. Raises PuzzleError, BoardError (an origin
    that is not a board of the puzzle) or ResourceError (more keys than can be numbered).
    """
    from farthest.spaces import sliding

    return sliding.compile_sliding(puzzle, origin or puzzle.origin, layout)
