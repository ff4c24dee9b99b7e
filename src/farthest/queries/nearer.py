"""The moves that lead from boards to boards one nearer the origin: what solutions are made of.

Where a space knows the moves toward the origin, they are made, and the boards looked up. Where it does not (its moves
are one-way, and only successors are known), the whole layer before is expanded, and the moves that lead to the boards
are kept. That is exact too, but the map is read once for each move of a solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards, Codes, Space

    Lookup = Callable[[Codes], NDArray[numpy.int32]]
    """Codes to distances, -1 for none."""

    Nearer = Callable[[Boards, int], "NearerMoves"]
    """From different boards the moves to boards at a distance that is one less than theirs."""


@dataclass(frozen=True, slots=True)
class NearerMoves:
    """Item i leads from the board of row ``rows[i]`` to ``boards[i]`` by the move ``names[moves[i]]``.

    ``rows``, ``moves``: intp, shape (items,). ``boards``: uint8, shape (items, cells). Items of one row are in a fixed
    order: that of the space's moves, or of the layer where it has to be read.
    """

    rows: NDArray[numpy.intp]
    boards: Boards
    moves: NDArray[numpy.intp]
    names: list[MoveName]


def nearer_moves(space: Space, lookup: Lookup, layer: Callable[[int], Iterator[Boards]]) -> Nearer:
    """How a map's nearer moves are found. ``layer``: the boards of a depth, some at a time."""
    if space.moves_both_ways:
        return lambda boards, remaining: _by_neighbours(space, lookup, boards, remaining)
    return lambda boards, remaining: _by_layer(space, layer(remaining), boards)


def _by_neighbours(space: Space, lookup: Lookup, boards: Boards, remaining: int) -> NearerMoves:
    found = _Found(space.cells)
    for name, rows, neighbours in space.neighbours(boards, toward=True):
        found.add(name, rows, neighbours)
    reached = found.all()
    if not len(reached.rows):
        return reached
    nearer = lookup(space.encode(reached.boards)) == remaining
    return NearerMoves(reached.rows[nearer], reached.boards[nearer], reached.moves[nearer], reached.names)


def _by_layer(space: Space, layer: Iterator[Boards], boards: Boards) -> NearerMoves:
    codes = space.encode(boards)
    order = numpy.argsort(codes)
    ascending = codes[order]
    found = _Found(space.cells)
    for block in layer:
        for name, rows, reached in space.neighbours(block, toward=False):
            arrived = space.encode(reached)
            places = numpy.searchsorted(ascending, arrived)
            places[places == len(ascending)] = 0
            hits = ascending[places] == arrived
            if hits.any():
                found.add(name, order[places[hits]], block[rows[hits]])
    return found.all()


class _Found:
    def __init__(self, cells: int) -> None:
        self._rows: list[NDArray[numpy.intp]] = [numpy.empty(0, dtype=numpy.intp)]
        self._boards: list[Boards] = [numpy.empty((0, cells), dtype=numpy.uint8)]
        self._moves: list[NDArray[numpy.intp]] = [numpy.empty(0, dtype=numpy.intp)]
        self._numbers: dict[MoveName, int] = {}

    def add(self, name: MoveName, rows: NDArray[numpy.intp], boards: Boards) -> None:
        """Adds one move: from which rows it can be made, and to which boards."""
        number = self._numbers.setdefault(name, len(self._numbers))
        self._rows.append(rows)
        self._boards.append(boards)
        self._moves.append(numpy.full(len(rows), number, dtype=numpy.intp))

    def all(self) -> NearerMoves:
        """All that was added, in that order."""
        return NearerMoves(
            numpy.concatenate(self._rows),
            numpy.concatenate(self._boards),
            numpy.concatenate(self._moves),
            list(self._numbers),
        )
