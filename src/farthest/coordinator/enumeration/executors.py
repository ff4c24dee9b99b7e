"""Executors: where the steps of a layer run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol

from farthest.stores.contract import ShardStore
from farthest.worker.enumeration.step import step

CALL_SECONDS = 1.0
"""A call of the kernel should take so long at most: nothing is heard of signals and cancelled jobs meanwhile."""


class Executor(Protocol):
    """Runs steps. Returning from ``run_layer`` is the barrier between layers."""

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """Returns when every one of ``shards`` has been committed at ``depth``; raises when one cannot be."""

    def close(self) -> None:
        """Gives up what the executor holds."""


class ThreadsExecutor:
    """Steps a layer in calls of the kernel, which divides each among this process's threads: in one call, unless such
    calls take long. ``look_around`` is called between them, and may raise; what was stepped of the layer is then lost.
    """

    def __init__(self, threads: int, look_around: Callable[[], None] = lambda: None) -> None:
        self._threads = threads
        self._look_around = look_around
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
            self._look_around()

    def close(self) -> None:
        """See Executor: threads live for one layer."""


def _fitting(shards: int, seconds: float) -> int:
    """How many shards to step at once after so many took so long; 0: all, as calls are short."""
    return 0 if seconds < CALL_SECONDS / 2 else max(1, int(shards * CALL_SECONDS / seconds))
