"""The symmetries of a puzzle as a JSON object: `farthest puzzles NAME --symmetry`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.errors import ResourceError
from farthest.families.permutation.representatives import representatives_of
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.family import family
from farthest.puzzles.puzzle import Origin
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle


def symmetry_document(puzzle: Puzzle) -> dict[str, Any]:
    """``symmetries``: how many fix the goal, None where that is not known, and why (``problem``). ``representatives``:
    of a permutation puzzle whose maps can be kept by representatives the ``symmetries`` that serve for it, the number
    of ``keys``, of their ``orbits`` (also of keys that are not reached), and of the distances kept (``entries``); else
    None."""
    goals, _ = puzzle.definition.origin_boards
    count, problem = None, ""
    if len(goals) != 1 or WILDCARD in goals[0]:
        problem = "not known: there are several goals"
    else:
        try:
            found = family(puzzle.family).symmetries(puzzle.definition, goals[0])
        except ResourceError as error:
            problem = str(error)
        else:
            count = None if found is None else len(found.maps)
            problem = f"not known of the family {puzzle.family}" if found is None else ""
    return {
        "symmetries": count,
        "problem": problem or None,
        "representatives": _representatives(puzzle, count),
    }


def _representatives(puzzle: Puzzle, count: int | None) -> dict[str, int] | None:
    if puzzle.family != "permutation" or (count or 1) == 1:
        return None
    try:
        found = representatives_of(compile_space(puzzle, Origin()))
    except ResourceError:
        return None
    if found is None:
        return None
    kernel = found.kernel
    return {
        "symmetries": found.symmetries,
        "keys": kernel.keys,
        "orbits": found.orbits,
        "entries": kernel.entries,
    }
