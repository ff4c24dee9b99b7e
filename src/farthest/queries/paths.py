"""Optimal solutions: one, all, and how many, from the distances alone.

A board at distance d has a neighbour at distance d - 1, and every optimal solution goes from neighbour to
neighbour in this way. The boards that optimal solutions of one board pass through form a graph whose levels
are the distances d, d - 1, ..., 0; a solution is a way through it. Two different moves never lead from one
board to the same board, so solutions as rows of boards and as rows of moves are the same in number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from farthest.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from farthest.spaces.contract import Space

    Boards = NDArray[numpy.uint8]
    Lookup = Callable[[NDArray[numpy.uint64]], NDArray[numpy.int32]]

# Counts stay in int64 while a level's largest count times its largest number of edges cannot exceed this.
EXACT_IN_INT64 = 2**62


@dataclass(frozen=True, slots=True)
class Level:
    """The boards of one distance that solutions pass through, and their edges to the next level.

    ``boards``: uint8, shape (boards, cells). ``first_edge``: intp, shape (boards + 1,); the edges of board i
    are ``successors[first_edge[i]:first_edge[i + 1]]``, indices into the next level, in the order of the
    space's moves.
    """

    boards: Boards
    first_edge: NDArray[numpy.intp]
    successors: NDArray[numpy.intp]


class SolutionGraph:
    """All optimal solutions of one board."""

    def __init__(self, space: Space, lookup: Lookup, board: Boards, distance: int) -> None:
        """``board``: uint8, shape (cells,), at ``distance``. ``lookup``: keys to distances, -1 for none.

        Raises StorageError where the distances contradict each other.
        """
        self.distance = distance
        self.levels: list[Level] = []
        boards = board[numpy.newaxis, :]
        for remaining in range(distance - 1, -1, -1):
            level, boards = _level(space, lookup, boards, remaining)
            self.levels.append(level)
        self.origins = boards  # where the solutions arrive: uint8, shape (boards, cells)

    def count(self) -> int:
        """How many optimal solutions there are, exactly."""
        counts: NDArray[numpy.int64] | NDArray[numpy.object_] = numpy.ones(
            len(self.origins), dtype=numpy.int64
        )
        for level in reversed(self.levels):
            if counts.dtype != object:
                most_edges = int(numpy.diff(level.first_edge).max())
                if int(counts.max()) * most_edges > EXACT_IN_INT64:
                    counts = counts.astype(object)  # Python integers, from here on
            counts = numpy.add.reduceat(counts[level.successors], level.first_edge[:-1])
        return int(counts[0])

    def solutions(self) -> Iterator[list[int]]:
        """Each solution as the index of its board in every level and, last, in ``origins``.

        Depth first, moves in the order of the space, so the order is the same each time.
        """
        way = [0] * (self.distance + 1)  # way[i]: the board on level i
        edges = [0] * self.distance  # edges[i]: the next edge to try from it
        depth = 0
        if self.distance:
            edges[0] = int(self.levels[0].first_edge[0])
        while depth >= 0:
            if depth == self.distance:
                yield list(way)
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

    def boards(self, way: list[int]) -> Boards:
        """The boards of one of the `solutions`: uint8, shape (distance + 1, cells)."""
        levels = [*(level.boards for level in self.levels), self.origins]
        return numpy.array([boards[index] for boards, index in zip(levels, way, strict=True)])


def _level(space: Space, lookup: Lookup, boards: Boards, remaining: int) -> tuple[Level, Boards]:
    """The level of ``boards`` with its edges to boards at distance ``remaining``, and those boards."""
    rows: list[NDArray[numpy.intp]] = []
    found: list[Boards] = []
    for _, row, neighbours in space.neighbours(boards, toward=True):
        rows.append(row)
        found.append(neighbours)
    if not rows:
        raise _contradiction(remaining + 1)
    from_row = numpy.concatenate(rows)
    to_board = numpy.concatenate(found)
    keys = space.encode(to_board)
    nearer = lookup(keys) == remaining
    from_row, to_board, keys = from_row[nearer], to_board[nearer], keys[nearer]
    _, first, successor = numpy.unique(keys, return_index=True, return_inverse=True)
    order = numpy.argsort(from_row, kind="stable")  # keeps the order of the moves within a row
    edges = numpy.bincount(from_row, minlength=len(boards))
    if not edges.all():
        raise _contradiction(remaining + 1)
    first_edge = numpy.zeros(len(boards) + 1, dtype=numpy.intp)
    numpy.cumsum(edges, out=first_edge[1:])
    return Level(boards, first_edge, successor[order].astype(numpy.intp)), to_board[first]


def walk(space: Space, lookup: Lookup, board: Boards, distance: int) -> list[Boards]:
    """The first optimal solution, from ``board`` (uint8, shape (cells,), at ``distance``) to an origin.

    The same as the first of `SolutionGraph.solutions`, but no other board is looked at. Raises StorageError
    where the distances contradict each other.
    """
    way = [board]
    for remaining in range(distance - 1, -1, -1):
        neighbours = [found for _, _, found in space.neighbours(way[-1][numpy.newaxis, :], toward=True)]
        if not neighbours:
            raise _contradiction(remaining + 1)
        boards = numpy.concatenate(neighbours)
        nearer = numpy.flatnonzero(lookup(space.encode(boards)) == remaining)
        if not nearer.size:
            raise _contradiction(remaining + 1)
        way.append(boards[nearer[0]])
    return way


def moves_of(boards: Boards) -> list[tuple[int, int]]:
    """The moves between boards that follow each other: (cell that becomes blank, blank cell that is filled).

    ``boards``: uint8, shape (boards, cells), in the order of the moves. The two cells name a move without
    doubt: of several pieces that move as one, all stand between them.
    """
    blank = boards == 0
    sources = (blank[1:] & ~blank[:-1]).argmax(axis=1)
    targets = (blank[:-1] & ~blank[1:]).argmax(axis=1)
    return list(zip(sources.tolist(), targets.tolist(), strict=True))


def _contradiction(distance: int) -> StorageError:
    return StorageError(
        f"the stored map contradicts itself: a board at distance {distance} has no neighbour one nearer; "
        "`farthest verify` says where, and enumerating the puzzle again mends it"
    )
