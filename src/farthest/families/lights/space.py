"""The lights family: a press adds one, modulo the number of colours, to some lamps."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from farthest import _kernel
from farthest.families.lights.boards import LightsBoards
from farthest.families.lights.packed_space import packed_space
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.digits import ExpandedDigitSpace
from farthest.spaces.packed import PackedSpace
from farthest.spaces.packed_layout import is_packed


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> LightsSpace | PackedSpace:
    """See ``spaces.compile_space``."""
    known = LightsBoards(puzzle, origin)
    return packed_space(known) if is_packed(layout) else LightsSpace(known, layout)


class LightsSpace(ExpandedDigitSpace[LightsBoards]):
    """See LightsBoards."""

    @cached_property
    def expander(self) -> _kernel.LampExpander:
        """See ScatterSpace."""
        presses = self.known.presses(forward=self.known.forward(toward=False))
        moves = [(sum(1 << lamp for lamp in press), added) for _, press, added in presses]
        return _kernel.LampExpander(self.known.definition.colours, self.cells, moves)
