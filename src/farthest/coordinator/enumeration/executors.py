"""Executors: where the steps of a layer run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from farthest.stores.contract import ShardStore
from farthest.worker.enumeration.step import step


class Executor(Protocol):
    """Runs steps. Returning from ``run_layer`` is the barrier between layers."""

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """Returns when every one of ``shards`` has been committed at ``depth``; raises when one cannot be."""

    def close(self) -> None:
        """Gives up what the executor holds."""


class ThreadsExecutor:
    """Steps a whole layer in one call of the kernel, which divides it among this process's threads."""

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """See Executor."""
        step(store, depth, shards, self._threads)

    def close(self) -> None:
        """See Executor: threads live for one layer."""
