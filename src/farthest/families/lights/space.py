"""The lights family: a press adds one, modulo the number of colours, to some lamps.

press: one press is one move. multi: any number of presses of one lamp, less than the number of colours, is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from farthest import _kernel
from farthest.families.lights.definition import lights
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.digit_moves import DigitMoveSpace
from farthest.spaces.residues import annihilator


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> LightsSpace:
    """See ``spaces.compile_space``."""
    return LightsSpace(puzzle, origin, layout)


class LightsSpace(DigitMoveSpace):
    """Digit i is the colour of lamp i."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> None:
        self.definition = lights(puzzle)
        self.multi = puzzle.metric == "multi"
        undirected = self.definition.colours == 2 or self.multi
        super().__init__(puzzle, origin, self.definition.radices, layout, undirected=undirected)

    def moves(self, *, forward: bool) -> tuple[list[str], _kernel.LampExpander]:
        """See DigitMoveSpace."""
        colours = self.definition.colours
        names, moves = [], []
        for times in range(1, colours if self.multi else 2):
            for lamp, press in enumerate(self.definition.presses):
                if press:
                    names.append(f"press {lamp}{f' ×{times}' if times > 1 else ''}")
                    changed = sum(1 << other for other in press)
                    moves.append((changed, times if forward else colours - times))
        return names, _kernel.LampExpander(colours, self.cells, moves)

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
