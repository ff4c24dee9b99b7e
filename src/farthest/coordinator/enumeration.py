"""One enumeration from beginning to end: a job in the database, its search, its map."""

from __future__ import annotations

from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from farthest.coordinator.estimate import check_blanks, check_disk, check_memory, cores, estimate
from farthest.coordinator.executors import ThreadsExecutor
from farthest.coordinator.interrupts import Interrupted, StopRequest, stop_requests
from farthest.coordinator.layers import LayerSearch
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.rows import board_texts
from farthest.coordinator.settings import Outcome, Settings
from farthest.errors import ResourceError
from farthest.models.chunks import CHUNK_KEYS, layers_digest, map_digest
from farthest.puzzles.definition import Puzzle
from farthest.spaces import compile_space
from farthest.spaces.layout import Layout
from farthest.worker.memory import MemoryStore, searches_in_place, unit_for

if TYPE_CHECKING:
    from farthest import _kernel
    from farthest.coordinator.record import JobRecorder
    from farthest.models.database import Database
    from farthest.spaces.arrangement import ArrangementSpace

__all__ = ["Outcome", "Settings", "enumerate_puzzle"]

FARTHEST_BOARDS = 1000
"""Most boards in ``Outcome.farthest``."""


def enumerate_puzzle(
    puzzle: Puzzle,
    database: Database | None,
    settings: Settings | None = None,
    reporter: Reporter | None = None,
) -> Outcome:
    """Enumerates the puzzle and stores the result (``database`` None: stores nothing).

    An unfinished job of the same puzzle and parameters, which nobody runs, is continued from its last checkpoint. At
    Ctrl-C, SIGTERM or SIGHUP the layer under way is finished, a checkpoint stored, and Interrupted raised; a second
    signal gives that checkpoint up. Raises PuzzleError, BoardError, ResourceError and StorageError.
    """
    try:
        return _Run(puzzle, database, settings or Settings(), reporter or Reporter()).run()
    except MemoryError as error:
        raise ResourceError(
            f"puzzle {puzzle.name}: the system gives this process no more memory; free some, or see ulimit -v"
        ) from error


