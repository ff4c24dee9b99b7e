"""The loop over an iterative search's bounds: each iteration is searched to its end or to the first solution."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from farthest.coordinator.runner import Losses
from farthest.coordinator.search.settings import Iteration
from farthest.errors import LostStateError
from farthest.models.records import IterationRecord
from farthest.search.contract import Node
from farthest.search.deepening import Frontier

if TYPE_CHECKING:
    from farthest.coordinator.runner import StopRequest
    from farthest.coordinator.search.settings import SearchReporter, SearchSettings
    from farthest.coordinator.search.storage import IterationState, SearchRecorder, StoredSearch
    from farthest.search.contract import Engine, PieceResult, Problem, Way


# --- Executors of searches: they search the pieces of an iteration.

LOOK_SECONDS = 0.2


class SearchStopped(Exception):
    """The user asked the search under way to stop."""


class SearchExecutor(Protocol):
    """Searches pieces, which are taken in order. Results do not depend on the executor."""

    def run(self, frontier: Frontier, look: Callable[[], None]) -> None:
        """Returns when the frontier is complete. ``look`` is called regularly meanwhile; if it raises SearchStopped,
        that is raised when the pieces under way in this process are done."""

    def known(self) -> dict[str, Any]:
        """The values to be reported with the search's progress."""

    def restarted(self) -> bool:
        """Whether a server has been restarted since the last call."""

    def close(self) -> None:
        """Releases what the executor holds."""


def run_piece(engine: Engine, frontier: Frontier, node: Node) -> PieceResult:
    """Searches one piece of the frontier's iteration, below a node."""
    limit = 1 if frontier.first else frontier.limit
    return engine.run(node, frontier.bound, first=frontier.first, limit=limit)


class ThreadsSearch:
    """Searches pieces in ``threads`` threads of this process; a single piece in the caller's thread."""

    def __init__(self, engine: Engine, threads: int) -> None:
        self._engine = engine
        self._threads = threads
        self._late: list[threading.Thread] = []  # threads that search pieces which are not needed any more

    def run(self, frontier: Frontier, look: Callable[[], None]) -> None:
        """See SearchExecutor."""
        while not frontier.complete:
            if self._threads > 1 and len(frontier.waiting) > 1:
                team = _Team(self._engine, frontier, min(self._threads, len(frontier.waiting)))
                self._late += team.threads
                team.run(look)
                return
            taken = frontier.take()
            assert taken is not None, "nothing runs elsewhere"
            place, node = taken
            frontier.done(place, run_piece(self._engine, frontier, node))
            look()

    def known(self) -> dict[str, Any]:
        """See SearchExecutor: nothing."""
        return {}

    def restarted(self) -> bool:
        """See SearchExecutor: there is no server."""
        return False

    def close(self) -> None:
        """See SearchExecutor: waits for threads that search pieces after the first solution."""
        for thread in self._late:
            thread.join()
        self._late = []


class _Team:
    """Threads that search the pieces of one iteration."""

    def __init__(self, engine: Engine, frontier: Frontier, threads: int) -> None:
        self._engine = engine
        self._frontier = frontier
        self._error: BaseException | None = None
        self._closing = False
        self._news = threading.Condition()  # guards all attributes
        self.threads = [threading.Thread(target=self._work, name="farthest-search") for _ in range(threads)]

    def run(self, look: Callable[[], None]) -> None:
        for thread in self.threads:
            thread.start()
        try:
            with self._news:
                while not self._frontier.complete and self._error is None:
                    self._news.wait(LOOK_SECONDS)
                    look()
        except SearchStopped:
            self._close()
            for thread in self.threads:
                thread.join()
            raise
        finally:
            self._close()
        if self._error is not None:
            raise self._error

    def _close(self) -> None:
        with self._news:
            self._closing = True
            self._news.notify_all()

    def _work(self) -> None:
        while (taken := self._next()) is not None:
            place, node = taken
            try:
                piece = run_piece(self._engine, self._frontier, node)
            except BaseException as error:
                with self._news:
                    self._error = error
                    self._news.notify_all()
                return
            with self._news:
                self._frontier.done(place, piece)
                self._news.notify_all()

    def _next(self) -> tuple[tuple[int, ...], Node] | None:
        with self._news:
            while not self._closing and not self._frontier.complete:
                taken = self._frontier.take()
                if taken is not None:
                    return taken
                self._news.wait(LOOK_SECONDS)
        return None


COMMIT_SECONDS = 1.0
"""Seconds between two commits."""

LOSSES_ALLOWED = 8
"""How often the working state of an iteration may be lost before the search is given up."""


