"""Solving boards: checks before the search, the search with its job, and the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from farthest.coordinator.attempt import (
    Losses,
    StopRequest,
    added,
    attempt_name,
    claimed,
    memory_errors,
    stop_requests,
)
from farthest.coordinator.search.choice import Choice, Stage, TriedInVainError, map_to
from farthest.coordinator.search.executors import SearchExecutor, SearchStopped, ThreadsSearch
from farthest.coordinator.search.settings import SearchOutcome, SearchReporter, SearchSettings
from farthest.coordinator.search.storage import (
    SearchRecorder,
    SearchStorage,
    iteration_of,
    search_digest,
    stored_at_once,
)
from farthest.errors import (
    LostStateError,
    MissingDatabaseError,
    SearchError,
    StorageError,
    UnreachableError,
)
from farthest.heuristics import AUTO, DEEPENING, GUIDED, MAP, PLAIN
from farthest.heuristics.registry import default_heuristic, open_heuristic
from farthest.machine import cores, memory_limit
from farthest.models.records import SEARCH, IterationRecord
from farthest.search.answers import FIRST_EFFORTS, Answers
from farthest.search.contract import Engine, Problem, Way, engine_fields, targets
from farthest.search.deepening import Deepening, Frontier, Iteration
from farthest.search.engines import engine_with
from farthest.search.solvable import why_unsolvable

if TYPE_CHECKING:
    from farthest.coordinator.search.storage import IterationState
    from farthest.heuristics.contract import Heuristic
    from farthest.models.database import Database
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle

STORE_AFTER_SECONDS = 10.0
"""A search that can be continued is stored when it has run for so long."""

COMMIT_SECONDS = 1.0
"""Seconds between two commits."""

PIECES_OF_A_TRIAL = 32
"""A search that is to end after about a second is looked at so often."""

SLOWER = 4.0
"""How many times as long a trial may take by the clock, where boards of a family take longer than others."""

SOONER = 4
"""The solution may be found in this part of an iteration."""

LOSSES_ALLOWED = 8
"""How often the working state of an iteration may be lost before the search is given up."""


class SearchInterrupted(KeyboardInterrupt):
    """A search was stopped. ``bound``: of the iteration in which it can be continued; None: from the beginning.
    ``needed``: moves that are proven to be needed. ``answer``: the best solution so far, None where there is none."""

    def __init__(
        self, bound: int | None, needed: int | None = None, answer: SearchOutcome | None = None
    ) -> None:
        super().__init__()
        self.bound = bound
        self.needed = needed
        self.answer = answer


class UnsolvableError(UnreachableError):
    """A board that is known to be unsolvable before it is searched; ``reason``: why."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: it cannot be solved: {reason}")
        self.reason = reason


