"""Towers of Hanoi, disc by disc: a disc moves where no smaller one is on its peg or on the one that it goes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.hanoi.definition import hanoi
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import Boards
from farthest.verify.models.digits import DigitModel, DigitMoves, PackedModel, digit_model, joined


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> DigitModel | PackedModel:
    """See models."""
    return digit_model(HanoiMoves(puzzle, origin), layout)


class HanoiMoves(DigitMoves):
    """A digit is the peg of a disc, the smallest first."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        definition = hanoi(puzzle)
        super().__init__(definition, origin, [definition.pegs] * definition.discs)
        self.ways = [(a, b) if origin.direction == "from" else (b, a) for a, b in definition.arcs]

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""
        parts = []
        for disc in range(boards.shape[1]):
            smaller = boards[:, :disc]
            for a, b in self.ways:
                blocked = ((smaller == a) | (smaller == b)).any(axis=1)
                rows = np.flatnonzero((boards[:, disc] == a) & ~blocked)
                moved = boards[rows]
                moved[:, disc] = b
                parts.append((rows, moved))
        return joined(parts, boards.shape[1])
