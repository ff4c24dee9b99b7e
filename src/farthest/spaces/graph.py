"""Some states of a space and all moves between them, as a graph of the kernel."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy

from farthest import _kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from farthest.spaces.contract import Codes, Space

    Edges = tuple[Codes, Codes]
    """Codes before and after a move."""

CODES_AT_ONCE = 1 << 14


class MoveGraph:
    """``codes``: the states, ascending. ``backward``: edges lead from the second codes to the first."""

    def __init__(self, codes: Codes, edges: Iterable[Edges], *, backward: bool = False) -> None:
        self.codes = codes
        listed = list(edges)
        joined = (numpy.concatenate([codes[:0], *(edge[end] for edge in listed)]) for end in (0, 1))
        before, after = (numpy.searchsorted(codes, each) for each in joined)
        self._sources, self._targets = (after, before) if backward else (before, after)

    @cached_property
    def kernel(self) -> _kernel.Graph:
        """The graph; vertices are numbers in ``codes``."""
        order = numpy.argsort(self._sources, kind="stable")
        offsets = numpy.zeros(len(self.codes) + 1, dtype=numpy.uint64)
        numpy.cumsum(numpy.bincount(self._sources, minlength=len(self.codes)), out=offsets[1:])
        return _kernel.Graph(offsets, self._targets[order].astype(numpy.uint32))


def edges_of(space: Space, codes: Codes) -> Iterator[Edges]:
    """The moves away from the origin, some at a time."""
    for at in range(0, len(codes), CODES_AT_ONCE):
        some = codes[at : at + CODES_AT_ONCE]
        for _, rows, after in space.neighbours(space.decode(some), toward=False):
            yield some[rows], space.encode(after)


def joined_to(space: Space, starts: Codes, most: int) -> MoveGraph | None:
    """All states that moves join to some, none of which comes twice; None where there are more than ``most``. Each move
    of the space can be taken back."""
    before, codes = starts[:0], numpy.sort(starts)
    layers, states = [codes], len(codes)
    edges: list[Edges] = []
    while len(codes):
        of_layer = list(edges_of(space, codes))
        found = numpy.unique(numpy.concatenate([codes[:0], *(after for _, after in of_layer)]))
        found = found[~numpy.isin(found, before, assume_unique=True)]
        before, codes = codes, found[~numpy.isin(found, codes, assume_unique=True)]
        layers.append(codes)
        edges += of_layer
        states += len(codes)
        if states > most:
            return None
    return MoveGraph(numpy.sort(numpy.concatenate(layers)), edges)
