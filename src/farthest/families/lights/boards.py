"""The presses of lamps on arrays of boards.

press: one press is one move. multi: any number of presses of one lamp, less than the number of colours, is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from farthest.families.lights.definition import lights
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.digit_boards import DigitBoards
from farthest.spaces.residues import annihilator

if TYPE_CHECKING:
    from farthest.spaces.digit_boards import Digits, Step


class LightsBoards(DigitBoards):
    """Digit i is the colour of lamp i."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self.definition = lights(puzzle)
        multi = puzzle.metric == "multi"
        self._times = range(1, self.definition.colours if multi else 2)
        undirected = self.definition.colours == 2 or multi
        super().__init__(puzzle, origin, self.definition.radices, undirected=undirected)

    def presses(self, *, forward: bool) -> Iterator[tuple[str, Sequence[int], int]]:
        """Each move: its name, the lamps that it changes, and how many colours it turns them on."""
        for times in self._times:
            for lamp, press in enumerate(self.definition.presses):
                if press:
                    name = f"press {lamp}{f' ×{times}' if times > 1 else ''}"
                    yield name, press, times if forward else self.definition.colours - times

    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
        """See DigitBoards."""
        import numpy as np

        for name, press, added in self.presses(forward=forward):
            reached = digits.copy()
            reached[:, press] = (reached[:, press] + added) % self.definition.colours
            yield name, np.arange(len(digits)), reached

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space: lamps whose sum, each taken some times, no press changes."""
        colours = self.definition.colours
        for taken in self._invariants:
            sums = {self._sum(taken, origin) for origin in self.origins}
            if self._sum(taken, board) in sums:
                continue
            lamps = " ".join(
                f"{lamp}" if times == 1 else f"{times}×{lamp}" for lamp, times in enumerate(taken) if times
            )
            return (
                f"no press changes the sum of the colours of the lamps {lamps} (modulo {colours}): it is "
                f"{self._sum(taken, board)} here and {' or '.join(map(str, sorted(sums)))} at the origin"
            )
        return None

    def _sum(self, taken: Sequence[int], board: Sequence[int]) -> int:
        return (
            sum(times * colour for times, colour in zip(taken, board, strict=True)) % self.definition.colours
        )

    @cached_property
    def _invariants(self) -> list[list[int]]:
        """Vectors y with y · press = 0 (mod colours) for each press, of which all others are sums."""
        rows = [[int(lamp in press) for lamp in range(self.cells)] for press in self.definition.presses]
        return [vector for vector, _ in annihilator(rows, self.cells, self.definition.colours)]
