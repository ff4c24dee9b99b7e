"""Patterns of discs: the puzzle without the other discs. Each move of the puzzle is a move of the pattern, or leaves it
as it is; and as it takes one disc, the distances of patterns without a common disc may be added up (A. Felner, R. E.
Korf, S. Hanan, Additive pattern database heuristics, JAIR 2004)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from farthest.errors import PuzzleError
from farthest.families.hanoi.definition import Hanoi
from farthest.puzzles.patterns import ALIKE, PLAIN, Choice, Names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import Board, PuzzleDefinition

_LEFT_OUT = 255
"""The label of discs that are in no pattern."""


class HanoiPatterns:
    adds_up = True

    def names(self, definition: PuzzleDefinition) -> Names:
        """Discs by number, 1 the smallest."""
        discs = cast(Hanoi, definition).discs
        return Names([str(disc + 1) for disc in range(discs)], (0,) * discs, (False,) * discs, {})

    def make(
        self, definition: PuzzleDefinition, metric: str, choice: Choice, place: str
    ) -> tuple[Hanoi, tuple[int, ...]]:
        """A puzzle of the discs in the pattern. Equal patterns of different discs are one puzzle."""
        del metric
        own, discs = cast(Hanoi, definition), choice.labels
        if choice.plain or len(choice.classes) < len(discs):
            raise PuzzleError(
                f"{place}: a pattern of hanoi leaves the other discs out, and all discs differ; leave out "
                f"{PLAIN if choice.plain else ALIKE}"
            )
        if len(discs) == own.discs:
            raise PuzzleError(
                f"{place}: the pattern has all discs; leave some out, or enumerate the puzzle itself"
            )

        def of(board: Board) -> Board:
            return tuple(board[disc] for disc in discs)

        made = replace(
            own,
            discs=len(discs),
            goals=tuple(dict.fromkeys(map(of, own.goals))),
            start=None if own.start is None else of(own.start),
        )
        return made, tuple(discs.index(disc) if disc in discs else _LEFT_OUT for disc in range(own.discs))

    def boards(
        self, pattern: PuzzleDefinition, relabel: NDArray[np.uint8], boards: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        del pattern
        return boards[:, relabel != _LEFT_OUT]
