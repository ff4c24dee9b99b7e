"""The successors of a layer of sorted runs, for as many shards at once as have room: candidates for the next layer.

Where all successors do not have room, the layer before is expanded several times, each time for some of the shards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.stores.scattering import put_successors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from typing_extensions import Buffer

    from farthest.spaces.contract import ScatterSpace

ROOM = 2**30
"""Bytes of successors before repeated ones are removed early. More are not there at once, unless the layer before would
have to be expanded more than PASSES times."""
PASSES = 4

LEAST_ROOM = 2**22

BOX_BYTES = 2**13
"""Of a shard's box for each thread at least (kernel/src/outboxes.cpp)."""

SHARDS_AT_ONCE = 64
"""Shards whose fresh states are found between two checks of the memory."""


class Candidates:
    """``memory``: bytes that runs and successors may take together, None for no limit."""

    def __init__(self, space: ScatterSpace, shards: int, memory: int | None) -> None:
        self._space = space
        self._shards = shards
        self._memory = memory
        self._depth = 0  # of the candidates that the boxes hold
        self._first = -1  # their first shard; -1: there are none
        self._at_once = shards  # shards of which the boxes hold candidates
        self._successor_bytes = 0.0  # of a state of the layer before, about
        self.boxes = self._new_boxes()

    def _new_boxes(self, room: int = 0) -> _kernel.Outboxes:
        least = ROOM if self._memory is None else min(ROOM, self._memory // 4)
        return _kernel.Outboxes(
            self._space.code_bytes, self._shards, self._space.keys or 0, max(least, 2 * room)
        )

    def of(self, codes: Buffer) -> dict[int, tuple[int, bytes]]:
        """These codes by shard: their number, and their run."""
        self.boxes.add(codes)
        filled = self.boxes.filled()
        return dict(zip(filled, self.boxes.take(filled, [[]] * len(filled)), strict=True))

    def parts(self, depth: int, shards: Sequence[int], states: int, free: int | None) -> Iterator[list[int]]:
        """The shards, some at a time: those whose candidates the boxes hold together. ``states``: of the layer before;
        ``free``: bytes for these candidates and what is found among them, None for any number."""
        if self._depth != depth:
            self._depth, self._first = depth, -1
            self._at_once = self._fitting(states, free)
        part: list[int] = []
        for shard in sorted(shards):
            if part and (shard // self._at_once != part[0] // self._at_once or len(part) == SHARDS_AT_ONCE):
                yield part
                part = []
            part.append(shard)
        if part:
            yield part

    def _fitting(self, states: int, free: int | None) -> int:
        """Of how many shards the successors of so many states have room at once."""
        expected = int(self._successor_bytes * states)
        room = max(ROOM, expected // PASSES)
        if free is not None:
            room = min(room, free // 3)
        passes = -(-expected // max(room, LEAST_ROOM))
        if passes <= 1 or getattr(self._space, "expander", None) is None:
            return self._shards
        self.boxes = self._new_boxes(room)
        return max(1, self._shards // passes)

    def expand(
        self, shard: int, layer: Iterable[list[bytes]], states: int, threads: int, poll: Callable[[], None]
    ) -> None:
        """Puts the successors that are in the shard, and in those at once with it, into the boxes, unless they are
        there. ``layer``: the runs of the layer before, with so many ``states``; ``poll`` is called now and then, and
        may raise."""
        first = shard - shard % self._at_once
        if self._first == first:
            return
        end = min(first + self._at_once, self._shards)
        try:
            for runs in layer:
                put_successors(self.boxes, self._space, runs, threads, poll, (first, end))
        except BaseException:
            self.drop()
            raise
        self._first = first
        filled = self.boxes.filled_bytes
        if filled > 4 * (end - first) * BOX_BYTES * threads:  # else it tells of the boxes' pieces of memory
            self._successor_bytes = filled * self._shards / (end - first) / states

    def filled(self, shards: Iterable[int]) -> list[int]:
        """Those of the shards that have candidates."""
        filled = set(self.boxes.filled())
        return [shard for shard in shards if shard in filled]

    def drop(self) -> None:
        """Gives up all candidates."""
        self.boxes = self._new_boxes()
        self._first = -1
