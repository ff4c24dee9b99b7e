"""Symmetries: maps of boards to boards that keep moves and fix one board; what a family knows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Boards = NDArray[np.uint8]


class BoardMap(Protocol):
    """A map of boards to boards."""

    def images(self, boards: Boards) -> Boards:
        """The images of boards, uint8 (N, cells)."""


@dataclass(frozen=True, slots=True)
class Symmetries:
    """``maps``: a group of maps of the states that take neighbours to neighbours and fix one board; the identity is
    one of them. ``inversion``: takes each state to the one that its solution makes of that board, which is as far from
    it, and a class of the maps to a class; None where there is no such map.
    """

    maps: Sequence[BoardMap]
    inversion: BoardMap | None = None
