"""Classes of states that are alike by symmetry: how many there are at each distance, and one state of each.

A class is an orbit of the group S of symmetries that fix the origin. A state that s of them leave unchanged is in an
orbit of |S| / s states, so that the orbits of a layer are the sum of s over its states, divided by |S| (Burnside's
lemma, counted from the side of the states). With inverses an orbit may be its own: then it contains the inverse of
each of its states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from farthest.errors import JobError
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.family import family
from farthest.puzzles.origin_boards import origin_patterns
from farthest.queries.states import state_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from farthest.puzzles.symmetry import Symmetries
    from farthest.queries.stored_map import StoredMap
    from farthest.spaces.contract import Boards, Codes

BOARDS_AT_ONCE = 16_384
"""Images of so many boards are made together: a few megabytes."""


@dataclass(frozen=True, slots=True)
class LayerClasses:
    """``states`` at ``depth`` are in so many ``classes``; ``fixed`` of them are left unchanged by every symmetry."""

    depth: int
    states: int
    classes: int
    fixed: int


@dataclass(frozen=True, slots=True)
class SymmetryClasses:
    """The classes of a map by so many ``symmetries``; ``inverses``: a state and its inverse are alike too."""

    symmetries: int
    inverses: bool
    layers: tuple[LayerClasses, ...]

    @property
    def classes(self) -> int:
        """Those of all layers."""
        return sum(layer.classes for layer in self.layers)


def symmetries_of(distance_map: StoredMap, *, inverses: bool = False) -> Symmetries:
    """The symmetries that fix the map's origin. Raises JobError where there is none that is known, or no inverses."""
    puzzle, origin = distance_map.puzzle, distance_map.origin
    fixed = origin_patterns(puzzle.definition, origin.where, puzzle.name)
    place = f"job {distance_map.job} ({distance_map.record.name})"
    if len(fixed) != 1 or WILDCARD in fixed[0]:
        raise JobError(
            f"{place}: its origin is a set of boards; symmetries are told for one: run `farthest enumerate "
            f"{puzzle.name} --to BOARD`"
        )
    found = family(puzzle.family).symmetries(puzzle.definition, fixed[0])
    if found is None:
        raise JobError(f"{place}: symmetries of the family {puzzle.family} are not known; ask without them")
    if inverses and found.inversion is None:
        raise JobError(
            f"{place}: its boards have no inverses, as pieces are alike or moves cannot be taken back; leave "
            "--inverse out"
        )
    return found


def symmetry_classes(distance_map: StoredMap, *, inverses: bool = False) -> SymmetryClasses:
    """Counts the classes of each layer; reads the whole map. Raises as ``symmetries_of``."""
    found = symmetries_of(distance_map, inverses=inverses)
    order = len(found.maps)
    layers = len(distance_map.layers)
    sums = numpy.zeros(
        (3, layers), dtype=numpy.int64
    )  # of unchanged, of unchanged in own inverses, of fixed states
    for block in state_blocks(distance_map):
        for at in range(0, len(block.labels), BOARDS_AT_ONCE):
            boards = block.labels[at : at + BOARDS_AT_ONCE]
            distances = block.distances[at : at + BOARDS_AT_ONCE].astype(numpy.intp)
            unchanged, own = _unchanged(found, boards, inverses)
            for row, weights in enumerate((unchanged, unchanged * own, unchanged == order)):
                sums[row] += numpy.bincount(distances, weights, minlength=layers).astype(numpy.int64)
    told = []
    for depth, states in enumerate(distance_map.layers):
        classes = _whole(int(sums[0, depth]), order)
        if inverses:
            classes = _whole(classes + _whole(int(sums[1, depth]), order), 2)
        told.append(LayerClasses(depth, states, classes, int(sums[2, depth])))
    return SymmetryClasses(order, inverses, tuple(told))


def _whole(total: int, parts: int) -> int:
    assert total % parts == 0, "an orbit is whole in its layer"
    return total // parts


def _unchanged(
    found: Symmetries, boards: Boards, inverses: bool
) -> tuple[NDArray[numpy.int64], NDArray[numpy.bool_]]:
    """For each board by how many symmetries it stays as it is, and whether one makes its inverse of it."""
    unchanged = numpy.zeros(len(boards), dtype=numpy.int64)
    own = numpy.zeros(len(boards), dtype=numpy.bool_)
    inverse = found.inversion.images(boards) if inverses and found.inversion is not None else None
    for each in found.maps:
        images = each.images(boards)
        unchanged += (images == boards).all(axis=1)
        if inverse is not None:
            own |= (images == inverse).all(axis=1)
    return unchanged, own


def representatives(distance_map: StoredMap, depth: int, *, inverses: bool = False) -> Iterator[str]:
    """The boards of a layer, one of each class: the one with the least code. Raises as ``symmetries_of``."""
    found = symmetries_of(distance_map, inverses=inverses)
    distance_map.check_depth(depth)
    for block in state_blocks(distance_map, depth):
        for at in range(0, len(block.labels), BOARDS_AT_ONCE):
            boards = block.labels[at : at + BOARDS_AT_ONCE]
            least = _least(distance_map, found, boards, inverses)
            yield from distance_map.puzzle.definition.texts(boards[least])


def _least(
    distance_map: StoredMap, found: Symmetries, boards: Boards, inverses: bool
) -> NDArray[numpy.bool_]:
    """Which of the boards have the least code of their class."""
    codes: Codes = distance_map.space.encode(boards)
    least = numpy.ones(len(boards), dtype=numpy.bool_)
    sides = [boards]
    if inverses and found.inversion is not None:
        sides.append(found.inversion.images(boards))
    for side in sides:
        for each in found.maps:
            least &= distance_map.space.encode(each.images(side)) >= codes
    return least
