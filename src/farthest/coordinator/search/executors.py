"""Where the pieces of an iteration are searched: the contract, and threads; celery_executor.py has workers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from farthest.search.deepening import Frontier, Place, search_next, search_piece

if TYPE_CHECKING:
    from farthest.search.contract import Engine, PieceResult

POLL_SECONDS = 0.2
"""Between two polls while threads search."""

TAKEN_BY_A_THREAD = 2
"""Pieces that are taken for each thread: it searches one, and need not wait for the next."""


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