class Solver:
    """Solves boards of a puzzle, one after the other; the tables of the heuristic are loaded once, and those that
    ``auto`` makes are made once."""

    def __init__(
        self,
        puzzle: Puzzle,
        target: str,
        heuristic: str,
        settings: SearchSettings,
        storage: SearchStorage | None = None,
        reporter: SearchReporter | None = None,
    ) -> None:
        """``target``, ``heuristic``: see Problem. ``storage``: where maps are looked up, and searches stored; None:
        nowhere. Raises SearchError where the algorithm or the workers cannot do it."""
        if settings.algorithm not in DEEPENING:
            if settings.workers == "celery":
                raise SearchError(
                    f"--algorithm {settings.algorithm} with --workers celery: it keeps all boards in memory, in "
                    "one process; leave --workers out, or take --algorithm ida"
                )
            if settings.all_solutions:
                raise SearchError(
                    f"--algorithm {settings.algorithm} with --all: it finds one solution; take --algorithm ida"
                )
        self.puzzle = puzzle
        self.target = target
        self.settings = settings
        self._heuristic = heuristic if settings.algorithm in GUIDED else "zero"
        self._storage = storage
        self._reporter = reporter or SearchReporter()
        self._opened: tuple[str, Heuristic] | None = None
        self._choice: Choice | None = None
        if self._heuristic == AUTO and settings.algorithm == "ida":
            self._choice = Choice(puzzle, target, settings, storage, self._reporter)
        elif self._heuristic == AUTO:
            self._heuristic = default_heuristic(puzzle, settings.algorithm)

    def check(self) -> None:
        """Loads the tables of a heuristic that has a name. Raises as ``targets`` and ``open_heuristic``."""
        _ = self.targets
        if self._choice is None:
            self.open(self._heuristic)

    @cached_property
    def targets(self) -> tuple[Board, ...]:
        """The boards that end a search. Raises PuzzleError, BoardError."""
        return targets(self.puzzle, self.target)

    def open(self, text: str) -> Heuristic:
        """The heuristic with its tables, until another is opened. Raises SearchError, and as ``open_heuristic``."""
        if self._opened is not None and self._opened[0] == text:
            return self._opened[1]
        load_map = partial(self._storage.load_map, memory=self.settings.memory) if self._storage else None
        found = open_heuristic(text, self.puzzle, self.targets, load_map)
        if self.settings.all_solutions and not found.admissible:
            raise SearchError(
                f"--heuristic {text} with --all: it may be more than the distance, so that not all "
                "shortest solutions, or longer ones, would be found; take another heuristic, or leave --all out"
            )
        self._opened = text, found
        return found

    def problem_ahead(self, board: Board) -> Problem | None:
        """What workers may search for a board ahead of its turn (coordinator/search/boards.py); None: nothing."""
        text = self._heuristic if self._choice is None else self._choice.usual()
        problem = Problem(self.puzzle, board, self.target, text)
        return None if text == MAP or self.settings.within > 1 or problem.solved else problem

    def solve(self, board: Board) -> SearchOutcome:
        """Solves a board, and stores the search where it is to be stored.

        An unfinished job of the same search, which nobody runs, is continued. At Ctrl-C, SIGTERM or SIGHUP what was
        found is stored, if the search has a job, and SearchInterrupted is raised. Raises UnsolvableError for a board
        that cannot be solved, and as ``check`` and ``compile_space`` do.
        """
        with memory_errors(self.puzzle):
            reason = why_unsolvable(self.puzzle, board, self.targets)
            problem = Problem(self.puzzle, board, self.target, self._heuristic)
            if reason is not None:
                raise UnsolvableError(_place(problem), reason)
            if self._choice is None:
                return self._search(problem, Stage(self._heuristic))
            answer: SearchOutcome | None = None
            try:
                for stage in self._choice.stages(problem):
                    try:
                        return self._search(replace(problem, heuristic=stage.heuristic), stage, answer)
                    except TriedInVainError as tried:
                        self._opened = None  # a larger table of the same name may be made next
                        ways = filter(None, (answer, tried.look()))
                        answer = min(ways, key=lambda found: len(found.paths[0]), default=None)
                    if answer and answer.optimal and not stored_at_once(self.settings, self._storage):
                        return answer
            except SearchInterrupted:
                raise
            except KeyboardInterrupt:  # while tables are made; their own jobs keep what they can
                raise SearchInterrupted(None, None if answer is None else answer.bound, answer) from None
            raise AssertionError("the last stage has no limit")

    def solves(self, problem: Problem, stage: Stage) -> bool:
        """Whether a board is solved within the limit of a stage."""
        try:
            self._search(replace(problem, heuristic=stage.heuristic), stage)
        except TriedInVainError:
            return False
        return True

    def _search(self, problem: Problem, stage: Stage, answer: SearchOutcome | None = None) -> SearchOutcome:
        """Raises TriedInVainError where it ends by the limit of the stage. ``answer``: found by a stage before."""
        storage = self._storage
        if stage.heuristic == MAP:
            assert storage is not None, "a map is stored"
            return _MapSearch(problem, self.settings, storage, self._reporter).run()
        heuristic = self.open(stage.heuristic)
        if self.settings.algorithm not in DEEPENING:
            return _GraphSearch(problem, self.settings, storage, self._reporter, heuristic).run()
        guided = heuristic, None if answer is None else answer.moves
        if stage.seconds is None:
            return _IterativeSearch(problem, self.settings, storage, self._reporter, *guided).run()
        if not stored_at_once(self.settings, storage):
            return _IterativeSearch(
                problem, self.settings, None, self._reporter, *guided, stage.seconds
            ).run()
        alone = replace(self.settings, workers="threads")
        _IterativeSearch(problem, alone, None, SearchReporter(), *guided, stage.seconds).run()
        return _IterativeSearch(problem, self.settings, storage, self._reporter, *guided).run()


