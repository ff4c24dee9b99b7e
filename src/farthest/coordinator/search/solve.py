"""Solving boards: checks before the search, the search with its job, and the result."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING

from farthest.coordinator.runner import StopRequest, attempt_name, memory_errors, stop_requests
from farthest.coordinator.search.loop import IterativeSearch, SearchExecutor, ThreadsSearch
from farthest.coordinator.search.settings import SearchOutcome, SearchReporter
from farthest.coordinator.search.storage import SearchStorage, StoredSearch, search_digest
from farthest.errors import SearchError, StorageError, UnreachableError
from farthest.heuristics.algorithms import DEEPENING, GUIDED, PLAIN
from farthest.heuristics.registry import open_heuristic
from farthest.machine import cores, memory_limit
from farthest.search.contract import Problem, engine_fields, targets
from farthest.search.deepening import Deepening
from farthest.search.engines import engine_with
from farthest.search.solvable import why_unsolvable

if TYPE_CHECKING:
    from farthest.coordinator.search.settings import SearchSettings
    from farthest.heuristics.contract import Heuristic
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.search.contract import Engine, Way
    from farthest.search.deepening import Iteration


class SearchInterrupted(KeyboardInterrupt):
    """A search was stopped. ``bound``: of the iteration in which it can be continued; None: from the beginning."""

    def __init__(self, bound: int | None) -> None:
        super().__init__()
        self.bound = bound


class UnsolvableError(UnreachableError):
    """A board that is known to be unsolvable before it is searched; ``reason``: why."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: it cannot be solved: {reason}")
        self.reason = reason


class Solver:
    """Solves boards of a puzzle, one after the other; the tables of the heuristic are loaded once."""

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

    def check(self) -> None:
        """Loads the tables now. Raises as ``targets`` and ``heuristic``."""
        _ = self.heuristic

    @cached_property
    def targets(self) -> tuple[Board, ...]:
        """The boards that end a search. Raises PuzzleError, BoardError."""
        return targets(self.puzzle, self.target)

    @cached_property
    def heuristic(self) -> Heuristic:
        """The heuristic with its tables. Raises SearchError for one that cannot be used for this, and as
        ``open_heuristic`` does."""
        load_map = None if self._storage is None else self._storage.load_map
        found = open_heuristic(self._heuristic, self.puzzle, self.targets, load_map)
        if self.settings.all_solutions and not found.admissible:
            raise SearchError(
                f"--heuristic {self._heuristic} with --all: it may be more than the distance, so that not all "
                "shortest solutions, or longer ones, would be found; take another heuristic, or leave --all out"
            )
        return found

    def solve(self, board: Board) -> SearchOutcome:
        """Solves a board, and stores the search where it is to be stored.

        An unfinished job of the same search, which nobody runs, is continued. At Ctrl-C, SIGTERM or SIGHUP what was
        found is stored, if the search has a job, and SearchInterrupted is raised. Raises UnsolvableError for a board
        that cannot be solved, and as ``heuristic`` and ``compile_space`` do.
        """
        with memory_errors(self.puzzle):
            reason = why_unsolvable(self.puzzle, board, self.targets)
            problem = Problem(self.puzzle, board, self.target, self._heuristic)
            if reason is not None:
                raise UnsolvableError(_place(problem), reason)
            return _Search(problem, self.heuristic, self.settings, self._storage, self._reporter).run()


class _Search:
    def __init__(
        self,
        problem: Problem,
        heuristic: Heuristic,
        settings: SearchSettings,
        storage: SearchStorage | None,
        reporter: SearchReporter,
    ) -> None:
        self._problem = problem
        self._heuristic = heuristic
        self._settings = settings
        self._reporter = reporter
        self._job = StoredSearch(storage, problem, settings, reporter)
        self._optimal = heuristic.admissible

    def run(self) -> SearchOutcome:
        if is_solved(self._problem):
            self._job.begin({}, resumable=False)
            none_listed = self._settings.all_solutions and self._settings.limit == 0
            return self._finish(0, 1, () if none_listed else ((),), ())
        if self._settings.algorithm not in DEEPENING:
            return self._search_graph()
        return self._deepen()

    def _deepen(self) -> SearchOutcome:
        engine = engine_with(self._problem, self._heuristic)
        every, limit = self._settings.all_solutions, self._settings.limit
        search = Deepening(engine, self._problem.board, first=not every, limit=limit)
        if search.over:
            reason = f"the heuristic {self._problem.heuristic} proves that no moves lead to a target"
            raise UnsolvableError(_place(self._problem), reason)
        self._job.begin(engine_fields(engine), resumable=True)
        try:
            with (
                stop_requests(self._reporter.stopping) as stop,
                self._job.running(),
                closing(self._executor(engine, stop)) as executor,
            ):
                attempt = IterativeSearch(search, executor, self._reporter, self._job, stop)
                attempt.run()
                paths = attempt.paths
                iterations = tuple(search.iterations)
                length = search.length(paths)
                return self._finish(length, search.solutions, paths, iterations, resumed=attempt.resumed)
        except KeyboardInterrupt:
            raise SearchInterrupted(self._stored_bound()) from None

    def _executor(self, engine: Engine, stop: StopRequest) -> SearchExecutor:
        settings, recorder = self._settings, self._job.recorder
        if settings.workers == "threads":
            return ThreadsSearch(engine, settings.threads or cores())
        from farthest.coordinator.search.celery_executor import CelerySearch

        def waiting() -> None:
            if stop.wanted:
                raise KeyboardInterrupt
            if recorder is not None:
                recorder.check()

        executor = CelerySearch(self._problem, engine, attempt_name(recorder), self._reporter)
        executor.while_waiting(waiting)
        if recorder is not None:
            recorder.while_waiting = waiting
        return executor

    def _search_graph(self) -> SearchOutcome:
        from farthest.search.plain import search_plain

        self._job.begin({}, resumable=False)
        memory = memory_limit(self._settings.memory)
        algorithm = self._settings.algorithm
        assert algorithm in PLAIN, "the others search by iterations"
        with self._job.running():
            try:
                found = search_plain(algorithm, self._problem, self._heuristic, memory)
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
        problem, recorder = self._problem, self._job.recorder
        bounds = [(one.bound, one.nodes) for one in iterations]
        outcome = SearchOutcome(
            job=self._job.number,
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
            definition=problem.puzzle,
        )
        if recorder is not None:
            recorder.finish(outcome)
        return outcome

    def _stored_bound(self) -> int | None:
        """The bound of the iteration in which the search can be continued, as far as that is known at once."""
        if self._job.recorder is None:
            return None
        try:
            return self._job.recorder.bound()
        except StorageError:
            return None


def _place(problem: Problem) -> str:
    return f"puzzle {problem.puzzle.name}: board {problem.puzzle.definition.format_board(problem.board)}"


def is_solved(problem: Problem) -> bool:
    """Whether the board is a target already."""
    import numpy

    return bool(problem.at_target(numpy.array([problem.board], dtype=numpy.uint8))[0])
