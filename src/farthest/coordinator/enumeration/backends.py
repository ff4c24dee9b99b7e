"""Backends: where an attempt keeps its states and takes its steps, in this process or on any number of machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from farthest.coordinator.enumeration.celery_backend import CeleryBackend
from farthest.coordinator.enumeration.executors import Backend, Executor, Progress, ThreadsExecutor
from farthest.coordinator.enumeration.plan import (
    check_countable,
    kernel_for,
    runs_in_files,
    scatter_run,
    thread_needs,
    told,
)
from farthest.coordinator.estimate import cores
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Settings
from farthest.errors import PuzzleError, ResourceError
from farthest.models.map_rows import MapFiles
from farthest.spaces.contract import gather, scatter
from farthest.stores.memory.gather_store import MemoryStore, gathered_form

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.coordinator.enumeration.folder_run import FilesRun, FileStore
    from farthest.families.sliding.patterns import PatternSpace
    from farthest.models.database import Database
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import Space
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.folder.journal import LayerFigures
    from farthest.stores.memory.scatter_store import ScatterMemoryStore


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
                scatter(space),
                distances=not self._settings.histogram_only,
                memory=self._memory,
                last=self._settings.max_depth,
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

    def give_up(self, depth: int) -> bool:
        """See Backend: layers in files stay, and the job can go on from them when the disk has room."""
        if self._scatter is None:
            return False
        self._scatter.give_up(depth)
        return True

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

        def watch(done: int, blocks: int) -> None:
            progress({"blocks": blocks, "blocks_done": done})

        if self._files is not None:
            return self._files.executor(should_stop, watch)
        if self._scatter is not None:
            self._scatter.poll = should_stop
        return ThreadsExecutor(self._settings.threads or cores(), still_ours, watch)


def backend_for(puzzle: Puzzle, settings: Settings, reporter: Reporter) -> Backend:
    """The backend that the settings name. Raises PuzzleError where the puzzle cannot be enumerated with it."""
    if settings.workers == "threads":
        return ThreadsBackend(settings, reporter)
    check_workers(puzzle)
    return CeleryBackend(settings, reporter)


def check_workers(puzzle: Puzzle) -> None:
    """Raises PuzzleError for a puzzle that only one process can enumerate."""
    if not puzzle.definition.has_moves:
        raise PuzzleError(
            f"puzzle {puzzle.name}: an additive pattern is enumerated by the threads of one process, which takes "
            "a minute at most where its map is of use; leave out --workers celery, or `farthest submit`"
        )
