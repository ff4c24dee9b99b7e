"""Lights: a board can be solved exactly where its difference from a target is a sum of presses."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from farthest.families.lights.definition import Lights, lights
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.solvable import draw_of_union
from farthest.spaces.residues import annihilator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.random_source import RandomSource


class LightsBoards:
    """The boards from which presses lead to one of some targets; see Solvable."""

    def __init__(self, definition: Lights, targets: tuple[Board, ...]) -> None:
        self._targets = [_Target(definition, target) for target in targets]

    def why_not(self, board: Board) -> str | None:
        """See Solvable."""
        reasons = [target.why_not(board) for target in self._targets]
        if None in reasons:
            return None
        return reasons[0] if len(reasons) == 1 else f"{reasons[0]}; nor can any other target be reached"

    def draw(self, rng: RandomSource) -> Board:
        """See Solvable."""
        return draw_of_union(
            [target.size for target in self._targets],
            lambda i: self._targets[i].draw(rng),
            lambda i, board: self._targets[i].why_not(board) is None,
            rng,
        )


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> LightsBoards:
    """See Family."""
    return LightsBoards(lights(puzzle), targets)


class _Target:
    """One target. The colour of a lamp where it is ``WILDCARD`` does not matter, as if a press changed it alone."""

    def __init__(self, definition: Lights, target: Board) -> None:
        self._colours = definition.colours
        self._board = [0 if colour == WILDCARD else colour for colour in target]
        own = [(lamp,) for lamp, colour in enumerate(target) if colour == WILDCARD]
        self._presses = [*definition.presses, *own]
        rows = [[int(lamp in press) for lamp in range(definition.cells)] for press in self._presses]
        kept = annihilator(rows, definition.cells, definition.colours)
        self._kept = [vector for vector, _ in kept]
        self.size = definition.colours**definition.cells // prod(order for _, order in kept)

    def why_not(self, board: Sequence[int]) -> str | None:
        """A sum of colours that no press changes, and that differs."""
        for taken in self._kept:
            here, there = self._sum(taken, board), self._sum(taken, self._board)
            if here != there:
                lamps = " ".join(
                    f"{lamp}" if times == 1 else f"{times}×{lamp}"
                    for lamp, times in enumerate(taken)
                    if times
                )
                return (
                    f"no press changes the sum of the colours of the lamps {lamps} (modulo {self._colours}): it is "
                    f"{here} here and {there} at the target; change the colour of one of them"
                )
        return None

    def draw(self, rng: RandomSource) -> Board:
        """The target after each press was made any number of times."""
        found = list(self._board)
        for press in self._presses:
            times = rng.below(self._colours)
            for lamp in press:
                found[lamp] = (found[lamp] + times) % self._colours
        return tuple(found)

    def _sum(self, taken: Sequence[int], board: Sequence[int]) -> int:
        return sum(times * colour for times, colour in zip(taken, board, strict=True)) % self._colours
