"""Patterns of sliding puzzles: additive ones, whose own moves alone cost; plain ones, whose other pieces are alike."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from math import perm
from typing import TYPE_CHECKING, cast

from farthest.errors import PuzzleError
from farthest.families.sliding.definition import Sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.pattern_maker import (
    ALIKE,
    MARK,
    MAX_GOALS,
    PLAIN,
    Choice,
    Names,
    goal_boards,
    others_token,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import PuzzleDefinition


class SlidingPatterns:
    """See PatternMaker."""

    def names(self, definition: PuzzleDefinition) -> Names:
        """See PatternMaker: the blank cannot be named."""
        tokens = ("", *cast(Sliding, definition).tokens[1:])
        return Names(tokens, (0,) * len(tokens), (False,) * len(tokens), {})

    def make(
        self, definition: PuzzleDefinition, metric: str, choice: Choice, place: str
    ) -> tuple[Sliding, tuple[int, ...]]:
        """See PatternMaker: no two pieces of the pattern are alike."""
        own, labels = cast(Sliding, definition), choice.labels
        if len(choice.classes) < len(labels):
            raise PuzzleError(
                f"{place}: {ALIKE} joins alike pieces in patterns of permutation puzzles, and this is a sliding one; "
                "name the pieces with . between"
            )
        return _plain(own, labels, place) if choice.plain else _additive(own, metric, labels, place)

    def boards(
        self, pattern: PuzzleDefinition, relabel: NDArray[np.uint8], boards: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """See PatternMaker."""
        del pattern
        return relabel[boards]


def _plain(definition: Sliding, labels: tuple[int, ...], place: str) -> tuple[Sliding, tuple[int, ...]]:
    """The definition with all pieces alike but those in the pattern."""
    relabel = _relabel(definition, labels, place)
    kept = [0, *labels]
    others = sum(definition.counts) - sum(definition.counts[label] for label in kept)
    start = None if definition.start is None else tuple(relabel[label] for label in definition.start)
    made = replace(
        definition,
        tokens=(*(definition.tokens[label] for label in kept), others_token(definition.tokens)),
        counts=(*(definition.counts[label] for label in kept), others),
        goals=goal_boards(definition.goals, relabel),
        start=start,
    )
    return made, relabel


def _relabel(definition: Sliding, labels: tuple[int, ...], place: str) -> tuple[int, ...]:
    if len(labels) == len(definition.tokens) - 1:
        raise PuzzleError(
            f"{place}: the pattern has all pieces, so none are alike; leave some out, or enumerate the puzzle itself"
        )
    return tuple(
        0 if label == 0 else labels.index(label) + 1 if label in labels else len(labels) + 1
        for label in range(len(definition.tokens))
    )


def _additive(
    definition: Sliding, metric: str, labels: tuple[int, ...], place: str
) -> tuple[Sliding, tuple[int, ...]]:
    """The definition in which label 0 is every cell without a piece of the pattern."""
    mend = f"write {PLAIN} after {MARK}, which makes the other pieces alike and counts all moves"
    if definition.counts[0] != 1:
        raise PuzzleError(
            f"{place}: {definition.counts[0]} blanks; additive patterns need exactly one; {mend}"
        )
    if metric != "step":
        raise PuzzleError(f"{place}: the metric is {metric}; additive patterns need step; {mend}")
    for label in labels:
        if definition.counts[label] != 1:
            raise PuzzleError(
                f"{place}: there are {definition.counts[label]} pieces {definition.tokens[label]}; those of an "
                f"additive pattern must all be distinct; leave them out, or {mend}"
            )
    relabel = tuple(
        labels.index(label) + 1 if label in labels else 0 for label in range(len(definition.tokens))
    )
    goals = list(dict.fromkeys(_placements(definition, labels, relabel, place)))
    made = replace(
        definition,
        tokens=(others_token(definition.tokens), *(definition.tokens[label] for label in labels)),
        counts=(definition.cells - len(labels), *(1 for _ in labels)),
        goals=tuple(goal for goal, _ in goals),
        start=None,
        blanks=tuple(blank for _, blank in goals),
    )
    return made, relabel


def _placements(
    definition: Sliding, labels: tuple[int, ...], relabel: tuple[int, ...], place: str
) -> list[tuple[Board, int]]:
    """The goals as boards of the pattern, and the blank's cell in each. Pieces of the pattern that a goal leaves open
    are in any of its open cells."""
    found: list[tuple[Board, int]] = []
    for goal in definition.goals:
        blank = goal.index(0)
        fixed = [0 if label == WILDCARD else relabel[label] for label in goal]
        open_cells = [cell for cell, label in enumerate(goal) if label == WILDCARD]
        missing = [relabel[label] for label in labels if label not in goal]
        if len(found) + perm(len(open_cells), len(missing)) > MAX_GOALS:
            raise PuzzleError(
                f"{place}: its goals stand for more than {MAX_GOALS:,} places of its pieces; take pieces that the "
                "goals name"
            )
        for cells in permutations(open_cells, len(missing)):
            board = list(fixed)
            for label, cell in zip(missing, cells, strict=True):
                board[cell] = label
            found.append((tuple(board), blank))
    return found
