"""Sliding puzzles: which boards can be solved. The metric does not matter: a slide is a row of steps.

Where every passage is both ways, or one-way passages can be gone round (each cell can be reached from each other), each
move can be taken back, and boards fall into classes that moves join (families/sliding/classes.py); where several blanks
and single cells that cut the graph make these hard to tell, walks of the blanks are tried
(families/sliding/blank_walks.py). What is left is not decided here.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from farthest.families.sliding.blank_walks import BlankWalks, Joined
from farthest.families.sliding.classes import classes_of
from farthest.families.sliding.definition import sliding
from farthest.families.sliding.space import filled
from farthest.puzzles.solvable import undecided

if TYPE_CHECKING:
    from collections.abc import Hashable

    from farthest.families.sliding.classes import Classes
    from farthest.families.sliding.definition import Sliding
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.random_source import RandomSource

MOST_FILLINGS = 20_000
"""Boards that the wildcards of targets may stand for, where these are not soon seen to be of every class."""
MOST_WALKED = 30
"""The same, where each needs a group of its own."""


class SlidingBoards:
    """The boards of the targets' classes; see Solvable."""

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...], classes: Classes) -> None:
        self._puzzle = puzzle
        self._body = sliding(puzzle)
        self._classes = classes
        self._targets = targets

    def why_not(self, board: Board) -> str | None:
        """See Solvable."""
        found = self._found
        if self._classes.class_of(board) in found:
            return None
        reason = self._classes.why_apart(board, next(iter(found.values())))
        return reason if len(found) == 1 else f"{reason}; nor can any other target be reached"

    def draw(self, rng: RandomSource) -> Board:
        """See Solvable."""
        boards = list(self._found.values())
        return self._classes.drawn(boards[rng.weighed(self._sizes)], rng)

    @cached_property
    def _found(self) -> dict[Hashable, Board]:
        """A board of each class that has a target. Raises UndecidedError."""
        found: dict[Hashable, Board] = {}
        missing = self._body.arrangements()
        fillings = chain.from_iterable(filled(self._body, target) for target in self._targets)
        for board in islice(fillings, MOST_FILLINGS):
            key = self._classes.class_of(board)
            if key not in found:
                found[key] = board
                missing -= self._classes.size(board)
                if not missing:
                    return found
        if next(fillings, None) is not None:
            raise undecided(self._puzzle)
        return found

    @cached_property
    def _sizes(self) -> list[int]:
        return [self._classes.size(board) for board in self._found.values()]


class WalkedBoards:
    """Several blanks where single cells cut the graph: the boards that walks of the blanks join to targets. See
    Solvable."""

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> None:
        fillings = chain.from_iterable(filled(sliding(puzzle), target) for target in targets)
        boards = list(islice(fillings, MOST_WALKED + 1))
        if len(boards) > MOST_WALKED:
            raise undecided(puzzle)
        self._puzzle = puzzle
        walks = BlankWalks(puzzle)
        self._joined: list[Joined] = []
        for board in boards:
            if all(other.why_not(board) for other in self._joined):
                self._joined.append(Joined(walks, board))

    def why_not(self, board: Board) -> str | None:
        """See Solvable."""
        reasons = [joined.why_not(board) for joined in self._joined]
        if None in reasons:
            return None
        return reasons[0] if len(reasons) == 1 else f"{reasons[0]}; nor can any other target be reached"

    def draw(self, rng: RandomSource) -> Board:
        """See Solvable."""
        if len(self._joined) > 1:  # of different sizes, perhaps
            raise undecided(self._puzzle)
        return self._joined[0].drawn(rng)


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> SlidingBoards | WalkedBoards:
    """See Family. UndecidedError for additive patterns, where moves cannot be taken back, or places of
    blanks or targets are too many."""
    definition = sliding(puzzle)
    if definition.blanks or (
        definition.arcs and not _can_be_gone_round(definition)
    ):  # an additive pattern forgets its blank
        raise undecided(puzzle)
    classes = classes_of(definition)
    return WalkedBoards(puzzle, targets) if classes is None else SlidingBoards(puzzle, targets, classes)


def _can_be_gone_round(definition: Sliding) -> bool:
    """Whether each cell can be reached from each other along the passages: then a move can be taken back by going round
    often enough, since the pieces have finitely many arrangements."""
    both = [*definition.edges, *((b, a) for a, b in definition.edges)]
    for ways in ([*both, *definition.arcs], [*both, *((b, a) for a, b in definition.arcs)]):
        queue, seen = [0], {0}
        for cell in queue:
            for a, b in ways:
                if a == cell and b not in seen:
                    seen.add(b)
                    queue.append(b)
        if len(seen) < definition.cells:
            return False
    return True
