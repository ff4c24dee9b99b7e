"""The hanoi family: only the smallest disc of a peg moves, onto an empty peg or a larger disc."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from farthest import _kernel
from farthest.families.hanoi.boards import HanoiBoards
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.digits import ExpandedDigitSpace
from farthest.spaces.packed import PackedSpace
from farthest.spaces.packed_digits import PackedDigits
from farthest.spaces.packed_layout import is_packed


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> HanoiSpace | PackedSpace:
    """See ``spaces.compile_space``."""
    known = HanoiBoards(puzzle, origin)
    return PackedDigits(known) if is_packed(layout) else HanoiSpace(known, layout)


class HanoiSpace(ExpandedDigitSpace[HanoiBoards]):
    """See HanoiBoards."""

    @cached_property
    def expander(self) -> _kernel.DiscExpander:
        """See ScatterSpace."""
        definition = self.known.definition
        arcs = self.known.arcs(forward=self.known.forward(toward=False))
        return _kernel.DiscExpander(definition.pegs, definition.discs, arcs)
