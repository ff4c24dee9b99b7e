"""The hanoi family: only the smallest disc of a peg moves, onto an empty peg or a larger disc."""

from __future__ import annotations

from typing import Any

from farthest import _kernel
from farthest.families.hanoi.definition import hanoi
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.digit_moves import DigitMoveSpace


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> HanoiSpace:
    """See ``spaces.compile_space``."""
    return HanoiSpace(puzzle, origin, layout)


class HanoiSpace(DigitMoveSpace):
    """Digit i is the peg of disc i, disc 0 the smallest."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> None:
        self.definition = hanoi(puzzle)
        super().__init__(
            puzzle, origin, self.definition.radices, layout, undirected=self.definition.undirected
        )

    def moves(self, *, forward: bool) -> tuple[list[str], _kernel.DiscExpander]:
        """See DigitMoveSpace. Made backward, a move takes the disc from where it lies back to where it was."""
        names = [f"{a}→{b}" for a, b in self.definition.arcs]
        arcs = self.definition.arcs if forward else [(b, a) for a, b in self.definition.arcs]
        return names, _kernel.DiscExpander(self.definition.pegs, self.definition.discs, arcs)