class _Run:
    def __init__(
        self, puzzle: Puzzle, database: Database | None, settings: Settings, reporter: Reporter
    ) -> None:
        self._puzzle = puzzle
        self._database = database
        self._settings = settings
        self._reporter = reporter
        self._threads = settings.threads or cores()
        self._layers: list[int] = []
        self._seconds: list[float] = []
        self._resumed_from: int | None = None

    def run(self) -> Outcome:
        space = compile_space(self._puzzle, self._settings.origin)
        check_blanks(space, self._settings)
        kernel, origins = self._compiled(space), space.keys_of(space.origins)
        memory = self._admit(kernel, origins)
        recorder = self._recorder(space)
        with stop_requests(self._reporter.stopping) as stop:
            if recorder is None:
                store = self._store(kernel, origins, memory)
                complete = self._search(store, None, stop)
                return self._outcome(space, store, None, complete, self._digest(store))
            with recorder.running():
                # A map that was begun keeps its layout, whatever would be chosen today.
                if recorder.layout is not None and Layout.from_dict(recorder.layout) != space.layout:
                    space = compile_space(self._puzzle, self._settings.origin, recorder.layout)
                    kernel, origins = self._compiled(space), space.keys_of(space.origins)
                store = self._store(kernel, origins, memory)
                try:
                    self._resume(recorder, store)
                    complete = self._search(store, recorder, stop)
                    digest = recorder.finish(
                        space, store, self._layers, self._seconds, complete, self._threads
                    )
                except KeyboardInterrupt:
                    raise Interrupted(recorder.depth()) from None
        return self._outcome(space, store, recorder.job, complete, digest)

    def _compiled(self, space: ArrangementSpace) -> _kernel.Space:
        if self._settings.shard_classes == 1 and not self._settings.isa:
            return space.kernel
        return space.compile_kernel(self._settings.shard_classes, self._settings.isa)

    def _store(self, kernel: _kernel.Space, origins: list[int], memory: int) -> MemoryStore:
        return MemoryStore(kernel, origins, distances=not self._settings.histogram_only, memory=memory)

    def _admit(self, kernel: _kernel.Space, origins: list[int]) -> int:
        """Says what the run will need and refuses what cannot be had. Returns the bytes of memory allowed."""
        in_place = searches_in_place(kernel, origins)
        needs = estimate(self._puzzle, kernel, self._settings, in_place=in_place)
        self._reporter.estimate(needs)
        check_memory(self._puzzle, kernel, self._settings, needs, in_place=in_place)
        if self._database is not None and self._database.path is not None:
            check_disk(self._puzzle, needs, self._database.path.parent)
        return needs.memory_limit

    def _recorder(self, space: ArrangementSpace) -> JobRecorder | None:
        if self._database is None:
            return None
        from farthest.coordinator.record import JobRecorder

        return JobRecorder(self._database, self._settings, space)

    def _resume(self, recorder: JobRecorder, store: MemoryStore) -> None:
        layers = recorder.resume(store, self._threads)
        if layers is None:
            return
        self._layers = [layer.states for layer in layers]
        self._seconds = [layer.seconds or 0.0 for layer in layers]
        self._resumed_from = len(layers) - 1
        self._reporter.resumed(recorder.job, self._resumed_from)

    def _search(self, store: MemoryStore, recorder: JobRecorder | None, stop: StopRequest) -> bool:
        """Runs the layers that are missing. Returns whether the space is exhausted, not only the depth limit."""
        if not self._layers:
            self._add_layer(sum(store.counts(0).values()), 0.0)
        search = LayerSearch(store, ThreadsExecutor(self._threads))
        limit = self._settings.max_depth
        stored, cost = monotonic(), 0.0
        while limit is None or len(self._layers) <= limit:
            depth = len(self._layers)
            begun = perf_counter()
            states = search.next_layer(depth)
            if states == 0:
                self._seconds[-1] += perf_counter() - begun
                return True
            self._add_layer(states, perf_counter() - begun)
            # Checkpoints may take a tenth of the time at most.
            due = monotonic() - stored >= max(self._settings.checkpoint_seconds, 10 * cost)
            if recorder is not None and not self._settings.histogram_only and (due or stop.wanted):
                begun = perf_counter()
                recorder.checkpoint(store, self._layers, self._seconds, self._threads)
                cost = perf_counter() - begun
                stored = monotonic()
                self._reporter.checkpoint(depth, cost)
            if stop.wanted:
                raise KeyboardInterrupt
        return sum(self._layers) == store.kernel.keys  # no key is left: the depth limit has ended nothing

    def _add_layer(self, states: int, seconds: float) -> None:
        self._layers.append(states)
        self._seconds.append(seconds)
        self._reporter.layer(len(self._layers) - 1, states, sum(self._layers), seconds)

    def _digest(self, store: MemoryStore) -> str:
        if self._settings.histogram_only:
            return layers_digest(self._layers)
        depth = len(self._layers) - 1
        chunks = store.chunks(depth, CHUNK_KEYS, self._threads)
        return map_digest(self._layers, unit_for(depth), (distances for _, _, _, distances in chunks))

    def _outcome(
        self, space: ArrangementSpace, store: MemoryStore, job: int | None, complete: bool, digest: str
    ) -> Outcome:
        depth = len(self._layers) - 1
        outcome = Outcome(
            job=job,
            puzzle=self._puzzle.name,
            states=sum(self._layers),
            eccentricity=depth if complete else None,
            layers=tuple(self._layers),
            farthest=board_texts(space, store.keys(depth, FARTHEST_BOARDS)),
            digest=digest,
            seconds=sum(self._seconds),
            complete=complete,
            resumed_from=self._resumed_from,
        )
        self._reporter.finished(outcome)
        return outcome
