"""Classes of states that are alike by symmetry: how many there are at each distance, and one state of each.

A class is an orbit of the group S of symmetries that fix the origin. It is counted at its least state. A state that is
more than one of its images is left out at once, so that some log |S| images of a state are made and not |S|. A state
that s of the symmetries leave unchanged is in an orbit of |S| / s states; with inverses in one of twice as many, unless
the orbit contains the inverse of each of its states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from farthest.errors import JobError
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.family import family
from farthest.puzzles.origin_boards import origin_patterns
from farthest.queries.states import state_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from farthest.puzzles.symmetry import Symmetries
    from farthest.queries.stored_map import StoredMap
    from farthest.spaces.contract import Boards

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
    sums = numpy.zeros((3, layers), dtype=numpy.int64)  # of classes, of the states in them, of fixed states
    for block in state_blocks(distance_map):
        for at in range(0, len(block.labels), BOARDS_AT_ONCE):
            boards = block.labels[at : at + BOARDS_AT_ONCE]
            least = _least_of_orbits(found, boards, _in_order, inverses=inverses)
            distances = block.distances[at : at + BOARDS_AT_ONCE][least.rows].astype(numpy.intp)
            in_fixed = numpy.where(least.unchanged == order, least.sizes, 0)
            for row, weights in enumerate((numpy.ones_like(least.sizes), least.sizes, in_fixed)):
                sums[row] += numpy.bincount(distances, weights, minlength=layers).astype(numpy.int64)
    assert sums[1].tolist() == list(distance_map.layers), "orbits are whole in their layers"
    return SymmetryClasses(
        order,
        inverses,
        tuple(
            LayerClasses(depth, states, int(sums[0, depth]), int(sums[2, depth]))
            for depth, states in enumerate(distance_map.layers)
        ),
    )


def _in_order(boards: Boards) -> NDArray[Any]:
    """What can be compared in place of boards: their bytes."""
    return numpy.ascontiguousarray(boards).view(f"S{boards.shape[1]}").ravel()


@dataclass(frozen=True, slots=True)
class _Least:
    """The boards that are the least of their orbits: their ``rows``; how many symmetries leave each ``unchanged``; the
    ``sizes`` of the orbits."""

    rows: NDArray[numpy.intp]
    unchanged: NDArray[numpy.int64]
    sizes: NDArray[numpy.int64]


def _least_of_orbits(
    found: Symmetries, boards: Boards, in_order: Callable[[Boards], NDArray[Any]], *, inverses: bool
) -> _Least:
    """``in_order``: what boards are compared by."""
    rows = numpy.arange(len(boards))
    own = in_order(boards)
    unchanged = numpy.zeros(len(boards), dtype=numpy.int64)
    for each in found.maps:
        images = in_order(each.images(boards[rows]))
        unchanged[rows] += images == own[rows]
        rows = rows[images >= own[rows]]
    sizes = len(found.maps) // numpy.maximum(unchanged, 1)
    if inverses and found.inversion is not None:
        # Whether the inverse is in another orbit of the symmetries.
        other = numpy.ones(len(boards), dtype=numpy.bool_)
        inverse = found.inversion.images(boards[rows])
        for each in found.maps:
            images = in_order(each.images(inverse))
            other[rows] &= images != own[rows]
            least = images >= own[rows]
            rows, inverse = rows[least], inverse[least]
        sizes <<= other
    return _Least(rows, unchanged[rows], sizes[rows])


def representatives(distance_map: StoredMap, depth: int, *, inverses: bool = False) -> Iterator[str]:
    """The boards of a layer, one of each class: the one with the least code. Raises as ``symmetries_of``."""
    found = symmetries_of(distance_map, inverses=inverses)
    distance_map.check_depth(depth)
    for block in state_blocks(distance_map, depth):
        for at in range(0, len(block.labels), BOARDS_AT_ONCE):
            boards = block.labels[at : at + BOARDS_AT_ONCE]
            least = _least_of_orbits(found, boards, distance_map.space.encode, inverses=inverses)
            yield from distance_map.puzzle.definition.texts(boards[least.rows])
