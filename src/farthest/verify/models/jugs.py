"""Jugs: a move is computed from the amounts; predecessors are found by trying every amount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.jugs.definition import jugs
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import Boards
from farthest.verify.models.digits import DigitModel, DigitMoves, PackedModel, digit_model, joined

Amounts = NDArray[np.int64]


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> DigitModel | PackedModel:
    """See models."""
    return digit_model(JugsMoves(puzzle, origin), layout)


class JugsMoves(DigitMoves):
    """A digit is the amount in a jug, two bytes of a board."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self.jugs = jugs(puzzle)
        super().__init__(self.jugs, origin, [capacity + 1 for capacity in self.jugs.capacities], 2)

    def moves(self) -> list[tuple[str, int, int]]:
        """(fill, empty or pour; the jug; the jug poured into)."""
        jugs = range(len(self.jugs.capacities))
        alone = [(move, a, a) for move in ("fill", "empty") if move in self.jugs.moves for a in jugs]
        return alone + [("pour", a, b) for a in jugs for b in jugs if a != b and "pour" in self.jugs.moves]

    def after(self, amounts: Amounts, move: tuple[str, int, int]) -> Amounts:
        """The amounts after a move."""
        kind, a, b = move
        after = amounts.copy()
        if kind == "fill":
            after[:, a] = self.jugs.capacities[a]
        elif kind == "empty":
            after[:, a] = 0
        else:
            both = amounts[:, a] + amounts[:, b]
            after[:, b] = np.minimum(both, self.jugs.capacities[b])
            after[:, a] = both - after[:, b]
        return after

    def before(self, amounts: Amounts, move: tuple[str, int, int]) -> Iterator[Amounts]:
        """All amounts from which the move may lead to these, and others from which it does not: one for each amount
        that jug ``a`` may have held."""
        kind, a, b = move
        for held in range(self.jugs.capacities[a] + 1):
            before = amounts.copy()
            before[:, a] = held
            if kind == "pour":
                before[:, b] = amounts[:, a] + amounts[:, b] - held
            yield before

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""
        amounts = self.digits(boards)
        parts = []
        for move in self.moves():
            if self.origin.direction == "from":
                after = self.after(amounts, move)
                rows = np.flatnonzero((after != amounts).any(axis=1))
                parts.append((rows, self.board_rows(after[rows])))
                continue
            for before in self.before(amounts, move):
                possible = ((before >= 0) & (before < np.array(self.radices))).all(axis=1)
                leads = (self.after(before, move) == amounts).all(axis=1) & (before != amounts).any(axis=1)
                rows = np.flatnonzero(possible & leads)
                parts.append((rows, self.board_rows(before[rows])))
        return joined(parts, boards.shape[1])
