"""Backends: where an attempt keeps its states and who takes its steps, as its plan says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from farthest.coordinator.enumeration.executors import Executor, ThreadsExecutor
from farthest.spaces.contract import gather, reduced_runs, scatter
from farthest.stores.memory.gather_store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.coordinator.enumeration.plan import Plan
    from farthest.coordinator.enumeration.record import JobRecorder
    from farthest.families.sliding.patterns import PatternSpace
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.folder.journal import LayerFigures
    from farthest.stores.folder.store import StoreInFiles
    from farthest.stores.memory.reduced_runs_store import ReducedRunsStore
    from farthest.stores.memory.scatter_store import ScatterMemoryStore

LONG_CALLS = 4.0
"""Seconds of a call of the kernel where a shard takes some tenths of one: in shorter calls threads wait at the end."""

Progress = Callable[[dict[str, Any]], None]
"""Called with the state of the layer under way: ``blocks``, ``blocks_done``, and of workers ``workers``, ``resent``."""

Poll = Callable[[], None]
"""Called now and then; it may raise an exception."""


class Backend:
    """Makes the store and the executor of an attempt. This one says what holds for layers in this process's memory:
    there is no server, and nothing stays of a store that is dropped."""

    folder: Path | None = None
    """Where the layers are that the job can be continued from, where they stay in files; else checkpoints do that."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def store(self, name: str) -> JobStore:
        """A store at depth 0, or with the layers in ``folder``, for an attempt at the job called ``name``."""
        raise NotImplementedError

    def executor(self, progress: Progress, should_stop: Poll, still_ours: Poll) -> Executor:
        """Takes the steps. ``should_stop`` is called now and then during a layer that can be given up, and
        ``still_ours`` during one that overwrites the layers before it."""
        return ThreadsExecutor(self.plan.threads, still_ours, _watch(progress))

    @property
    def figures(self) -> list[LayerFigures]:
        """What each layer in files took, with those of an earlier attempt."""
        return []

    def leave(self, store: JobStore) -> None:
        """Gives up the store of an attempt that was stopped; what the job can be continued from stays."""
        store.drop()

    def give_up(self, depth: int) -> bool:
        """Forgets what was found of a layer for which there was no room. False: nothing is forgotten, because the
        layers before it would be lost too, or because others may make room."""
        return False

    def short_of_room(self, store: JobStore) -> bool:
        """Whether a checkpoint is to make room for the next layers."""
        return False

    def make_map(
        self,
        store: JobStore,
        depth: int,
        states: int,
        recorder: JobRecorder,
        progress: Progress,
        still_ours: Poll,
    ) -> MadeMap | None:
        """The map up to ``depth``, of ``states`` states, as workers make it for the job; None where it is to be made of
        the store's chunks."""
        return None

    def while_waiting(self, action: Poll) -> None:
        """Sets a function that is called regularly while a server is away."""

    def restarted(self) -> bool:
        """Whether a server has been restarted since the last call, so that its data may be lost."""
        return False


class BitmapsInMemory(Backend):
    """Bitmaps, or lines of patterns. A layer overwrites the ones before."""

    def store(self, name: str) -> JobStore:
        settings, space = self.plan.settings, self.plan.space
        if space.engine == "pattern":
            from farthest.stores.memory.pattern_store import PatternStore

            return PatternStore(cast("PatternSpace", space).kernel)
        gathers = gather(space)
        return MemoryStore(
            gathers.kernel,
            gathers.keys_of(space.origins),
            distances=settings.stores_distances,
            numbers=self.plan.form,
            memory=self.plan.needs.memory_limit,
        )


class RunsInMemory(Backend):
    """Sorted runs, or lines."""

    _store: ScatterMemoryStore

    def store(self, name: str) -> JobStore:
        from farthest.stores.memory.line_store import store_in_memory

        settings = self.plan.settings
        self._store = store_in_memory(
            scatter(self.plan.space),
            distances=not settings.histogram_only,
            memory=self.plan.needs.memory_limit,
            last=settings.max_depth,
        )
        return self._store

    def executor(self, progress: Progress, should_stop: Poll, still_ours: Poll) -> Executor:
        self._store.poll, self._store.watch = should_stop, _watch(progress)
        return super().executor(progress, should_stop, still_ours)

    def give_up(self, depth: int) -> bool:
        self._store.give_up(depth)
        return True


class ReducedRunsInMemory(Backend):
    """Sets of codes of representatives."""

    _store: ReducedRunsStore

    def store(self, name: str) -> JobStore:
        from farthest.stores.memory.reduced_runs_store import ReducedRunsStore

        space = reduced_runs(self.plan.space)
        assert space is not None, "the plan says so"
        limit, last = self.plan.needs.memory_limit, self.plan.settings.max_depth
        self._store = ReducedRunsStore(space, memory=limit, last=last)
        return self._store

    def executor(self, progress: Progress, should_stop: Poll, still_ours: Poll) -> Executor:
        return ThreadsExecutor(self.plan.threads, should_stop, _watch(progress), LONG_CALLS)

    def give_up(self, depth: int) -> bool:
        self._store.give_up(depth)
        return True


class InFiles(Backend):
    """Layers in files: they stay, and the job can go on from them when the disk has room."""

    _store: StoreInFiles[Any]

    def store(self, name: str) -> JobStore:
        assert self.plan.files is not None, "the plan says files"
        self._store = self.plan.files.store(name)
        self.folder = self._store.folder.path
        return self._store

    def executor(self, progress: Progress, should_stop: Poll, still_ours: Poll) -> Executor:
        from farthest.coordinator.enumeration.layers_in_files import UnitsExecutor

        return UnitsExecutor(self.plan.threads, should_stop, _watch(progress))

    @property
    def figures(self) -> list[LayerFigures]:
        return list(self._store.folder.layers)

    def leave(self, store: JobStore) -> None:
        self._store.leave()


def _watch(progress: Progress) -> Callable[[int, int], None]:
    return lambda done, blocks: progress({"blocks": blocks, "blocks_done": done})
