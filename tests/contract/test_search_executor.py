"""What every executor of searches promises. A new executor is one more line in EXECUTORS."""

import os
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

import small_pieces
from cluster import Service, until
from farthest.coordinator.search.celery_executor import CelerySearch
from farthest.coordinator.search.executors import SearchExecutor, SearchStopped, ThreadsSearch
from farthest.coordinator.search.settings import SearchReporter
from farthest.puzzles.catalogue import load
from farthest.search.contract import Engine, Node, Problem, Way
from farthest.search.deepening import Frontier, Totals
from farthest.search.engines import open_engine
from farthest.stores.redis.connections import RedisNodes
from farthest.worker.registry import list_workers
from search_trees import TreeEngine
from servers import RedisServer

Make = Callable[[pytest.FixtureRequest, Problem, Engine], SearchExecutor]
LIMIT = 10


def threads(number: int) -> Make:
    return lambda request, problem, engine: ThreadsSearch(engine, number)


def celery(request: pytest.FixtureRequest, problem: Problem, engine: Engine) -> SearchExecutor:
    nodes: RedisNodes = request.getfixturevalue("nodes_of_a_worker")
    own = RedisNodes(nodes.urls)
    return CelerySearch(problem, engine, "1", SearchReporter(), nodes=own)


EXECUTORS: dict[str, Make] = {
    "one thread": threads(1),
    "two threads": threads(2),
    "five threads": threads(5),
    "celery": celery,
}


@pytest.fixture(scope="module")
def nodes_of_a_worker(
    redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RedisNodes]:
    """The nodes of a worker with two processes, which no other test uses meanwhile."""
    redis_server.flush()
    nodes = RedisNodes([redis_server.url])
    environment = {
        **os.environ,
        "FARTHEST_REDIS_URL": redis_server.url,
        "FARTHEST_TEST_PIECES": small_pieces.CUT,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    words = ["worker", "--concurrency", "2"]
    worker = Service(tmp_path_factory.mktemp("worker"), "worker", words, environment, 0.0)

    def there() -> object:
        assert worker.alive, worker.said()
        return list_workers(nodes) or None

    until(there, 30, "the worker is there", 0.02)
    yield nodes
    nodes.close()
    worker.kill()


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> Problem:
    small_pieces.cut(small_pieces.CUT, monkeypatch.setattr)
    puzzle = load(small_pieces.PUZZLE)
    return Problem(puzzle, puzzle.definition.parse_board(small_pieces.BOARD), "goal", "manhattan")


@pytest.fixture
def engine(problem: Problem) -> Engine:
    return open_engine(problem, None)


@pytest.fixture(params=[*list(EXECUTORS)[:-1], pytest.param("celery", marks=pytest.mark.slow)])
def executor(request: pytest.FixtureRequest, problem: Problem, engine: Engine) -> Iterator[SearchExecutor]:
    made = EXECUTORS[request.param](request, problem, engine)
    yield made
    made.close()


def begun(engine: Engine, board: tuple[int, ...], bound: int, *, first: bool, split: bool = True) -> Frontier:
    cut = engine.split(board, bound) if split else None
    frontier = Frontier(bound, cut, Node(board, 0), first=first, limit=LIMIT)
    frontier.begin()
    return frontier


def in_order(engine: Engine, frontier: Frontier) -> tuple[Totals, list[Way]]:
    while not frontier.complete:
        taken = frontier.take()
        assert taken is not None
        limit = 1 if frontier.first else LIMIT
        found = engine.run(taken[1], frontier.bound, first=frontier.first, limit=limit)
        frontier.done(taken[0], found)
    return frontier.totals, frontier.new_solutions


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("split", [True, False])
def test_an_iteration_is_that_of_one_search_in_order(
    executor: SearchExecutor, problem: Problem, engine: Engine, first: bool, split: bool
) -> None:
    expected = in_order(engine, begun(engine, problem.board, small_pieces.LENGTH, first=first, split=split))
    frontier = begun(engine, problem.board, small_pieces.LENGTH, first=first, split=split)
    executor.run(frontier, lambda: None)
    assert (frontier.totals, frontier.new_solutions) == expected
    assert frontier.totals.solutions == (1 if first else small_pieces.SOLUTIONS)
    assert frontier.totals.pieces > 20


def test_iterations_follow_one_another(executor: SearchExecutor, problem: Problem, engine: Engine) -> None:
    for bound in (30, 32, 34):
        expected = in_order(engine, begun(engine, problem.board, bound, first=False))
        frontier = begun(engine, problem.board, bound, first=False)
        executor.run(frontier, lambda: None)
        assert (frontier.totals, frontier.new_solutions) == expected
        assert frontier.totals.next_bound == bound + 2


def test_a_search_can_be_stopped_and_gone_on_with(
    executor: SearchExecutor, problem: Problem, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = in_order(engine, begun(engine, problem.board, 34, first=False))
    small_pieces.cut(f"{small_pieces.CUT} 0.001", monkeypatch.setattr)
    looks: list[int] = []

    def look() -> None:
        looks.append(1)
        if len(looks) == 2:
            raise SearchStopped

    frontier = begun(engine, problem.board, 34, first=False)
    with pytest.raises(SearchStopped):
        executor.run(frontier, look)
    assert not frontier.complete
    again = begun(engine, problem.board, 34, first=False)
    again.restore(frontier.totals, {**frontier.waiting, **frontier.running}, frontier.beyond)
    executor.run(again, lambda: None)
    solutions = frontier.new_solutions + again.new_solutions
    assert (again.totals, solutions) == expected


@pytest.mark.parametrize("number", [1, 3])
def test_what_goes_wrong_in_a_thread_is_raised(number: int) -> None:
    class Broken(TreeEngine):
        def run(self, *arguments: object, **options: object) -> object:  # type: ignore[override]
            raise ZeroDivisionError("a defect")

    engine = Broken(3)
    executor = ThreadsSearch(engine, number)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        executor.run(begun(engine, (), 5, first=False), lambda: None)  # type: ignore[arg-type]
    executor.close()
    assert not [one for one in threading.enumerate() if one.name.startswith("farthest-search")]
