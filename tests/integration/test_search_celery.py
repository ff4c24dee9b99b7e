"""What the Celery executor of searches does when workers, messages or Redis fail; the worker is played by the tests."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

import small_pieces
from farthest.coordinator import workers
from farthest.coordinator.search.boards import BoardsByWorkers
from farthest.coordinator.search.celery_executor import CelerySearch
from farthest.coordinator.search.executors import SearchStopped
from farthest.coordinator.search.settings import SearchReporter, SearchSettings
from farthest.coordinator.search.solve import Solver
from farthest.environment import LEASE_SECONDS
from farthest.errors import JobError, LostStateError
from farthest.puzzles.catalogue import load
from farthest.search.contract import Engine, Node, PieceResult, Problem
from farthest.search.deepening import Frontier
from farthest.search.engines import SlidingEngine, open_engine
from farthest.search.solvable import random_boards
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.worker.registry import Heartbeat, WorkerRecord
from farthest.worker.search_batches import BoardWork, SearchWork, search_batch
from farthest.worker.work import WorkerProcess

LEASE = 0.3
Message = tuple[str, int, int]


@pytest.fixture
def nodes(redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch) -> RedisNodes:
    monkeypatch.setattr(workers, "BLOCK_SECONDS", 0.05)
    return redis_nodes


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> Problem:
    return small_pieces.problem(monkeypatch.setattr)


class Told(SearchReporter):
    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture(autouse=True)
def short_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator's; workers have their own."""
    monkeypatch.setattr(workers, "LEASE_SECONDS", replace(LEASE_SECONDS, default=str(LEASE)))


@pytest.fixture
def executor(nodes: RedisNodes, problem: Problem, told: Told) -> Iterator[CelerySearch]:
    own = RedisNodes(nodes.urls)
    made = CelerySearch(problem, open_engine(problem, None), "1", told, nodes=own)
    yield made
    made.close()
    with suppress(Exception):
        assert nodes.main.keys("farthest:attempt:*") == []


def iteration(engine: Engine, problem: Problem, bound: int = 34) -> Frontier:
    frontier = Frontier(
        bound, engine.split(problem.board, bound), Node(problem.board, 0), first=False, limit=9
    )
    frontier.begin()
    return frontier


class Worker:
    """Takes messages and gives them to ``heed``, or to a worker's process where that gives False."""

    def __init__(
        self,
        nodes: RedisNodes,
        heed: Callable[[Message], bool] = lambda message: False,
        kind: type[SearchWork] = SearchWork,
    ) -> None:
        self.taken: list[Message] = []
        self._kind = kind
        self._nodes = RedisNodes(nodes.urls)
        self._heed = heed
        self._done = False
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Worker":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done = True
        self._thread.join()
        self._nodes.close()

    def _run(self) -> None:
        process = WorkerProcess("farthest@played")
        queues = ["farthest:farthest.steps", "farthest:farthest.steps\x06\x161"]
        while not self._done:
            found: Any = self._nodes.main.brpop(queues, timeout=0.05)
            if found is None:
                continue
            (run, bound, batch), *_ = json.loads(base64.b64decode(json.loads(found[1])["body"]))
            self.taken.append((run, bound, batch))
            if not self._heed(self.taken[-1]):
                process.run(self._kind, run, bound, batch)
        process.nodes.close()


def expected(executor: CelerySearch, problem: Problem) -> Frontier:
    frontier = iteration(executor.engine, problem)
    while (taken := frontier.take()) is not None:
        frontier.done(taken[0], executor.engine.run(taken[1], frontier.bound, first=False, limit=9))
    return frontier


def test_what_workers_find_is_taken_back(executor: CelerySearch, nodes: RedisNodes, problem: Problem) -> None:
    frontier = iteration(executor.engine, problem)
    with Worker(nodes) as worker:
        executor.run(frontier, lambda: None)
    assert frontier.totals == expected(executor, problem).totals
    assert len(worker.taken) < frontier.totals.pieces  # small pieces share a message


@pytest.mark.slow
def test_a_late_result_of_a_stopped_iteration_is_not_taken_for_one_of_the_next(
    executor: CelerySearch, nodes: RedisNodes, problem: Problem
) -> None:
    """A worker that searches a batch when the iteration is stopped, and stores it when the iteration goes on."""
    stopped = iteration(executor.engine, problem)
    late: list[tuple[Message, list[PieceResult]]] = []

    def stop() -> None:
        if late:
            raise SearchStopped

    def search_slowly(message: Message) -> bool:
        run, bound, batch = message
        search = SearchWork(nodes, run)
        late.append(
            (message, search_batch(executor.engine, search.facts(), search.batch(bound, batch), bound))
        )
        return True

    with Worker(nodes, search_slowly), pytest.raises(SearchStopped):
        executor.run(stopped, stop)
    frontier = iteration(executor.engine, problem)
    # The first pieces wait no more: the batches to come are others.
    for place, node in list(stopped.running.items())[:3]:
        stopped.done(place, executor.engine.run(node, 34, first=False, limit=9))
    frontier.restore(stopped.totals, {**stopped.waiting, **stopped.running}, stopped.beyond)

    def store_late(message: Message) -> bool:
        for (run, bound, batch), pieces in late:
            SearchWork(nodes, run).commit(bound, batch, pieces, "farthest@late")
        return False

    with Worker(nodes, store_late):
        executor.run(frontier, lambda: None)
    assert frontier.totals == expected(executor, problem).totals


