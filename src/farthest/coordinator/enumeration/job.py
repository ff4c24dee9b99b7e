"""Enumerations: of a puzzle, and of a job that was queued or broken off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from secrets import token_hex
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from farthest.coordinator.enumeration.backends import backend_for
from farthest.coordinator.enumeration.executors import LayerSearch
from farthest.coordinator.enumeration.plan import space_for
from farthest.coordinator.enumeration.record import board_texts
from farthest.coordinator.enumeration.residues import with_kind_of_map
from farthest.coordinator.estimate import cores
from farthest.coordinator.reporter import Pace, Reporter
from farthest.coordinator.runner import Interrupted, LayerGivenUp, StopRequest, lost_again, stop_requests
from farthest.coordinator.settings import Outcome, Settings
from farthest.errors import (
    LostStateError,
    MemoryUsedUpError,
    NoRoomError,
    PuzzleError,
    ResourceError,
    StorageError,
)
from farthest.families.python.allowed import named_in
from farthest.models.chunks import CHUNK_KEYS, digest_of, layers_digest
from farthest.models.records import Takeovers
from farthest.models.stored_job import origin_of, puzzle_of, space_of
from farthest.puzzles.puzzle import Puzzle

if TYPE_CHECKING:
    from farthest.coordinator.enumeration.executors import Executor
    from farthest.coordinator.enumeration.record import JobRecorder
    from farthest.models.database import Database
    from farthest.models.records import JobRecord
    from farthest.spaces.contract import Space
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.folder.journal import LayerFigures


# --- When an enumeration stores checkpoints, and which it has.


class CheckpointTimes:
    """``wanted``: there are any. ``depth``: of the last one; the layers known may be fewer. ``seconds``: between
    two."""

    def __init__(self, seconds: float) -> None:
        self.wanted = True
        self.depth: int | None = None
        self._seconds = seconds
        self.begin()

    def begin(self) -> None:
        """The time to the next one begins; the last one has cost nothing."""
        self._last, self._cost = monotonic(), 0.0

    def take_more_often(self) -> None:
        """The working state was lost: what is lost again and again, sooner than that, would never end."""
        self._seconds /= 2

    @property
    def due(self) -> bool:
        """Whether it is time for one: they take at most a tenth of the time."""
        return monotonic() - self._last >= max(self._seconds, 10 * self._cost)

    def has(self, depth: int) -> bool:
        """Whether the last one is as deep."""
        return self.depth is not None and depth <= self.depth

    def stored(self, depth: int, cost: float) -> None:
        """One was stored, in ``cost`` seconds."""
        self.depth = depth
        self._last, self._cost = monotonic(), cost


# --- The layers that an enumeration has found, and how it tells of them.

LAYERS_TOLD = 300
"""Of more layers a running job does not tell all: its progress is written each second."""


class FoundLayers:
    """``states``: the states of each layer. ``seconds``: what each layer took. ``at_most``: the most states that there
    can be. ``recorder``: the job, whose progress is stored for those who watch it."""

    def __init__(self, reporter: Reporter) -> None:
        self.states: list[int] = []
        self.seconds: list[float] = []
        self.recorder: JobRecorder | None = None
        self._reporter = reporter
        self._pace = Pace()

    def expect(self, at_most: int) -> None:
        """There are so many states at most."""
        self._pace.at_most = at_most

    @property
    def depth(self) -> int:
        """Of the last layer; -1 where there is none."""
        return len(self.states) - 1

    @property
    def total(self) -> int:
        """The states of all layers."""
        return sum(self.states)

    def clear(self) -> None:
        """Forgets all layers."""
        self.states, self.seconds = [], []

    def go_on_with(self, layers: Sequence[tuple[int, float]]) -> None:
        """These layers, their states and seconds, are known."""
        self.states = [states for states, _ in layers]
        self.seconds = [seconds for _, seconds in layers]
        self._tell()

    def add(self, states: int, seconds: float) -> None:
        """A layer has been found."""
        self.states.append(states)
        self.seconds.append(seconds)
        self._tell()
        self._reporter.layer(self.depth, states, self.total, seconds)

    def drop_empty(self) -> None:
        """Forgets empty layers at the end."""
        while not self.states[-1]:
            del self.states[-1], self.seconds[-1]

    def _tell(self) -> None:
        """Stores the last layer in the job's progress."""
        self._pace.reach(self.total)
        known = {"layer_states": self.states[-1], "states": self.total, "seconds": sum(self.seconds)}
        of_next = {"blocks": None, "blocks_done": None}
        told = list(self.states) if len(self.states) <= LAYERS_TOLD else None
        self.store(
            {"depth": self.depth, **known, "states_at_most": self._pace.at_most, "layers": told, **of_next}
        )

    def store(self, known: dict[str, Any]) -> None:
        """Stores what is known in the job's progress, with the rate and the rest of the time."""
        if self.recorder is None:
            return
        left = self._pace.seconds_left()
        self.recorder.progress(
            **known,
            states_a_second=round(self._pace.rate()) or None,
            seconds_left=None if left is None else round(left, 1),
        )

    def progress(self, known: dict[str, Any]) -> None:
        """What is known of the layer under way: stored and reported."""
        self.store(known)
        self._reporter.progress(known)


