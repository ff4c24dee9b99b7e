"""Stored maps of patterns as heuristics (pattern databases), and heuristics that combine others.

Source: J. Culberson, J. Schaeffer, Pattern databases, 1998; additive ones R. Korf, A. Felner, Disjoint pattern database
heuristics, 2002. A plain map has exact distances of a puzzle whose moves are the puzzle's own, so it is admissible and
consistent. An additive map counts only the moves of its pieces, so maps of different pieces can be added up; it has the
least over the places of the blank, which can change by more than one with a move.

A symmetry of the puzzle takes a board to one that is as far from the goal, where a pattern has other pieces. So looking
the image up gives another bound for the board.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from typing import TYPE_CHECKING, cast

import numpy

from farthest.heuristics.contract import UNREACHABLE, Component, Heuristic, MapTable, PatternMap, PatternTable
from farthest.heuristics.tables import Table
from farthest.puzzles.puzzle import Origin, Puzzle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.permutation.symmetries import Conjugation, SlotImages
    from farthest.families.sliding.symmetries import PatternImage, Symmetry
    from farthest.puzzles.definition import Board
    from farthest.puzzles.patterns import Pattern
    from farthest.spaces.contract import Boards

    Distances = NDArray[numpy.uint8] | NDArray[numpy.uint16] | Table


class AdditivePattern(Heuristic):
    """The number of moves of the pattern's pieces only. ``labels``: of these pieces, ascending."""

    consistent = False

    def __init__(self, name: str, image: PatternImage, found: PatternMap) -> None:
        """``found``: the map of the pattern of ``image.labels``, in which this pattern's distances are."""
        self.name = name
        self.labels = tuple(sorted(image.pieces))
        self._image = image
        assert isinstance(found.distances, numpy.ndarray), (
            "only tables of permutation puzzles are of other numbers"
        )
        self._distances = found.distances
        self._found = found
        self._relabel = numpy.zeros(256, dtype=numpy.uint8)
        self._relabel[list(image.pieces)] = range(1, len(image.pieces) + 1)

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        placed = numpy.empty_like(boards)
        placed[:, list(self._image.cells)] = self._relabel[boards]
        return _told(self._distances, self._found.space.encode(placed))

    def terms(self) -> list[list[Component]] | None:
        """Where every placement can be solved, in fewer than 255 moves."""
        if self._distances.dtype != numpy.uint8 or self._found.holes:
            return None
        distances = numpy.asarray(self._distances, dtype=numpy.uint8)
        return [[PatternTable(self._image.pieces, distances, self._image.cells)]]


class PlainPattern(Heuristic):
    """The distance of the board with all pieces outside the pattern made equal, or left out. A table with a base tells
    none up to that, and all from there on. ``labels``: of the pieces whose moves alone are counted, else empty."""

    def __init__(self, name: str, pattern: Pattern, found: PatternMap) -> None:
        self.name = name
        self.labels = pattern.labels if pattern.additive else ()
        self._pattern = pattern
        self._found = found
        self._distances: Distances = found.distances
        self.consistent = not isinstance(found.distances, Table) or found.distances.form.base == 0

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        codes = self._found.space.encode(numpy.ascontiguousarray(self._pattern.boards(boards)))
        return _told(self._distances, codes)

    def terms(self) -> list[list[Component]] | None:
        """Where distances are below 255, and no pieces are left out."""
        if self.labels:
            return None
        if isinstance(self._distances, numpy.ndarray) and self._distances.dtype != numpy.uint8:
            return None
        cells = tuple(range(self._pattern.puzzle.definition.cells))
        label_of = bytes(self._pattern.relabel).ljust(256, b"\0")
        distances = cast("NDArray[numpy.uint8] | Table", self._distances)
        return [[MapTable(self._found.space, distances, label_of, cells)]]


def _told(distances: Distances, places: NDArray[numpy.integer]) -> NDArray[numpy.int32]:
    """The distances at places; ``UNREACHABLE`` where there is none, or no such place."""
    if isinstance(distances, Table):
        return distances.bounds(places)
    none = numpy.iinfo(distances.dtype).max
    inside = places < len(distances)
    found = distances[numpy.where(inside, places, 0)].astype(numpy.int32)
    return numpy.where(inside & (found < none), found, numpy.int32(UNREACHABLE))


class Sum(Heuristic):
    """``A+B``. Admissible where it adds up additive pattern databases without a common piece: no move is counted twice.
    Then it is consistent where all of them are: a move changes one of them. Other sums claim nothing."""

    def __init__(self, name: str, parts: Sequence[Heuristic]) -> None:
        self.name = name
        self._parts = parts
        found = [part for part in parts if isinstance(part, AdditivePattern | PlainPattern) and part.labels]
        labels = [set(part.labels) for part in found]
        self.admissible = len(labels) == len(parts) and not any(a & b for a, b in combinations(labels, 2))
        self.consistent = self.admissible and all(part.consistent for part in found)

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        total = numpy.zeros(len(boards), dtype=numpy.int32)
        for part in self._parts:
            total += part.values(boards)
            numpy.minimum(total, UNREACHABLE, out=total)
        return total

    def terms(self) -> list[list[Component]] | None:
        """Where each part is one sum."""
        terms = [part.terms() for part in self._parts]
        sums = [each[0] for each in terms if each is not None and len(each) == 1]
        return [list(chain(*sums))] if len(sums) == len(terms) else None


