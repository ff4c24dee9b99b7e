"""Lights, press by press."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.lights.definition import lights
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import Boards
from farthest.verify.models.digits import DigitModel, DigitMoves, PackedModel, digit_model, joined


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> DigitModel | PackedModel:
    """See models."""
    return digit_model(LightsMoves(puzzle, origin), layout)


class LightsMoves(DigitMoves):
    """A digit is the colour of a lamp."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self.lights = lights(puzzle)
        super().__init__(self.lights, origin, [self.lights.colours] * self.lights.cells)
        colours = self.lights.colours
        if puzzle.metric == "multi":
            self.times = list(range(1, colours))
        else:
            self.times = [1 if origin.direction == "from" else colours - 1]

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""
        parts = []
        for press in self.lights.presses:
            for times in self.times:
                pressed = boards.copy()
                for lamp in press:
                    pressed[:, lamp] = (pressed[:, lamp] + times) % self.lights.colours
                parts.append((np.arange(len(boards)), pressed))
        return joined(parts, boards.shape[1])
