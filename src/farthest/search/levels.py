"""The first levels of a search, breadth first: equal boards are merged into one, with the exact number of ways to it.

A board that was found at an earlier depth is left out: what can be reached through it was reached with fewer moves, so
no shortest solution is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from farthest.search.contract import Node, Problem
from farthest.search.expansion import Children, MoveNumbers, MoveSource, children, judged, least

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.heuristics.contract import Heuristic
    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards


if TYPE_CHECKING:
    Keys = NDArray[Any]


def board_keys(boards: Boards, contents: int = 256) -> Keys:
    """For boards, uint8 (N, cells), of numbers below ``contents``, values (N,) that are equal where the boards are:
    uint64 where these have room, else ``S<cells>``. They exist for spaces too large for codes too."""
    cells, bits = boards.shape[1], max(1, (contents - 1).bit_length())
    if cells * bits > 64:
        # Numpy drops zero bytes at the end of byte strings; strings of equal length stay different.
        return numpy.ascontiguousarray(boards).view(f"S{cells}").reshape(-1)
    keys = numpy.zeros(len(boards), dtype=numpy.uint64)
    for cell in range(cells):
        keys <<= numpy.uint64(bits)
        keys |= boards[:, cell]
    return keys


class ClosedSet:
    """The boards found so far, as sorted runs of keys, each less than half as long as the one before: many small levels
    cost little more than one large one."""

    def __init__(self) -> None:
        self._runs: list[Keys] = []

    def add(self, ascending: Keys) -> None:
        """Adds keys that it does not hold, ascending."""
        while self._runs and len(self._runs[-1]) <= 2 * len(ascending):
            ascending = numpy.sort(numpy.concatenate([self._runs.pop(), ascending]), kind="stable")
        self._runs.append(ascending)

    def holds(self, keys: Keys) -> NDArray[numpy.bool_]:
        """Which of the keys it holds."""
        found = numpy.zeros(len(keys), dtype=numpy.bool_)
        for run in self._runs:
            if len(run):
                places = numpy.searchsorted(run, keys)
                places[places == len(run)] = 0
                found |= run[places] == keys
        return found


if TYPE_CHECKING:
    Counts = NDArray[numpy.int64] | NDArray[numpy.object_]

EXACT_IN_INT64 = 2**62
"""Numbers of ways stay in int64 while a level's greatest number times the most predecessors of a board cannot exceed
this."""

MOST_BOARDS = 1 << 23
"""Most boards that are kept: in a space with many narrow levels, some hundreds of megabytes."""

LastMoves = Callable[["Boards", "Boards"], "NDArray[numpy.intp]"]
"""From boards before and after a move, the values of ``Node.last``."""


@dataclass(frozen=True, slots=True)
class Level:
    """The boards of one depth that the bound allows, in the order in which they were found.

    ``boards``: uint8 (N, cells). ``first``: intp (N + 1,); the moves that lead to board i are those from ``first[i]``
    to ``first[i + 1]`` exclusive, from the boards ``parents`` of the level before by the moves ``moves``, intp.
    ``ways``: how many ways lead to each, int64 or Python integers. ``goals``: which are goals; the others are expanded.
    """

    boards: Boards
    first: NDArray[numpy.intp]
    parents: NDArray[numpy.intp]
    moves: NDArray[numpy.intp]
    ways: Counts
    goals: NDArray[numpy.bool_]


class Levels:
    """The levels from the board to the boards where it ended."""

    def __init__(
        self,
        levels: list[Level],
        names: list[MoveName],
        nodes: int,
        next_bound: int | None,
        last: LastMoves | None = None,
    ) -> None:
        self.levels = levels
        self.nodes = nodes
        self.next_bound = next_bound
        self._names = names
        self.depth = len(levels) - 1  # of the roots
        self._roots = numpy.flatnonzero(~levels[-1].goals)
        boards = levels[-1].boards[self._roots].tolist()
        before = self._last_moves(last).tolist()
        self.roots = [Node(tuple(board), self.depth, to) for board, to in zip(boards, before, strict=True)]
        self.ways = [int(ways) for ways in levels[-1].ways[self._roots]]
        self.solutions = sum(int(ways) for level in levels for ways in level.ways[level.goals])

    def arrange(self, order: list[int]) -> None:
        """Puts the roots in another order, given by their present numbers."""
        self._roots = self._roots[order]
        self.roots = [self.roots[root] for root in order]
        self.ways = [self.ways[root] for root in order]

    def ways_to(self, root: int) -> Iterator[tuple[MoveName, ...]]:
        return self._ways(self.depth, int(self._roots[root]))

    def listed(self) -> Iterator[tuple[MoveName, ...]]:
        for depth, level in enumerate(self.levels):
            for goal in numpy.flatnonzero(level.goals).tolist():
                yield from self._ways(depth, goal)

    def _ways(self, depth: int, board: int) -> Iterator[tuple[MoveName, ...]]:
        """The ways to a board of a level, found backward: a move that arrives there, one before it, and so on."""
        if depth == 0:
            yield ()
            return
        boards = [board]
        edges = [
            int(self.levels[depth].first[board])
        ]  # for each level the move that reaches boards[i], and then boards[i + 1]
        while edges:
            at = depth + 1 - len(edges)
            level = self.levels[at]
            if edges[-1] == level.first[boards[-1] + 1]:
                boards.pop()
                edges.pop()
                if edges:
                    edges[-1] += 1
            elif at == 1:
                moves = [self.levels[depth - i].moves[edge] for i, edge in enumerate(edges)]
                yield tuple(self._names[move] for move in reversed(moves))
                edges[-1] += 1
            else:
                boards.append(int(level.parents[edges[-1]]))
                edges.append(int(self.levels[at - 1].first[boards[-1]]))

    def _last_moves(self, last: LastMoves | None) -> NDArray[numpy.intp]:
        found = numpy.full(len(self._roots), -1, dtype=numpy.intp)
        if last is None or self.depth == 0 or not len(self._roots):
            return found
        level = self.levels[-1]
        lowest = numpy.minimum.reduceat(level.parents, level.first[:-1])[self._roots]
        highest = numpy.maximum.reduceat(level.parents, level.first[:-1])[self._roots]
        alone = lowest == highest
        before = self.levels[-2].boards[lowest[alone]]
        found[alone] = last(before, level.boards[self._roots[alone]])
        return found


def breadth_first_split(
    space: MoveSource,
    problem: Problem,
    heuristic: Heuristic,
    bound: int,
    parts: int,
    *,
    most: int = 0,
    last: LastMoves | None = None,
) -> Levels:
    """The split of the iteration with this bound; it ends at the first level with ``parts`` boards or more, or where
    there are ``MOST_BOARDS`` in all.

    ``space``: the problem's `forward_space`. ``most``: the levels continue beyond that, to the end if none has so many
    boards; if one has, the split ends where it would have ended, and the nodes beyond it are counted all the same.
    ``last``: gives ``Node.last`` of roots that can be reached from one board only; the others have -1.
    """
    board = numpy.array([problem.board], dtype=numpy.uint8)
    met, numbers = ClosedSet(), MoveNumbers()
    met.add(board_keys(board, problem.puzzle.definition.contents))
    start = judged(problem, heuristic, board, 0, bound)
    keep = start.goals | start.open
    ones = numpy.ones(int(keep.sum()), dtype=numpy.int64)
    none = numpy.empty(0, dtype=numpy.intp)
    first = numpy.zeros(len(ones) + 1, dtype=numpy.intp)
    levels = [Level(board[keep], first, none, none, ones, start.goals[keep])]
    next_bounds = [start.next_bound]
    nodes = kept = 0
    end = None
    while not levels[-1].goals.all():
        size = int((~levels[-1].goals).sum())
        if end is None and size >= parts:
            end = len(levels)
        kept += size
        if size >= max(parts, most) or kept >= MOST_BOARDS:
            break
        found = children(space, levels[-1].boards[~levels[-1].goals], numbers)
        nodes += len(found.boards)
        level, next_bound = _next_level(levels[-1], found, met, problem, heuristic, len(levels), bound)
        levels.append(level)
        next_bounds.append(next_bound)
    else:
        end = None
    return Levels(levels[:end], numbers.names, nodes, least(*next_bounds[:end]), last)


def _next_level(
    level: Level,
    found: Children,
    met: ClosedSet,
    problem: Problem,
    heuristic: Heuristic,
    depth: int,
    bound: int,
) -> tuple[Level, int | None]:
    """The level at ``depth`` that the children form, and the least depth + heuristic that the bound cut off."""
    found_keys = board_keys(found.boards, problem.puzzle.definition.contents)
    keys, firsts, inverse = numpy.unique(found_keys, return_index=True, return_inverse=True)
    fresh = ~met.holds(keys)
    met.add(keys[fresh])
    # In the order in which they were found; then only those that the bound allows.
    order = numpy.flatnonzero(fresh)[numpy.argsort(firsts[fresh])]
    boards = found.boards[firsts[order]]
    seen = judged(problem, heuristic, boards, depth, bound)
    keep = seen.goals | seen.open
    order = order[keep]
    number = numpy.full(len(keys), -1, dtype=numpy.intp)
    number[order] = numpy.arange(len(order))
    reached = number[inverse]
    edges = numpy.argsort(reached, kind="stable")[numpy.count_nonzero(reached < 0) :]
    first = numpy.zeros(len(order) + 1, dtype=numpy.intp)
    numpy.cumsum(numpy.bincount(reached[edges], minlength=len(order)), out=first[1:])
    parents = numpy.flatnonzero(~level.goals)[found.rows[edges]]
    ways = _ways(level.ways, parents, first)
    return Level(boards[keep], first, parents, found.moves[edges], ways, seen.goals[keep]), seen.next_bound


def _ways(before: Counts, parents: NDArray[numpy.intp], first: NDArray[numpy.intp]) -> Counts:
    """The numbers of ways to the boards of a level, exact."""
    if len(first) == 1:
        return numpy.empty(0, dtype=numpy.int64)
    if before.dtype != object and int(before.max()) * int(numpy.diff(first).max()) > EXACT_IN_INT64:
        before = before.astype(object)  # Python integers from here on
    ways: Counts = numpy.add.reduceat(before[parents], first[:-1])
    return ways


def nearest_goal(space: MoveSource, problem: Problem, most: int) -> int | None:
    """A lower bound of the distance to the nearest goal, from a breadth-first search up to a level with ``most``
    boards, or ``MOST_BOARDS`` in all. None: no goal can be reached."""
    boards = numpy.array([problem.board], dtype=numpy.uint8)
    met, numbers, contents = ClosedSet(), MoveNumbers(), problem.puzzle.definition.contents
    met.add(board_keys(boards, contents))
    depth, kept = 0, 1
    while len(boards) < most and kept < MOST_BOARDS and not problem.at_target(boards).any():
        found = children(space, boards, numbers)
        keys, firsts = numpy.unique(board_keys(found.boards, contents), return_index=True)
        fresh = ~met.holds(keys)
        if not fresh.any():
            return None
        met.add(keys[fresh])
        boards = found.boards[firsts[fresh]]
        depth += 1
        kept += len(boards)
    return depth


class Splitter:
    """Splits iterations; the levels continue to the end if none has ``widest`` boards: equal boards are merged there.

    If an iteration ends in its split without a solution, the next bound is the lower bound that a breadth-first search
    without a heuristic proves, if that is greater. In a small space, where no level has ``probed`` boards, that is the
    distance itself, or it is proven that no goal can be reached. The boards of that search are not counted.
    """

    def __init__(
        self, space: MoveSource, problem: Problem, heuristic: Heuristic, last: LastMoves | None = None
    ) -> None:
        """``last``: see `breadth_first_split`."""
        self._space = space
        self._problem = problem
        self._heuristic = heuristic
        self._last = last
        self._nearest: tuple[int | None] | None = None

    def split(self, bound: int, parts: int, *, widest: int, probed: int) -> Levels:
        """The split of the iteration with this bound, at the first level with ``parts`` boards unless it is the whole
        iteration."""
        found = breadth_first_split(
            self._space, self._problem, self._heuristic, bound, parts, most=widest, last=self._last
        )
        if found.next_bound is not None and not found.roots and not found.solutions:
            if self._nearest is None:
                self._nearest = (nearest_goal(self._space, self._problem, probed),)
            (nearest,) = self._nearest
            found.next_bound = None if nearest is None else max(nearest, found.next_bound)
        return found
