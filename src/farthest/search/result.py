"""What a plain search of one board found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farthest.puzzles.definition import MoveName


@dataclass(frozen=True, slots=True)
class PlainResult:
    """A way from the board to a target, and what it cost to find.

    ``length``: of ``moves``; None: no target can be reached, all that can was searched. ``expanded``: boards taken from
    the open list, the target among them (S4's loops). ``generated``: their successors, boards met before included.
    ``optimal``: no way is shorter, for certain.
    """

    length: int | None
    moves: tuple[MoveName, ...]
    expanded: int
    generated: int
    seconds: float
    optimal: bool
