"""One enumeration from beginning to end, in attempts: its plan, its layers, its checkpoints, its map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from farthest import tracing
from farthest.coordinator.attempt import (
    Interrupted,
    Losses,
    MemoryWatch,
    SqueezedError,
    StopRequest,
    attempt_name,
    memory_errors,
    stop_requests,
)
from farthest.coordinator.enumeration.backends import (
    Backend,
    BitmapsInMemory,
    InFiles,
    ReducedRunsInMemory,
    RunsInMemory,
)
from farthest.coordinator.enumeration.executors import Executor, next_layer
from farthest.coordinator.enumeration.goals import GoalsOfLayers, tells_goals
from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.enumeration.plan import Plan, check_workers, notice_of_files, plan
from farthest.coordinator.enumeration.record import Found, JobRecorder, board_texts
from farthest.coordinator.reporter import Pace, Reporter
from farthest.coordinator.settings import FARTHEST_BOARDS, Outcome, Settings
from farthest.errors import (
    LostStateError,
    MemoryUsedUpError,
    NoRoomError,
    PuzzleError,
    ResourceError,
    StorageError,
    named_in,
)
from farthest.models.chunks import digest_of, layers_digest
from farthest.models.records import JobRecord, LayerRecord, Takeovers
from farthest.models.stored_job import enumeration_parameters, origin_of, puzzle_of, space_of
from farthest.spaces.contract import Space, reduced_runs
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from farthest.coordinator.workers import Servers
    from farthest.models.database import Database
    from farthest.puzzles.puzzle import Puzzle
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.folder.journal import LayerFigures

LOSSES_ALLOWED = 5
"""How often the working state may be lost between two checkpoints before the job is given up."""

LAYERS_TOLD = 300
"""The most layers that the progress of a running job lists. It is written each second, so it must stay small."""
STORED_SECONDS = 0.1
"""Of so many layers and more, those that come sooner after one another are not stored in the progress one by one."""


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
    with memory_errors(puzzle):
        return Enumeration(puzzle, database, settings or Settings(), reporter or Reporter()).run()


def continue_job(
    record: JobRecord, database: Database, settings: Settings, reporter: Reporter, owner: str
) -> Outcome:
    """Runs a job that ``owner`` has claimed, from its last checkpoint if it has one; otherwise as ``enumerate_puzzle``.

    What decides the result comes from the job, the rest from ``settings``.
    """
    puzzle, asked = puzzle_of(record), enumeration_parameters(record)
    struck = Takeovers.of(record.progress).times
    settings = replace(
        settings,
        checkpoint_seconds=settings.checkpoint_seconds / 2**struck,  # a job that is struck often advances
        origin=origin_of(record),
        max_depth=asked.max_depth,
        histogram_only=asked.histogram_only,
        residues=record.keeps_residues,
        symmetry=asked.symmetry,
    )
    recorder = JobRecorder(database, settings, record, owner, reporter.notice)
    with memory_errors(puzzle), named_in(f"job {record.id}"):
        return Enumeration(puzzle, database, settings, reporter, recorder).run()


class CheckpointTimes:
    """When checkpoints are stored. ``wanted``: whether the job has any. ``depth``: that of the last checkpoint, which
    may be beyond the last layer that is counted. ``seconds``: the time between two checkpoints."""

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


class FoundLayers:
    """The layers found, and how they are reported. ``states``: of each layer; ``seconds``: what each took; ``classes``:
    of its states by symmetries, where they were counted. ``total``: the states of all layers, of which there may be
    many thousands.
    ``recorder``: the job, whose progress is stored for those who watch it. ``in_files``: whether the layers stay."""

    def __init__(self, reporter: Reporter) -> None:
        self.states: list[int] = []
        self.seconds: list[float] = []
        self.classes: list[int | None] = []
        self.total = 0
        self._spent = 0.0
        self.recorder: JobRecorder | None = None
        self.in_files = False
        self._reporter = reporter
        self._pace = Pace()
        self._stored = 0.0  # when

    def expect(self, at_most: int) -> None:
        """There are so many states at most; 0: nobody knows."""
        self._pace.at_most = at_most

    @property
    def depth(self) -> int:
        """The depth of the last layer; -1 where there is none."""
        return len(self.states) - 1

    def go_on_with(self, layers: Sequence[LayerRecord | LayerFigures]) -> None:
        """These layers alone are found."""
        self.states = [layer.states for layer in layers]
        self.seconds = [layer.seconds or 0.0 for layer in layers]
        self.classes = [layer.classes for layer in layers]
        self.total, self._spent = sum(self.states), sum(self.seconds)
        if layers:
            self._store_last()

    def add(self, states: int, seconds: float, classes: int | None) -> None:
        """A layer has been found."""
        self.states.append(states)
        self.seconds.append(seconds)
        self.classes.append(classes)
        self.total += states
        self._spent += seconds
        self._store_last()
        self._reporter.layer(self.depth, states, self.total, seconds)

    def drop_empty(self) -> None:
        """Forgets empty layers at the end."""
        while not self.states[-1]:
            del self.states[-1], self.seconds[-1], self.classes[-1]

    def _store_last(self) -> None:
        """Stores the last layer in the job's progress."""
        now = monotonic()
        if len(self.states) > LAYERS_TOLD and not self.in_files and now < self._stored + STORED_SECONDS:
            return
        self._stored = now
        self._pace.reach(self.total)
        self.store(
            {
                "depth": self.depth,
                "files_depth": self.depth if self.in_files else None,
                "layer_states": self.states[-1],
                "states": self.total,
                "seconds": self._spent,
                "states_at_most": self._pace.at_most or None,
                "layers": list(self.states) if len(self.states) <= LAYERS_TOLD else None,
                "blocks": None,
                "blocks_done": None,
                "blocks_leased": None,
                "waiting_since": None,
            }
        )

    def store(self, facts: dict[str, Any]) -> None:
        """Stores facts in the job's progress, with the rate and the rest of the time."""
        if self.recorder is None:
            return
        left = self._pace.seconds_left()
        self.recorder.progress(
            **facts,
            states_a_second=round(self._pace.rate()) or None,
            seconds_left=None if left is None else round(left, 1),
        )

    def progress(self, facts: dict[str, Any]) -> None:
        """The state of the layer under way: stored and reported."""
        self.store(facts)
        self._reporter.progress(facts)


