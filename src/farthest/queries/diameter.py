"""The distances between all pairs of a component: its diameter, the boards at its ends, the eccentricity of each state.

Where moves can be taken back, the component of a board is all that moves join to it: it may be a part of the map, or
larger than a map that a depth limit cut off, so it is found by moves. Else the states are those of the map, a pair is
ordered, and no way may lead from its first to its second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from farthest.errors import JobError, ResourceError
from farthest.machine import cores
from farthest.spaces import compile_space
from farthest.spaces.graph import MoveGraph, edges_of, joined_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from farthest.families.user_input import GivenBoard
    from farthest.queries.stored_map import StoredMap
    from farthest.spaces.contract import Space

MOST_STATES = 100_000
"""A component of more has more than 10^10 pairs."""

SOURCES_AT_ONCE = 1 << 14
"""The kernel searches from so many states in one call, which nothing interrupts."""


@dataclass(frozen=True)
class Diameter:
    """All distances of ``states``. ``ordered``: not every move can be taken back, so that a pair has an order.

    ``eccentricities[d]``: states whose farthest state is d moves away; ``distances[d]``: pairs d moves apart, of two
    different states but at 0; ``unjoined``: ordered pairs without a way; ``ends``: boards, some of the farthest pairs.
    """

    states: int
    ordered: bool
    eccentricities: tuple[int, ...]
    distances: tuple[int, ...]
    unjoined: int
    ends: tuple[tuple[str, str], ...]

    @property
    def diameter(self) -> int:
        """The greatest distance."""
        return len(self.distances) - 1

    @property
    def pairs(self) -> int:
        """How many pairs are so far apart."""
        return self.distances[-1]

    @property
    def radius(self) -> int:
        """The least eccentricity."""
        return next(depth for depth, states in enumerate(self.eccentricities) if states)

    @property
    def mean(self) -> float:
        """The mean distance of the pairs of different states that a way joins; 0 where there are none."""
        joined = sum(self.distances[1:])
        return sum(depth * pairs for depth, pairs in enumerate(self.distances)) / max(joined, 1)


def diameter(opened: StoredMap, board: GivenBoard | None = None, *, limit: int = 1) -> Diameter:
    """The diameter of the component of a board of the map; None: that of the start, else of the first origin.

    ``limit``: most farthest pairs that are told. Raises UnreachableError where a given board is not of the map,
    ResourceError for more than ``MOST_STATES`` states, JobError for boards that no moves join, and where moves cannot
    be taken back and the map is cut off or a board is given.
    """
    component = _Component(opened, board)
    graph = component.graph
    states = len(graph.codes)
    farthest = numpy.zeros(states, dtype=numpy.uint32)
    distances = numpy.zeros(1, dtype=numpy.int64)
    for first in range(0, states, SOURCES_AT_ONCE):
        last = min(first + SOURCES_AT_ONCE, states)
        found = numpy.array(graph.kernel.search(first, last, farthest, cores()), dtype=numpy.int64)
        longer, shorter = sorted((distances, found), key=len, reverse=True)
        longer[: len(shorter)] += shorter
        distances = longer
    unjoined = states**2 - int(distances.sum())
    if not component.ordered:
        distances[1:] //= 2
    return Diameter(
        states,
        component.ordered,
        tuple(numpy.bincount(farthest).tolist()),
        tuple(distances.tolist()),
        unjoined,
        tuple(component.pairs_at(len(distances) - 1, farthest, limit)),
    )


class _Component:
    """The states of a component and its moves."""

    def __init__(self, opened: StoredMap, board: GivenBoard | None) -> None:
        self._name = f"job {opened.job} ({opened.record.name})"
        self._puzzle, self._definition = opened.record.name, opened.puzzle.definition
        if not self._definition.has_moves:
            raise JobError(f"{self._name} is an additive pattern, whose boards are not joined by moves")
        # A map of representatives has fewer codes than states.
        self._space: Space = compile_space(opened.puzzle, opened.origin) if opened.reduced else opened.space
        self.ordered = not self._space.undirected
        self.graph = self._of_map(opened, board) if self.ordered else self._of_board(opened, board)

    def _of_map(self, opened: StoredMap, board: GivenBoard | None) -> MoveGraph:
        if board is not None:
            raise JobError(
                f"{self._name}: not every move can be taken back, so pairs are those of the whole map; "
                "leave the board out"
            )
        if not opened.complete:
            raise JobError(
                f"{self._name} is cut off at depth {opened.depth}, and not every move can be taken back; enumerate "
                f"`{self._puzzle}` without --max-depth"
            )
        if opened.states > MOST_STATES:
            raise self._too_large(f"{opened.states:,} states")
        found = [self._space.encode(block.labels) for block in opened.state_blocks()]
        codes = numpy.sort(numpy.concatenate(found))
        return MoveGraph(codes, edges_of(self._space, codes), backward=opened.origin.direction == "to")

    def _of_board(self, opened: StoredMap, board: GivenBoard | None) -> MoveGraph:
        if board is None:
            board = "start" if self._definition.has_origin("start") else self._space.origins[0]
        else:
            opened.distance(board)
        labels = numpy.array([opened.labels(board)], dtype=numpy.uint8)
        graph = joined_to(self._space, self._space.encode(labels), MOST_STATES)
        if graph is None:
            raise self._too_large(f"more than {MOST_STATES:,} states are joined to the board")
        return graph

    def _too_large(self, what: str) -> ResourceError:
        return ResourceError(
            f"{self._name}: {what}; all pairs are found of at most {MOST_STATES:,}. Its depth from an origin is what "
            f"`farthest enumerate {self._puzzle}` tells"
        )

    def pairs_at(self, depth: int, farthest: NDArray[numpy.uint32], limit: int) -> Iterator[tuple[str, str]]:
        """The boards of pairs so far apart, ascending by code, at most ``limit``."""
        for first in numpy.flatnonzero(farthest == depth).tolist():
            source = numpy.array([first], dtype=numpy.uint32)
            distances = numpy.frombuffer(self.graph.kernel.distances(source), dtype=numpy.int32)
            seconds = numpy.flatnonzero(distances == depth)
            if not self.ordered:
                seconds = seconds[seconds >= first]
            for second in seconds[:limit].tolist():
                boards = self._space.decode(self.graph.codes[[first, second]])
                one, other = self._definition.texts(boards)
                yield one, other
            limit -= len(seconds)
            if limit <= 0:
                return
