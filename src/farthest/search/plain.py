"""Searches that keep all boards that they found: by the kernel if it can, else in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.search.best_first import a_star
from farthest.search.native_plain import native_plain
from farthest.search.unguided import breadth_first, depth_first

if TYPE_CHECKING:
    from farthest.heuristics.algorithms import PlainAlgorithm
    from farthest.heuristics.contract import Heuristic
    from farthest.search.problem import Problem
    from farthest.search.result import PlainResult


def search_plain(
    algorithm: PlainAlgorithm, problem: Problem, heuristic: Heuristic | None, memory: int
) -> PlainResult:
    """Breadth first, depth first, or A*; only A* uses the ``heuristic``.

    ``memory``: bytes that may be used. Raises ResourceError where they do not suffice, PuzzleError or BoardError where
    there is no target.
    """
    found = native_plain(algorithm, problem, heuristic, memory)
    if found is not None:
        return found
    if algorithm == "bfs":
        return breadth_first(problem, memory)
    if algorithm == "dfs":
        return depth_first(problem, memory)
    assert heuristic is not None, "A* uses a heuristic"
    return a_star(problem, heuristic, memory)
