"""Sliding puzzles compiled, as the spaces that they are."""

from functools import cache
from typing import Any

from catalogued import catalogued
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.spaces.arrangement import ArrangementSpace


def arrangement_space(
    puzzle: Puzzle, origin: Origin | None = None, layout: dict[str, Any] | None = None
) -> ArrangementSpace:
    """`compile_space` of a sliding puzzle."""
    space = compile_space(puzzle, origin, layout)
    assert isinstance(space, ArrangementSpace)
    return space


@cache
def sliding_names() -> tuple[str, ...]:
    """The names of the catalogue's sliding puzzles."""
    return tuple(puzzle.name for puzzle in catalogued() if puzzle.family == "sliding")
