"""Boards that moves join, found one by one: for small puzzles of which nothing better is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.errors import FarthestError
from farthest.puzzles.definition import matching
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.solvable import undecided
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Boards

MOST_DRAWN = 1 << 17
"""States from which boards are drawn: found in a second or two."""
MOST_LOOKED_AT = 1 << 15
"""States that are visited before a search."""
MOST_OF_PYTHON = 1 << 13
"""The same for a user's class, which may be slow."""


def component_of(puzzle: Puzzle, target: str) -> Boards:
    """The boards from which moves lead to ``target`` (a Problem's), in a fixed order. Raises UndecidedError where there
    are too many, or the puzzle cannot be played backward."""
    found: list[Boards] = []
    try:
        for layer in _layers(puzzle, Origin("to", target)):
            found.append(layer)
            if sum(map(len, found)) > _most(puzzle, MOST_DRAWN):
                raise undecided(puzzle)
    except FarthestError:
        raise undecided(puzzle) from None
    return numpy.concatenate(found)


def why_not_reached(puzzle: Puzzle, board: Board, targets: tuple[Board, ...]) -> str | None:
    """Why no moves lead from the board to a target; None where moves lead there, or where it is not known."""
    count = 0
    try:
        for layer in _layers(puzzle, Origin("from", puzzle.definition.format_board(board))):
            if matching(layer, targets).any():
                return None
            count += len(layer)
            if count > _most(puzzle, MOST_LOOKED_AT):
                return None
    except FarthestError:  # the puzzle is too large to be numbered
        return None
    return f"no moves lead to a target: all {count:,} boards that can be reached from it were visited"


def _layers(puzzle: Puzzle, origin: Origin) -> Iterator[Boards]:
    """The boards at each depth, in a fixed order."""
    space = compile_space(puzzle, origin)
    layer = numpy.array(space.origins, dtype=numpy.uint8).reshape(-1, space.cells)
    seen = set(space.encode(layer).tolist())
    while len(layer):
        yield layer
        fresh: list[Boards] = [layer[:0]]
        for _, _, reached in space.neighbours(layer, toward=False):
            new = []
            for row, code in enumerate(space.encode(reached).tolist()):
                if code not in seen:
                    seen.add(code)
                    new.append(row)
            fresh.append(reached[new])
        layer = numpy.concatenate(fresh)


def _most(puzzle: Puzzle, states: int) -> int:
    return MOST_OF_PYTHON if puzzle.definition.module else states