def pattern_heuristic(puzzle: Puzzle, board: Board, storage: SearchStorage) -> str | None:
    """What ``auto`` gives to algorithms that are compared, by one of their boards: tables of patterns; None where the
    simple heuristic solves it in about a second, or there are none. Raises as ``Solver.solve``."""
    settings, problem = SearchSettings(), Problem(puzzle, board, "goal", AUTO)
    reporter = SearchReporter()
    solver = Solver(puzzle, "goal", AUTO, settings, storage, reporter)
    choice = Choice(puzzle, "goal", settings, storage, reporter, looks_up=False)
    with memory_errors(puzzle):
        for stage in choice.stages(problem):
            if stage.seconds is not None and not solver.solves(problem, stage):
                continue
            return None if stage.heuristic == choice.simple else stage.heuristic
    raise AssertionError("the last stage has no limit")


@dataclass(eq=False)
class _Search(ABC):
    """One search. ``recorder``: its job; None while the search is not stored."""

    _problem: Problem
    _settings: SearchSettings
    _storage: SearchStorage | None
    _reporter: SearchReporter
    _optimal: bool = field(default=True, init=False)
    _recorder: SearchRecorder | None = field(default=None, init=False)
    _due: float | None = field(default=None, init=False)  # when the search is to become a job
    _layout: dict[str, Any] = field(default_factory=dict, init=False)  # how the search is cut into pieces
    _stack: ExitStack = field(default_factory=ExitStack, init=False)

    def run(self) -> SearchOutcome:
        """The result. Raises as ``Solver.solve`` does."""
        if self._problem.solved:
            self._begin_job({}, resumable=False)
            none_listed = self._settings.all_solutions and self._settings.limit == 0
            return self._finish(self._outcome(0, 1, () if none_listed else ((),), ()))
        return self._search()

    @abstractmethod
    def _search(self) -> SearchOutcome:
        """The result for a board that is no target."""

    # The job

    @property
    def _job(self) -> int | None:
        """The number of the job."""
        return None if self._recorder is None else self._recorder.job

    def _begin_job(self, layout: dict[str, Any], *, resumable: bool) -> None:
        """Continues an unfinished job of the same search, or stores a new one if that is wanted now. ``layout``: how
        the search is cut into pieces."""
        storage = self._storage
        if storage is None or storage.store is False:
            return
        self._layout = layout
        if stored_at_once(self._settings, storage):
            database = storage.database(create=True)
            self._recorder = self._claimed(database) or self._added(database)
        elif resumable:
            with suppress(MissingDatabaseError):
                self._recorder = self._claimed(storage.database(create=False))
            self._due = monotonic() + STORE_AFTER_SECONDS

    def _claimed(self, database: Database) -> SearchRecorder | None:
        """The unfinished job of the same search, which nobody runs."""
        puzzle, parameters = self._problem.puzzle, self._settings.parameters(self._problem)
        begun = claimed(database, puzzle, parameters, layout=self._layout)
        return None if begun is None else SearchRecorder(database, *begun, self._reporter.notice)

    def _added(self, database: Database, ended: Sequence[IterationRecord] = ()) -> SearchRecorder:
        """A new job; ``ended``: iterations that were over before."""
        puzzle, parameters = self._problem.puzzle, self._settings.parameters(self._problem)
        begun = added(database, puzzle, parameters, self._layout, kind=SEARCH)
        return SearchRecorder(database, *begun, self._reporter.notice, ended)

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Renews the job's lease during the block. The reason for a stop is stored with the job."""
        with self._stack:
            if self._recorder is not None:
                self._stack.enter_context(self._recorder.running())
            yield

    def _store_if_due(self, iterations: Sequence[IterationRecord]) -> None:
        """Stores the search when it is due, with the ``iterations`` that are over. A failure is reported once: it does
        not end the search."""
        if self._recorder is not None or self._due is None or monotonic() < self._due:
            return
        self._due = None
        assert self._storage is not None, "there is a time to store it"
        try:
            self._recorder = self._added(self._storage.database(create=True), iterations)
        except StorageError as error:
            self._reporter.notice(f"{error}; the search goes on, and is not stored")
            return
        self._stack.enter_context(self._recorder.running())
        self._reporter.stored(self._recorder.job)

    def _finish(self, outcome: SearchOutcome) -> SearchOutcome:
        """The result, stored with the job."""
        if self._recorder is not None:
            self._recorder.finish(outcome)
        return outcome

    def _outcome(
        self,
        length: int | None,
        solutions: int,
        paths: tuple[Way, ...],
        iterations: tuple[Iteration, ...],
        *,
        bound: int | None = None,
        nodes: int | None = None,
        expanded: int | None = None,
        seconds: float | None = None,
        resumed: int | None = None,
    ) -> SearchOutcome:
        """A result; ``bound``: moves that are proven to be needed, where that is not the length."""
        problem = self._problem
        bounds = [(one.bound, one.nodes) for one in iterations]
        return SearchOutcome(
            job=self._job,
            puzzle=problem.puzzle.name,
            board=problem.puzzle.definition.format_board(problem.board),
            target=problem.target,
            heuristic=problem.heuristic,
            algorithm=self._settings.algorithm,
            length=length,
            solutions=solutions,
            paths=paths,
            optimal=self._optimal and bound is None,
            bound=bound if bound is not None else length if self._optimal else None,
            nodes=sum(n for _, n in bounds) if nodes is None else nodes,
            expanded=expanded,
            iterations=iterations,
            seconds=sum(one.seconds for one in iterations) if seconds is None else seconds,
            digest=search_digest(length, solutions, bounds, paths),
            resumed=resumed,
            definition=problem.puzzle,
        )


