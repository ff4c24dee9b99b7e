"""Solving a board: what is refused, the run with its job, and the result."""

from __future__ import annotations

from contextlib import closing, nullcontext
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from farthest.coordinator.estimate import available_memory, cores
from farthest.coordinator.interrupts import StopRequest, stop_requests
from farthest.coordinator.search.executors import SearchExecutor, ThreadsSearch
from farthest.coordinator.search.loop import IterativeSearch, iteration_of
from farthest.coordinator.search.record import SearchRecorder, search_digest
from farthest.coordinator.search.settings import DEEPENING, SearchOutcome, SearchReporter
from farthest.errors import ResourceError, SearchError, StorageError, UnreachableError
from farthest.heuristics.contract import UNREACHABLE
from farthest.heuristics.registry import open_heuristic
from farthest.search.engines import engine_with
from farthest.search.plain import search_plain
from farthest.search.serialized import engine_fields
from farthest.search.solvable import why_unsolvable

if TYPE_CHECKING:
    from farthest.coordinator.search.settings import Iteration, SearchSettings
    from farthest.heuristics.contract import Heuristic, LoadMap
    from farthest.models.transactions import Database
    from farthest.search.contract import Engine
    from farthest.search.problem import Problem
    from farthest.search.serialized import Way


class SearchInterrupted(KeyboardInterrupt):
    """A search was stopped. ``bound``: of the iteration that it can be continued in; None: from the beginning."""

    def __init__(self, bound: int | None) -> None:
        super().__init__()
        self.bound = bound


def solve_problem(
    problem: Problem,
    settings: SearchSettings,
    load_map: LoadMap | None = None,
    database: Database | None = None,
    reporter: SearchReporter | None = None,
) -> SearchOutcome:
    """Solves a problem, and stores the search as a job where there is a database.

    An unfinished job of the same search, which nobody runs, is gone on with. At Ctrl-C, SIGTERM or SIGHUP what was
    found is stored and SearchInterrupted raised. Raises SearchError for what the algorithm, the heuristic or the
    workers cannot do, BoardError for a board that cannot be solved, and as ``compile_space`` and ``open_heuristic`` do.
    """
    try:
        return _Solve(problem, settings, load_map, database, reporter or SearchReporter()).run()
    except MemoryError as error:
        raise ResourceError(
            f"puzzle {problem.puzzle.name}: the system gives this process no more memory; free some, or see ulimit -v"
        ) from error