# --- One enumeration from beginning to end, in attempts: its layers, its checkpoints, its map.

FARTHEST_BOARDS = 1000
"""Most boards in ``Outcome.farthest``."""

LOSSES_ALLOWED = 5
"""How often the working state may be lost between two checkpoints before the job is given up."""


class Enumeration:
    """One enumeration, without or with a job: ``recorder``, or one that it begins where ``database`` is given."""

    def __init__(
        self,
        puzzle: Puzzle,
        database: Database | None,
        settings: Settings,
        reporter: Reporter,
        recorder: JobRecorder | None = None,
    ) -> None:
        self._puzzle = puzzle
        self._database = database
        self._settings = settings
        self._reporter = reporter
        self._recorder = recorder
        self._threads = settings.threads or cores()
        self._backend = backend_for(puzzle, settings, reporter)
        self._found = FoundLayers(reporter)
        self._stopped: str | None = None
        self._exhausted = False  # an earlier attempt has found that there are no more layers
        self._resumed_from: int | None = None
        self._checkpoints = CheckpointTimes(settings.checkpoint_seconds)
        self._losses = 0  # since the last checkpoint
        self._restarts = 0  # of servers, among the losses
        self._name = f"0-{token_hex(4)}"  # of an enumeration without a job, for its attempts

    def run(self) -> Outcome:
        """The result. Raises as ``enumerate_puzzle`` does."""
        if self._recorder is None:
            space = space_for(self._puzzle, self._settings)
        else:
            space = space_of(self._recorder.record, self._puzzle)
        self._found.expect(self._puzzle.definition.arrangements() if space.keys is None else space.keys)
        asked = self._settings
        self._settings = with_kind_of_map(space, asked, stored=self._database is not None)
        if self._settings.residues and not asked.residues:
            self._backend = backend_for(self._puzzle, self._settings, self._reporter)
        self._checkpoints.wanted = self._settings.keeps_distances and space.engine != "pattern"
        self._backend.admit(space, self._database)
        recorder = self._recorder = self._found.recorder = self._recorder or self._begin(space)
        with stop_requests(self._stopping) as stop:
            self._backend.while_waiting(self._give_up(stop))
            if recorder is None:
                return self._attempts(space, stop)
            recorder.while_waiting = self._give_up(stop)
            with recorder.running():
                try:
                    # A map that was begun keeps its layout, even if another one would be chosen now.
                    if recorder.record.layout != space.layout_fields():
                        space = space_of(recorder.record, self._puzzle)
                    return self._attempts(space, stop)
                except KeyboardInterrupt:
                    raise Interrupted(self._kept(recorder), self._backend.keeps) from None

    def _stopping(self) -> None:
        if self._checkpoints.wanted:
            self._reporter.stopping()
        elif self._backend.keeps is not None:
            self._reporter.notice(f"stopping; the layers stay in {self._backend.keeps}")
        else:
            self._reporter.notice(
                "stopping after this layer; nothing of it is kept, as there are no checkpoints"
            )

    def _kept(self, recorder: JobRecorder) -> int | None:
        """The depth that the job can be continued from, as far as that can be known at once."""
        if self._backend.keeps is not None:
            return self._found.depth
        try:
            return recorder.depth()
        except StorageError:
            return self._checkpoints.depth

    def _begin(self, space: Space) -> JobRecorder | None:
        if self._database is None:
            return None
        from farthest.coordinator.enumeration.record import JobRecorder

        return JobRecorder.begin(self._database, self._settings, space, self._reporter.notice)

    def _attempts(self, space: Space, stop: StopRequest) -> Outcome:
        """Makes an attempt from the last checkpoint, and another one where the working state is lost."""
        while True:
            store = None
            try:
                store = self._backend.store(space, self._recorder.name if self._recorder else self._name)
                outcome = self._attempt(space, store, stop)
                store.drop()
                return outcome
            except MemoryUsedUpError as error:
                told = self._backend.goes_over_to_files(space)
                if told is None or store is None:
                    raise
                store.drop()
                self._resumed_from = None
                self._reporter.notice(f"{error}; {told}")
            except LostStateError as error:
                if store is not None:
                    store.drop()
                self._lost(error)
            except BaseException:
                if store is not None and self._recorder is not None:
                    self._backend.leave(store)
                elif store is not None:
                    store.drop()
                raise

    def _lost(self, error: LostStateError) -> None:
        """Counts a loss of the working state. Raises StorageError where there were too many."""
        self._losses += 1
        self._checkpoints.take_more_often()
        self._restarts += self._backend.restarted()
        if self._backend.keeps is not None:
            self._resumed_from = None  # the files that it went on from are gone
        if self._losses > LOSSES_ALLOWED:
            since = "since the last checkpoint"
            raise lost_again(error, since, self._losses, self._restarts) from error
        if self._recorder is not None:  # the keys may be gone because the job was taken over
            self._recorder.confirm()
        back = "going back to the last checkpoint" if self._backend.keeps is None else "beginning anew"
        self._reporter.notice(f"{error}; {back}")

    def _attempt(self, space: Space, store: JobStore, stop: StopRequest) -> Outcome:
        self._found.clear()
        self._exhausted = False
        self._resume(space, store, self._give_up(stop))
        complete = self._search(space, store, stop)
        # Read before the job is finished: after that no attempt would repeat what Redis loses.
        farthest = board_texts(space, store.keys(self._found.depth, FARTHEST_BOARDS))
        if self._recorder is None:
            digest = self._digest(store)
        else:
            digest = self._recorder.finish(
                space,
                store,
                self._found.states,
                self._found.seconds,
                complete,
                self._threads,
                self._figures,
                None if self._settings.histogram_only else self._made_map(store, self._recorder),
            )
        return self._outcome(complete, digest, farthest)

    def _resume(self, space: Space, store: JobStore, poll: Callable[[], None]) -> None:
        recorder = self._recorder
        if len(self._backend.kept()) > 1:
            self._go_on_with([(layer.states, layer.seconds) for layer in self._backend.kept()])
            return
        checkpoint = None if recorder is None else recorder.last_checkpoint(space)
        if recorder is None or checkpoint is None:
            return
        if not checkpoint.is_worth_reading:
            self._checkpoints.depth = checkpoint.depth
            if not self._losses:
                self._resumed_from = 0
            self._reporter.begun_anew(recorder.job, checkpoint.depth, checkpoint.seconds or 0.0)
            return

        def told(share: float) -> None:
            poll()
            self._found.store({"depth": checkpoint.depth})
            self._reporter.resuming(recorder.job, checkpoint.depth, share)

        recorder.restore(checkpoint, store, self._threads, told)
        self._go_on_with([(layer.states, layer.seconds or 0.0) for layer in checkpoint.layers])

    def _go_on_with(self, layers: Sequence[tuple[int, float]]) -> None:
        """These layers, their states and seconds, are known; an empty one after the last: there are no more."""
        self._exhausted = not layers[-1][0]
        layers = layers[: len(layers) - self._exhausted]
        depth = self._checkpoints.depth = len(layers) - 1
        if not self._losses:
            self._resumed_from = depth
        self._found.go_on_with(layers)
        if self._recorder is not None:
            found = self._found
            self._reporter.resumed(self._recorder.job, depth, found.states[-1], found.total)

    def _search(self, space: Space, store: JobStore, stop: StopRequest) -> bool:
        """Finds the missing layers. Returns whether the space is exhausted, not only the depth limit reached."""
        if not self._found.states:
            self._found.add(sum(store.counts(0).values()), 0.0)
        if self._exhausted:
            return True
        executor = self._backend.executor(self._found.progress, self._poll(stop), self._still_ours)
        try:
            complete = self._search_with(executor, space, store, stop)
            self._found.drop_empty()
            return complete
        except (
            LayerGivenUp
        ):  # its steps are still in the workers' queue, and map parts would wait behind them
            self._checkpoint(store, alone=True)
            raise KeyboardInterrupt from None
        except NoRoomError:
            with suppress(StorageError):  # the layers until now are kept if possible
                self._checkpoint(store, alone=True)
            raise
        finally:
            executor.close()

    def _search_with(self, executor: Executor, space: Space, store: JobStore, stop: StopRequest) -> bool:
        search = LayerSearch(store, executor)
        limit = self._settings.max_depth
        self._checkpoints.begin()
        while limit is None or self._found.depth < limit:
            depth = self._found.depth + 1
            begun = perf_counter()
            try:
                states = search.next_layer(depth)
            except (MemoryUsedUpError, NoRoomError) as error:
                if limit is None or not self._backend.give_up(depth):
                    raise
                self._stopped = f"{error}; the layers up to depth {depth - 1} are complete"
                return False
            if states == 0 and not self._goes_on(space, store, depth):
                self._found.seconds[-1] += perf_counter() - begun
                return True
            self._found.add(states, perf_counter() - begun)
            if space.keys is not None and self._found.total > space.keys:
                raise PuzzleError(
                    f"puzzle {self._puzzle.name}: more states than its {space.keys:,} keys: some were found at two "
                    "depths, because not every move can be taken back by a move; correct it, or leave undirected out"
                )
            short = self._checkpoints.wanted and self._backend.short_of_room(store)
            if self._checkpoints.due or stop.wanted or short:
                self._checkpoint(store)
            if stop.wanted:
                raise KeyboardInterrupt
            self._still_ours()
        return self._found.total == space.keys  # all keys are found: the depth limit has cut nothing off

    def _goes_on(self, space: Space, store: JobStore, depth: int) -> bool:
        """Whether there may be states beyond an empty layer: in an additive pattern the blank may move on without a new
        state."""
        return space.engine == "pattern" and bool(store.reachable(depth + 1))

    def _give_up(self, stop: StopRequest) -> Callable[[], None]:
        """The function that is called regularly while a server is away, or a checkpoint is read: there is nothing to be
        stored before stopping."""

        def look() -> None:
            if stop.wanted:
                raise KeyboardInterrupt
            self._still_ours()

        return look

    def _poll(self, stop: StopRequest) -> Callable[[], None]:
        """The function that is called now and then during a layer."""

        def look() -> None:
            self._still_ours()
            if stop.wanted:
                raise LayerGivenUp

        return look

    def _still_ours(self) -> None:
        """Raises JobError where the job was cancelled, or another process has it."""
        if self._recorder is not None:
            self._recorder.check()

    def _made_map(self, store: JobStore, recorder: JobRecorder) -> MadeMap | None:
        """The map of the layers until now, where workers make it."""
        return self._backend.make_map(
            store,
            self._found.depth,
            self._found.total,
            recorder.job,
            recorder.owner,
            recorder.database,
            self._found.progress,
            self._still_ours,
        )

    def _checkpoint(self, store: JobStore, *, alone: bool = False) -> None:
        """Stores a checkpoint, if it is deeper than the last one. ``alone``: workers cannot help."""
        depth = self._found.depth
        if self._recorder is None or not self._checkpoints.wanted or self._checkpoints.has(depth):
            self._checkpoints.begin()
            return
        begun = perf_counter()
        made = None if alone else self._made_map(store, self._recorder)
        self._recorder.checkpoint(store, self._found.states, self._found.seconds, self._threads, made)
        cost = perf_counter() - begun
        self._checkpoints.stored(depth, cost)
        self._losses = self._restarts = 0
        self._reporter.checkpoint(depth, cost)

    def _digest(self, store: JobStore) -> str:
        if self._settings.histogram_only:
            return layers_digest(self._found.states)
        return digest_of(self._found.states, store.chunks(self._found.depth, CHUNK_KEYS, self._threads))

    @property
    def _figures(self) -> tuple[LayerFigures, ...]:
        """What each layer took, where layers are kept in files."""
        return tuple(self._backend.kept()[: len(self._found.states)])

    def _outcome(self, complete: bool, digest: str, farthest: list[str]) -> Outcome:
        outcome = Outcome(
            job=self._recorder.job if self._recorder else None,
            puzzle=self._puzzle.name,
            states=self._found.total,
            eccentricity=self._found.depth if complete else None,
            layers=tuple(self._found.states),
            farthest=farthest,
            digest=digest,
            seconds=sum(self._found.seconds),
            complete=complete,
            resumed_from=self._resumed_from,
            figures=self._figures,
            stopped=self._stopped,
        )
        self._reporter.finished(outcome)
        return outcome


