"""How good candidates for a heuristic are: the mean of their values, the memory of their tables, what these take.

The mean over all boards comes from the layers of the patterns' maps: those that are stored, or those that are expected.
Look-ups count as if they were independent of each other: the greatest of several has the product of their distribution
functions, a sum the sum of their means. The order of candidates needs no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import exp
from typing import TYPE_CHECKING

from farthest.coordinator.bounds import bounds_bytes
from farthest.coordinator.enumeration.plan import estimated
from farthest.coordinator.settings import Settings
from farthest.errors import FarthestError
from farthest.heuristics.candidates import Candidate, Table
from farthest.heuristics.table_files import TableFiles, bounds_name
from farthest.heuristics.tables import TableForm
from farthest.models.job_reader import JobReader
from farthest.puzzles.puzzle import Origin
from farthest.queries.pattern_maps import complete_map, table_bytes
from farthest.spaces import compile_space
from farthest.spaces.contract import known_states

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.coordinator.settings import Estimate
    from farthest.models.database import Database
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import Space

CONFLICTS = 2.6
"""Moves that two pieces of an additive pattern need more than alone, times the cells of the board, on average: an
estimate, not a measured figure. It orders candidates only."""

GROWN_STATES = 2**13
"""The first layers of a pattern up to so many states are found, to see how they grow."""

DEEPEST = 10_000


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
        self.bounds = None if table.bounds is None else _form(*table.bounds)
        """Of a table of bounds."""

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
        """The states at each distance, known or expected; not of additive patterns. Of a table of bounds at 0 those of
        which it proves nothing."""
        if self.stored is not None and self._database is not None:
            return [layer.states for layer in JobReader(self._database).layers(self.stored.id)]
        layers = expected_layers(self.space)
        if self.bounds is None:
            return layers
        base, most, shared = self.bounds.base, self.bounds.base + self.bounds.top, self.bounds.shared
        more = [sum(layers[depth:]) for depth in range(len(layers) + 1)]  # states at a depth or farther
        if shared > 1:  # the least of so many, as if by chance
            more = [more[0] * (each / more[0]) ** shared for each in more]
            layers = [here - after for here, after in pairwise(more)]
        return [more[0] - more[base + 1], *[0.0] * base, *layers[base + 1 : most], more[most]]

    @property
    def mean(self) -> float:
        """Of the sum of its look-ups where they are added up."""
        if self.stored is not None:
            return len(self.table.pieces) * _mean(self.layers)
        return sum(_additive_mean(self.table.same[0].parent, pieces) for pieces in self.table.pieces)

    def needs(self, settings: Settings, folder: Path | None) -> Estimate:
        """What making it takes. Raises as ``estimated``."""
        bounds = self.bounds is not None
        return estimated(self.puzzle, replace(settings, histogram_only=bounds), folder)


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
    return Judged(candidate, tables, mean, size)


def _form(bits: int, base: int, shared: int) -> TableForm:
    return TableForm(bits, base, never=False, shared=shared)


def expected_layers(space: Space) -> list[float]:
    """The first layers, which are found; then as many more states as if the moves from a layer, at the rate at which
    the last of these layers grew, led to any of the states that are left."""
    from farthest.search.solvable import layers_of_boards

    reached, _ = known_states(space) or (space.keys or 0, "")
    layers: list[float] = []
    for boards in layers_of_boards(space):
        layers.append(len(boards))
        if not len(boards) or sum(layers) >= GROWN_STATES:
            break
    growth = layers[-1] / layers[-2] if len(layers) > 1 else 0.0
    left = reached - sum(layers)
    while left >= 1 and layers[-1] >= 1 and len(layers) < DEEPEST:
        layers.append(left * (1 - exp(-growth * layers[-1] / left)))
        left -= layers[-1]
    return layers


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