class _MapSearch(_Search):
    """The answer of a map that has all distances to the target. Nothing is searched, so there are no nodes."""

    def _search(self) -> SearchOutcome:
        from farthest.queries.distance_map import DistanceMap

        assert self._storage is not None, "it has the map"
        database = self._storage.database(create=False)
        record = map_to(database, self._problem.puzzle, self._problem.target)
        assert record is not None, "there was one when it was chosen"
        found, board = DistanceMap(database, record), self._problem.board
        begun = perf_counter()
        try:
            length = found.distance(board)
        except UnreachableError:
            raise UnsolvableError(_place(self._problem), f"it is not in the map of job {record.id}") from None
        self._begin_job({}, resumable=False)
        with self._running():
            ways, solutions = iter([found.way(board)]), 1
            if self._settings.all_solutions:
                graph = found.solution_graph(board)
                ways, solutions = found.solutions_of(graph, self._settings.limit), graph.count()
            paths = tuple(tuple(way.moves) for way in ways)
            return self._finish(self._outcome(length, solutions, paths, (), seconds=perf_counter() - begun))


@dataclass(eq=False)
class _GraphSearch(_Search):
    """A search that keeps all boards that it found."""

    _heuristic: Heuristic

    def _search(self) -> SearchOutcome:
        from farthest.search.plain import search_plain

        self._begin_job({}, resumable=False)
        memory = memory_limit(self._settings.memory)
        algorithm = self._settings.algorithm
        assert algorithm in PLAIN, "the others search by iterations"
        with self._running():
            try:
                found = search_plain(algorithm, self._problem, self._heuristic, memory)
            except KeyboardInterrupt:
                raise SearchInterrupted(None) from None
            paths = () if found.length is None else (found.moves,)
            self._optimal = found.optimal
            return self._finish(
                self._outcome(
                    found.length,
                    len(paths),
                    paths,
                    (),
                    nodes=found.generated,
                    expanded=found.expanded,
                    seconds=found.seconds,
                )
            )


