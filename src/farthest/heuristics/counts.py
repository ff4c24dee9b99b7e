"""Heuristics that count what differs from the goal, and divide by the most differences that one move can remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.cell_sums import NO_WAY, CellSums, least, slot_contents, told
from farthest.heuristics.passages import wanted
from farthest.puzzles.definition import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.hanoi.definition import Hanoi
    from farthest.families.lights.definition import Lights
    from farthest.families.permutation.definition import Permutation
    from farthest.families.sliding.definition import Sliding
    from farthest.heuristics.contract import Component
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Boards


def misplaced_pieces(definition: Sliding, goals: Sequence[Board], metric: str) -> CellSums:
    """Pieces that are not in a goal cell of their kind; a slide moves as many as are in a row beside a blank."""
    tables = []
    for goal in goals:
        table = (~wanted(definition, goal)).astype(numpy.int32)
        table[0] = 0
        tables.append(table)
    moved = max(len(definition.rows), len(definition.rows[0])) - 1 if metric == "slide" else 1
    return CellSums("misplaced", tables, moved)


def misplaced_contents(definition: Permutation, goals: Sequence[Board]) -> CellSums:
    """Slots whose content or orientation differs from the goal, divided by the most slots that a move changes."""
    turns = max(definition.moduli)
    contents = numpy.arange(len(definition.tokens) * turns)[:, None]
    wanted = [slot_contents(numpy.array([goal], dtype=numpy.uint8), turns) for goal in goals]
    tables = [(contents != each).astype(numpy.int32) for each in wanted]
    return CellSums("misplaced", tables, most_changed(definition), turns)


def most_changed(definition: Permutation) -> int:
    """The most slots whose content one move changes."""
    return max(
        sum(to != slot or turn != 0 for slot, (to, turn) in enumerate(zip(*move.effect, strict=True)))
        for move in definition.generators
    )


def misplaced_discs(definition: Hanoi, goals: Sequence[Board]) -> CellSums:
    """Discs that are not on their goal peg: a move takes one disc."""
    pegs = numpy.arange(definition.pegs)[:, None]
    tables = [((pegs != numpy.array(goal)) & (numpy.array(goal) != WILDCARD)) for goal in goals]
    return CellSums("discs", [table.astype(numpy.int32) for table in tables])


def wrong_lamps(definition: Lights, goals: Sequence[Board], metric: str) -> CellSums:
    """How often lamps must still change, divided by the most lamps that a press changes. In the metric ``multi``, where
    all presses of one lamp are one move, the lamps that are wrong count once."""
    colours = numpy.arange(definition.colours)[:, None]
    tables = []
    for goal in goals:
        changes = (numpy.array(goal) - colours) % definition.colours
        changes[:, numpy.array(goal) == WILDCARD] = 0
        tables.append((changes > 0 if metric == "multi" else changes).astype(numpy.int32))
    return CellSums("lamps", tables, max(map(len, definition.presses)))


class SparePegs:
    """The pegs that must still be removed: the pegs of the board minus those of the goal with the most pegs."""

    admissible = True
    consistent = True
    name = "pegs"

    def __init__(self, goals: Sequence[Board]) -> None:
        self._bounds = [(goal.count(1), goal.count(1) + goal.count(WILDCARD)) for goal in goals]

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        pegs = boards.sum(axis=1, dtype=numpy.int32)
        spare = [
            numpy.where(pegs < fewest, NO_WAY, numpy.maximum(pegs - most, 0)).astype(numpy.int32)
            for fewest, most in self._bounds
        ]
        return told(least(spare))

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: a board with too few pegs cannot be solved."""
        return None


def zero(contents: int, cells: int) -> CellSums:
    """0 for all boards with so many contents and cells: for searches without a heuristic."""
    return CellSums("zero", [numpy.zeros((contents, cells), dtype=numpy.int32)])
