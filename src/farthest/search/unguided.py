"""Breadth-first and depth-first search with a closed list: the plain programs that others are compared with."""

from __future__ import annotations

from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING

from farthest.search.open_list import most_boards, target_test, too_many, way_to
from farthest.search.result import PlainResult
from farthest.search.walking import successors_of

if TYPE_CHECKING:
    from farthest.search.open_list import Came
    from farthest.search.problem import Problem


def breadth_first(problem: Problem, memory: int) -> PlainResult:
    """The boards that were found first are expanded first: the way found is a shortest one.

    ``memory``: bytes that may be used. Raises ResourceError where they do not suffice, PuzzleError, BoardError.
    """
    return _search(problem, memory, deepest_first=False)


def depth_first(problem: Problem, memory: int) -> PlainResult:
    """The boards that were found last are expanded first: the way found is usually very long. Raises as
    `breadth_first`."""
    return _search(problem, memory, deepest_first=True)


def _search(problem: Problem, memory: int, *, deepest_first: bool) -> PlainResult:
    """A board is put on the open list only once; it is tested for the target when it is taken from the list."""
    began = perf_counter()
    successors, is_target = successors_of(problem.puzzle), target_test(problem)
    most = most_boards(problem, memory)
    came: Came = {problem.board: None}
    waiting = deque([problem.board])
    take = waiting.pop if deepest_first else waiting.popleft
    expanded = generated = 0
    while waiting:
        here = take()
        expanded += 1
        if is_target(here):
            moves = way_to(here, came)
            seconds = perf_counter() - began
            return PlainResult(len(moves), moves, expanded, generated, seconds, optimal=not deepest_first)
        found = successors(here)
        generated += len(found)
        for name, after in found:
            if after not in came:
                came[after] = (name, here)
                waiting.append(after)
        if len(came) > most:
            raise too_many(problem, memory, len(came))
    return PlainResult(None, (), expanded, generated, perf_counter() - began, optimal=True)