class Greatest(Heuristic):
    """``A,B``: the greatest value of several."""

    def __init__(self, name: str, parts: Sequence[Heuristic]) -> None:
        self.name = name
        self._parts = parts
        self.admissible = all(part.admissible for part in parts)
        self.consistent = all(part.consistent for part in parts)

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        values: NDArray[numpy.int32] = numpy.maximum.reduce([part.values(boards) for part in self._parts])
        return values

    def terms(self) -> list[list[Component]] | None:
        """Where all parts have terms."""
        terms = [part.terms() for part in self._parts]
        return None if None in terms else list(chain(*filter(None, terms)))


COMPARED = 128
"""Boards on which images are compared. Images that happen to agree on all of them only make the heuristic weaker."""
MOVES = 40


@dataclass(frozen=True, slots=True)
class Image:
    """A symmetry as heuristics use it. ``boards``: gives the images of boards; ``component``: the component that gives
    for a board the component's value of its image."""

    boards: Callable[[Boards], Boards]
    component: Callable[[Component], Component]


class Symmetric(Heuristic):
    """``sym:TERM``: the greatest of a heuristic's values for the images of a board, which is among them itself."""

    def __init__(self, name: str, heuristic: Heuristic, images: Sequence[Image]) -> None:
        self.name = name
        self.admissible = heuristic.admissible
        self.consistent = heuristic.consistent
        self._heuristic = heuristic
        self._images = images

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        values: NDArray[numpy.int32] = numpy.maximum.reduce(
            [self._heuristic.values(image.boards(boards)) for image in self._images]
        )
        return values

    def terms(self) -> list[list[Component]] | None:
        terms = self._heuristic.terms()
        if terms is None:
            return None
        return [[image.component(part) for part in term] for image in self._images for term in terms]


def conjugated(
    name: str, heuristic: Heuristic, images: Sequence[tuple[Conjugation, SlotImages]], boards: Boards
) -> Symmetric:
    """Of a permutation puzzle, with those of the images whose values differ on some of ``boards``: a pattern that
    always has the same distance for two images is looked up once."""
    different: dict[bytes, Image] = {}
    for each, slots in images:
        image = Image(each.images, partial(_conjugate_component, slots))
        different.setdefault(heuristic.values(each.images(boards)).tobytes(), image)
    return Symmetric(name, heuristic, list(different.values()))


def mirrored(name: str, heuristic: Heuristic, symmetries: Sequence[Symmetry]) -> Symmetric:
    """Of a grid, turned or mirrored so that the goal stays the same except for the labels."""
    itself = Image(lambda boards: boards, lambda component: component)
    others = [Image(each.images, partial(_mirrored_component, each)) for each in symmetries]
    return Symmetric(name, heuristic, [itself, *others])


def some_boards(puzzle: Puzzle, goal: Board) -> Boards:
    """Boards that random moves make of the goal, always the same."""
    from farthest.families.permutation.gather_space import PermutationBoards
    from farthest.random_source import RandomSource

    space = PermutationBoards(puzzle, Origin(), [goal])
    moves = space.definition.generators
    boards = numpy.array([goal], dtype=numpy.uint8)
    rng = RandomSource(1)
    for _ in range(MOVES):
        halves = (boards, boards) if len(boards) < COMPARED else (boards[::2], boards[1::2])
        boards = numpy.concatenate([space.moved(half, moves[rng.below(len(moves))]) for half in halves])
    return boards


def _conjugate_component(image: SlotImages, component: Component) -> Component:
    """The map that gives for a board its value of the image."""
    assert isinstance(component, MapTable)
    slots = len(image.to)
    source = [image.to.index(slot) for slot in range(slots)]
    cells = (*source, *(slots + slot for slot in source))[: len(component.cell_of)]
    label_of = bytes(component.label_of[label] for label in image.labels)
    oriented = len(component.cell_of) > slots
    return replace(
        component,
        label_of=label_of.ljust(256, b"\0"),
        cell_of=cells,
        turned=image.turned if oriented else b"",
        turns=image.turns if oriented else 1,
    )


def _mirrored_component(symmetry: Symmetry, component: Component) -> Component:
    """The component that gives for a board the component's value of its image."""
    if isinstance(component, PatternTable):
        labels = tuple(symmetry.labels.index(label) for label in component.labels)
        cells = tuple(component.cell_of[cell] for cell in symmetry.cells)
        return replace(component, labels=labels, cell_of=cells)
    if isinstance(component, MapTable):
        label_of = bytes(component.label_of[label] for label in symmetry.labels)
        source = tuple(symmetry.cells.index(cell) for cell in range(len(symmetry.cells)))
        return replace(component, label_of=label_of.ljust(256, b"\0"), cell_of=source)
    return component  # made from the goal and the passages only, which the symmetry does not change
