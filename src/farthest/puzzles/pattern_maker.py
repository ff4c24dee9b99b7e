"""What a family with patterns offers, and what all of them need to make one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from farthest.puzzles.definition import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import Board, PuzzleDefinition

MARK = "@"
PLAIN = "plain:"
PLACES = "places:"
TURNS = "turns:"
ALIKE = "="
EVERY = "all"

MAX_GOALS = 1000
"""Goals of a pattern, where the wildcards of the puzzle's goals are filled in."""

_OTHERS = "·∙◦×"
"""How the pieces outside the pattern are written: the first of these that is no piece."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a pattern tells of the pieces. ``plain``: all moves are counted.

    ``classes``: labels that are told apart from all others, those of a class alike, ascending; classes in the order of
    their first labels. ``unturned``: labels of these whose orientations do not matter. ``turned``: names of sets in
    which the orientations of all pieces matter.
    """

    plain: bool
    classes: tuple[tuple[int, ...], ...]
    unturned: frozenset[int] = frozenset()
    turned: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[int, ...]:
        """All labels of the classes, ascending."""
        return tuple(sorted(label for one in self.classes for label in one))


@dataclass(frozen=True, slots=True)
class Names:
    """What a pattern can name. Of each label: ``tokens``, how it is written, empty where it cannot be named;
    ``orbits``: labels with different numbers never stand in each other's places; ``turned``: whether it is told how its
    pieces are turned. ``sets``: the labels of each set of pieces; none in families without sets."""

    tokens: Sequence[str]
    orbits: Sequence[int]
    turned: Sequence[bool]
    sets: Mapping[str, Sequence[int]]

    @property
    def pieces(self) -> list[str]:
        """All tokens, none twice."""
        return list(dict.fromkeys(filter(None, self.tokens)))

    def labels(self, token: str) -> list[int]:
        """Those that are written so: one in each of some orbits."""
        return [label for label, written in enumerate(self.tokens) if written == token]


class PatternMaker(Protocol):
    """Makes the definitions of patterns of one family's puzzles."""

    def names(self, definition: PuzzleDefinition) -> Names:
        """What a pattern of the puzzle can name."""

    def make(
        self, definition: PuzzleDefinition, metric: str, choice: Choice, place: str
    ) -> tuple[PuzzleDefinition, tuple[int, ...]]:
        """The definition of the pattern, and for each label of the puzzle that of the pattern. Raises PuzzleError, the
        message beginning with ``place``."""

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
