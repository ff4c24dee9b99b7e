"""Searches that keep all boards that they found: breadth first, depth first and A*.

The kernel does them for boards that are arrangements. The programs in Python are for other boards, and they are what
others are compared with: the kernel expands the same boards.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.errors import ResourceError
from farthest.heuristics.contract import UNREACHABLE, Heuristic
from farthest.puzzles.definition import WILDCARD, Board, MoveName
from farthest.search.arrangement_engine import walk_problem
from farthest.search.walking import successors_of
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.heuristics import PlainAlgorithm
    from farthest.search.contract import Problem


if TYPE_CHECKING:
    Came = dict[Board, tuple[MoveName, Board] | None]
    """For each board that was found, the move that led there and the board before; None: the board to be solved."""
    Tell = Callable[[Board, tuple[MoveName, Board] | None], None]
    """Is told of each board that is expanded, in order, with the move and the board before as in ``Came``. A* tells of
    a board again when it has reached it in fewer moves."""

BOARD_BYTES = 320
"""Memory for a board that was found, besides its cells: tuples, and entries of dictionaries and lists."""
CELL_BYTES = 8


def memory_of(problem: Problem, boards: int) -> int:
    """The bytes that so many boards take."""
    return boards * (BOARD_BYTES + CELL_BYTES * len(problem.board))


def most_boards(problem: Problem, memory: int) -> int:
    """How many boards may be kept in so many bytes."""
    return max(1, memory // memory_of(problem, 1))


def too_many(problem: Problem, memory: int, boards: int) -> ResourceError:
    """The error of a search that found more boards than it may keep."""
    return ResourceError(
        f"puzzle {problem.puzzle.name}: no target among the first {boards:,} boards, which take the "
        f"{bytes_text(memory)} of memory allowed; allow more with --memory, or choose ida or iddfs, which keep few"
    )


def way_to(board: Board, came: Came) -> tuple[MoveName, ...]:
    """The moves that led to a board."""
    moves = []
    step = came[board]
    while step is not None:
        moves.append(step[0])
        step = came[step[1]]
    return tuple(reversed(moves))


def target_test(problem: Problem) -> Callable[[Board], bool]:
    """A function that tests whether a board is a target. Raises PuzzleError or BoardError where there are none."""
    targets = problem.targets()
    whole = frozenset(target for target in targets if WILDCARD not in target)
    patterns = [
        [(cell, content) for cell, content in enumerate(target) if content != WILDCARD]
        for target in targets
        if WILDCARD in target
    ]
    if not patterns:
        return whole.__contains__
    return lambda board: (
        board in whole
        or any(all(board[cell] == content for cell, content in pattern) for pattern in patterns)
    )


@dataclass(frozen=True, slots=True)
class PlainResult:
    """A way from the board to a target, and the cost of finding it.

    ``length``: of ``moves``; None: no target can be reached, every board that can be reached was searched.
    ``expanded``: boards taken from the open list, the target included. ``generated``: their successors, boards found
    before included. ``kept``: different boards that were found. ``optimal``: it is certain that no way is shorter.
    """

    length: int | None
    moves: tuple[MoveName, ...]
    expanded: int
    generated: int
    kept: int
    seconds: float
    optimal: bool


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
        search.stored,
        perf_counter() - began,
        optimal=shortest or not found,
    )


def a_star(problem: Problem, heuristic: Heuristic, memory: int, tell: Tell | None = None) -> PlainResult:
    """A*: of boards with equal sums the deepest is expanded first, of these the one that was found first.

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
        if tell is not None:
            tell(here, came[here])
        if is_target(here):
            moves = way_to(here, came)
            seconds = perf_counter() - began
            return PlainResult(
                len(moves), moves, expanded, generated, len(values), seconds, optimal=heuristic.admissible
            )
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
    return PlainResult(None, (), expanded, generated, len(values), perf_counter() - began, optimal=True)


def breadth_first(problem: Problem, memory: int, tell: Tell | None = None) -> PlainResult:
    """The boards that were found first are expanded first: the way found is a shortest one.

    ``memory``: bytes that may be used. Raises ResourceError where they do not suffice, PuzzleError, BoardError.
    """
    return _search(problem, memory, tell, deepest_first=False)


def depth_first(problem: Problem, memory: int) -> PlainResult:
    """The boards that were found last are expanded first: the way found is usually very long. Raises as
    `breadth_first`."""
    return _search(problem, memory, None, deepest_first=True)


def _search(problem: Problem, memory: int, tell: Tell | None, *, deepest_first: bool) -> PlainResult:
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
        if tell is not None:
            tell(here, came[here])
        if is_target(here):
            moves = way_to(here, came)
            seconds = perf_counter() - began
            return PlainResult(
                len(moves), moves, expanded, generated, len(came), seconds, optimal=not deepest_first
            )
        found = successors(here)
        generated += len(found)
        for name, after in found:
            if after not in came:
                came[after] = (name, here)
                waiting.append(after)
        if len(came) > most:
            raise too_many(problem, memory, len(came))
    return PlainResult(None, (), expanded, generated, len(came), perf_counter() - began, optimal=True)


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
