"""Spaces: puzzles compiled for enumeration. ``compile_space`` is the entry; the families have them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from farthest.spaces.contract import PACKED_REPRESENTATIVES, REPRESENTATIVES

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.spaces.contract import ReducedRunsSpace, ReducedSpace, Space


def compile_space(
    puzzle: Puzzle, origin: Origin | None = None, layout: dict[str, Any] | None = None
) -> Space:
    """The puzzle's space with distances counted to or from ``origin`` (default: the puzzle's own).

    ``layout``: the key layout of a stored map (``Space.layout_fields``), else one is chosen. Raises PuzzleError,
    BoardError (an origin that is not a board of the puzzle) or ResourceError (more keys than can be numbered).
    """
    kind = None if layout is None else layout.get("kind")
    if layout is not None and kind in (REPRESENTATIVES, PACKED_REPRESENTATIVES):
        from farthest.spaces.reduced import stored_reduced

        of_order = reduced_space if kind == REPRESENTATIVES else reduced_runs_space
        return stored_reduced(layout, lambda order: of_order(puzzle, origin, order))
    module = import_module(f"farthest.families.{puzzle.family}.space")
    return cast("Space", module.compile(puzzle, origin or puzzle.origin, layout))


def reduced_space(puzzle: Puzzle, origin: Origin | None, order: int | None) -> ReducedSpace | None:
    """The puzzle's space of representatives by all symmetries that fix the origin, or by a group of ``order`` of them;
    None where there is none. Raises as ``compile_space``."""
    module = import_module(f"farthest.families.{puzzle.family}.space")
    if not hasattr(module, "compile_reduced"):
        return None
    return cast("ReducedSpace | None", module.compile_reduced(puzzle, origin or puzzle.origin, order))


def reduced_runs_space(puzzle: Puzzle, origin: Origin | None, order: int | None) -> ReducedRunsSpace | None:
    """The same of packed codes, where only some layers are wanted."""
    module = import_module(f"farthest.families.{puzzle.family}.space")
    if not hasattr(module, "compile_reduced_runs"):
        return None
    return cast(
        "ReducedRunsSpace | None", module.compile_reduced_runs(puzzle, origin or puzzle.origin, order)
    )