def enumerate_puzzle(
    puzzle: Puzzle,
    database: Database | None,
    settings: Settings | None = None,
    reporter: Reporter | None = None,
) -> Outcome:
    """Enumerates the puzzle and stores the result (``database`` None: stores nothing).

    An unfinished job of the same puzzle and parameters, which nobody runs, is continued from its last checkpoint. At
    Ctrl-C, SIGTERM or SIGHUP the layer under way is finished, or given up where workers step it, a checkpoint is
    stored, and Interrupted is raised; a second signal gives that checkpoint up. Raises PuzzleError, BoardError,
    ResourceError, StorageError, and JobError when the job is cancelled meanwhile.
    """
    with _memory_errors(puzzle):
        return Enumeration(puzzle, database, settings or Settings(), reporter or Reporter()).run()


def continue_job(
    record: JobRecord, database: Database, settings: Settings, reporter: Reporter, owner: str
) -> Outcome:
    """Runs a job that ``owner`` has claimed, from its last checkpoint if it has one; otherwise as ``enumerate_puzzle``.

    What decides the result comes from the job, the rest from ``settings``.
    """
    from farthest.coordinator.enumeration.record import JobRecorder

    puzzle, asked = puzzle_of(record), record.parameters
    struck = Takeovers.of(record.progress).times
    settings = replace(
        settings,
        checkpoint_seconds=settings.checkpoint_seconds
        / 2**struck,  # so that a job that is struck often advances
        origin=origin_of(record),
        max_depth=asked["max_depth"],
        histogram_only=asked["histogram_only"],
        residues=asked.get("map") == "residues",
    )
    recorder = JobRecorder(database, settings, record, owner, reporter.notice)
    with _memory_errors(puzzle), named_in(f"job {record.id}"):
        return Enumeration(puzzle, database, settings, reporter, recorder).run()


@contextmanager
def _memory_errors(puzzle: Puzzle) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise ResourceError(
            f"puzzle {puzzle.name}: the system gives this process no more memory; free some, or see ulimit -v"
        ) from error
