"""The level-synchronous search: one layer after another until one is empty."""

from __future__ import annotations

from farthest.coordinator.enumeration.executors import Executor
from farthest.stores.contract import ShardStore


class LayerSearch:
    """Breadth-first search by shards. The layer counts depend on the space and its origin alone: not on the executor,
    the store, the number of shards, or how often a step was taken."""

    def __init__(self, store: ShardStore, executor: Executor) -> None:
        self._store = store
        self._executor = executor

    def next_layer(self, depth: int) -> int:
        """Finds the layer ``depth`` from the one before, and returns its number of states."""
        shards = self._store.begin(depth, self._store.reachable(depth))
        self._executor.run_layer(self._store, depth, shards)
        return sum(self._store.counts(depth).values())