@dataclass(eq=False)
class _IterativeSearch(_Search):
    """A search whose iterations are searched by an executor, stored, and begun again where their working state is lost.
    ``answer_before``: found before; it is shown, and decides nothing. ``limit``: it ends with TriedInVainError after
    about so many seconds of a thread; nodes are what counts."""

    _heuristic: Heuristic
    _answer_before: Way | None
    _limit: float | None = None
    _most: int | None = field(default=None, init=False)  # nodes
    _latest: float = field(default=inf, init=False)  # by the clock
    _deepening: Deepening = field(init=False)
    _executor: SearchExecutor = field(init=False)
    _stop: StopRequest = field(init=False)

    def __post_init__(self) -> None:
        self._answers = Answers(self._problem, self._heuristic)
        self._optimal = self._heuristic.admissible

    def _search(self) -> SearchOutcome:
        engine = engine_with(self._problem, self._heuristic)
        if self._limit is not None:
            self._most = int(engine.in_a_second * self._limit)
            self._latest = monotonic() + SLOWER * self._limit
            engine.budget = min(engine.budget, max(1, self._most // PIECES_OF_A_TRIAL))
        every, limit = self._settings.all_solutions, self._settings.limit
        self._deepening = Deepening(engine, self._problem.board, first=not every, limit=limit)
        if self._deepening.over:
            reason = f"the heuristic {self._problem.heuristic} proves that no moves lead to a target"
            raise UnsolvableError(_place(self._problem), reason)
        self._losses = Losses(LOSSES_ALLOWED, "since anything was stored")
        self._pieces_stored = 0
        self._paths: list[Way] = []  # of a search that is not stored
        self._committed = monotonic()
        self._resumed: int | None = None  # the bound of the iteration that an earlier attempt had reached
        self._begin_job(engine_fields(engine), resumable=True)
        try:
            with (
                stop_requests(self._reporter.stopping) as self._stop,
                self._running(),
                closing(self._executor_of(engine)) as self._executor,
            ):
                self._deepen()
                best = self._answers.best
                return self._finish(
                    self._solved() if best is None or self._deepening.over else self._answered(best)
                )
        except KeyboardInterrupt:
            ways = [way for way in (self._answers.best, self._answer_before) if way is not None]
            answer = self._answered(min(ways, key=len)) if ways and not self._deepening.solutions else None
            raise SearchInterrupted(self._stored_bound(), self._needed, answer) from None

    def _solved(self) -> SearchOutcome:
        """The result of the last iteration."""
        paths = tuple(self._paths) if self._recorder is None else self._recorder.solutions()
        return self._outcome(
            self._deepening.length(paths),
            self._deepening.solutions,
            paths,
            tuple(self._deepening.iterations),
            resumed=self._resumed,
        )

    def _early_answer(self) -> SearchOutcome | None:
        """What is found in the place of a search that ends by its limit."""
        self._look_for_answer(FIRST_EFFORTS[:2])
        return None if self._answers.best is None else self._answered(self._answers.best)

    def _answered(self, way: Way) -> SearchOutcome:
        """An answer as the result."""
        iterations, answers = tuple(self._deepening.iterations), self._answers
        return self._outcome(
            len(way),
            1,
            (way,),
            iterations,
            bound=self._needed if self._needed < len(way) else None,
            nodes=self._deepening.nodes + answers.generated,
            seconds=answers.seconds + sum(one.seconds for one in iterations),
            resumed=self._resumed,
        )

    @property
    def _needed(self) -> int:
        """Moves that are proven to be needed, as long as no iteration has found a solution."""
        return (self._deepening.next_bound or 0) if self._heuristic.admissible else 0

    def _enough(self) -> bool:
        return self._settings.enough(self._answers.best, self._needed)

    def _look_for_answer(self, efforts: Sequence[int]) -> None:
        """Looks for an answer, or a better one, with one effort after the other."""
        if self._settings.all_solutions:
            return
        for effort in efforts:
            better = self._answers.look(effort, lambda: self._stop.wanted)
            if better is not None:
                self._reporter.found(better, self._needed)
            if self._stop.wanted or (self._settings.within < inf and self._enough()):
                return

    def _executor_of(self, engine: Engine) -> SearchExecutor:
        settings, recorder = self._settings, self._recorder
        if settings.workers == "threads":
            return ThreadsSearch(engine, settings.threads or cores())
        from farthest.coordinator.search.celery_executor import CelerySearch

        def waiting() -> None:
            if self._stop.wanted:
                raise KeyboardInterrupt
            if recorder is not None:
                recorder.check()

        executor = CelerySearch(self._problem, engine, attempt_name(recorder), self._reporter)
        executor.while_waiting(waiting)
        if recorder is not None:
            recorder.while_waiting = waiting
        return executor

    def _stored_bound(self) -> int | None:
        """The bound of the iteration in which the search can be continued, as far as that is known at once."""
        if self._recorder is None:
            return None
        try:
            return self._recorder.bound()
        except StorageError:
            return None

    # Iterations

    def _deepen(self) -> None:
        """Searches until there is a solution, or it is proven that there is none. Raises KeyboardInterrupt when the
        user asks it to stop: what was found until then is stored."""
        under_way = self._read()
        if self._resumed is None and self._deepening.next_bound is not None:
            self._reporter.begun(self._job, self._deepening.next_bound)
        while not self._deepening.over:
            nodes = [one.nodes for one in self._deepening.iterations]
            self._look_for_answer(self._answers.efforts(nodes, shortest=self._settings.within == 1))
            if self._enough():
                break
            try:
                self._iterate(under_way)
                under_way = None
            except LostStateError as error:
                under_way = self._lost(error)
        if self._recorder is not None:
            self._recorder.settle()

    def _read(self, *, again: bool = False) -> IterationState | None:
        """Takes in what is stored of the search, and gives the iteration under way."""
        if self._recorder is None:
            return None
        records, under_way = self._recorder.iterations()
        next_bound = records[-1].next_bound if records else None
        self._deepening.go_on([iteration_of(record) for record in records], next_bound)
        if (records or under_way is not None) and not again:
            self._resumed = records[-1].bound if under_way is None else under_way.bound
            self._reporter.resumed(
                self._recorder.job, self._resumed, 0 if under_way is None else under_way.done
            )
        return under_way

    def _lost(self, error: LostStateError) -> IterationState | None:
        if self._recorder is not None:
            self._recorder.confirm()  # a process that took the job over has removed the keys of this attempt
        under_way = self._read(again=True)
        stored = 0 if under_way is None else under_way.done
        if stored > self._pieces_stored:
            self._losses.forget()
        self._pieces_stored = stored
        self._losses.add(error, restarted=self._executor.restarted())
        self._reporter.notice(f"{error}; going back to what is stored")
        return under_way

    def _iterate(self, under_way: IterationState | None) -> None:
        begun, before = perf_counter(), 0.0 if under_way is None else under_way.seconds
        self._check_limit(self._expected())
        frontier = self._deepening.frontier()
        if under_way is None:
            frontier.begin()
        else:
            frontier.restore(under_way.totals, under_way.waiting, under_way.beyond)

        def seconds() -> float:
            return before + perf_counter() - begun

        try:
            self._executor.run(frontier, lambda: self._poll(frontier, seconds()))
        except SearchStopped:
            if self._recorder is not None:
                self._recorder.commit(frontier, seconds())
            raise KeyboardInterrupt from None
        self._deepening.add(frontier, seconds())
        self._losses.forget()
        self._pieces_stored = 0
        if self._recorder is None:
            self._paths += frontier.new_solutions
        else:
            self._recorder.ended(self._records()[-1], frontier)
            self._recorder.check()
        self._reporter.iteration(self._deepening.iterations[-1])
        if self._stop.wanted and not self._deepening.over:
            if self._recorder is not None:
                self._recorder.settle()
            raise KeyboardInterrupt

    def _expected(self) -> int:
        """The nodes of all iterations and the next, if that grows as the last one has."""
        before, last = [1, 1, *(one.nodes for one in self._deepening.iterations)][-2:]
        return self._deepening.nodes + last * last // max(1, before) // SOONER

    def _check_limit(self, nodes: int) -> None:
        if self._most is not None and (nodes > self._most or monotonic() > self._latest):
            raise TriedInVainError(self._early_answer)

    def _poll(self, frontier: Frontier, seconds: float) -> None:
        if self._stop.wanted:
            raise SearchStopped
        self._check_limit(self._deepening.nodes + frontier.totals.nodes)
        if monotonic() - self._committed < COMMIT_SECONDS:
            return
        self._store_if_due(self._records())
        if self._recorder is not None:
            self._recorder.check()
            self._recorder.commit(frontier, seconds)
        nodes = self._deepening.nodes + frontier.nodes_done
        spent = sum(one.seconds for one in self._deepening.iterations) + seconds
        progress = {"bound": frontier.bound, "nodes": nodes, "pieces_waiting": len(frontier.waiting)}
        if spent:
            progress["nodes_a_second"] = round(nodes / spent)
        progress |= self._executor.progress()
        if self._recorder is not None:
            self._recorder.progress(**progress)
        self._reporter.progress(progress)
        self._committed = monotonic()

    def _records(self) -> Sequence[IterationRecord]:
        """The iterations that are over, as they are stored."""
        found = self._deepening.iterations
        next_bounds = [*(one.bound for one in found[1:]), self._deepening.next_bound]
        return [
            IterationRecord(
                one.bound, one.nodes, one.solutions, one.pieces, one.seconds, next_bound, complete=True
            )
            for one, next_bound in zip(found, next_bounds, strict=False)
        ]


def _place(problem: Problem) -> str:
    return f"puzzle {problem.puzzle.name}: board {problem.puzzle.definition.format_board(problem.board)}"
