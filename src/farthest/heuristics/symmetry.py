"""Symmetric look-ups: a grid turned or mirrored so that the goal stays the same except for the labels.

A board and its image, with the labels changed accordingly, are equally far from the goal. So looking the image up in a
pattern database gives another bound for the board, from other pieces (J. Culberson, J. Schaeffer, Pattern databases,
1998).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import MapTable, PatternTable
from farthest.puzzles.definition import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.sliding.definition import Sliding
    from farthest.heuristics.contract import Component, Heuristic
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Boards


@dataclass(frozen=True, slots=True)
class Symmetry:
    """The content of cell c goes to cell ``cells[c]``, and label k becomes ``labels[k]``."""

    cells: tuple[int, ...]
    labels: tuple[int, ...]

    def images(self, boards: Boards) -> Boards:
        """The images of boards."""
        images = numpy.empty_like(boards)
        images[:, list(self.cells)] = numpy.array(self.labels, dtype=numpy.uint8)[boards]
        return images

    def component(self, component: Component) -> Component:
        """The component that gives for a board the component's value of its image."""
        if isinstance(component, PatternTable):
            labels = tuple(self.labels.index(label) for label in component.labels)
            return replace(component, labels=labels, cell_of=self.cells)
        if isinstance(component, MapTable):
            label_of = bytes(component.label_of[label] for label in self.labels)
            source = tuple(self.cells.index(cell) for cell in range(len(self.cells)))
            return replace(component, label_of=label_of.ljust(256, b"\0"), cell_of=source)
        return component  # made from the goal and the passages only, which the symmetry does not change


def symmetries(definition: Sliding, goals: Sequence[Board]) -> list[Symmetry]:
    """All except the identity, for a grid with one goal without wildcards; else none."""
    if not definition.rows or len(goals) != 1 or WILDCARD in goals[0]:
        return []
    grid = numpy.array(definition.rows)
    found = []
    for image in _images(grid):
        if image.shape != grid.shape or ((image < 0) != (grid < 0)).any():
            continue
        cells = numpy.empty(definition.cells, dtype=numpy.intp)
        cells[grid[grid >= 0]] = image[grid >= 0]
        labels = _relabelled(goals[0], cells.tolist(), len(definition.tokens))
        if labels is not None and list(cells) != list(range(definition.cells)):
            found.append(Symmetry(tuple(cells.tolist()), labels))
    return found


def _images(grid: NDArray[numpy.intp]) -> list[NDArray[numpy.intp]]:
    """The grid turned by quarters, and mirrored."""
    return [numpy.rot90(each, quarters) for each in (grid, grid.T) for quarters in range(4)]


def _relabelled(goal: Board, cells: Sequence[int], labels: int) -> tuple[int, ...] | None:
    """The new labels with which the image of the goal is the goal, the blank staying the blank; None where there are
    none."""
    changed = {0: 0}
    for cell, label in enumerate(goal):
        if changed.setdefault(label, goal[cells[cell]]) != goal[cells[cell]]:
            return None
    return tuple(changed[label] for label in range(labels)) if len(set(changed.values())) == labels else None


class Mirrored:
    """``sym:TERM``: the greatest of a heuristic's values for a board and its images."""

    def __init__(self, name: str, heuristic: Heuristic, symmetries: Sequence[Symmetry]) -> None:
        self.name = name
        self.admissible = heuristic.admissible
        self.consistent = heuristic.consistent
        self._heuristic = heuristic
        self._symmetries = symmetries

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        values = self._heuristic.values(boards)
        for symmetry in self._symmetries:
            numpy.maximum(values, self._heuristic.values(symmetry.images(boards)), out=values)
        return values

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: the heuristic's own, and those of each image."""
        terms = self._heuristic.terms()
        if terms is None:
            return None
        return terms + [
            [symmetry.component(each) for each in term] for symmetry in self._symmetries for term in terms
        ]
