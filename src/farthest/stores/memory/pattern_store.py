"""The store of additive patterns: the kernel's lines and the distances of all placements, in this process's memory.

It is one shard, stepped as a whole. Where the blank can be is known of the last layers only, so a search cannot be gone
on with from its distances: there are no checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.errors import DamagedMapError, ResourceError
from farthest.models.chunks import UNREACHED, Chunk
from farthest.stores.blocks import zeros
from farthest.stores.memory.gather_store import LayersInMemory

if TYPE_CHECKING:
    from farthest import _kernel

MAX_DEPTH = UNREACHED["uint8"] - 1

_SEARCHED = 2**24
"""Distances that are looked at together for those of a layer."""


@dataclass
class PatternStepInput:
    """The one shard of a layer, to be stepped."""

    store: PatternStore
    depth: int
    shards: list[int]

    def run(self, threads: int = 1) -> list[int]:
        return [self.store.step(self.depth, threads) for _ in self.shards]


class PatternStore(LayersInMemory):
    """``JobStore`` of an additive pattern. Raises ResourceError where the system gives no memory."""

    def __init__(self, kernel: _kernel.PatternSpace) -> None:
        super().__init__(1)
        self.kernel = kernel
        self._work: memoryview | None = zeros(kernel.work_bytes)
        self._distances = zeros(kernel.keys)
        first, _ = kernel.begin(self._work, self._distances)
        self._counts[0] = {0: first}
        self._found = first
        self._goes_on = True

    def step(self, depth: int, threads: int) -> int:
        """Finds the layer ``depth``, the next one; how many placements are reached first."""
        assert self._work is not None, "the search has not ended"
        if depth > MAX_DEPTH:
            raise ResourceError(
                f"the pattern is deeper than {MAX_DEPTH} moves, the most that its distances can hold; end it there "
                f"with --max-depth {MAX_DEPTH}, or take other pieces"
            )
        states, self._goes_on = self.kernel.step(depth, self._work, self._distances, threads)
        return states

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        """A layer without new placements may still lead to some, by another place of the blank."""
        return [0] if self._goes_on else []

    def open(self, depth: int, shards: Sequence[int]) -> PatternStepInput:
        return PatternStepInput(self, depth, self._free_shards(depth, shards))

    def commit(self, depth: int, step_input: PatternStepInput, counts: Sequence[int]) -> None:
        """The search ends where all placements have a distance."""
        self._committed.update(step_input.shards)
        self._counts[depth] = {shard: n for shard, n in zip(step_input.shards, counts, strict=True) if n}
        self._found += sum(counts)
        if self._found == self.kernel.keys:
            self._goes_on = False
        if not self._goes_on:
            self._work = None

    # JobStore

    def keys(self, depth: int, limit: int) -> list[int]:
        wanted = bytes([depth])
        found: list[int] = []
        for first in range(0, self.kernel.keys, _SEARCHED):
            held = bytes(self._distances[first : first + _SEARCHED])
            place = held.find(wanted)
            while place >= 0 and len(found) < limit:
                found.append(first + place)
                place = held.find(wanted, place + 1)
            if len(found) == limit:
                break
        return found

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        for first in range(0, self.kernel.keys, size):
            count = min(size, self.kernel.keys - first)
            yield Chunk(first, first + count - 1, "uint8", self._distances[first : first + count])

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        """Nothing stores a checkpoint of a pattern."""
        raise DamagedMapError("a search for an additive pattern cannot go on from a checkpoint")
