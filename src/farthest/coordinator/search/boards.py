"""Small searches of many boards by workers: a board is an item of work, and several are searched at once.

A worker searches the iterations of a board that have one piece (worker/search_batches.py, ``BoardWork``). If the last
one has a solution, the outcome is made of them, and is that of any other search of the board. Else the coordinator
searches the board, and workers share its pieces.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from farthest.coordinator.attempt import attempt_name
from farthest.coordinator.search.settings import SearchOutcome, SearchReporter
from farthest.coordinator.search.storage import search_digest
from farthest.coordinator.workers import Outstanding, Workers
from farthest.environment import REDIS_WAIT_SECONDS
from farthest.errors import LostStateError, StorageError
from farthest.search.contract import Node, Problem, Way, engine_fields
from farthest.search.deepening import Deepening
from farthest.search.engines import engine_with
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.worker.search_batches import BoardWork, SearchFacts, Timed

if TYPE_CHECKING:
    from farthest.coordinator.search.solve import Solver
    from farthest.puzzles.definition import Board

AHEAD = 4
"""Boards that are sent for each process of a worker: small ones take less time than a message."""
LEAST_AHEAD = 16
BOARDS = 0
"""The depth of this work."""


class BoardsByWorkers:
    """Sends boards to workers, and takes back what they have found. Raises SettingError, StorageError or
    UnavailableError at once where Redis cannot be used."""

    def __init__(self, solver: Solver, reporter: SearchReporter, *, nodes: RedisNodes | None = None) -> None:
        self._solver = solver
        self._reporter = reporter
        self._nodes = nodes or RedisNodes.from_environment(REDIS_WAIT_SECONDS.number(), reporter.notice)
        self._nodes.check()
        self._workers = Workers(self._nodes)
        self._name = attempt_name(None)
        self._work: BoardWork | None = None
        self._heuristic = ""  # of the attempt
        self._outstanding: Outstanding | None = None
        self._sent: dict[int, Problem] = {}
        self._found: dict[int, list[Timed]] = {}
        self.ahead = LEAST_AHEAD

    def send(self, number: int, board: Board) -> None:
        """Lets workers search a board, if they may. ``number``: one that no other board has. Raises as
        ``Solver.open``."""
        problem = self._solver.problem_ahead(board)
        if problem is None:
            return
        try:
            if problem.heuristic != self._heuristic:
                self._begin(problem)
            if self._work is not None and self._outstanding is not None:
                self._work.put(BOARDS, {number: [Node(board, 0)]})
                self._outstanding.send([number])
                self._sent[number] = problem
        except LostStateError as error:
            self._lost(error)

    def take(self, number: int) -> SearchOutcome | None:
        """The outcome of the search for a board that was sent, when it has ended; None: workers have not searched it to
        the end. Raises UnavailableError when Redis stays away, JobError when the workers cannot do it."""
        while number in self._sent and number not in self._found:
            try:
                self._wait()
            except LostStateError as error:
                self._lost(error)
        problem, found = self._sent.pop(number, None), self._found.pop(number, [])
        if problem is None or not found:
            return None
        if not found[-1][0].solutions:
            return None
        return self._outcome(problem, found)

    def _outcome(self, problem: Problem, found: list[Timed]) -> SearchOutcome:
        """Of iterations that end a search, one piece each. It is no job."""
        settings, heuristic = self._solver.settings, self._solver.open(problem.heuristic)
        every = settings.all_solutions
        search = Deepening(
            engine_with(problem, heuristic), problem.board, first=not every, limit=settings.limit
        )
        paths: list[Way] = []
        for piece, seconds in found:
            frontier = search.frontier()
            (place, _) = frontier.take() or ((), None)
            frontier.done(place, piece)
            search.add(frontier, seconds)
            paths += frontier.new_solutions
        length = search.length(paths)
        bounds = [(one.bound, one.nodes) for one in search.iterations]
        return SearchOutcome(
            job=None,
            puzzle=problem.puzzle.name,
            board=problem.puzzle.definition.format_board(problem.board),
            target=problem.target,
            heuristic=problem.heuristic,
            algorithm=settings.algorithm,
            length=length,
            solutions=search.solutions,
            paths=tuple(paths),
            optimal=heuristic.admissible,
            bound=length if heuristic.admissible else None,
            nodes=search.nodes,
            expanded=None,
            iterations=tuple(search.iterations),
            seconds=sum(seconds for _, seconds in found),
            digest=search_digest(length, search.solutions, bounds, tuple(paths)),
            resumed=None,
            definition=problem.puzzle,
        )

    def close(self) -> None:
        """What workers still do has no effect."""
        with suppress(StorageError), self._nodes.waiting(0):  # a later coordinator removes what is left
            self._drop()
        self._workers.close()
        self._nodes.close()

    def _begin(self, problem: Problem) -> None:
        """An attempt for this heuristic, if its searches have iterations of one piece; boards of that before are waited
        for."""
        while self._outstanding:
            self._wait()
        self._drop()
        self._heuristic = problem.heuristic
        engine, settings = engine_with(problem, self._solver.open(problem.heuristic)), self._solver.settings
        if not engine.split_from:
            return
        every = settings.all_solutions
        facts = SearchFacts(problem, not every, settings.limit if every else 1, engine_fields(engine))
        self._work = BoardWork(self._nodes, attempts.new_attempt(self._name))
        self._work.make_known(facts.fields())
        self._work.begin(BOARDS)
        self._outstanding = Outstanding(self._work, BOARDS, self._workers.publisher, self._put_again)
        self._workers.count_soon()

    def _put_again(self, numbers: list[int]) -> None:
        assert self._work is not None, "they were sent"
        self._work.put(BOARDS, {number: [Node(self._sent[number].board, 0)] for number in numbers})

    def _wait(self) -> None:
        """Takes back what is reported within a second."""
        assert self._work is not None, "boards were sent"
        assert self._outstanding is not None, "boards were sent"
        alive = self._workers.count()
        if alive is not None:
            self._outstanding.alive = alive.workers > 0
            self.ahead = max(LEAST_AHEAD, AHEAD * alive.processes)
            if alive.note:
                self._reporter.notice(alive.note)
        ended = self._outstanding.wait()
        self._found |= self._work.records(BOARDS, ended, list[Timed])
        self._work.withdraw(BOARDS, ended)

    def _lost(self, error: LostStateError) -> None:
        """The boards that were sent are searched without workers' help, or with that of an attempt of their own."""
        self._reporter.notice(f"{error}; the boards that were sent are searched again")
        self._found |= {number: [] for number in self._sent if number not in self._found}
        self._drop()

    def _drop(self) -> None:
        work, self._work, self._outstanding, self._heuristic = self._work, None, None, ""
        if work is not None:
            work.drop()
