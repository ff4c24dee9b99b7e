"""Symmetric look-ups: a grid turned or mirrored so that the goal stays the same except for the labels.

A board and its image, with the labels changed accordingly, are equally far from the goal. So looking the image up in a
pattern database gives another bound for the board, from other pieces (J. Culberson, J. Schaeffer, Pattern databases,
1998).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import MapTable, PatternTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.sliding.symmetries import Symmetry
    from farthest.heuristics.contract import Component, Heuristic
    from farthest.spaces.contract import Boards


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
            [_of_image(symmetry, each) for each in term] for symmetry in self._symmetries for term in terms
        ]


def _of_image(symmetry: Symmetry, component: Component) -> Component:
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
