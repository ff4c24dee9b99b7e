"""The store of packed boards by representatives, in this process's memory: each layer of each shard is a set of codes.

A shard's new states are pulled from shards of the layer before, at once and in memory of its own: there are no
candidates to keep (kernel/include/farthest/reduced_runs.hpp). The states of the last layer that a depth limit allows
are counted, and not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from farthest import _kernel
from farthest.errors import MemoryUsedUpError
from farthest.stores.contract import excluded, excluded_layers
from farthest.stores.memory.gather_store import LayersInMemory
from farthest.stores.scattering import ALL, LEAST_KEPT, least_codes

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.spaces.contract import ReducedRunsSpace


class SetsStore(Protocol):
    """A store of sets of codes."""

    def step(self, depth: int, shards: list[int], threads: int) -> list[tuple[int, int, bytes]]:
        """Of each of the shards its new codes: their number, that of their classes, and themselves; of a layer that is
        only counted the least of them."""


@dataclass
class ShardsStepInput:
    """``found``: of each shard its new states, their classes, and the codes."""

    store: SetsStore
    depth: int
    shards: list[int]
    found: list[tuple[int, int, bytes]] = field(default_factory=list)

    def run(self, threads: int = 1) -> list[int]:
        self.found = self.store.step(self.depth, self.shards, threads)
        return [states for states, _, _ in self.found]


class ReducedRunsStore(LayersInMemory):
    """``JobStore`` that only counts. ``memory``: bytes that codes may take, None for no limit; ``last``: the last depth
    that is wanted, where there is a limit."""

    def __init__(
        self, space: ReducedRunsSpace, *, memory: int | None = None, last: int | None = None
    ) -> None:
        super().__init__(space.shards)
        self.space = space
        self._memory = memory
        self._last = last
        self._excluded = excluded(graded=False, undirected=space.undirected)
        origin = space.origin_shard
        self._codes: dict[int, list[bytes]] = {0: [b""] * space.shards}
        self._codes[0][origin] = bytes(space.origin_codes())
        self._counts[0] = {origin: 1}
        self._classes = 1  # of the last layer
        self._bytes = 0

    def reachable(self, depth: int) -> list[int]:
        """Any shard may have neighbours of any other."""
        return list(range(self.shards)) if self._counts[depth - 1] else []

    def _prepared(self, depth: int, shards: set[int]) -> set[int]:
        self._codes[depth] = [b""] * self.shards
        self._classes = 0
        needed = min(excluded_layers(self._excluded, depth), default=depth - 1)
        for earlier in [earlier for earlier in self._codes if earlier < needed]:
            self._forget(earlier)
        return shards

    def open(self, depth: int, shards: Sequence[int]) -> ShardsStepInput:
        return ShardsStepInput(self, depth, self._free_shards(depth, shards))

    def step(self, depth: int, shards: list[int], threads: int) -> list[tuple[int, int, bytes]]:
        older = [self._codes[earlier] for earlier in excluded_layers(self._excluded, depth)]
        exclude = [[layer[shard] for layer in older] for shard in shards]
        most = LEAST_KEPT if depth == self._last else ALL
        return self.space.runs.step(shards, self._codes[depth - 1], exclude, most, threads)

    def commit(self, depth: int, step_input: ShardsStepInput, counts: Sequence[int]) -> None:
        """Raises MemoryUsedUpError where the codes take more memory than is allowed."""
        self._committed.update(step_input.shards)
        for shard, (states, classes, codes) in zip(step_input.shards, step_input.found, strict=True):
            if states:
                self._codes[depth][shard] = codes
                self._counts[depth][shard] = states * self.space.weights[shard]
                self._classes += classes
                self._bytes += len(codes)
        if self._memory is not None and self._bytes > self._memory:
            raise MemoryUsedUpError(
                f"the states up to depth {depth} need {self._bytes:,} bytes of memory, more than the "
                f"{self._memory:,} allowed; allow more{', set a depth limit' if self._last is None else ''}"
            )

    def _forget(self, depth: int) -> None:
        self._bytes -= sum(map(len, self._codes.pop(depth, ())))

    def give_up(self, depth: int) -> None:
        """Forgets what was found of a layer that is not complete, the last one begun."""
        self._forget(depth)
        self._counts.pop(depth, None)

    def classes(self, depth: int) -> int | None:
        return self._classes

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        return least_of_sets(self.space, self._codes[depth], limit)


def least_of_sets(space: ReducedRunsSpace, sets: Iterable[Buffer], limit: int) -> list[int] | list[bytes]:
    """The least ``limit`` codes of all the sets."""
    width = space.code_bytes
    runs = {at: _kernel.run_of(width, codes)[1] for at, codes in enumerate(sets)}
    return least_codes(space, runs, limit)
