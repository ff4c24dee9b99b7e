"""Heuristics compared with a stored map: the value of every state against its distance, and the change with every
move."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy

from farthest.errors import JobError
from farthest.search.expansion import forward_space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.heuristics.contract import Heuristic
    from farthest.puzzles.definition import Board, MoveName
    from farthest.queries.stored_map import StateBlock, StoredMap
    from farthest.search.expansion import MoveSource

    Values = NDArray[numpy.int32]


STUDENTS = "misplaced+manhattan"
"""A sum that teaching programs use as an A* heuristic; it is not admissible, which the report shows."""


@dataclass(frozen=True, slots=True)
class TooLarge:
    """A proof that a heuristic is not admissible: its value for the board is more than the distance."""

    board: str
    value: int
    distance: int

    @property
    def excess(self) -> int:
        """How much more."""
        return self.value - self.distance


@dataclass(frozen=True, slots=True)
class Drop:
    """A proof that a heuristic is not consistent: the move takes away more than 1 of its value."""

    board: str
    value: int
    move: MoveName
    next_board: str
    next_value: int

    @property
    def excess(self) -> int:
        """By how much the value falls beyond 1."""
        return self.value - self.next_value - 1


Proof = TypeVar("Proof", TooLarge, Drop)


@dataclass(slots=True)
class Findings:
    """The results for one heuristic.

    ``states``: how many were checked; ``exact``: those where the value is the distance; ``too_large``: where it is
    more. ``moves``: how many were checked, all of the player's from those states; ``drops``: those that reduce the
    value by more than 1. ``mean``, ``largest``: of the values; ``ratio``: the mean of value / distance over the states
    that are not at distance 0. ``too_large_first``, ``drops_first``: counterexamples in key order; ``too_large_worst``,
    ``drop_worst``: the first with the largest excess.
    """

    heuristic: Heuristic
    states: int = 0
    exact: int = 0
    too_large: int = 0
    moves: int = 0
    drops: int = 0
    largest: int = 0
    too_large_first: list[TooLarge] = field(default_factory=list)
    too_large_worst: TooLarge | None = None
    drops_first: list[Drop] = field(default_factory=list)
    drop_worst: Drop | None = None
    _sum: int = 0
    _ratios: float = 0.0
    _apart: int = 0

    @property
    def admissible(self) -> bool:
        """Whether no value is too large."""
        return self.too_large == 0

    @property
    def consistent(self) -> bool:
        """Whether no move reduces the value by more than 1, and the values of goals are 0."""
        return self.drops == 0 and self.admissible

    @property
    def refuted(self) -> bool:
        """Whether the map disproves what the heuristic claims."""
        return (self.heuristic.admissible and not self.admissible) or (
            self.heuristic.consistent and not self.consistent
        )

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return self._sum / self.states if self.states else 0.0

    @property
    def ratio(self) -> float:
        """The mean of value / distance; 0 where all states are at distance 0."""
        return self._ratios / self._apart if self._apart else 0.0

    def count_values(self, values: Values, distances: Values) -> None:
        """Adds the values of some states."""
        apart = distances > 0
        self.states += len(values)
        self.exact += int((values == distances).sum())
        self.largest = max(self.largest, int(values.max()))
        self._sum += int(values.sum(dtype=numpy.int64))
        self._ratios += float((values[apart] / distances[apart]).sum())
        self._apart += int(apart.sum())


def goals_of(distance_map: StoredMap) -> tuple[Board, ...]:
    """The boards that the distances of a map lead to, perhaps with ``WILDCARD``.

    Raises JobError where the distances are from an origin, and moves cannot be taken back.
    """
    from farthest.search.contract import targets

    origin, puzzle = distance_map.origin, distance_map.puzzle
    if origin.direction == "from" and not distance_map.space.undirected:
        raise JobError(
            f"job {distance_map.job} ({distance_map.record.name}) counts moves from {origin.where}, and not every move "
            f"can be taken back; heuristics estimate distances to a goal: run "
            f"`farthest enumerate {puzzle.name} --to goal`"
        )
    return targets(puzzle, origin.where)


def open_heuristics(distance_map: StoredMap, texts: Sequence[str] = ()) -> list[Heuristic]:
    """The heuristics that ``texts`` name, of the distance to ``goals_of`` the map. Without texts: all with a plain name
    that are for the puzzle, ``STUDENTS`` where it can be made, and the patterns whose maps are in the same database.
    Raises as ``goals_of`` and ``open_heuristic`` do."""
    from farthest.heuristics.registry import applicable, open_heuristic
    from farthest.queries.pattern_maps import PatternMaps, stored_patterns

    goals, puzzle = goals_of(distance_map), distance_map.puzzle
    names = list(texts) or applicable(puzzle)
    if not texts and "manhattan" in names:
        names.append(STUDENTS)
    if not texts and goals == puzzle.definition.origin_boards[0]:
        names += stored_patterns(distance_map.database, puzzle)
    load_map = PatternMaps(distance_map.database)
    return [open_heuristic(name, puzzle, goals, load_map) for name in names]


def compare_heuristics(
    distance_map: StoredMap, heuristics: Sequence[Heuristic], *, limit: int = 3
) -> list[Findings]:
    """The results of the whole map for each heuristic, which are of the distance to ``goals_of`` the map.

    ``limit``: most counterexamples kept of each kind besides the worst. The map is read once, a block of states at a
    time.
    """
    findings = [Findings(heuristic) for heuristic in heuristics]
    space = forward_space(distance_map.puzzle, distance_map.space.origins[0])
    for block in distance_map.state_blocks():
        distances = block.distances.astype(numpy.int32)
        values = [heuristic.values(block.labels) for heuristic in heuristics]
        for found, value in zip(findings, values, strict=True):
            found.count_values(value, distances)
            _note_too_large(distance_map, found, block, value, distances, limit)
        _note_drops(space, findings, block, values, limit)
    return findings


def _note_too_large(
    distance_map: StoredMap,
    found: Findings,
    block: StateBlock,
    values: Values,
    distances: Values,
    limit: int,
) -> None:
    excess = values - distances
    found.too_large += int((excess > 0).sum())
    rows = _counterexamples(excess, limit - len(found.too_large_first))
    texts = distance_map.puzzle.definition.texts(block.labels[rows])
    noted = [
        TooLarge(text, int(values[row]), int(distances[row])) for row, text in zip(rows, texts, strict=True)
    ]
    found.too_large_worst = _keep(found.too_large_first, found.too_large_worst, noted, limit)


def _note_drops(
    space: MoveSource,
    findings: Sequence[Findings],
    block: StateBlock,
    values: Sequence[Values],
    limit: int,
) -> None:
    """``space``: its neighbours farther from the origin are the boards that the player reaches."""
    noted: list[list[tuple[int, Drop]]] = [[] for _ in findings]  # with the row of the board, by move
    for move, rows, reached in space.neighbours(block.labels, toward=False):
        for found, value, drops in zip(findings, values, noted, strict=True):
            after = found.heuristic.values(reached)
            excess = value[rows] - after - 1
            found.moves += len(rows)
            found.drops += int((excess > 0).sum())
            for at in _counterexamples(excess, limit - len(found.drops_first)):
                row = int(rows[at])
                texts = space.puzzle.definition.texts(numpy.stack([block.labels[row], reached[at]]))
                drops.append((row, Drop(texts[0], int(value[row]), move, texts[1], int(after[at]))))
    for found, drops in zip(findings, noted, strict=True):
        drops.sort(key=lambda drop: drop[0])
        in_order = [drop for _, drop in drops]
        found.drop_worst = _keep(found.drops_first, found.drop_worst, in_order, limit)


def _counterexamples(excess: Values, limit: int) -> list[int]:
    """The first ``limit`` places with an excess, and the first with the largest, ascending."""
    places = numpy.flatnonzero(excess > 0)
    if not places.size:
        return []
    return sorted({*places[:limit].tolist(), int(excess.argmax())})


def _keep(first: list[Proof], worst: Proof | None, noted: Sequence[Proof], limit: int) -> Proof | None:
    """Adds those of a block to the ``first`` ones; gives the first with the largest excess until now."""
    first += noted[: limit - len(first)]
    for one in noted:
        if worst is None or one.excess > worst.excess:
            worst = one
    return worst
