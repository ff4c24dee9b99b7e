"""Symmetries of a grid: it is turned or mirrored so that the goal stays the same except for the labels.

A board and its image, with the labels changed accordingly, are equally far from the goal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.symmetry import Symmetries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.sliding.definition import Sliding
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


def symmetries(definition: Sliding, goals: Sequence[Board]) -> list[Symmetry]:
    """All except the identity, for a grid with one goal without wildcards; else none."""
    if len(goals) != 1 or WILDCARD in goals[0]:
        return []
    found = []
    for cells in grid_images(definition):
        labels = _relabelled(goals[0], cells, len(definition.tokens))
        if labels is not None:
            found.append(Symmetry(cells, labels))
    return found


def grid_images(definition: Sliding) -> list[tuple[int, ...]]:
    """For each turn and mirror image of a grid to itself, except the identity, the cell that each cell becomes."""
    if not definition.rows:
        return []
    grid = numpy.array(definition.rows)
    found = []
    for image in _images(grid):
        if image.shape != grid.shape or ((image < 0) != (grid < 0)).any():
            continue
        cells = numpy.empty(definition.cells, dtype=numpy.intp)
        cells[grid[grid >= 0]] = image[grid >= 0]
        if list(cells) != list(range(definition.cells)):
            found.append(tuple(cells.tolist()))
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


def grid_symmetries(definition: Sliding, fixed: Board) -> Symmetries | None:
    """All that fix a board; None for a graph that is no grid."""
    if not definition.rows:
        return None
    identity = Symmetry(tuple(range(definition.cells)), tuple(range(len(definition.tokens))))
    return Symmetries([identity, *symmetries(definition, [fixed])])
