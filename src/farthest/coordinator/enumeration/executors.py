"""Executors: where the steps of a layer run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from time import monotonic

from farthest.stores.contract import ShardStore, step

CALL_SECONDS = 1.0
"""The longest that a call of the kernel should take: signals and cancelled jobs are noticed only between calls."""


Watch = Callable[[int, int], None]
"""Called during a layer that takes long: how many of its blocks, here shards, are done, and how many there are."""


class Executor(ABC):
    """Runs steps. Returning from ``run_layer`` is the barrier between layers."""

    @abstractmethod
    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """Returns when each of ``shards`` has been committed at ``depth``; raises an exception when one cannot be."""

    def close(self) -> None:  # noqa: B027 - threads live for one layer
        """Releases what the executor holds."""


class ThreadsExecutor(Executor):
    """Steps a layer in calls of the kernel, which divides each among this process's threads: in one call, unless such
    calls take long. ``poll`` is called between them, and may raise an exception; the steps of the layer are then lost.
    ``watch``: see ``Watch``; ``seconds``: that a call may take, about.
    """

    def __init__(
        self,
        threads: int,
        poll: Callable[[], None] = lambda: None,
        watch: Watch = lambda done, blocks: None,
        seconds: float = CALL_SECONDS,
    ) -> None:
        self._threads = threads
        self._poll = poll
        self._watch = watch
        self._seconds = seconds
        self._at_once = 0  # shards; 0: all

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        first = 0
        while first < len(shards):
            part = shards[first : first + (self._at_once or len(shards))]
            begun = monotonic()
            step(store, depth, part, self._threads)
            self._at_once = _fitting(len(part), monotonic() - begun, self._seconds)
            first += len(part)
            if first < len(shards):
                self._watch(first, len(shards))
            self._poll()


def _fitting(shards: int, seconds: float, wanted: float) -> int:
    """How many shards to step in one call of ``wanted`` seconds, after ``shards`` took ``seconds``; 0: all, as calls
    are short."""
    return 0 if seconds < wanted / 2 else max(1, int(shards * wanted / seconds))


def next_layer(store: ShardStore, executor: Executor, depth: int) -> int:
    """Finds the layer ``depth`` from the one before, by shards, and returns its number of states: it depends on the
    space and its origin alone, not on the executor, the store, the number of shards, or how often a step was taken."""
    shards = store.begin(depth, store.reachable(depth))
    executor.run_layer(store, depth, shards)
    return sum(store.counts(depth).values())
