"""Symmetries of a grid: it is turned or mirrored so that the goal stays the same except for the labels. A board and its
image, with the labels changed accordingly, are equally far from the goal.

And additive patterns that have the same map. A pattern's distances depend on the graph, on the goal cells of its
pieces, and on the cells where the blank can be at no cost when they are there; not on what its pieces are called. So
where a grid turned or mirrored takes the goal cells of one pattern to those of another, and those cells of the blank
too, the distance of a placement is that of its image. R. Korf and A. Felner use one map for three patterns of the
24-puzzle so (Disjoint pattern database heuristics, 2002).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.arrays import np
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.family import Symmetries
from farthest.puzzles.grid import closure, neighbours_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from farthest.families.sliding.definition import Sliding
    from farthest.spaces.contract import Boards


@dataclass(frozen=True, slots=True)
class Symmetry:
    """The content of cell c goes to cell ``cells[c]``, and label k becomes ``labels[k]``."""

    cells: tuple[int, ...]
    labels: tuple[int, ...]

    def images(self, boards: Boards) -> Boards:
        """The images of boards."""
        images = np.empty_like(boards)
        images[:, list(self.cells)] = np.array(self.labels, dtype=np.uint8)[boards]
        return images

    @property
    def image(self) -> tuple[int, ...]:
        """What it does to cells, and so to labels."""
        return self.cells

    def then(self, other: Symmetry) -> Symmetry:
        """This one and then the other."""
        return Symmetry(
            tuple(other.cells[cell] for cell in self.cells),
            tuple(other.labels[label] for label in self.labels),
        )


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
    grid = [list(row) for row in definition.rows]
    found = []
    for image in _images(grid):
        if [len(row) for row in image] != [len(row) for row in grid]:
            continue
        pairs = [
            pair for row, there in zip(grid, image, strict=True) for pair in zip(row, there, strict=True)
        ]
        if any((cell < 0) != (to < 0) for cell, to in pairs):
            continue
        cells = dict(pairs)
        moved = tuple(cells[cell] for cell in range(definition.cells))
        if moved != tuple(range(definition.cells)):
            found.append(moved)
    return list(dict.fromkeys(found))  # some are the same where the grid is one line


def _images(grid: list[list[int]]) -> Iterator[list[list[int]]]:
    """The grid turned by quarters, and mirrored."""
    for image in (grid, _transposed(grid)):
        for _ in range(4):
            yield image
            image = _transposed(image)[::-1]


def _transposed(grid: list[list[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*grid, strict=True)]


def _relabelled(goal: Board, cells: Sequence[int], labels: int) -> tuple[int, ...] | None:
    """The labels with which the image of the goal is the goal, the blank staying blank; None: there are none."""
    changed = {0: 0}
    for cell, label in enumerate(goal):
        if changed.setdefault(label, goal[cells[cell]]) != goal[cells[cell]]:
            return None
    return tuple(changed[label] for label in range(labels)) if len(set(changed.values())) == labels else None


def grid_symmetries(definition: Sliding, fixed: Board) -> Symmetries | None:
    """All that fix a board; None for a graph that is no grid."""
    return Symmetries(group_of(definition, fixed)) if definition.rows else None


def group_of(definition: Sliding, fixed: Board) -> list[Symmetry]:
    """All that fix a board, the identity first."""
    identity = Symmetry(tuple(range(definition.cells)), tuple(range(len(definition.tokens))))
    return [identity, *symmetries(definition, [fixed])]


@dataclass(frozen=True, slots=True)
class PatternImage:
    """A pattern of the pieces ``labels``, ascending, in whose map another pattern's distances are.

    ``pieces``: for each of ``labels`` the piece of the other pattern that is looked up as this one. ``cells``: for each
    cell of the board the cell where it is looked up.
    """

    labels: tuple[int, ...]
    pieces: tuple[int, ...]
    cells: tuple[int, ...]


def pattern_images(definition: Sliding, labels: Sequence[int]) -> list[PatternImage]:
    """The pattern itself, and all others in whose maps its distances are, once each; the least labels first."""
    itself = PatternImage(tuple(labels), tuple(labels), tuple(range(definition.cells)))
    found = {itself.labels: itself}
    if len(definition.goals) == 1 and WILDCARD not in definition.goals[0] and not definition.arcs:
        for cells in grid_images(definition):
            image = _image(definition, labels, cells)
            if image is not None:
                found.setdefault(image.labels, image)
    return [found[key] for key in sorted(found)]


def _image(definition: Sliding, labels: Sequence[int], cells: Sequence[int]) -> PatternImage | None:
    """The pattern in the place of another where cell c becomes ``cells[c]``; None where its distances differ."""
    goal = definition.goals[0]
    piece_for = {goal[cells[goal.index(label)]]: label for label in labels}
    if any(definition.counts[label] != 1 for label in piece_for):
        return None
    if {cells[cell] for cell in _open(definition, goal, labels)} != _open(definition, goal, piece_for):
        return None
    ascending = tuple(sorted(piece_for))
    return PatternImage(ascending, tuple(piece_for[label] for label in ascending), tuple(cells))


def _open(definition: Sliding, goal: Board, labels: Collection[int]) -> set[int]:
    """The cells where the blank can be at the goal when other pieces' moves cost nothing; none where the pattern would
    have the blank among its pieces."""
    if 0 in labels:
        return set()
    beside = neighbours_of(definition.cells, definition.edges)
    found = closure(goal.index(0), lambda cell: (each for each in beside[cell] if goal[each] not in labels))
    return set(found)
