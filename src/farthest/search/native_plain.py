"""Breadth-first search, depth-first search and A* of arrangement boards in the kernel: the same as the plain programs
(`unguided`, `best_first`), board by board."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Literal

from farthest import _kernel
from farthest.search.open_list import too_many
from farthest.search.result import PlainResult
from farthest.search.walk_problem import walk_problem

if TYPE_CHECKING:
    from farthest.heuristics.contract import Heuristic
    from farthest.search.problem import Problem

ORDERS = {"bfs": "breadth", "dfs": "depth", "astar": "best"}

SLICE = 1 << 16
"""Boards that are taken at a time: between two slices Ctrl-C is heard."""


def native_plain(
    algorithm: Literal["bfs", "dfs", "astar"], problem: Problem, heuristic: Heuristic | None, memory: int
) -> PlainResult | None:
    """What the search finds, or None where boards or heuristic are not of the kernel's kind; only A* asks the
    heuristic.

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
