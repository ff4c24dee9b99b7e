"""The moves of discs on arrays of boards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from farthest.families.hanoi.definition import hanoi
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.digit_boards import DigitBoards

if TYPE_CHECKING:
    from farthest.spaces.digit_boards import Digits, Step


class HanoiBoards(DigitBoards):
    """Digit i is the peg of disc i, disc 0 the smallest."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self.definition = hanoi(puzzle)
        super().__init__(puzzle, origin, self.definition.radices, undirected=self.definition.undirected)

    def arcs(self, *, forward: bool) -> list[tuple[int, int]]:
        """From peg to peg. Made backward, a move takes the disc from where it lies back to where it was."""
        return [(a, b) if forward else (b, a) for a, b in self.definition.arcs]

    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
        """See DigitBoards."""
        import numpy as np

        discs = self.definition.discs
        every = np.arange(len(digits))
        tops = np.full((len(digits), self.definition.pegs), discs)  # the smallest disc of each peg
        for disc in reversed(range(discs)):
            tops[every, digits[:, disc]] = disc
        for (a, b), (source, target) in zip(self.definition.arcs, self.arcs(forward=forward), strict=True):
            rows = np.flatnonzero(tops[:, source] < tops[:, target])
            reached = digits[rows]
            reached[np.arange(len(rows)), tops[rows, source]] = target
            yield f"{a}→{b}", rows, reached
