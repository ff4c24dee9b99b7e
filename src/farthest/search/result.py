"""What a plain search of one board found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farthest.puzzles.definition import MoveName


@dataclass(frozen=True, slots=True)
class PlainResult:
    """A way from the board to a target, and the cost of finding it.

    ``length``: of ``moves``; None: no target can be reached, every board that can be reached was searched.
    ``expanded``: boards taken from the open list, the target included. ``generated``: their successors, boards found
    before included. ``optimal``: it is certain that no way is shorter.
    """

    length: int | None
    moves: tuple[MoveName, ...]
    expanded: int
    generated: int
    seconds: float
    optimal: bool
