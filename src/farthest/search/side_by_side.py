"""Breadth first and A* from one board: what each expands, at which depth and in which order."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy

from farthest.errors import FarthestError, ResourceError
from farthest.heuristics.registry import default_heuristic, open_heuristic
from farthest.search.contract import Problem
from farthest.search.plain import a_star, breadth_first, memory_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.heuristics.contract import Heuristic
    from farthest.puzzles.definition import Board, MoveName
    from farthest.puzzles.puzzle import Puzzle
    from farthest.search.plain import PlainResult, Tell

MOST_BOARDS = 200_000
"""Boards that each of them may keep."""
LISTED = 24
"""Boards of ``Side.first``."""
CHECKED_EVERY = 1024


@dataclass(slots=True)
class Side:
    """One of the searches. ``heuristic``: None: it uses none. ``found``: None: it found more than ``MOST_BOARDS``.
    ``layers[d]``: how many boards it expanded at depth d. ``first``: the first of them in their order, each with its
    depth; ``estimates``: the heuristic's values of these."""

    heuristic: str | None
    found: PlainResult | None = None
    layers: list[int] = field(default_factory=list)
    first: list[tuple[Board, int]] = field(default_factory=list)
    estimates: list[int] = field(default_factory=list)


def heuristic_for(puzzle: Puzzle) -> str | None:
    """The strongest simple heuristic for A*; None: there is none, or no goal, so nothing can be compared."""
    with suppress(FarthestError):
        if puzzle.definition.ready and puzzle.definition.has_origin("goal"):
            found = default_heuristic(puzzle, "astar")
            return None if found == "zero" else found
    return None


def side_by_side(
    puzzle: Puzzle, board: Board, heuristic: str, check: Callable[[], None]
) -> tuple[Side, Side]:
    """Both, breadth first before. ``check``: is called often; it raises what ends them. Raises FarthestError where the
    goal or the heuristic is not for the puzzle."""
    problem = Problem(puzzle, board, "goal", heuristic)
    opened = open_heuristic(heuristic, puzzle, problem.targets())
    memory = memory_of(problem, MOST_BOARDS)
    return (
        _side(None, check, lambda tell: breadth_first(problem, memory, tell)),
        _side(opened, check, lambda tell: a_star(problem, opened, memory, tell)),
    )


def _side(
    heuristic: Heuristic | None, check: Callable[[], None], search: Callable[[Tell], PlainResult]
) -> Side:
    side = Side(None if heuristic is None else heuristic.name)
    depths: dict[Board, int] = {}

    def tell(board: Board, came: tuple[MoveName, Board] | None) -> None:
        depth = depths[board] = 0 if came is None else depths[came[1]] + 1
        if depth == len(side.layers):
            side.layers.append(0)
        side.layers[depth] += 1
        if len(side.first) < LISTED:
            side.first.append((board, depth))
        if len(depths) % CHECKED_EVERY == 0:
            check()

    with suppress(ResourceError):
        side.found = search(tell)
    if heuristic is not None:
        boards = numpy.array([board for board, _ in side.first], dtype=numpy.uint8)
        side.estimates = heuristic.values(boards).tolist()
    return side
