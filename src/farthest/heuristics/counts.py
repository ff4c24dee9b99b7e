"""Heuristics that count what differs from the goal: sums over cells, and pairs of neighbours.

A sum is divided by the most differences that one move can remove.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import UNREACHABLE, Component, Contents, Gaps, Heuristic, Table
from farthest.puzzles.definition import WILDCARD, Board

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.families.hanoi.definition import Hanoi
    from farthest.families.lights.definition import Lights
    from farthest.families.permutation.definition import Permutation
    from farthest.families.sliding.definition import Sliding
    from farthest.spaces.contract import Boards

    Costs = NDArray[numpy.int32]
    """The value that each content adds in each cell: shape (contents, cells)."""

NO_WAY = 2**20
"""An entry where the content cannot get to the goal: above all sums of numbers of moves, and can be added up."""


class CellSums(Heuristic):
    """The least over goals of the sum over cells of ``tables[goal][content, cell]``, by ``divisor``, rounded up.

    ``divisor``: how much of the sum one move can take away at most. ``turns``: as in ``slot_contents``.
    """

    def __init__(self, name: str, tables: Sequence[Costs], divisor: int = 1, turns: int = 1) -> None:
        self.name = name
        self._tables = tables
        self._divisor = divisor
        self._turns = turns

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        contents = slot_contents(boards, self._turns)
        return heuristic_values(least([sums(table, contents) for table in self._tables]), self._divisor)

    def terms(self) -> list[list[Component]] | None:
        """Where there is one goal."""
        if len(self._tables) > 1 or self._tables[0].max() > 255:
            return None
        table = self._tables[0].astype(numpy.uint8).tobytes()
        if self._divisor == self._turns == 1:
            return [[Table(table)]]
        return [[Contents(self._turns, table, self._divisor)]]


def slot_contents(boards: Boards, turns: int) -> NDArray[numpy.integer]:
    """The content of each slot of boards that have labels and then orientations: label * ``turns`` + orientation; with
    1, for boards without orientations, the boards themselves."""
    if turns == 1:
        return boards
    slots = boards.shape[1] // 2
    return boards[:, :slots].astype(numpy.uint16) * numpy.uint16(turns) + boards[:, slots:]


def sums(table: Costs, boards: NDArray[numpy.integer]) -> NDArray[numpy.int32]:
    """For each board the sum of its cells' entries: int32 (N,)."""
    total = numpy.zeros(len(boards), dtype=numpy.int32)
    for cell in range(boards.shape[1]):
        total += table[:, cell][boards[:, cell]]
    return total


def least(values: Sequence[NDArray[numpy.int32]]) -> NDArray[numpy.int32]:
    """The least of each board's values."""
    return values[0] if len(values) == 1 else numpy.minimum.reduce(values)


