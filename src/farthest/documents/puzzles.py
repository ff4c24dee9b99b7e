"""Puzzles and estimates as JSON objects: `farthest puzzles`, `farthest estimate`, and the web."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.errors import ResourceError
from farthest.families.permutation.representatives import representatives_of
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.family import family
from farthest.puzzles.puzzle import Origin
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from farthest.coordinator.settings import Estimate
    from farthest.puzzles.puzzle import Puzzle


def puzzle_summary(puzzle: Puzzle) -> dict[str, Any]:
    """What lists of puzzles say of each."""
    return {
        "name": puzzle.name,
        "title": puzzle.title,
        "family": puzzle.family,
        "metric": puzzle.metric,
        "cells": puzzle.definition.cells,
        "arrangements": puzzle.definition.arrangements(),
        "states": known_states(puzzle),
    }


def puzzle_document(puzzle: Puzzle) -> dict[str, Any]:
    """One puzzle with its definition; the fields of that are those of its family."""
    from dataclasses import asdict

    definition = puzzle.definition
    goals, start = definition.origin_boards
    return {
        **puzzle_summary(puzzle),
        "source": puzzle.source,
        "digest": puzzle.digest,
        **definition.fields(),
        "reachable": definition.reachable(goals),
        "goals": [definition.format_board(goal) for goal in goals],
        "start": None if start is None else definition.format_board(start),
        "origin": asdict(puzzle.origin),
        "known": [asdict(known) for known in puzzle.known],
    }


def known_states(puzzle: Puzzle) -> int | None:
    """The published number of states, where the puzzle's file names one."""
    return next((known.states for known in puzzle.known if known.states is not None), None)


def estimate_document(puzzle: Puzzle, needs: Estimate) -> dict[str, Any]:
    """What an enumeration will need."""
    from dataclasses import asdict

    fields = asdict(needs)
    fields["scratch"] = None if needs.scratch is None else str(needs.scratch)
    for name in ("problem", "why", "layers_from", "states_from"):
        fields[name] = fields[name] or None
    fields["workers"] = [asdict(workers) for workers in needs.workers]
    return {"puzzle": puzzle.name, "fits": not needs.problem, **fields}


# --- The symmetries of a puzzle as a JSON object: `farthest puzzles NAME --symmetry`.


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