@pytest.mark.slow
def test_lost_messages_are_sent_again(executor: CelerySearch, nodes: RedisNodes, problem: Problem) -> None:
    frontier = iteration(executor.engine, problem, 32)
    lost: list[Message] = []

    def lose(message: Message) -> bool:
        is_lost = len(lost) < 2
        lost.extend([message] if is_lost else [])
        return is_lost

    with Worker(nodes, lose) as worker:
        executor.run(frontier, lambda: None)
    assert frontier.complete
    assert executor.resent >= 2
    assert all(worker.taken.count(message) > 1 for message in lost)


def test_what_a_worker_reports_ends_the_search(
    executor: CelerySearch, nodes: RedisNodes, problem: Problem
) -> None:
    def fail(message: Message) -> bool:
        run, bound, batch = message
        report = {
            "depth": bound,
            "block": batch,
            "by": "w/1",
            "kind": "search",
            "error": "failed",
            "message": "no such map",
        }
        nodes.main.rpush(f"{attempts.prefix(run)}done", json.dumps(report))
        return True

    with Worker(nodes, fail), pytest.raises(JobError, match="worker w/1: no such map"):
        executor.run(iteration(executor.engine, problem), lambda: None)


@pytest.mark.slow
def test_lost_state_is_noticed_and_a_new_run_begun(
    executor: CelerySearch, nodes: RedisNodes, problem: Problem
) -> None:
    looks: list[int] = []

    def empty() -> None:
        looks.append(1)
        if len(looks) == 2:
            nodes.main.flushall()

    with Worker(nodes) as worker:
        with pytest.raises(LostStateError):
            executor.run(iteration(executor.engine, problem), empty)
        frontier = iteration(executor.engine, problem)
        executor.run(frontier, lambda: None)
    assert frontier.totals == expected(executor, problem).totals
    assert len({run for run, _, _ in worker.taken}) == 2


def test_that_nobody_works_is_said_once(
    executor: CelerySearch, problem: Problem, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "ALONE_SECONDS", 0.0)
    monkeypatch.setattr(workers, "ROLL_CALL_SECONDS", 0.0)
    looks: list[int] = []

    def stop() -> None:
        looks.append(1)
        if len(looks) == 4:
            raise SearchStopped

    frontier = iteration(executor.engine, problem)
    with pytest.raises(SearchStopped):
        executor.run(frontier, stop)
    assert told.notices == ["no worker is alive: start some with `farthest worker`; waiting"]
    assert frontier.running


def test_workers_of_another_version_are_named(
    executor: CelerySearch, nodes: RedisNodes, problem: Problem
) -> None:
    old = WorkerRecord("farthest@old", "here", 1, "0.0.7", attempts.PROTOCOL + 1, 1, "")
    Heartbeat(nodes, old, list).beat()
    with pytest.raises(JobError, match=r"0\.0\.7"):
        executor.run(iteration(executor.engine, problem), lambda: None)


@pytest.fixture
def boards_by_workers(nodes: RedisNodes, told: Told) -> Iterator[tuple[Solver, BoardsByWorkers]]:
    solver = Solver(load("8-puzzle"), "goal", "manhattan", SearchSettings(all_solutions=True, limit=3))
    made = BoardsByWorkers(solver, told, nodes=RedisNodes(nodes.urls))
    yield solver, made
    made.close()
    assert nodes.main.keys("farthest:attempt:*") == []


def test_boards_that_workers_search_are_as_any_others(
    nodes: RedisNodes, boards_by_workers: tuple[Solver, BoardsByWorkers]
) -> None:
    solver, workers = boards_by_workers
    boards = random_boards(solver.puzzle, 12, 5)
    with Worker(nodes, kind=BoardWork):
        for number, board in enumerate(boards):
            workers.send(number, board)
        found = [workers.take(number) for number in range(len(boards))]
    assert workers.take(99) is None
    for board, outcome in zip(boards, found, strict=True):
        expected = solver.solve(board)
        assert outcome is not None
        assert (outcome.digest, outcome.paths) == (expected.digest, expected.paths)
        assert [one.pieces for one in outcome.iterations] == [one.pieces for one in expected.iterations]


def test_a_board_that_is_to_be_split_is_left_to_the_coordinator(
    nodes: RedisNodes,
    boards_by_workers: tuple[Solver, BoardsByWorkers],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SlidingEngine, "split_from", 100)
    solver, workers = boards_by_workers
    with Worker(nodes, kind=BoardWork):
        workers.send(1, solver.puzzle.definition.parse_board("867254301"))
        workers.send(2, solver.puzzle.definition.parse_board("123456708"))
        assert workers.take(1) is None
        assert workers.take(2) is not None


def test_boards_that_redis_has_lost_are_left_to_the_coordinator(
    nodes: RedisNodes, boards_by_workers: tuple[Solver, BoardsByWorkers], told: Told
) -> None:
    solver, workers = boards_by_workers
    board = solver.puzzle.definition.parse_board("867254301")
    workers.send(1, board)
    nodes.main.flushall()
    assert workers.take(1) is None
    assert (
        "Redis has lost the boards of a batch; the boards that were sent are searched again"
        in told.notices[0]
    )
    with Worker(nodes, kind=BoardWork):
        workers.send(2, board)
        assert workers.take(2) is not None
