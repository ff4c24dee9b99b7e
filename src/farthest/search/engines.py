"""The engine of a problem: the kernel's if it has one for the family and the heuristic, else the one for any family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.families.sliding.definition import Sliding
from farthest.heuristics.contract import LinearConflict, Matching, PatternTable, Table
from farthest.heuristics.registry import open_heuristic

if TYPE_CHECKING:
    from farthest.heuristics.contract import Heuristic, LoadMap
    from farthest.search.contract import Engine
    from farthest.search.problem import Problem


def open_engine(problem: Problem, load_map: LoadMap | None) -> Engine:
    """The engine, with its heuristic. ``load_map`` gives the stored maps that the heuristic looks up.

    Raises as `open_heuristic` and `compile_space` do.
    """
    heuristic = open_heuristic(problem.heuristic, problem.puzzle, problem.targets(), load_map)
    return engine_with(problem, heuristic)


def engine_with(problem: Problem, heuristic: Heuristic) -> Engine:
    """The engine of a problem whose heuristic is open."""
    if _one_blank(problem, heuristic):
        from farthest.search.expansion import forward_space
        from farthest.search.sliding_engine import SlidingEngine

        return SlidingEngine(problem, heuristic, forward_space(problem.puzzle, problem.board))
    from farthest.search.arrangement_engine import arrangement_engine
    from farthest.search.batch_engine import BatchEngine

    return arrangement_engine(problem, heuristic) or BatchEngine(problem, heuristic)


def _one_blank(problem: Problem, heuristic: Heuristic) -> bool:
    """Whether the kernel's search for sliding puzzles with one blank can be used."""
    definition, terms = problem.puzzle.definition, heuristic.terms()
    return (
        isinstance(definition, Sliding)
        and definition.counts[0] == 1
        and problem.puzzle.metric == "step"
        and terms is not None
        and all(
            isinstance(part, Table | PatternTable | LinearConflict | Matching)
            for term in terms
            for part in term
        )
    )
