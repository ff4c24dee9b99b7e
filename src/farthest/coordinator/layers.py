"""The level-synchronous search: one layer after another until one is empty."""

from __future__ import annotations

from farthest.coordinator.executors import Executor
from farthest.worker.store import ShardStore


class LayerSearch:
    """Breadth-first search by shards. The layer counts depend on the space and its origin alone: neither on the
    executor, the store, the number of shards, nor on how often a step was run."""

    def __init__(self, store: ShardStore, executor: Executor) -> None:
        self._store = store
        self._executor = executor
        kernel = store.kernel
        self._sources = [frozenset(kernel.sources(shard)) for shard in range(kernel.shards)]

    def next_layer(self, depth: int) -> int:
        """Finds the layer ``depth`` from the one before, and returns its number of states."""
        before = frozenset(self._store.counts(depth - 1))
        candidates = [shard for shard, sources in enumerate(self._sources) if not sources.isdisjoint(before)]
        self._executor.run_layer(self._store, depth, self._store.begin(depth, candidates))
        return sum(self._store.counts(depth).values())
