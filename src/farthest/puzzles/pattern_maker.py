"""What a family with patterns offers, and what all of them need to make one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from farthest.puzzles.definition import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import Board, PuzzleDefinition

MARK = "@"
PLAIN = "plain:"

MAX_GOALS = 1000
"""Goals of a pattern, where the wildcards of the puzzle's goals are filled in."""

_OTHERS = "·∙◦×"
"""How the pieces outside the pattern are written: the first of these that is no piece."""


class PatternMaker(Protocol):
    """Makes the definitions of patterns of one family's puzzles."""

    def tokens(self, definition: PuzzleDefinition) -> Sequence[str]:
        """How the pieces are written that a pattern can name: for each label its token; of a label that cannot be
        named, an empty text."""

    def make(
        self, definition: PuzzleDefinition, metric: str, labels: tuple[int, ...], place: str, *, plain: bool
    ) -> tuple[PuzzleDefinition, tuple[int, ...]]:
        """The definition of the pattern of ``labels``, and for each label of the puzzle that of the pattern. ``plain``:
        all moves are counted. Raises PuzzleError, the message beginning with ``place``."""

    def boards(
        self, pattern: PuzzleDefinition, relabel: NDArray[np.uint8], boards: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """Boards of the puzzle, uint8 (N, cells), as boards of the pattern."""


def others_token(tokens: Sequence[str]) -> str:
    """How the pieces outside the pattern are written."""
    written: list[str] = [*_OTHERS, *(f"others{number}" for number in range(len(tokens)))]
    return next(token for token in written if token not in tokens)


def goal_boards(goals: Sequence[Board], relabel: Sequence[int]) -> tuple[Board, ...]:
    """Goals with other labels, none twice; ``WILDCARD`` stays."""
    changed = (tuple(WILDCARD if label == WILDCARD else relabel[label] for label in goal) for goal in goals)
    return tuple(dict.fromkeys(changed))
