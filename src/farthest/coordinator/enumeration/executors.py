"""Executors: where the steps of a layer run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from farthest.stores.contract import ShardStore, step

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.models.database import Database
    from farthest.spaces.contract import Space
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.folder.journal import LayerFigures


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


# --- The level-synchronous search: one layer after another until one is empty.


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


# --- The contract of backends: where an attempt keeps its states and takes its steps.

Progress = Callable[[dict[str, Any]], None]
"""Called with the state of the layer under way: ``blocks``, ``blocks_done``, and of workers ``workers``, ``resent``."""


class Backend(Protocol):
    """Makes the store and the executor of an attempt."""

    def admit(self, space: Space, database: Database | None) -> None:
        """Reports what the enumeration will need. Raises ResourceError when there is not enough of it."""

    def store(self, space: Space, name: str) -> JobStore:
        """A store at depth 0, for an attempt at the job called ``name``."""

    def kept(self) -> list[LayerFigures]:
        """The layers that the last store had from an earlier attempt at the job."""

    @property
    def keeps(self) -> Path | None:
        """Where the layers are that the job can be continued from, where the store keeps them; else checkpoints do."""

    def leave(self, store: JobStore) -> None:
        """Gives up the store of an attempt that was stopped; what the job can be continued from stays."""

    def short_of_room(self, store: JobStore) -> bool:
        """Whether a checkpoint is to make room for the next layers."""

    def make_map(
        self,
        store: JobStore,
        depth: int,
        states: int,
        job: int,
        owner: str,
        database: Database,
        progress: Progress,
        still_ours: Callable[[], None],
    ) -> MadeMap | None:
        """The map up to ``depth``, of ``states`` states, as workers make it for the job that ``owner`` runs; None where
        it is to be made of the store's chunks."""

    def goes_over_to_files(self, space: Space) -> str | None:
        """Whether the next attempt keeps its layers in files, where those in memory have become too large: what the
        user is told, else None."""

    def give_up(self, depth: int) -> bool:
        """Forgets what was found of a layer for which there was no room; False where the layers before cannot be had
        then, or others may make room."""

    def while_waiting(self, action: Callable[[], None]) -> None:
        """Sets a function that is called regularly while a server is away; it may raise an exception."""

    def restarted(self) -> bool:
        """Whether a server has been restarted since the last call, so that its data may be lost."""

    def executor(
        self, progress: Progress, should_stop: Callable[[], None], still_ours: Callable[[], None]
    ) -> Executor:
        """Takes the steps. ``should_stop`` is called now and then during a layer that can be given up, and
        ``still_ours`` during one that overwrites the layers before it; they may raise an exception."""
