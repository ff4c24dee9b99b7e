"""Executors of searches: they search the pieces of an iteration."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from farthest.coordinator.search.frontier import Frontier
    from farthest.search.contract import Engine, Node, PieceResult

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
