"""The distances between all pairs of a component: its diameter, the boards at its ends, the eccentricity of each state.

Where moves can be taken back, the component of a board is all that moves join to it: it may be a part of the map, or
larger than a map that a depth limit cut off, so it is found by moves. Else the states are those of the map, a pair is
ordered, and no way may lead from its first to its second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.errors import JobError, ResourceError
from farthest.machine import cores
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from farthest.families.user_input import GivenBoard
    from farthest.queries.stored_map import StoredMap
    from farthest.spaces.contract import Codes, Space

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

    ``limit``: most farthest pairs that are told. Raises UnreachableError where the board is not of the map,
    ResourceError for more than ``MOST_STATES`` states, JobError for boards that no moves join, and where moves cannot
    be taken back and the map is cut off or a board is given.
    """
    graph = _ComponentGraph(opened, board)
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
    if not graph.ordered:
        distances[1:] //= 2
    return Diameter(
        states,
        graph.ordered,
        tuple(numpy.bincount(farthest).tolist()),
        tuple(distances.tolist()),
        unjoined,
        tuple(graph.pairs_at(len(distances) - 1, farthest, limit)),
    )


class _ComponentGraph:
    """The states of a component, and its moves as a graph of the kernel."""

    def __init__(self, opened: StoredMap, board: GivenBoard | None) -> None:
        self._name = f"job {opened.job} ({opened.record.name})"
        self._definition = opened.puzzle.definition
        if not self._definition.has_moves:
            raise JobError(f"{self._name} is an additive pattern, whose boards are not joined by moves")
        # A map of representatives has fewer codes than states.
        self._space: Space = compile_space(opened.puzzle, opened.origin) if opened.reduced else opened.space
        self.ordered = not self._space.undirected
        self._backward = opened.origin.direction == "to"
        if self.ordered:
            self._check_map(opened, board)
            self.codes = numpy.sort(
                numpy.concatenate([self._space.encode(block.labels) for block in opened.state_blocks()])
            )
            blocks = numpy.array_split(self.codes, len(self.codes) // SOURCES_AT_ONCE + 1)
            edges = [edge for block in blocks for edge in self._edges(block)]
        else:
            self.codes, edges = self._flooded(opened, board)
        self._sources, self._targets = (
            numpy.searchsorted(self.codes, numpy.concatenate([self.codes[:0], *each]))
            for each in ([edge[0] for edge in edges], [edge[1] for edge in edges])
        )
        if self.ordered and self._backward:
            self._sources, self._targets = self._targets, self._sources

    def _check_map(self, opened: StoredMap, board: GivenBoard | None) -> None:
        if board is not None:
            raise JobError(
                f"{self._name}: not every move can be taken back, so pairs are those of the whole map; "
                "leave the board out"
            )
        if not opened.complete:
            raise JobError(
                f"{self._name} is cut off at depth {opened.depth}, and not every move can be taken back; enumerate "
                f"`{opened.record.name}` without --max-depth"
            )
        if opened.states > MOST_STATES:
            raise self._too_large(f"{opened.states:,} states")

    def _flooded(
        self, opened: StoredMap, board: GivenBoard | None
    ) -> tuple[Codes, list[tuple[Codes, Codes]]]:
        """All codes that moves join to the board's, ascending, and the edges."""
        if board is None:
            board = "start" if self._definition.has_origin("start") else self._space.origins[0]
        opened.distance(board)
        labels = numpy.array([opened.labels(board)], dtype=numpy.uint8)
        before = codes = self._space.encode(labels)
        edges: list[tuple[Codes, Codes]] = []
        layers, states = [codes], 1
        while len(codes):
            of_layer = list(self._edges(codes))
            found = numpy.unique(numpy.concatenate([codes[:0], *(after for _, after in of_layer)]))
            found = found[~numpy.isin(found, before, assume_unique=True)]
            before, codes = codes, found[~numpy.isin(found, codes, assume_unique=True)]
            layers.append(codes)
            edges += of_layer
            states += len(codes)
            if states > MOST_STATES:
                raise self._too_large(f"more than {MOST_STATES:,} states are joined to the board")
        return numpy.sort(numpy.concatenate(layers)), edges

    def _edges(self, codes: Codes) -> Iterator[tuple[Codes, Codes]]:
        """The codes before and after moves away from the origin, some at a time."""
        for _, rows, after in self._space.neighbours(self._space.decode(codes), toward=False):
            yield codes[rows], self._space.encode(after)

    def _too_large(self, what: str) -> ResourceError:
        return ResourceError(
            f"{self._name}: {what}; all pairs are found of at most {MOST_STATES:,}. Its depth from an origin is what "
            "`farthest enumerate` tells"
        )

    @cached_property
    def kernel(self) -> _kernel.Graph:
        """The graph; vertices are numbers in ``codes``."""
        order = numpy.argsort(self._sources, kind="stable")
        offsets = numpy.zeros(len(self.codes) + 1, dtype=numpy.uint64)
        numpy.cumsum(numpy.bincount(self._sources, minlength=len(self.codes)), out=offsets[1:])
        return _kernel.Graph(offsets, self._targets[order].astype(numpy.uint32))

    def pairs_at(self, depth: int, farthest: NDArray[numpy.uint32], limit: int) -> Iterator[tuple[str, str]]:
        """The boards of pairs so far apart, ascending by code, at most ``limit``."""
        for first in numpy.flatnonzero(farthest == depth).tolist():
            distances = numpy.frombuffer(self.kernel.distances(first), dtype=numpy.int32)
            seconds = numpy.flatnonzero(distances == depth)
            if not self.ordered:
                seconds = seconds[seconds >= first]
            for second in seconds[:limit].tolist():
                boards = self._space.decode(self.codes[[first, second]])
                one, other = self._definition.texts(boards)
                yield one, other
            limit -= len(seconds)
            if limit <= 0:
                return
