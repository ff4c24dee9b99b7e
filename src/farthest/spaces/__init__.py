"""Spaces: puzzles compiled for enumeration. ``compile_space`` is the entry; the families have them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.spaces.contract import ReducedSpace, Space


def compile_space(
    puzzle: Puzzle, origin: Origin | None = None, layout: dict[str, Any] | None = None
) -> Space:
    """The puzzle's space with distances counted to or from ``origin`` (default: the puzzle's own).

    ``layout``: the key layout of a stored map (``Space.layout_fields``), else one is chosen. Raises PuzzleError,
    BoardError (an origin that is not a board of the puzzle) or ResourceError (more keys than can be numbered).
    """
    if layout is not None and layout.get("kind") == "representatives":
        from farthest.spaces.reduced import stored_reduced

        return stored_reduced(layout, lambda order: reduced_space(puzzle, origin, order))
    module = import_module(f"farthest.families.{puzzle.family}.space")
    return cast("Space", module.compile(puzzle, origin or puzzle.origin, layout))


def reduced_space(puzzle: Puzzle, origin: Origin | None, order: int | None) -> ReducedSpace | None:
    """The puzzle's space of representatives by all symmetries that fix the origin, or by a group of ``order`` of them;
    None where there is none. Raises as ``compile_space``."""
    module = import_module(f"farthest.families.{puzzle.family}.space")
    if not hasattr(module, "compile_reduced"):
        return None
    return cast("ReducedSpace | None", module.compile_reduced(puzzle, origin or puzzle.origin, order))
