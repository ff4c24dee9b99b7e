"""How good candidates for a heuristic are: the mean of their values, the memory of their tables, what these take.

The mean over all boards comes from the layers of the patterns' maps: those that are stored, or those that are expected.
Look-ups count as if they were independent of each other: the greatest of several has the product of their distribution
functions, a sum the sum of their means. The order of candidates needs no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from farthest.coordinator.bounds import bounds_bytes, seconds_to_make
from farthest.coordinator.enumeration.plan import estimated
from farthest.coordinator.enumeration.resources import layers_by_growth
from farthest.errors import FarthestError, ResourceError
from farthest.heuristics.candidates import Candidate, Table
from farthest.heuristics.table_files import TableFiles, bounds_name
from farthest.heuristics.tables import TableForm
from farthest.models.job_reader import JobReader
from farthest.puzzles.patterns import pattern_of_labels
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.queries.pattern_maps import complete_map, table_bytes
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.coordinator.settings import Settings
    from farthest.models.database import Database
    from farthest.models.records import JobRecord
    from farthest.spaces.contract import Space

COUNTED_STATES = 2**13
"""Patterns of discs with so many states are counted, and means of larger ones follow."""

CONFLICTS = 2.6
"""Moves that two pieces of an additive pattern need more than alone, times the cells of the board, on average: an
estimate, not a measured figure. It orders candidates only."""


class JudgedTable:
    """A table of a candidate. ``stored``: the job whose map it is; ``puzzle``: of that map, or of the one to make."""

    def __init__(self, table: Table, database: Database | None) -> None:
        self.table = table
        self.puzzle = table.same[0].puzzle
        self.stored: JobRecord | None = None
        for pattern in table.same if database is not None else ():
            assert database is not None, "there are maps"
            self.stored = complete_map(database, pattern.puzzle)
            if self.stored is not None:
                self.puzzle = pattern.puzzle
                break
        self._database = database
        self.bounds: TableForm | None = None
        """Of a table of bounds."""
        if table.bounds is not None:
            bits, base, shared = table.bounds
            self.bounds = TableForm(bits, base, never=False, shared=shared)

    @property
    def ready(self) -> bool:
        """Whether it need not be made."""
        if self.stored is not None or self.bounds is None or self._database is None:
            return self.stored is not None
        files = TableFiles(self._database.path, self._database.place)
        return files.has(bounds_name(self.puzzle, self.bounds))

    @cached_property
    def space(self) -> Space:
        """All states of the pattern. Raises as ``compile_space``."""
        return compile_space(self.puzzle, Origin())

    @cached_property
    def bytes(self) -> int:
        """The memory that a search needs for it."""
        if self.bounds is not None:
            return bounds_bytes(self.puzzle, self.bounds)[0]
        return table_bytes(self.space, self.stored)

    @cached_property
    def layers(self) -> Sequence[float]:
        """The states at each distance, known or expected; not of patterns without moves. Of a table of bounds at 0
        those of which it proves nothing."""
        if self.stored is not None and self._database is not None:
            return [layer.states for layer in JobReader(self._database).layers(self.stored.id)]
        layers: Sequence[float] = layers_by_growth(self.space)
        if self.bounds is None:
            return layers
        base, most, shared = self.bounds.base, self.bounds.base + self.bounds.top, self.bounds.shared
        more = [
            float(sum(layers[depth:])) for depth in range(len(layers) + 1)
        ]  # states at a depth or farther
        if shared > 1:  # the least of so many, as if by chance
            more = [more[0] * (each / more[0]) ** shared for each in more]
            layers = [here - after for here, after in pairwise(more)]
        return [more[0] - more[base + 1], *[0.0] * base, *layers[base + 1 : most], more[most]]

    @property
    def mean(self) -> float:
        """Of the sum of its look-ups where they are added up."""
        if self.stored is not None:
            return len(self.table.pieces) * _mean(self.layers)
        if self.puzzle.family == "hanoi":
            return len(self.table.pieces) * _mean_of_discs(self.puzzle)
        return sum(_additive_mean(self.table.same[0].parent, pieces) for pieces in self.table.pieces)

    def seconds(self, settings: Settings, folder: Path | None) -> float | None:
        """What making it takes; None where that is not known. Raises ResourceError where it is refused."""
        if self.bounds is not None:
            return seconds_to_make(self.puzzle, self.bounds, folder)
        needs = estimated(self.puzzle, settings, folder)
        if needs.problem is not None:
            raise ResourceError(needs.problem)
        return needs.seconds


@dataclass(frozen=True)
class Judged:
    """A candidate with its tables. ``mean``: of its values."""

    candidate: Candidate
    tables: tuple[JudgedTable, ...]
    mean: float
    bytes: int

    @property
    def text(self) -> str:
        """The heuristic as it is written."""
        return self.candidate.text

    @property
    def missing(self) -> list[JudgedTable]:
        """The tables that are not stored."""
        return [table for table in self.tables if not table.ready]


def judged(candidate: Candidate, database: Database | None, *, stored: bool = False) -> Judged | None:
    """None where one of its tables cannot be made, or cannot be looked up by key; with ``stored`` also where one is not
    there yet."""
    tables = tuple(JudgedTable(table, database) for table in candidate.tables)
    if stored and not all(table.ready for table in tables):
        return None
    try:
        size = sum(table.bytes for table in tables)
        if candidate.added:
            mean = sum(table.mean for table in tables)
        else:
            mean = _greatest([(table.layers, table.table.look_ups) for table in tables])
    except FarthestError:
        return None
    if size > 2**20:
        size -= size % 2**10  # a few keys beside a map of 2^28 bytes do not make it too large
    return Judged(candidate, tables, mean, size)


def _mean(layers: Sequence[float]) -> float:
    return sum(depth * states for depth, states in enumerate(layers)) / max(1.0, sum(layers))


def _greatest(drawn: Sequence[tuple[Sequence[float], int]]) -> float:
    """The mean of the greatest of so many independent draws of each of some layers."""
    deepest = max(len(layers) for layers, _ in drawn)
    mean = 0.0
    for depth in range(deepest):
        below = 1.0
        for layers, times in drawn:
            below *= (sum(layers[: depth + 1]) / max(1.0, sum(layers))) ** times
        mean += 1 - below
    return mean


def _additive_mean(puzzle: Puzzle, pieces: Sequence[int]) -> float:
    """The mean of the distance of each piece from its goal, over all cells, and ``CONFLICTS`` of each two."""
    from farthest.families.sliding.definition import sliding
    from farthest.heuristics.counts import nearest_table

    definition = sliding(puzzle)
    cells = definition.cells
    table = nearest_table(definition, definition.goals[0])
    alone = sum(float(table[piece].mean()) for piece in pieces)
    return alone + CONFLICTS / cells * len(pieces) * (len(pieces) - 1) / 2


def _mean_of_discs(puzzle: Puzzle) -> float:
    """The mean distance, known of as many discs as have ``COUNTED_STATES``. From there on its logarithm grows as the
    power 1 / (pegs - 2) of the number of discs does, as the numbers of J. S. Frame and B. M. Stewart do."""
    from farthest.families.hanoi.definition import Hanoi
    from farthest.search.solvable import layers_of_boards

    definition = puzzle.defined_as(Hanoi)
    known = [0.0]
    for discs in range(1, definition.discs + 1):
        if definition.pegs**discs > COUNTED_STATES:
            break
        few = puzzle if discs == definition.discs else pattern_of_labels(puzzle, range(discs)).puzzle
        known.append(_mean([len(boards) for boards in layers_of_boards(compile_space(few, Origin()))]))
    mean, rate = known[-1], known[-1] / known[-2] if len(known) > 2 and known[-2] else 1.0
    power = 1 / max(1, definition.pegs - 2) - 1
    for discs in range(len(known), definition.discs + 1):
        mean *= rate ** ((discs / (len(known) - 1)) ** power)
    return mean
