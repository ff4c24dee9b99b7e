"""Stored maps of patterns as heuristics: pattern databases.

Source: J. Culberson, J. Schaeffer, Pattern databases, 1998; additive ones R. Korf, A. Felner, Disjoint pattern database
heuristics, 2002. A plain map has exact distances of a puzzle whose moves are the puzzle's own, so it is admissible and
consistent. An additive map counts only the moves of its pieces, so maps of different pieces can be added up; it has the
least over the places of the blank, which can change by more than one with a move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import UNREACHABLE, MapTable, PatternTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.sliding.pattern_images import PatternImage
    from farthest.heuristics.contract import Component, PatternMap
    from farthest.heuristics.half_bytes import HalfBytes
    from farthest.heuristics.reduced_map import ReducedMap
    from farthest.puzzles.patterns import Pattern
    from farthest.spaces.contract import Boards

    Distances = NDArray[numpy.uint8] | NDArray[numpy.uint16] | HalfBytes | ReducedMap


class AdditivePattern:
    """The number of moves of the pattern's pieces only. ``labels``: of these pieces, ascending."""

    admissible = True
    consistent = False

    def __init__(self, name: str, image: PatternImage, found: PatternMap) -> None:
        """``found``: the map of the pattern of ``image.labels``, in which this pattern's distances are."""
        self.name = name
        self.labels = tuple(sorted(image.pieces))
        self._image = image
        assert isinstance(found.distances, numpy.ndarray), (
            "only maps of permutation puzzles are kept otherwise"
        )
        self._distances = found.distances
        self._holes = found.holes

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        return _told(self._distances, placement_ranks(boards, self._image.pieces, self._image.cells))

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: where every placement can be solved, in fewer than 255 moves."""
        if self._distances.dtype != numpy.uint8 or self._holes:
            return None
        distances = numpy.asarray(self._distances, dtype=numpy.uint8)
        return [[PatternTable(self._image.pieces, distances, self._image.cells)]]


class PlainPattern:
    """The distance of the board with all pieces outside the pattern made equal."""

    admissible = True
    consistent = True

    def __init__(self, name: str, pattern: Pattern, found: PatternMap) -> None:
        self.name = name
        self._pattern = pattern
        self._found = found
        self._distances: Distances = found.distances

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        codes = self._found.space.encode(numpy.ascontiguousarray(self._pattern.boards(boards)))
        return _told(self._distances, codes)

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: where distances are below 255."""
        if self._distances.dtype != numpy.uint8:
            return None
        cells = tuple(range(self._pattern.puzzle.definition.cells))
        label_of = bytes(self._pattern.relabel).ljust(256, b"\0")
        return [[MapTable(self._found.space, _bytes(self._distances), label_of, cells)]]


def placement_ranks(boards: Boards, labels: Sequence[int], cell_of: Sequence[int]) -> NDArray[numpy.int64]:
    """The index of each board in a `PatternTable`."""
    cells = boards.shape[1]
    renumbered = numpy.array(cell_of, dtype=numpy.int64)
    ranks = numpy.zeros(len(boards), dtype=numpy.int64)
    placed: list[NDArray[numpy.int64]] = []
    for taken, label in enumerate(labels):
        cell = renumbered[(boards == label).argmax(axis=1)]
        digit = cell - sum((before < cell for before in placed), start=numpy.zeros_like(cell))
        ranks = ranks * (cells - taken) + digit
        placed.append(cell)
    return ranks


def _bytes(distances: Distances) -> NDArray[numpy.uint8] | HalfBytes | ReducedMap:
    """Distances of one byte, without a copy: there may be very many."""
    return numpy.asarray(distances, dtype=numpy.uint8) if isinstance(distances, numpy.ndarray) else distances


def _told(distances: Distances, places: NDArray[numpy.integer]) -> NDArray[numpy.int32]:
    """The distances at places; ``UNREACHABLE`` where there is none, or no such place."""
    none = numpy.iinfo(distances.dtype).max
    inside = places < len(distances)
    found = distances[numpy.where(inside, places, 0)].astype(numpy.int32)
    return numpy.where(inside & (found < none), found, numpy.int32(UNREACHABLE))
