"""A*: the board with the least depth + heuristic is expanded first."""

from __future__ import annotations

import heapq
from time import perf_counter
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import UNREACHABLE
from farthest.search.open_list import most_boards, target_test, too_many, way_to
from farthest.search.result import PlainResult
from farthest.search.walking import successors_of

if TYPE_CHECKING:
    from farthest.heuristics.contract import Heuristic
    from farthest.puzzles.definition import Board
    from farthest.search.open_list import Came
    from farthest.search.problem import Problem


def a_star(problem: Problem, heuristic: Heuristic, memory: int) -> PlainResult:
    """Of boards with equal sums the deepest is expanded first, of these the one that was found first.

    A board that is reached in fewer moves than before is expanded again, so the way found is a shortest one for an
    admissible heuristic, even if it is not consistent. Boards with the value ``UNREACHABLE`` are not expanded.
    ``memory``: bytes that may be used. Raises ResourceError where they do not suffice, PuzzleError, BoardError.
    """
    began = perf_counter()
    successors, is_target = successors_of(problem.puzzle), target_test(problem)
    most = most_boards(problem, memory)
    came: Came = {problem.board: None}
    depths = {problem.board: 0}
    values = {problem.board: int(heuristic.values(numpy.array([problem.board], dtype=numpy.uint8))[0])}
    waiting: list[tuple[int, int, int, Board]] = []
    if values[problem.board] < UNREACHABLE:
        waiting.append((values[problem.board], 0, 0, problem.board))
    expanded = generated = met = 0
    while waiting:
        _, minus_depth, _, here = heapq.heappop(waiting)
        depth = -minus_depth
        if depth > depths[here]:
            continue  # it was reached in fewer moves since
        expanded += 1
        if is_target(here):
            moves = way_to(here, came)
            seconds = perf_counter() - began
            return PlainResult(len(moves), moves, expanded, generated, seconds, optimal=heuristic.admissible)
        found = successors(here)
        generated += len(found)
        fresh = list(dict.fromkeys(after for _, after in found if after not in values))
        if fresh:
            estimates = heuristic.values(numpy.array(fresh, dtype=numpy.uint8)).tolist()
            values.update(zip(fresh, estimates, strict=True))
        for name, after in found:
            if depth + 1 < depths.get(after, depth + 2) and values[after] < UNREACHABLE:
                depths[after] = depth + 1
                came[after] = (name, here)
                met += 1
                heapq.heappush(waiting, (depth + 1 + values[after], -depth - 1, met, after))
        if len(values) > most:
            raise too_many(problem, memory, len(values))
    return PlainResult(None, (), expanded, generated, perf_counter() - began, optimal=True)
