"""Puzzles and estimates as JSON objects: `farthest puzzles`, `farthest estimate`, and the web."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