class _Solve:
    def __init__(
        self,
        problem: Problem,
        settings: SearchSettings,
        load_map: LoadMap | None,
        database: Database | None,
        reporter: SearchReporter,
    ) -> None:
        guided = settings.algorithm in ("ida", "astar")
        self._problem = problem if guided else problem.without_heuristic()
        self._settings = settings
        self._load_map = load_map
        self._database = database
        self._reporter = reporter
        self._recorder: SearchRecorder | None = None
        self._optimal = True

    def run(self) -> SearchOutcome:
        heuristic = self._heuristic()
        if is_solved(self._problem):
            self._record({})
            none_listed = self._settings.all_solutions and self._settings.limit == 0
            return self._finish(0, 1, () if none_listed else ((),), ())
        if self._settings.algorithm not in DEEPENING:
            return self._search_graph(heuristic)
        return self._deepen(heuristic)

    def _heuristic(self) -> Heuristic:
        """The heuristic; refuses what cannot be done or would never end."""
        problem, settings = self._problem, self._settings
        if settings.algorithm not in DEEPENING:
            if settings.workers == "celery":
                raise SearchError(
                    f"--algorithm {settings.algorithm} with --workers celery: it keeps all boards that it has met, in "
                    "one process; leave --workers out, or take --algorithm ida"
                )
            if settings.all_solutions:
                raise SearchError(
                    f"--algorithm {settings.algorithm} with --all: it finds one solution; take --algorithm ida"
                )
        targets = problem.targets()
        reason = why_unsolvable(problem.puzzle, problem.board, targets)
        if reason is not None:
            raise UnreachableError(f"{self._place()}: it cannot be solved: {reason}")
        heuristic = open_heuristic(problem.heuristic, problem.puzzle, targets, self._load_map)
        self._optimal = heuristic.admissible
        if settings.all_solutions and not heuristic.admissible:
            raise SearchError(
                f"--heuristic {problem.heuristic} with --all: it may be more than the distance, so that not all "
                "shortest solutions, or longer ones, would be found; take another heuristic, or leave --all out"
            )
        return heuristic

    def _deepen(self, heuristic: Heuristic) -> SearchOutcome:
        engine = engine_with(self._problem, heuristic)
        if engine.lower_bound(self._problem.board) >= UNREACHABLE:
            raise UnreachableError(
                f"{self._place()}: it cannot be solved: the heuristic {self._problem.heuristic} proves that no moves "
                "lead to a target"
            )
        recorder = self._record(engine_fields(engine))
        try:
            with (
                stop_requests(self._reporter.stopping) as stop,
                nullcontext() if recorder is None else recorder.running(),
                closing(self._executor(engine, stop)) as executor,
            ):
                search = IterativeSearch(
                    self._problem, engine, self._settings, executor, self._reporter, recorder, stop
                )
                search.run()
                paths = search.paths
                # The bound may be more, where the heuristic is more than the distance; then one is listed.
                length = len(paths[0]) if paths else search.iterations[-1].bound if search.solutions else None
                iterations = tuple(map(iteration_of, search.iterations))
                return self._finish(length, search.solutions, paths, iterations, resumed=search.resumed)
        except KeyboardInterrupt:
            raise SearchInterrupted(self._kept()) from None

    def _executor(self, engine: Engine, stop: StopRequest) -> SearchExecutor:
        settings, recorder = self._settings, self._recorder
        if settings.workers == "threads":
            return ThreadsSearch(engine, settings.threads or cores())
        from farthest.coordinator.search.celery_executor import CelerySearch

        def waiting() -> None:
            if stop.wanted:
                raise KeyboardInterrupt
            if recorder is not None:
                recorder.check()

        name = recorder.name if recorder is not None else f"0-{token_hex(4)}"
        executor = CelerySearch(self._problem, engine, name, self._reporter)
        executor.while_waiting(waiting)
        if recorder is not None:
            recorder.while_waiting = waiting
        return executor

    def _search_graph(self, heuristic: Heuristic) -> SearchOutcome:
        recorder = self._record({})
        memory = available_memory() * 4 // 5 if self._settings.memory is None else self._settings.memory
        algorithm = self._settings.algorithm
        assert algorithm in ("bfs", "dfs", "astar"), "the others search by iterations"
        with nullcontext() if recorder is None else recorder.running():
            try:
                found = search_plain(algorithm, self._problem, heuristic, memory)
            except KeyboardInterrupt:
                raise SearchInterrupted(None) from None
            paths = () if found.length is None else (found.moves,)
            self._optimal = found.optimal
            return self._finish(
                found.length,
                len(paths),
                paths,
                (),
                nodes=found.generated,
                expanded=found.expanded,
                seconds=found.seconds,
            )

    def _record(self, layout: dict[str, Any]) -> SearchRecorder | None:
        if self._database is not None:
            self._recorder = SearchRecorder.begin(
                self._database, self._problem, self._settings, layout, self._reporter.notice
            )
        return self._recorder

    def _finish(
        self,
        length: int | None,
        solutions: int,
        paths: tuple[Way, ...],
        iterations: tuple[Iteration, ...],
        *,
        nodes: int | None = None,
        expanded: int | None = None,
        seconds: float | None = None,
        resumed: int | None = None,
    ) -> SearchOutcome:
        problem, recorder = self._problem, self._recorder
        bounds = [(one.bound, one.nodes) for one in iterations]
        outcome = SearchOutcome(
            job=None if recorder is None else recorder.job,
            puzzle=problem.puzzle.name,
            board=problem.puzzle.definition.format_board(problem.board),
            target=problem.target,
            heuristic=problem.heuristic,
            algorithm=self._settings.algorithm,
            length=length,
            solutions=solutions,
            paths=paths,
            optimal=self._optimal,
            nodes=sum(n for _, n in bounds) if nodes is None else nodes,
            expanded=expanded,
            iterations=iterations,
            seconds=sum(one.seconds for one in iterations) if seconds is None else seconds,
            digest=search_digest(length, solutions, bounds, paths),
            resumed=resumed,
        )
        if recorder is not None:
            recorder.finish(outcome)
        return outcome

    def _kept(self) -> int | None:
        """The bound that the search can be continued in, as far as that can be known at once."""
        if self._recorder is None:
            return None
        try:
            return self._recorder.bound()
        except StorageError:
            return None

    def _place(self) -> str:
        puzzle = self._problem.puzzle
        return f"puzzle {puzzle.name}: board {puzzle.definition.format_board(self._problem.board)}"


def is_solved(problem: Problem) -> bool:
    """Whether the board is a target already."""
    import numpy

    return bool(problem.at_target(numpy.array([problem.board], dtype=numpy.uint8))[0])
