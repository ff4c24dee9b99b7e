"""Breadth-first search, depth-first search and A* in the kernel, for boards that are arrangements: they expand the same
boards as the Python programs (`unguided`, `best_first`)."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.search.open_list import too_many
from farthest.search.result import PlainResult
from farthest.search.walk_problem import walk_problem

if TYPE_CHECKING:
    from farthest.heuristics.algorithms import PlainAlgorithm
    from farthest.heuristics.contract import Heuristic
    from farthest.search.problem import Problem

ORDERS: dict[PlainAlgorithm, str] = {"bfs": "breadth", "dfs": "depth", "astar": "best"}

SLICE = 1 << 16
"""Boards that are expanded in one call of the kernel: Ctrl-C is noticed between two calls."""


def native_plain(
    algorithm: PlainAlgorithm, problem: Problem, heuristic: Heuristic | None, memory: int
) -> PlainResult | None:
    """What the search finds, or None where the kernel cannot search these boards or use this heuristic; only A* uses
    the heuristic.

    ``memory``: bytes that may be used. Raises ResourceError where they do not suffice, PuzzleError, BoardError.
    """
    began = perf_counter()
    asked = heuristic if algorithm == "astar" else None
    walk = walk_problem(problem, asked)
    if walk is None:
        return None
    search = _kernel.GraphSearch(walk.kernel, ORDERS[algorithm], bytes(problem.board), memory)
    state = "open"
    while state == "open":
        state = search.advance(SLICE)
    if state == "full":
        raise too_many(problem, memory, search.stored)
    moves = walk.way(search.moves())
    found = state == "found"
    shortest = algorithm == "bfs" or (asked is not None and asked.admissible)
    return PlainResult(
        len(moves) if found else None,
        moves,
        search.expanded,
        search.generated,
        perf_counter() - began,
        optimal=shortest or not found,
    )
