"""Executors: where the steps of a layer run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol

from farthest.stores.contract import ShardStore, step

CALL_SECONDS = 1.0
"""The longest that a call of the kernel should take: signals and cancelled jobs are noticed only between calls."""


Watch = Callable[[int, int], None]
"""Called during a layer that takes long: how many of its blocks, here shards, are done, and how many there are."""


class Executor(Protocol):
    """Runs steps. Returning from ``run_layer`` is the barrier between layers."""

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """Returns when each of ``shards`` has been committed at ``depth``; raises an exception when one cannot be."""

    def close(self) -> None:
        """Releases what the executor holds."""


class ThreadsExecutor:
    """Steps a layer in calls of the kernel, which divides each among this process's threads: in one call, unless such
    calls take long. ``poll`` is called between them, and may raise an exception; the steps of the layer are then lost.
    ``watch``: see ``Watch``.
    """

    def __init__(
        self,
        threads: int,
        poll: Callable[[], None] = lambda: None,
        watch: Watch = lambda done, blocks: None,
    ) -> None:
        self._threads = threads
        self._poll = poll
        self._watch = watch
        self._at_once = 0  # shards; 0: all

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """See Executor."""
        first = 0
        while first < len(shards):
            part = shards[first : first + (self._at_once or len(shards))]
            begun = monotonic()
            step(store, depth, part, self._threads)
            self._at_once = _fitting(len(part), monotonic() - begun)
            first += len(part)
            if first < len(shards):
                self._watch(first, len(shards))
            self._poll()

    def close(self) -> None:
        """See Executor: threads live for one layer."""


def _fitting(shards: int, seconds: float) -> int:
    """How many shards to step in one call, after ``shards`` took ``seconds``; 0: all, as calls are short."""
    return 0 if seconds < CALL_SECONDS / 2 else max(1, int(shards * CALL_SECONDS / seconds))


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
