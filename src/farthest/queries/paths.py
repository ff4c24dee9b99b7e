"""Optimal solutions from the distances alone: one, all, and how many.

A board at distance d has a neighbour at distance d - 1, and every optimal solution goes from neighbour to neighbour in
this way. The boards that optimal solutions of one board pass through form a graph whose levels are the distances d, d -
1, ..., 0, and whose edges are moves; a solution is a way through it. Two moves that lead from one board to the same
board are two edges: solutions with different moves are counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from farthest.errors import FarthestError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from farthest.puzzles.definition import MoveName
    from farthest.queries.nearer import Nearer, NearerMoves
    from farthest.spaces.contract import Boards, Space

# Counts stay in int64 while a level's largest count times its largest number of edges cannot exceed this.
EXACT_IN_INT64 = 2**62


class LargeGraphError(FarthestError):
    """The optimal solutions pass through more boards than were to be looked at."""


@dataclass(frozen=True, slots=True)
class Way:
    """A solution: its boards (uint8, shape (moves + 1, cells)) and the moves between them."""

    boards: Boards
    moves: list[MoveName]

    def reversed(self) -> Way:
        """The same boards and moves in reverse order."""
        return Way(self.boards[::-1], self.moves[::-1])


@dataclass(frozen=True, slots=True)
class Level:
    """The boards of one distance that solutions pass through, and their edges to the next level.

    ``boards``: uint8, shape (boards, cells). ``first_edge``: intp, shape (boards + 1,); the edges of board i are those
    from ``first_edge[i]`` to ``first_edge[i + 1]`` exclusive. ``successors``: intp, for each edge an index into the
    next level. ``moves``: intp, for each edge an index into ``names``.
    """

    boards: Boards
    first_edge: NDArray[numpy.intp]
    successors: NDArray[numpy.intp]
    moves: NDArray[numpy.intp]
    names: list[MoveName]


class SolutionGraph:
    """All optimal solutions of one board."""

    def __init__(
        self, space: Space, nearer: Nearer, board: Boards, distance: int, limit: int | None = None
    ) -> None:
        """``board``: uint8, shape (cells,), at ``distance``. ``nearer``: the map's nearer moves.

        Raises StorageError where the distances contradict each other, LargeGraphError where there are more than
        ``limit`` boards.
        """
        self.distance = distance
        self.levels: list[Level] = []
        boards = board[numpy.newaxis, :]
        reached = 0
        for remaining in range(distance - 1, -1, -1):
            reached += len(boards)
            if limit is not None and reached > limit:
                raise LargeGraphError(
                    f"the optimal solutions pass through more than {limit:,} boards; `farthest path` counts them"
                )
            level, boards = _level(space, nearer(boards, remaining), boards, remaining)
            self.levels.append(level)
        self.origins = boards  # where the solutions end: uint8, shape (boards, cells)

    def count(self) -> int:
        """The exact number of optimal solutions."""
        counts: NDArray[numpy.int64] | NDArray[numpy.object_] = numpy.ones(
            len(self.origins), dtype=numpy.int64
        )
        for level in reversed(self.levels):
            if counts.dtype != object:
                most_edges = int(numpy.diff(level.first_edge).max())
                if int(counts.max()) * most_edges > EXACT_IN_INT64:
                    counts = counts.astype(object)  # Python integers from here on
            counts = numpy.add.reduceat(counts[level.successors], level.first_edge[:-1])
        return int(counts[0])

    def solutions(self) -> Iterator[list[int]]:
        """Each solution as the number of its edge on every level.

        Depth first, edges in their order, so the order is always the same.
        """
        way = [0] * (self.distance + 1)  # way[i]: the board on level i
        edges = [0] * self.distance  # edges[i]: the next edge to try from it
        depth = 0
        if self.distance:
            edges[0] = int(self.levels[0].first_edge[0])
        while depth >= 0:
            if depth == self.distance:
                yield [edge - 1 for edge in edges]
                depth -= 1
                continue
            level = self.levels[depth]
            edge = edges[depth]
            if edge == level.first_edge[way[depth] + 1]:
                depth -= 1
                continue
            edges[depth] = edge + 1
            depth += 1
            way[depth] = int(level.successors[edge])
            if depth < self.distance:
                edges[depth] = int(self.levels[depth].first_edge[way[depth]])

    def way(self, edges: list[int]) -> Way:
        """One of the `solutions` as boards and moves."""
        place, boards, moves = 0, [], []
        for level, edge in zip(self.levels, edges, strict=True):
            boards.append(level.boards[place])
            moves.append(level.names[level.moves[edge]])
            place = int(level.successors[edge])
        boards.append(self.origins[place])
        return Way(numpy.array(boards), moves)


def _level(space: Space, found: NearerMoves, boards: Boards, remaining: int) -> tuple[Level, Boards]:
    """The level of ``boards`` with its edges to boards at distance ``remaining``, and those boards."""
    if not len(found.rows):
        raise _contradiction(remaining + 1)
    _, first, successor = numpy.unique(space.encode(found.boards), return_index=True, return_inverse=True)
    order = numpy.argsort(found.rows, kind="stable")  # keeps the order of the moves within a row
    edges = numpy.bincount(found.rows, minlength=len(boards))
    if not edges.all():
        raise _contradiction(remaining + 1)
    first_edge = numpy.zeros(len(boards) + 1, dtype=numpy.intp)
    numpy.cumsum(edges, out=first_edge[1:])
    successors = successor[order].astype(numpy.intp)
    return Level(boards, first_edge, successors, found.moves[order], found.names), found.boards[first]


def walk(nearer: Nearer, board: Boards, distance: int) -> Way:
    """The first optimal solution, from ``board`` (uint8, shape (cells,), at ``distance``) to an origin.

    The same as the first of `SolutionGraph.solutions`, but no other board is read. Raises StorageError where the
    distances contradict each other.
    """
    boards, moves = [board], []
    for remaining in range(distance - 1, -1, -1):
        found = nearer(boards[-1][numpy.newaxis, :], remaining)
        if not len(found.rows):
            raise _contradiction(remaining + 1)
        boards.append(found.boards[0])
        moves.append(found.names[found.moves[0]])
    return Way(numpy.array(boards), moves)


def _contradiction(distance: int) -> StorageError:
    return StorageError(
        f"the stored map contradicts itself: a board at distance {distance} has no neighbour one nearer; "
        "`farthest verify` says where, and enumerating the puzzle again mends it"
    )
