"""Backends: where an attempt keeps its states and takes its steps, in this process or on any number of machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from farthest.coordinator.enumeration.executors import Executor, ThreadsExecutor
from farthest.coordinator.enumeration.needs import (
    check_countable,
    kernel_for,
    runs_in_files,
    scatter_run,
    thread_needs,
    told,
)
from farthest.coordinator.estimate import check_disk, check_map, check_shards, cores
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Settings
from farthest.errors import NoRoomError, PuzzleError, ResourceError
from farthest.models.map_rows import MapFiles
from farthest.sizes import bytes_text
from farthest.spaces.contract import gather, scatter
from farthest.stores.memory.gather_store import MemoryStore
from farthest.stores.memory.residues import gathered_form

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.coordinator.enumeration.folder_run import FilesRun, FileStore
    from farthest.coordinator.enumeration.sent_work import LayerProgress
    from farthest.families.sliding.pattern_space import PatternSpace
    from farthest.models.transactions import Database
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import ScatterSpace, Space
    from farthest.stores.blocks import Cut
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.folder.journal import LayerFigures
    from farthest.stores.memory.scatter_store import ScatterMemoryStore

Progress = Callable[[dict[str, Any]], None]
"""Called with the state of the layer under way: ``blocks``, ``blocks_done``, ``workers``, ``resent``."""


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

    def while_waiting(self, action: Callable[[], None]) -> None:
        """Sets a function that is called regularly while a server is away; it may raise an exception."""

    def restarted(self) -> bool:
        """Whether a server has been restarted since the last call, so that its data may be lost."""

    def executor(
        self, progress: Progress, should_stop: Callable[[], None], still_ours: Callable[[], None]
    ) -> Executor:
        """Takes the steps. ``should_stop`` is called now and then during a layer that can be given up, and
        ``still_ours`` during one that overwrites the layers before it; they may raise an exception."""


class ThreadsBackend:
    """Bitmaps, sorted runs or lines of patterns in memory, stepped by threads."""

    def __init__(self, settings: Settings, reporter: Reporter) -> None:
        self._settings = settings
        self._reporter = reporter
        self._memory = 0
        self._scatter: ScatterMemoryStore | None = None
        self._beside: Path | None = None  # the folder of the database
        self._files: FilesRun | None = None
        self._folder: FileStore | None = None

    def admit(self, space: Space, database: Database | None) -> None:
        """See Backend. For a space that is given by its successors, the number of states is not known before."""
        check_countable(space, self._settings)
        folder = self._beside = database.folder if database is not None else None
        maps = MapFiles(database).place if database is not None and self._settings.residues else None
        if maps is not None:
            maps.check()
        needs = thread_needs(space, self._settings, folder, maps)
        self._reporter.estimate(needs.estimate)
        if needs.estimate.problem:
            raise ResourceError(needs.estimate.problem)
        if needs.files is not None:
            self._reporter.notice(told(needs.estimate))
        self._files = needs.files
        self._memory = needs.estimate.memory_limit

    def store(self, space: Space, name: str) -> JobStore:
        """See Backend."""
        if self._files is not None:
            self._folder = self._files.store(name)
            return self._folder
        if space.engine == "scatter":
            from farthest.stores.memory.scatter_store import ScatterMemoryStore

            self._scatter = ScatterMemoryStore(
                scatter(space), distances=not self._settings.histogram_only, memory=self._memory
            )
            return self._scatter
        if space.engine == "pattern":
            from farthest.stores.memory.pattern_store import PatternStore

            return PatternStore(cast("PatternSpace", space).compile_kernel(self._settings.isa))
        kernel, origins = kernel_for(gather(space), self._settings), gather(space).keys_of(space.origins)
        form = None
        if self._settings.residues:
            form = gathered_form(gather(space), self._settings.max_depth)
        distances = self._settings.keeps_distances
        return MemoryStore(kernel, origins, distances=distances, residues=form, memory=self._memory)

    def kept(self) -> list[LayerFigures]:
        """See Backend."""
        return list(self._folder.kept) if self._folder is not None else []

    @property
    def keeps(self) -> Path | None:
        """See Backend."""
        return self._folder.folder.path if self._folder is not None else None

    def leave(self, store: JobStore) -> None:
        """See Backend."""
        if self._folder is not None:
            self._folder.leave()
        else:
            store.drop()

    def short_of_room(self, store: JobStore) -> bool:
        """See Backend: the memory was asked for before."""
        return False

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
        """See Backend: there are no workers."""
        return None

    def goes_over_to_files(self, space: Space) -> str | None:
        """See Backend: sorted runs can, where no map is kept."""
        if self._scatter is None or self._files or not runs_in_files(scatter(space), self._settings):
            return None
        try:
            self._files = scatter_run(scatter(space), self._settings, self._beside)
        except ResourceError:
            return None
        self._scatter = None
        return f"beginning anew with layers in files in {self._files.scratch}, of a size that is not known before"

    def while_waiting(self, action: Callable[[], None]) -> None:
        """See Backend: there is no server."""

    def restarted(self) -> bool:
        """See Backend: there is no server."""
        return False

    def executor(
        self, progress: Progress, should_stop: Callable[[], None], still_ours: Callable[[], None]
    ) -> Executor:
        """See Backend: a layer of bitmaps overwrites the ones before, so it is given up only where nothing is to be
        kept."""
        if self._files is not None:
            return self._files.executor(should_stop)
        if self._scatter is not None:
            self._scatter.poll = should_stop
        return ThreadsExecutor(self._settings.threads or cores(), still_ours)


class CeleryBackend:
    """Bitmaps or sorted runs in Redis, or where FARTHEST_BLOBS says, stepped by Celery workers. Raises SettingError,
    StorageError or UnavailableError at once when Redis or that place cannot be used."""

    def __init__(self, settings: Settings, reporter: Reporter) -> None:
        from farthest.environment import REDIS_WAIT_SECONDS
        from farthest.stores.redis.connections import RedisNodes
        from farthest.stores.redis.places import place_of
        from farthest.stores.redis.room import PlaceRoom

        self._settings = settings
        self._reporter = reporter
        self._nodes = RedisNodes.from_environment(REDIS_WAIT_SECONDS.number(), reporter.notice)
        self._nodes.ask()
        self._place = place_of(self._nodes)
        self._place.check()
        self._room = PlaceRoom(self._nodes, self._place)

    def admit(self, space: Space, database: Database | None) -> None:
        """See Backend."""
        from farthest.coordinator.estimate import estimate_workers

        check_countable(space, self._settings)
        if space.engine == "gather":
            check_shards(gather(space), self._settings)
        else:
            check_map(space, self._settings)
        needs = estimate_workers(space, self._settings, self._nodes, self._place)
        needs = replace(needs, layers_in="redis")
        self._reporter.estimate(needs)
        if database is not None and database.path is not None:
            try:
                check_disk(space.puzzle, needs, database.path.parent)
            except ResourceError as error:  # other jobs may free memory
                raise NoRoomError(str(error)) from error

    def store(self, space: Space, name: str) -> JobStore:
        """See Backend: what earlier attempts have left in Redis, and in the place of blobs, is removed."""
        from farthest.environment import BLOCK_SIZE
        from farthest.stores.redis import attempts

        self._nodes.call(lambda: attempts.drop_dead(self._nodes, name, self._place))
        if space.engine == "scatter":
            return self._growing(scatter(space), name, BLOCK_SIZE.size())
        from farthest.stores.redis.cutting import cut_for_workers
        from farthest.stores.redis.gather_attempt import GatherAttempt

        blocks = cut_for_workers(gather(space), BLOCK_SIZE.size())
        self._tell_of_larger_blocks(space, blocks)
        distances = not self._settings.histogram_only
        return GatherAttempt.create(
            self._nodes,
            attempts.new_attempt(name),
            gather(space),
            blocks,
            distances=distances,
            place=self._place,
        )

    def _tell_of_larger_blocks(self, space: Space, made: Cut) -> None:
        """Where a size was asked for, and a layer would have too many blocks of it."""
        from farthest.environment import BLOCK_SIZE
        from farthest.stores.redis.cutting import GROWTH, MOST_BLOCKS

        size = made.kernel.words_per_shard * 8 * made.per_block
        if (
            BLOCK_SIZE.text() != BLOCK_SIZE.default
            and made.per_block > 1
            and size > GROWTH * BLOCK_SIZE.size()
        ):
            self._reporter.notice(
                f"puzzle {space.puzzle.name}: blocks of {bytes_text(size)} are stepped, not of {BLOCK_SIZE.text()}: "
                f"a layer would have more than {MOST_BLOCKS:,} of those ({BLOCK_SIZE.name})"
            )

    def _growing(self, space: ScatterSpace, name: str, block: int) -> JobStore:
        from farthest.stores.redis import attempts
        from farthest.stores.redis.growing_attempt import GrowingAttempt
        from farthest.stores.redis.scatter_attempt import ScatterAttempt, shards_for

        def make(shards: int, distances: bool) -> ScatterAttempt:
            return ScatterAttempt.create(
                self._nodes,
                attempts.new_attempt(name),
                space,
                shards,
                distances=distances,
                max_depth=self._settings.max_depth,
                place=self._place,
            )

        return GrowingAttempt(
            make,
            shards_for(space, block),
            max(1, block // space.code_bytes),
            distances=not self._settings.histogram_only,
        )

    def kept(self) -> list[LayerFigures]:
        """See Backend."""
        return []

    @property
    def keeps(self) -> Path | None:
        """See Backend."""
        return None

    def leave(self, store: JobStore) -> None:
        """See Backend."""
        store.drop()

    def short_of_room(self, store: JobStore) -> bool:
        """See Backend."""
        return self._room.is_short(store)

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
        """See Backend: on a server, workers that see the database store it there."""
        from farthest.coordinator.enumeration.map_parts import MapParts
        from farthest.stores.redis.part_records import NO_JOB

        parts = MapParts(self._nodes, room=self._room.free, watch=self._watch(progress), look=still_ours)
        return parts.make(store, depth, states, job if database.is_server else NO_JOB, owner)

    def goes_over_to_files(self, space: Space) -> str | None:
        """See Backend: the blobs are where FARTHEST_BLOBS says."""
        return None

    def while_waiting(self, action: Callable[[], None]) -> None:
        """See Backend."""
        self._nodes.while_waiting = action

    def restarted(self) -> bool:
        """See Backend."""
        return self._nodes.restarted()

    def executor(
        self, progress: Progress, should_stop: Callable[[], None], still_ours: Callable[[], None]
    ) -> Executor:
        """See Backend."""
        from farthest.coordinator.enumeration.celery_executor import CeleryExecutor

        return CeleryExecutor(
            self._nodes,
            threads=self._settings.threads or cores(),
            watch=self._watch(progress),
            should_stop=should_stop,
        )

    def _watch(self, progress: Progress) -> Callable[[LayerProgress], None]:
        def watch(layer: LayerProgress) -> None:
            if layer.note:
                self._reporter.notice(layer.note)
            progress(
                {
                    "blocks": layer.blocks,
                    "blocks_done": layer.done,
                    "workers": layer.workers,
                    "resent": layer.resent,
                }
            )

        return watch


def backend_for(puzzle: Puzzle, settings: Settings, reporter: Reporter) -> Backend:
    """The backend that the settings name. Raises PuzzleError where the puzzle cannot be enumerated with it."""
    if settings.workers == "threads":
        return ThreadsBackend(settings, reporter)
    check_workers(puzzle, residues=bool(settings.residues))
    return CeleryBackend(settings, reporter)


def check_workers(puzzle: Puzzle, *, residues: bool) -> None:
    """Raises PuzzleError for a puzzle, or a kind of map, that only one process can make."""
    if residues:
        raise PuzzleError(
            f"puzzle {puzzle.name}: workers cannot keep a residue map yet; use `farthest enumerate` without --workers "
            "celery, or --map full"
        )
    if not puzzle.definition.has_moves:
        raise PuzzleError(
            f"puzzle {puzzle.name}: an additive pattern is enumerated by the threads of one process, which takes "
            "a minute at most where its map is of use; leave out --workers celery, or `farthest submit`"
        )
