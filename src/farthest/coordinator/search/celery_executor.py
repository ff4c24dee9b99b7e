"""The executor of searches whose pieces are searched by Celery workers, on any hosts.

A message is for a batch of consecutive pieces; some more batches are sent than the workers have processes. Workers
store what they find and report it on the attempt's done-list (coordinator/workers.py); pieces that a batch has left
over wait again. A single piece is searched here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count, islice
from typing import TYPE_CHECKING, Any

from farthest.coordinator.search.executors import SearchExecutor
from farthest.coordinator.workers import Outstanding, Queued, Workers
from farthest.environment import REDIS_WAIT_SECONDS
from farthest.errors import LostStateError, StorageError
from farthest.search.contract import Engine, Node, PieceResult, Problem, engine_fields
from farthest.search.deepening import Frontier, Place, search_next
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.worker.search_batches import SearchFacts, SearchWork, enough

if TYPE_CHECKING:
    from farthest.coordinator.search.settings import SearchReporter

AHEAD = 2
"""Batches that are sent for each process of a worker: it searches one, and need not wait for the next. Work beyond the
first solution is wasted."""
LEAST_AHEAD = 4
MOST_IN_A_BATCH = 64


class CelerySearch(SearchExecutor):
    """Searches over Redis. ``name``: of the search, the same in all attempts at it. ``alive``: how many
    workers are; ``resent``: messages sent again. Raises SettingError, StorageError or UnavailableError at once where
    Redis cannot be used."""

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        name: str,
        reporter: SearchReporter,
        *,
        nodes: RedisNodes | None = None,
    ) -> None:
        self._problem = problem
        self.engine = engine
        self._name = name
        self.reporter = reporter
        self._nodes = nodes or RedisNodes.from_environment(REDIS_WAIT_SECONDS.number(), reporter.notice)
        self._nodes.check()
        self.workers = Workers(self._nodes)
        self._attempt: SearchWork | None = None
        # No number twice: a worker may still search a batch of an iteration that was stopped.
        self.batch_numbers = count()
        self.alive = 0
        self.resent = 0
        self.queued = Queued()

    def while_waiting(self, action: Callable[[], None]) -> None:
        """Sets a function that is called regularly while Redis is away; it may raise an exception."""
        self._nodes.while_waiting = action

    def run(self, frontier: Frontier, poll: Callable[[], None]) -> None:
        """Raises LostStateError when Redis has lost the attempt, UnavailableError when it stays
        away, JobError when the workers cannot do it."""
        while not frontier.complete and len(frontier.waiting) == 1 and not frontier.running:
            search_next(self.engine, frontier)
            poll()
        if frontier.complete:
            return
        try:
            _Iteration(self._made(frontier), frontier, self).run(poll)
        except LostStateError:
            self._drop()
            raise

    def progress(self) -> dict[str, Any]:
        return {"workers": self.alive, "resent": self.resent, **self.queued.progress()}

    def restarted(self) -> bool:
        return self._nodes.restarted()

    def close(self) -> None:
        """What workers still do has no effect."""
        with suppress(StorageError), self._nodes.waiting(0):  # a later coordinator removes what is left
            self._drop()
        self.workers.close()
        self._nodes.close()

    def _made(self, frontier: Frontier) -> SearchWork:
        """The attempt, made at the first call: then the keys that earlier attempts have left in Redis are removed."""
        if self._attempt is None:
            self._nodes.call(lambda: attempts.drop_dead(self._nodes, self._name))
            facts = SearchFacts(self._problem, frontier.first, frontier.limit, engine_fields(self.engine))
            self._attempt = SearchWork(self._nodes, attempts.new_attempt(self._name))
            self._attempt.make_known(facts.fields())
        return self._attempt

    def _drop(self) -> None:
        if self._attempt is not None:
            self._attempt.drop()
            self._attempt = None


class _Iteration:
    """One iteration that is under way in the workers."""

    def __init__(self, attempt: SearchWork, frontier: Frontier, executor: CelerySearch) -> None:
        self._attempt = attempt
        self._frontier = frontier
        self._executor = executor
        self._bound = frontier.bound
        self._ahead = LEAST_AHEAD
        self._sent: dict[int, list[tuple[Place, Node]]] = {}
        self._nodes = self._pieces = 0  # pieces that workers have searched
        self._enough = enough(executor.engine)
        self._resent = executor.resent
        self._outstanding = Outstanding(attempt, self._bound, executor.workers.publisher, self._put)

    def run(self, poll: Callable[[], None]) -> None:
        self._executor.workers.count_soon()
        self._attempt.begin(self._bound)
        while not self._frontier.complete:
            poll()
            self._count_workers()
            self._send()
            self._take_back(self._outstanding.wait())
            self._executor.resent = self._resent + self._outstanding.resent
            self._executor.queued = self._outstanding.queued()

    def _count_workers(self) -> None:
        alive = self._executor.workers.count()
        if alive is None:
            return
        self._outstanding.alive = alive.workers > 0
        self._ahead = max(LEAST_AHEAD, AHEAD * alive.processes)
        if alive.certain:
            self._executor.alive = alive.workers
        if alive.note:
            self._executor.reporter.notice(alive.note)

    def _send(self) -> None:
        new: list[int] = []
        size = self._batch_size()
        while len(self._outstanding) + len(new) < self._ahead:
            batch = list(islice(iter(self._frontier.take, None), size))
            if not batch:
                break
            number = next(self._executor.batch_numbers)
            self._sent[number] = batch
            new.append(number)
        self._put(new)
        self._outstanding.send(new)

    def _batch_size(self) -> int:
        """The waiting pieces divided evenly, so that each process has some; not more than a batch is likely to search,
        judging by the pieces so far."""
        likely = MOST_IN_A_BATCH if not self._nodes else self._enough * self._pieces // self._nodes
        return 1 + min(MOST_IN_A_BATCH - 1, len(self._frontier.waiting) // self._ahead, likely)

    def _put(self, numbers: list[int]) -> None:
        self._attempt.put(self._bound, {n: [node for _, node in self._sent[n]] for n in numbers})

    def _take_back(self, numbers: set[int]) -> None:
        for number, pieces in self._attempt.records(self._bound, numbers, list[PieceResult]).items():
            batch = self._sent.pop(number)
            for (place, _), piece in zip(batch, pieces, strict=False):
                self._frontier.done(place, piece)
                self._nodes += piece.nodes
                self._pieces += 1
            for place, _ in batch[len(pieces) :]:
                self._frontier.give_back(place)
        if numbers:
            running = self._frontier.running
            unwanted = [
                n for n, batch in self._sent.items() if not any(place in running for place, _ in batch)
            ]
            self._outstanding.forget(unwanted)
            self._attempt.withdraw(self._bound, [*numbers, *unwanted])
            for number in unwanted:
                del self._sent[number]
