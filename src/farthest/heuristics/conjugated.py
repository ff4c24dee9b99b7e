"""Symmetric look-ups of permutation puzzles: patterns read for the images of a board.

A symmetry of the puzzle (families/permutation/symmetries.py) takes a board to one that is as far from the goal, where a
pattern has other pieces. Images for which the pattern always has the same distance are looked up once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy

from farthest.families.permutation.definition import permutation
from farthest.families.permutation.neighbours import PermutationBoards
from farthest.heuristics.contract import MapTable
from farthest.puzzles.puzzle import Origin
from farthest.random_source import RandomSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.permutation.symmetries import Conjugation, SlotImages
    from farthest.heuristics.contract import Component, Heuristic
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import Boards

COMPARED = 256
"""Boards on which images are compared. Images that happen to agree on all of them only make the heuristic weaker."""
MOVES = 100


class Conjugated:
    """``sym:TERM`` of a permutation puzzle: the greatest of a heuristic's values for a board and its images."""

    def __init__(
        self, name: str, heuristic: Heuristic, images: Sequence[tuple[Conjugation, SlotImages]]
    ) -> None:
        self.name = name
        self.admissible = heuristic.admissible
        self.consistent = heuristic.consistent
        self._heuristic = heuristic
        self._images = images

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        values: NDArray[numpy.int32] = numpy.maximum.reduce(
            [self._heuristic.values(image.images(boards)) for image, _ in self._images]
        )
        return values

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: where it is made of maps."""
        terms = self._heuristic.terms()
        if terms is None or not all(isinstance(part, MapTable) for term in terms for part in term):
            return None
        return [[_of_image(image, part) for part in term] for _, image in self._images for term in terms]


def conjugated(
    name: str, heuristic: Heuristic, images: Sequence[tuple[Conjugation, SlotImages]], boards: Boards
) -> Conjugated:
    """The heuristic with those of the images whose values differ on some of ``boards``."""
    kept: dict[bytes, tuple[Conjugation, SlotImages]] = {}
    for each in images:
        kept.setdefault(heuristic.values(each[0].images(boards)).tobytes(), each)
    return Conjugated(name, heuristic, list(kept.values()))


def some_boards(puzzle: Puzzle, goal: Board) -> Boards:
    """Boards that random moves make of the goal, always the same."""
    space = PermutationBoards(puzzle, Origin(), [goal])
    moves = permutation(puzzle).generators
    boards = numpy.array([goal] * COMPARED, dtype=numpy.uint8)
    rng = RandomSource(1)
    for _ in range(MOVES):
        chosen = numpy.array([rng.below(len(moves)) for _ in range(COMPARED)])
        for number in numpy.unique(chosen).tolist():
            rows = chosen == number
            boards[rows] = space.moved(boards[rows], moves[number])
    return boards


def _of_image(image: SlotImages, component: Component) -> Component:
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
