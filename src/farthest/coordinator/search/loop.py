"""One attempt at an iterative search: its iterations are searched by an executor, stored, and begun again where their
working state is lost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from farthest.coordinator.runner import Losses
from farthest.errors import LostStateError
from farthest.models.records import IterationRecord
from farthest.search.deepening import Deepening, Frontier, Iteration, search_next, search_piece

if TYPE_CHECKING:
    from farthest.coordinator.runner import StopRequest
    from farthest.coordinator.search.settings import SearchReporter
    from farthest.coordinator.search.storage import IterationState, SearchRecorder, StoredSearch
    from farthest.search.contract import Engine, PieceResult, Way
    from farthest.search.deepening import Place

POLL_SECONDS = 0.2
"""Between two polls while threads search."""

TAKEN_BY_A_THREAD = 2
"""Pieces that are taken for each thread: it searches one, and need not wait for the next."""

COMMIT_SECONDS = 1.0
"""Seconds between two commits."""

LOSSES_ALLOWED = 8
"""How often the working state of an iteration may be lost before the search is given up."""


class SearchStopped(Exception):
    """The user asked the search under way to stop."""


class SearchExecutor(ABC):
    """Searches pieces, which are taken in order. Results do not depend on the executor."""

    @abstractmethod
    def run(self, frontier: Frontier, poll: Callable[[], None]) -> None:
        """Returns when the frontier is complete. ``poll`` is called regularly meanwhile; if it raises SearchStopped,
        that is raised when the pieces under way in this process are done."""

    def progress(self) -> dict[str, Any]:
        """The values to be reported with the search's progress."""
        return {}

    def restarted(self) -> bool:
        """Whether a server has been restarted since the last call."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Releases what the executor holds."""


class ThreadsSearch(SearchExecutor):
    """Searches pieces in ``threads`` threads of this process; a single piece in the caller's thread."""

    def __init__(self, engine: Engine, threads: int) -> None:
        self._engine = engine
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="farthest-search")

    def run(self, frontier: Frontier, poll: Callable[[], None]) -> None:
        while not frontier.complete:
            if self._threads > 1 and len(frontier.waiting) > 1:
                self._run_together(frontier, poll)
                return
            search_next(self._engine, frontier)
            poll()

    def _run_together(self, frontier: Frontier, poll: Callable[[], None]) -> None:
        running: dict[Future[PieceResult], Place] = {}
        ended: SimpleQueue[Future[PieceResult]] = SimpleQueue()
        try:
            while not frontier.complete:
                while len(running) < TAKEN_BY_A_THREAD * self._threads and (taken := frontier.take()):
                    place, node = taken
                    future = self._pool.submit(search_piece, self._engine, frontier, node)
                    running[future] = place
                    future.add_done_callback(ended.put)
                with suppress(Empty):
                    future = ended.get(timeout=POLL_SECONDS)
                    frontier.done(running.pop(future), future.result())
                poll()
        except SearchStopped:
            for future, place in running.items():
                if not future.cancel():
                    frontier.done(place, future.result())
            raise

    def close(self) -> None:
        """Waits for threads that search pieces after the first solution."""
        self._pool.shutdown(cancel_futures=True)


class IterativeSearch:
    """One attempt at a search. ``stored``: its job, if it has one. ``stop``: whether the user asked it to end.

    ``resumed``: the bound of the iteration that an earlier attempt had reached.
    """

    def __init__(
        self,
        search: Deepening,
        executor: SearchExecutor,
        reporter: SearchReporter,
        stored: StoredSearch,
        stop: StopRequest,
    ) -> None:
        self._search = search
        self._executor = executor
        self._reporter = reporter
        self._job = stored
        self._stop = stop
        self._losses = Losses(LOSSES_ALLOWED, "since anything was stored")
        self._stored = 0
        self._paths: list[Way] = []
        self._committed = monotonic()
        self.resumed: int | None = None

    @property
    def _recorder(self) -> SearchRecorder | None:
        return self._job.recorder

    @property
    def paths(self) -> tuple[Way, ...]:
        """The solutions that are listed, when the search is over."""
        return tuple(self._paths) if self._recorder is None else self._recorder.solutions()

    def run(self) -> None:
        """Searches until there is a solution, or it is proven that there is none. Raises KeyboardInterrupt when the
        user asks it to stop: what was found until then is stored."""
        under_way = self._read()
        if self.resumed is None and self._search.next_bound is not None:
            self._reporter.begun(self._job.number, self._search.next_bound)
        while not self._search.over:
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
        self._search.go_on([iteration_of(record) for record in records], next_bound)
        if (records or under_way is not None) and not again:
            self.resumed = records[-1].bound if under_way is None else under_way.bound
            self._reporter.resumed(
                self._recorder.job, self.resumed, 0 if under_way is None else under_way.done
            )
        return under_way

    def _lost(self, error: LostStateError) -> IterationState | None:
        if self._recorder is not None:
            self._recorder.confirm()  # a process that took the job over has removed the keys of this attempt
        under_way = self._read(again=True)
        stored = 0 if under_way is None else under_way.done
        if stored > self._stored:
            self._losses.forget()
        self._stored = stored
        self._losses.add(error, restarted=self._executor.restarted())
        self._reporter.notice(f"{error}; going back to what is stored")
        return under_way

    def _iterate(self, under_way: IterationState | None) -> None:
        begun, before = perf_counter(), 0.0 if under_way is None else under_way.seconds
        frontier = self._search.frontier()
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
        self._search.add(frontier, seconds())
        self._losses.forget()
        self._stored = 0
        if self._recorder is None:
            self._paths += frontier.new_solutions
        else:
            self._recorder.ended(self._records()[-1], frontier)
            self._recorder.check()
        self._reporter.iteration(self._search.iterations[-1])
        if self._stop.wanted and not self._search.over:
            if self._recorder is not None:
                self._recorder.settle()
            raise KeyboardInterrupt

    def _poll(self, frontier: Frontier, seconds: float) -> None:
        if self._stop.wanted:
            raise SearchStopped
        if monotonic() - self._committed < COMMIT_SECONDS:
            return
        self._job.store_if_due(self._records())
        if self._recorder is not None:
            self._recorder.check()
            self._recorder.commit(frontier, seconds)
        nodes = self._search.nodes + frontier.nodes_done
        spent = sum(one.seconds for one in self._search.iterations) + seconds
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
        found = self._search.iterations
        next_bounds = [*(one.bound for one in found[1:]), self._search.next_bound]
        return [
            IterationRecord(
                one.bound, one.nodes, one.solutions, one.pieces, one.seconds, next_bound, complete=True
            )
            for one, next_bound in zip(found, next_bounds, strict=False)
        ]


def iteration_of(record: IterationRecord) -> Iteration:
    """An iteration as it is in results."""
    return Iteration(record.bound, record.nodes, record.solutions, record.pieces, record.seconds)