class IterativeSearch:
    """One attempt at a search. ``stored``: its job, if it has one. ``stop``: whether the user asked it to end.

    ``iterations``: those that are over; ``resumed``: the bound of the iteration that an earlier attempt had reached.
    ``solutions``: of the last iteration; ``paths``: those listed.
    """

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        settings: SearchSettings,
        executor: SearchExecutor,
        reporter: SearchReporter,
        stored: StoredSearch,
        stop: StopRequest,
    ) -> None:
        self._board = problem.board
        self._engine = engine
        self._settings = settings
        self._executor = executor
        self._reporter = reporter
        self._job = stored
        self._stop = stop
        self._losses = Losses(LOSSES_ALLOWED, "since anything was stored")
        self._stored = 0
        self._paths: list[Way] = []
        self._committed = monotonic()
        self.iterations: list[IterationRecord] = []
        self.resumed: int | None = None

    @property
    def _recorder(self) -> SearchRecorder | None:
        return self._job.recorder

    @property
    def solutions(self) -> int:
        """Solutions of the last iteration."""
        return self.iterations[-1].solutions if self.iterations else 0

    @property
    def paths(self) -> tuple[Way, ...]:
        """The solutions that are listed, when the search is over."""
        return tuple(self._paths) if self._recorder is None else self._recorder.solutions()

    def run(self) -> None:
        """Searches until there is a solution, or it is proven that there is none. Raises KeyboardInterrupt when the
        user asks it to stop: what was found until then is stored."""
        under_way = self._read()
        if not self.iterations and under_way is None:
            job = None if self._recorder is None else self._recorder.job
            self._reporter.begun(job, self._engine.lower_bound(self._board))
        while not self._over():
            try:
                self._iterate(under_way)
                under_way = None
            except LostStateError as error:
                under_way = self._lost(error)
        if self._recorder is not None:
            self._recorder.settle()

    def _read(self, *, again: bool = False) -> IterationState | None:
        if self._recorder is None:
            return None
        self.iterations, under_way = self._recorder.iterations()
        if under_way is not None or self.iterations:
            bound = self.iterations[-1].bound if under_way is None else under_way.bound
            if not again:
                self.resumed = bound
                pieces = 0 if under_way is None else under_way.totals.pieces + len(under_way.beyond)
                self._reporter.resumed(self._recorder.job, bound, pieces)
        return under_way

    def _over(self) -> bool:
        return bool(self.iterations) and (self.solutions > 0 or self.iterations[-1].next_bound is None)

    def _lost(self, error: LostStateError) -> IterationState | None:
        if self._recorder is not None:
            self._recorder.confirm()  # a process that took the job over has removed the keys of this attempt
        under_way = self._read(again=True)
        stored = 0 if under_way is None else under_way.totals.pieces + len(under_way.beyond)
        if stored > self._stored:
            self._losses.forget()
        self._stored = stored
        self._losses.add(error, restarted=self._executor.restarted())
        self._reporter.notice(f"{error}; going back to what is stored")
        return under_way

    def _iterate(self, under_way: IterationState | None) -> None:
        begun, before = perf_counter(), 0.0 if under_way is None else under_way.seconds
        frontier = self._frontier(under_way)

        def seconds() -> float:
            return before + perf_counter() - begun

        try:
            self._executor.run(frontier, self._poll(frontier, seconds))
        except SearchStopped:
            if self._recorder is not None:
                self._recorder.commit(frontier, seconds())
            raise KeyboardInterrupt from None
        totals = frontier.totals
        record = IterationRecord(
            frontier.bound,
            totals.nodes,
            totals.solutions,
            totals.pieces,
            seconds(),
            totals.next_bound,
            complete=True,
        )
        self.iterations.append(record)
        self._losses.forget()
        self._stored = 0
        if self._recorder is None:
            self._paths += frontier.new_solutions
        else:
            self._recorder.ended(record, frontier)
            self._recorder.check()
        self._reporter.iteration(iteration_of(record))
        if self._stop.wanted and not self._over():
            if self._recorder is not None:
                self._recorder.settle()
            raise KeyboardInterrupt

    def _frontier(self, under_way: IterationState | None) -> Frontier:
        last = self.iterations[-1] if self.iterations else None
        bound = self._engine.lower_bound(self._board) if last is None else last.next_bound
        assert bound is not None, "the search is not over"
        # Not only the last: an iteration that was split may have few nodes because of that.
        is_split = max((before.nodes for before in self.iterations), default=0) >= self._engine.split_from
        split = self._engine.split(self._board, bound) if is_split else None
        frontier = Frontier(
            bound,
            split,
            Node(self._board, 0),
            first=not self._settings.all_solutions,
            limit=self._settings.limit,
        )
        if under_way is None:
            frontier.begin()
        else:
            frontier.restore(under_way.totals, under_way.waiting, under_way.beyond)
        return frontier

    def _poll(self, frontier: Frontier, seconds: Callable[[], float]) -> Callable[[], None]:
        def look() -> None:
            if self._stop.wanted:
                raise SearchStopped
            if monotonic() - self._committed < COMMIT_SECONDS:
                return
            self._job.look(self.iterations)
            if self._recorder is not None:
                self._recorder.check()
                self._recorder.commit(frontier, seconds())
            nodes = sum(one.nodes for one in self.iterations) + frontier.nodes_known
            spent = sum(one.seconds for one in self.iterations) + seconds()
            known = {"bound": frontier.bound, "nodes": nodes, "pieces_waiting": len(frontier.waiting)}
            if spent:
                known["nodes_a_second"] = round(nodes / spent)
            known |= self._executor.known()
            if self._recorder is not None:
                self._recorder.progress(**known)
            self._reporter.progress(known)
            self._committed = monotonic()

        return look


def iteration_of(record: IterationRecord) -> Iteration:
    """An iteration as it is in results."""
    return Iteration(record.bound, record.nodes, record.solutions, record.pieces, record.seconds)