def heuristic_values(sums: NDArray[numpy.int32], divisor: int = 1) -> NDArray[numpy.int32]:
    """Sums as a heuristic's values: divided, rounded up, ``UNREACHABLE`` where they hold ``NO_WAY``."""
    values = sums if divisor == 1 else -(-sums // divisor)
    return numpy.where(sums >= NO_WAY, numpy.int32(UNREACHABLE), values).astype(numpy.int32, copy=False)


def piece_distances(definition: Sliding) -> NDArray[numpy.int32]:
    """The least number of passages, ``[from, to]``, that a piece takes; ``NO_WAY`` where it cannot get there."""
    step = numpy.eye(definition.cells, dtype=numpy.int32)
    for a, b in definition.ways:
        step[a, b] = 1
    distances = numpy.where(numpy.eye(definition.cells, dtype=bool), 0, NO_WAY).astype(numpy.int32)
    reached = numpy.eye(definition.cells, dtype=numpy.int32)
    for moves in range(1, definition.cells):
        reached = (reached @ step > 0).astype(numpy.int32)
        distances[(reached > 0) & (distances == NO_WAY)] = moves
    return distances


def wanted(definition: Sliding, goal: Board) -> NDArray[numpy.bool_]:
    """Whether a piece of the label in the cell is as the goal has it: shape (labels, cells); blanks nowhere.

    A wildcard takes no piece whose kind has all its cells without it.
    """
    cells = numpy.array(goal)
    labels = numpy.arange(len(definition.tokens))[:, None]
    spare = numpy.array([count - goal.count(label) for label, count in enumerate(definition.counts)])[:, None]
    found: NDArray[numpy.bool_] = ((cells == labels) | ((cells == WILDCARD) & (spare > 0))) & (labels > 0)
    return found


def nearest_table(definition: Sliding, goal: Board) -> NDArray[numpy.int32]:
    """The distance of each label in each cell to the nearest cell where the goal has it; of blanks 0.

    Shape (labels, cells). Every goal has every label, as it has all pieces.
    """
    distances = piece_distances(definition)
    table = numpy.zeros((len(definition.tokens), definition.cells), dtype=numpy.int32)
    for label, cells in enumerate(wanted(definition, goal)):
        if label:
            table[label] = distances[:, cells].min(axis=1)
    return table


def distinct(definition: Sliding) -> bool:
    """Whether no two pieces are alike; blanks may be."""
    return max(definition.counts[1:]) == 1


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
    most = max(
        sum(to != slot or turn != 0 for slot, (to, turn) in enumerate(zip(*move.effect, strict=True)))
        for move in definition.generators
    )
    return CellSums("misplaced", tables, most, turns)


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


class SparePegs(Heuristic):
    """The pegs that must still be removed: the pegs of the board minus those of the goal with the most pegs."""

    name = "pegs"

    def __init__(self, goals: Sequence[Board]) -> None:
        self._bounds = [(goal.count(1), goal.count(1) + goal.count(WILDCARD)) for goal in goals]

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        pegs = boards.sum(axis=1, dtype=numpy.int32)
        spare = [
            numpy.where(pegs < fewest, NO_WAY, numpy.maximum(pegs - most, 0)).astype(numpy.int32)
            for fewest, most in self._bounds
        ]
        return heuristic_values(
            least(spare)
        )  # a board with too few pegs cannot be solved: there are no terms


def zero(contents: int, cells: int) -> CellSums:
    """0 for all boards with so many contents and cells: for searches without a heuristic."""
    return CellSums("zero", [numpy.zeros((contents, cells), dtype=numpy.int32)])


def is_pancake(definition: Permutation) -> bool:
    """Whether each move flips the contents of the first slots, as a pile, and all pancakes or none are burnt."""
    if len(set(definition.moduli)) > 1 or definition.moduli[0] > 2:
        return False
    burnt = definition.oriented
    for move in definition.generators:
        changed = [slot for slot in range(definition.slots) if move.to[slot] != slot or move.delta[slot] != 0]
        top = max(changed) + 1
        reversal = (*range(top - 1, -1, -1), *range(top, definition.slots))
        turned = tuple(int(burnt and slot < top) for slot in range(definition.slots))
        if move.to != reversal or move.delta != turned:
            return False
    return True


class GapCounts(Heuristic):
    """How many of the goal's pairs of neighbours are missing in a stack; the least over the goals.

    Source: M. Helmert, Landmark heuristics for the pancake problem, 2010. The plate is the last pancake's neighbour. A
    flip of the top pancakes separates one pair of neighbours and makes another, so the number changes by at most one. A
    pair of burnt pancakes includes their sides up; turned over as a whole it is the same pair. Among equal pancakes, a
    kind of pair counts at most as often as it is in the goal.
    """

    name = "gap"

    def __init__(self, definition: Permutation, goals: Sequence[Board]) -> None:
        self._slots = definition.slots
        self._turns = 2 if definition.oriented else 1
        self._plate = len(definition.tokens) * self._turns
        self._turned_over = [
            content ^ int(self._turns == 2 and not definition.ignore[content // self._turns])
            for content in range(self._plate)
        ]
        self._distinct = max(definition.counts) == 1
        self._kinds = self._kinds_of_pairs()
        self._goals = [self._pairs(goal) for goal in goals]

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        contents = slot_contents(boards, self._turns).astype(numpy.intp)
        plate = numpy.full((len(boards), 1), self._plate, dtype=numpy.intp)
        after = numpy.concatenate([contents[:, 1:], plate], axis=1)
        kinds = self._kinds[contents, after]
        return heuristic_values(least([self._missing(kinds, goal) for goal in self._goals]))

    def terms(self) -> list[list[Component]] | None:
        """Where there is one goal, and no pancakes are equal."""
        if len(self._goals) > 1 or not self._distinct:
            return None
        missing = numpy.ones(len(self._kinds) ** 2, dtype=numpy.uint8)
        missing[list(self._goals[0])] = 0
        table = missing[self._kinds]
        plate = self._plate
        return [[Gaps(self._turns, table[:plate, :plate].tobytes(), table[:plate, plate].tobytes())]]

    def _kinds_of_pairs(self) -> NDArray[numpy.intp]:
        """A number for each pair, upper content first, the same for a pair turned over as a whole."""
        contents = self._plate + 1
        kinds = numpy.empty((contents, contents), dtype=numpy.intp)
        for upper in range(contents):
            for lower in range(contents):
                number = upper * contents + lower
                if self._plate not in (upper, lower):
                    number = min(number, self._turned_over[lower] * contents + self._turned_over[upper])
                kinds[upper, lower] = number
        return kinds

    def _pairs(self, goal: Board) -> Counter[int]:
        (contents,) = slot_contents(numpy.array([goal], dtype=numpy.uint8), self._turns).tolist()
        return Counter(
            int(self._kinds[pair]) for pair in zip(contents, [*contents[1:], self._plate], strict=True)
        )

    def _missing(self, kinds: NDArray[numpy.intp], goal: Counter[int]) -> NDArray[numpy.int32]:
        found = numpy.zeros(len(kinds), dtype=numpy.int32)
        if self._distinct:
            wanted = numpy.zeros(len(self._kinds) ** 2, dtype=numpy.int32)
            wanted[list(goal)] = 1
            found = wanted[kinds].sum(axis=1, dtype=numpy.int32)
        else:
            for kind, times in goal.items():
                found += numpy.minimum((kinds == kind).sum(axis=1, dtype=numpy.int32), times)
        return numpy.int32(self._slots) - found