class LayerGivenUp(Exception):
    """The layer under way was given up because a signal asked the attempt to stop."""


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
        self._asked = settings
        self._reporter = reporter
        self._recorder = recorder
        check_workers(puzzle, settings)
        self._servers: Servers | None = None
        if settings.workers == "celery":
            from farthest.coordinator.workers import Servers

            self._servers = Servers.open(reporter.notice)
        self._found = FoundLayers(reporter)
        self._goals: GoalsOfLayers | None = None  # of layers without a map
        self._stopped: str | None = None
        self._exhausted = False  # an earlier attempt has found that there are no more layers
        self._resumed_from: int | None = None
        self._checkpoints = CheckpointTimes(settings.checkpoint_seconds)
        self._losses = Losses(LOSSES_ALLOWED, "since the last checkpoint")
        # What workers take is not this process's.
        self._memory = MemoryWatch(wanted=settings.memory is None and settings.workers == "threads")

    def run(self) -> Outcome:
        """The result. Raises as ``enumerate_puzzle`` does."""
        begun = self._recorder
        self._admit(None if begun is None else space_of(begun.record, self._puzzle))
        recorder = self._recorder = self._found.recorder = begun or self._begin()
        with stop_requests(self._stopping) as stop:
            if recorder is None:
                return self._attempts(stop)
            recorder.while_waiting = self._poll_at_once(stop)
            with recorder.running():
                try:
                    if recorder.record.layout != self._plan.space.layout_fields():
                        # A map that was begun keeps its layout, even if another one would be chosen now.
                        self._admit(space_of(recorder.record, self._puzzle))
                    return self._attempts(stop)
                except KeyboardInterrupt:
                    raise Interrupted(self._stored_depth(), self._backend.folder) from None

    def _admit(self, space: Space | None, *, in_files: bool = False) -> None:
        """Plans the enumeration, and reports what it needs unless it has begun. Raises why it is refused."""
        machine = Machine(
            self._asked,
            None if self._database is None else self._database.path,
            stored=self._database is not None,
            servers=self._servers,
            begins=True,
        )
        chosen = plan(self._puzzle, self._asked, machine, space, in_files=in_files)
        if not in_files:
            self._reporter.estimate(chosen.needs)
        if chosen.refusal is not None:
            raise chosen.refusal
        if chosen.files is not None and not in_files:
            self._reporter.notice(notice_of_files(chosen.needs))
        self._found.expect(chosen.needs.most_states or 0)
        self._plan, self._settings = chosen, chosen.settings
        self._backend = _backend_of(chosen, self._servers, self._reporter.notice)
        has_others = chosen.space.engine == "pattern" or chosen.files is not None
        self._checkpoints.wanted = self._settings.stores_distances and not has_others

    def _begin(self) -> JobRecorder | None:
        if self._database is None:
            return None
        return JobRecorder.begin(self._database, self._settings, self._plan.space, self._reporter.notice)

    def _stopping(self) -> None:
        if self._checkpoints.wanted:
            self._reporter.stopping()
        elif self._backend.folder is not None:
            self._reporter.notice(f"stopping; the layers stay in {self._backend.folder}")
        else:
            self._reporter.notice(
                "stopping after this layer; this run stores no checkpoints, so the same command will begin again"
            )

    def _stored_depth(self) -> int | None:
        """The depth that the job can be continued from, as far as that can be said at once."""
        if self._recorder is None:
            return None
        if self._backend.folder is not None:
            return self._found.depth
        try:
            return self._recorder.depth()
        except StorageError:
            return self._checkpoints.depth

    # Attempts

    def _attempts(self, stop: StopRequest) -> Outcome:
        """Makes an attempt from the last checkpoint, and another one where the working state is lost, or must go into
        files."""
        name = attempt_name(self._recorder)
        self._backend.while_waiting(self._poll_at_once(stop))
        while True:
            store = None
            try:
                store = self._backend.store(name)
                outcome = self._attempt(store, stop)
                store.drop()
                return outcome
            except MemoryUsedUpError as error:
                if store is None:
                    raise
                stored = self._stored_depth()
                squeezed = isinstance(error, SqueezedError)
                goes_on = squeezed and self._checkpoints.wanted and stored is not None
                if goes_on:  # from its checkpoint, when other programs need less
                    self._backend.leave(store)
                if goes_on or not self._go_over_to_files(error, store):
                    if stored is None or not squeezed:
                        raise
                    raise SqueezedError(
                        f"{error}; the layers up to depth {stored} are stored: the same command continues from there"
                    ) from error
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

    def _go_over_to_files(self, error: MemoryUsedUpError, store: JobStore) -> bool:
        """Gives the store up, and goes on with layers in files, or with less memory where they are in files. False
        where that cannot be."""
        folder = self._backend.folder
        self._backend.leave(store)
        try:
            self._admit(self._plan.space, in_files=True)
        except ResourceError:
            files = None
        else:
            files = self._plan.files
        if files is None:
            if folder is not None and self._recorder is None:  # nobody can go on with them
                from farthest.stores.folder.journal import remove_layers

                remove_layers(folder)
            return False
        if folder is None:
            self._resumed_from = None
            size = "" if self._plan.needs.layers_disk else "; their size is not known in advance"
            then = f"starting over with layers in files in {files.scratch}{size}"
        else:
            then = f"going on within {bytes_text(self._plan.needs.memory)}"
        self._reporter.notice(f"{error}; {then}")
        return True

    def _lost(self, error: LostStateError) -> None:
        """Counts a loss of the working state. Raises StorageError where there were too many."""
        self._checkpoints.take_more_often()
        if self._backend.folder is not None:
            self._resumed_from = None  # the files that it went on from are gone
        self._losses.add(error, restarted=self._backend.restarted())
        if self._recorder is not None:  # the keys may be gone because the job was taken over
            self._recorder.confirm()
        back = "going back to the last checkpoint" if self._backend.folder is None else "starting over"
        self._reporter.notice(f"{error}; {back}")

    def _attempt(self, store: JobStore, stop: StopRequest) -> Outcome:
        self._found.in_files = self._backend.folder is not None
        self._found.go_on_with(())
        self._exhausted = False
        self._resume(store, self._poll_at_once(stop))
        sought = self._settings.histogram_only and not self._found.states and tells_goals(self._plan.space)
        self._goals = GoalsOfLayers(self._plan.space) if sought else None
        complete = self._search(store, stop)
        # Read before the job is finished: after that no attempt would repeat what Redis loses.
        keys = store.keys(self._found.depth, FARTHEST_BOARDS)
        farthest = board_texts(self._plan.space, keys, FARTHEST_BOARDS)
        if self._recorder is None:
            digest = self._digest(store)
        else:
            made = None if self._settings.histogram_only else self._made_map(store, self._recorder)
            digest = self._recorder.finish(self._layers(store, made, complete=complete))
        return self._outcome(complete, digest, farthest)

    def _resume(self, store: JobStore, poll: Callable[[], None]) -> None:
        recorder = self._recorder
        if len(self._backend.figures) > 1:
            self._go_on_with(self._backend.figures)
            return
        if recorder is None or self._backend.folder is not None:
            return
        checkpoint = recorder.last_checkpoint(self._plan.space)
        if checkpoint is None:
            return
        if not checkpoint.is_worth_reading:
            self._checkpoints.depth = checkpoint.depth
            if not self._losses.number:
                self._resumed_from = 0
            self._reporter.begun_anew(recorder.job, checkpoint.depth, checkpoint.seconds or 0.0)
            return

        def report(share: float) -> None:
            poll()
            self._found.store({"depth": checkpoint.depth})
            self._reporter.resuming(recorder.job, checkpoint.depth, share)

        recorder.restore(checkpoint, store, self._plan.threads, report)
        self._go_on_with(checkpoint.layers)

    def _go_on_with(self, layers: Sequence[LayerRecord | LayerFigures]) -> None:
        """These layers are found; an empty one after the last: there are no more."""
        self._exhausted = not layers[-1].states
        layers = layers[: len(layers) - self._exhausted]
        depth = self._checkpoints.depth = len(layers) - 1
        if not self._losses.number:
            self._resumed_from = depth
        self._found.go_on_with(layers)
        if self._recorder is not None:
            found = self._found
            self._reporter.resumed(self._recorder.job, depth, found.states[-1], found.total)

    # Layers

    def _search(self, store: JobStore, stop: StopRequest) -> bool:
        """Finds the missing layers. Returns whether the space is exhausted, not only the depth limit reached."""
        if not self._found.states:
            self._add_layer(store, sum(store.counts(0).values()), 0.0)
        if self._exhausted:
            return True
        executor = self._backend.executor(self._found.progress, self._poll(stop), self._during_layer)
        try:
            complete = self._search_with(executor, store, stop)
            self._found.drop_empty()
            return complete
        except LayerGivenUp:
            # Its steps are still in the workers' queue, and map parts would wait behind them.
            self._checkpoint(store, alone=True)
            raise KeyboardInterrupt from None
        except (NoRoomError, SqueezedError):
            with suppress(StorageError):  # the layers until now are stored if possible
                self._checkpoint(store, alone=True)
            raise
        finally:
            executor.close()

    def _search_with(self, executor: Executor, store: JobStore, stop: StopRequest) -> bool:
        limit = self._settings.max_depth
        keys = None if self._plan.space.keys is None else self._plan.needs.states_at_most
        # Bitmaps of all keys have no more layers then; of other spaces it is not sure that moves are as they say.
        all_found = keys if self._plan.space.engine == "gather" else None
        self._checkpoints.begin()
        while self._found.total != all_found and (limit is None or self._found.depth < limit):
            depth = self._found.depth + 1
            begun = perf_counter()
            try:
                with tracing.span("layer", depth=depth):
                    states = next_layer(store, executor, depth)
            except (MemoryUsedUpError, NoRoomError) as error:
                if limit is None or not self._backend.give_up(depth):
                    raise
                self._stopped = f"{error}; the layers up to depth {depth - 1} are complete"
                return False
            if states == 0 and not self._goes_on(store, depth):
                self._found.seconds[-1] += perf_counter() - begun
                return True
            self._add_layer(store, states, perf_counter() - begun)
            if keys is not None and self._found.total > keys:
                raise PuzzleError(
                    f"puzzle {self._puzzle.name}: more states than its {keys:,} keys: some were found at two "
                    "depths, because not every move can be taken back by a move; correct it, or leave undirected out"
                )
            short = self._checkpoints.wanted and self._backend.short_of_room(store)
            if self._checkpoints.due or stop.wanted or short:
                self._checkpoint(store)
            if stop.wanted:
                raise KeyboardInterrupt
            self._still_ours()
            self._memory.check()
        return self._found.total == keys  # then the depth limit has cut nothing off

    def _add_layer(self, store: JobStore, states: int, seconds: float) -> None:
        self._found.add(states, seconds, store.classes(self._found.depth + 1))
        if self._goals is not None:
            self._goals.look(store, self._found.depth, states)

    def _goes_on(self, store: JobStore, depth: int) -> bool:
        """Whether there may be states beyond an empty layer: in an additive pattern the blank may move on without a new
        state."""
        return self._plan.space.engine == "pattern" and bool(store.reachable(depth + 1))

    def _poll_at_once(self, stop: StopRequest) -> Callable[[], None]:
        """The function that is called regularly while a server is away, or a checkpoint is read. It stops the run at
        once: there is nothing to store."""

        def poll() -> None:
            if stop.wanted:
                raise KeyboardInterrupt
            self._still_ours()

        return poll

    def _poll(self, stop: StopRequest) -> Callable[[], None]:
        """The function that is called now and then during a layer that can be given up."""

        def poll() -> None:
            self._still_ours()
            if stop.wanted:
                raise LayerGivenUp
            self._memory.check()

        return poll

    def _during_layer(self) -> None:
        """The function that is called now and then during a layer that overwrites those before."""
        self._still_ours()
        if not self._checkpoints.wanted:
            self._memory.check()

    def _still_ours(self) -> None:
        """Raises JobError where the job was cancelled, or another process has it."""
        if self._recorder is not None:
            self._recorder.check()

    # What is stored

    def _made_map(self, store: JobStore, recorder: JobRecorder) -> MadeMap | None:
        """The map of the layers until now, where workers make it."""
        found = self._found
        return self._backend.make_map(
            store, found.depth, found.total, recorder, found.progress, self._still_ours
        )

    def _checkpoint(self, store: JobStore, *, alone: bool = False) -> None:
        """Stores a checkpoint, if it is deeper than the last one. ``alone``: workers cannot help."""
        depth = self._found.depth
        if self._recorder is None or not self._checkpoints.wanted or self._checkpoints.has(depth):
            self._checkpoints.begin()
            return
        begun = perf_counter()
        made = None if alone else self._made_map(store, self._recorder)
        self._recorder.checkpoint(self._layers(store, made))
        cost = perf_counter() - begun
        self._checkpoints.stored(depth, cost)
        self._losses.forget()
        self._reporter.checkpoint(depth, cost)

    def _layers(self, store: JobStore, made: MadeMap | None = None, *, complete: bool = False) -> Found:
        """The layers until now, to be stored."""
        found = self._found
        return Found(
            self._plan.space,
            store,
            found.states,
            found.seconds,
            found.classes,
            self._plan.threads,
            made,
            complete,
            self._figures,
            None if self._goals is None else self._goals.answers,
        )

    @property
    def _figures(self) -> tuple[LayerFigures, ...]:
        return tuple(self._backend.figures[: len(self._found.states)])

    def _digest(self, store: JobStore) -> str:
        if self._settings.histogram_only:
            return layers_digest(self._found.states)
        return digest_of(self._found.states, self._layers(store).chunks())

    def _outcome(self, complete: bool, digest: str, farthest: list[str]) -> Outcome:
        classes = [number for number in self._found.classes if number is not None]
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
            classes=tuple(classes) if len(classes) == len(self._found.states) else None,
        )
        self._reporter.finished(outcome)
        return outcome


def _backend_of(plan: Plan, servers: Servers | None, notice: Callable[[str], None]) -> Backend:
    """The backend of a plan. ``notice``: tells the user of workers that are missing."""
    if servers is not None:
        from farthest.coordinator.enumeration.celery_backend import CeleryBackend

        return CeleryBackend(plan, servers, notice)
    if plan.files is not None:
        return InFiles(plan)
    if reduced_runs(plan.space) is not None:
        return ReducedRunsInMemory(plan)
    return RunsInMemory(plan) if plan.space.engine == "scatter" else BitmapsInMemory(plan)
