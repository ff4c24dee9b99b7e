"""Pieces of searches as a worker's process runs them, here in this process: messages late, doubled, lost or damaged."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import small_pieces
from farthest.errors import LateStepError, LostStateError
from farthest.puzzles.catalogue import load
from farthest.search.contract import Node, PieceResult, Problem, engine_fields
from farthest.search.engines import open_engine
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.worker.leases import Leases
from farthest.worker.search_batches import SearchFacts, SearchWork, search_batch
from farthest.worker.work import WorkerProcess

BOUND = 36


@pytest.fixture
def nodes(redis_nodes: RedisNodes) -> RedisNodes:
    return redis_nodes


@pytest.fixture
def process(nodes: RedisNodes) -> Iterator[WorkerProcess]:
    made = WorkerProcess("farthest@test")
    yield made
    made.nodes.close()


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> Problem:
    small_pieces.cut(small_pieces.CUT, monkeypatch.setattr)
    puzzle = load(small_pieces.PUZZLE)
    return Problem(puzzle, puzzle.definition.parse_board(small_pieces.BOARD), "goal", "manhattan")


@pytest.fixture
def root(problem: Problem) -> Node:
    return Node(problem.board, 0)


@pytest.fixture
def run(nodes: RedisNodes, problem: Problem, root: Node) -> Iterator[SearchWork]:
    """A search with one piece under way, that from the board itself."""
    made = begin(nodes, problem, engine_fields(open_engine(problem, None)))
    made.put(BOUND, {0: [root]})
    yield made
    made.drop()


def begin(nodes: RedisNodes, problem: Problem, engine: dict[str, Any]) -> SearchWork:
    made = SearchWork(nodes, attempts.new_attempt("1"))
    made.make_known(SearchFacts(problem, first=False, limit=5, engine=engine).fields())
    made.begin(BOUND)
    return made


def told(run: SearchWork) -> list[dict[str, Any]]:
    entries: Any = run.nodes.main.lrange(run.keys.done_key, 0, -1)
    return [json.loads(entry) for entry in entries]


def test_a_piece_is_searched_and_told(
    process: WorkerProcess, run: SearchWork, problem: Problem, root: Node
) -> None:
    process.run(SearchWork, run.attempt, BOUND, 0)
    assert told(run) == [{"depth": BOUND, "block": 0, "by": process.holder, "kind": "search"}]
    assert run.finished(BOUND) == {0}
    expected = open_engine(problem, None).run(root, BOUND, first=False, limit=5)
    assert expected.rest
    assert run.records(BOUND, [0], list[PieceResult]) == {0: [expected]}
    assert Leases(run.nodes, run.attempt, "step", 5).held(BOUND, [0]) == {}


def test_small_pieces_are_searched_in_one_go(
    process: WorkerProcess, run: SearchWork, problem: Problem, root: Node
) -> None:
    """Until they have taken half of the nodes of a large one."""
    engine = open_engine(problem, None)
    small = engine.run(root, BOUND, first=False, limit=5).rest[:3]
    run.put(BOUND, {1: [*small, root, root]})
    process.run(SearchWork, run.attempt, BOUND, 1)
    (pieces,) = run.records(BOUND, [1], list[PieceResult]).values()
    assert pieces == [engine.run(node, BOUND, first=False, limit=5) for node in (*small, root)]
    assert sum(piece.nodes for piece in pieces[:3]) < engine.budget // 2


def test_a_batch_ends_with_the_solution_that_ends_the_search(problem: Problem, root: Node) -> None:
    class Solving:
        """Each piece has a solution."""

        budget = 10**6
        in_a_second = 10**6

        def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
            return PieceResult(1, 1, (("R",),), None, ())

    engine: Any = Solving()
    for first, pieces in (True, 1), (False, 3):
        facts = SearchFacts(problem, first=first, limit=5, engine={})
        assert len(search_batch(engine, facts, [root] * 3, BOUND)) == pieces


def test_the_first_to_store_a_result_has_searched_the_piece(process: WorkerProcess, run: SearchWork) -> None:
    first = PieceResult(1, 0, (), None, ())
    assert run.commit(BOUND, 0, [first], "another")
    process.run(SearchWork, run.attempt, BOUND, 0)
    assert run.commit(BOUND, 0, [PieceResult(2, 0, (), None, ())], "a third")
    assert [entry["by"] for entry in told(run)] == ["another"]
    assert run.records(BOUND, [0], list[PieceResult]) == {0: [first]}


def test_a_piece_that_another_searches_is_left_to_it(process: WorkerProcess, run: SearchWork) -> None:
    assert Leases(run.nodes, run.attempt, "search", 5).take(BOUND, 0, "another")
    process.run(SearchWork, run.attempt, BOUND, 0)
    assert run.finished(BOUND) == set()


def test_late_messages_change_nothing(process: WorkerProcess, run: SearchWork) -> None:
    process.run(SearchWork, run.attempt, BOUND, 7)  # nobody waits for it
    process.run(SearchWork, run.attempt, BOUND - 2, 0)  # of the iteration before
    process.run(SearchWork, "1-over", BOUND, 0)
    run.withdraw(BOUND, [0])
    process.run(SearchWork, run.attempt, BOUND, 0)
    assert not run.commit(BOUND, 0, [PieceResult(1, 0, (), None, ())], "another")
    assert (told(run), run.finished(BOUND)) == ([], set())
    with pytest.raises(LateStepError):
        run.batch(BOUND, 0)
    assert run.nodes.main.keys("farthest:attempt:1-over:*") == []


@pytest.mark.parametrize("damage", [b"", b"00000000 [[0],0,-1,[]]", b"\xff\xfe"])
def test_a_damaged_node_is_told(process: WorkerProcess, run: SearchWork, damage: bytes) -> None:
    run.nodes.main.hset(f"{attempts.prefix(run.attempt)}p:{BOUND}", "0", damage)
    process.run(SearchWork, run.attempt, BOUND, 0)
    (entry,) = told(run)
    assert (entry["error"], "damaged" in entry["message"]) == ("lost", True)


def test_a_node_of_another_piece_is_not_taken(process: WorkerProcess, run: SearchWork) -> None:
    key = f"{attempts.prefix(run.attempt)}p:{BOUND}"
    text: Any = run.nodes.main.hget(key, "0")
    run.nodes.main.hset(key, "1", text)
    process.run(SearchWork, run.attempt, BOUND, 1)
    assert [entry["error"] for entry in told(run)] == ["lost"]


def test_a_damaged_or_missing_result_is_lost(run: SearchWork) -> None:
    run.commit(BOUND, 0, [PieceResult(1, 0, (), None, ())], "another")
    with pytest.raises(LostStateError, match="missing"):
        run.records(BOUND, [0, 3], list[PieceResult])
    run.nodes.main.hset(f"{attempts.prefix(run.attempt)}r:{BOUND}", "0", b"[1]")
    with pytest.raises(LostStateError, match="damaged"):
        run.records(BOUND, [0], list[PieceResult])


def test_an_emptied_redis_is_noticed(run: SearchWork) -> None:
    run.nodes.main.flushall()
    with pytest.raises(LostStateError, match="lost the search"):
        run.finished(BOUND)
    with pytest.raises(LostStateError):
        run.begin(BOUND + 2)


def test_the_next_iteration_removes_the_last(process: WorkerProcess, run: SearchWork) -> None:
    process.run(SearchWork, run.attempt, BOUND, 0)
    run.begin(BOUND + 2)
    assert run.nodes.main.keys(f"{attempts.prefix(run.attempt)}*") == [
        f"{attempts.prefix(run.attempt)}meta".encode()
    ]
    run.drop()
    assert run.nodes.main.keys("farthest:attempt:*") == []
    assert run.nodes.main.zrange(attempts.ATTEMPTS, 0, -1) == []


def test_runs_of_another_version_or_engine_are_told(
    process: WorkerProcess, run: SearchWork, nodes: RedisNodes, problem: Problem, root: Node
) -> None:
    nodes.main.hset(f"{attempts.prefix(run.attempt)}meta", "protocol", "1")
    process.run(SearchWork, run.attempt, BOUND, 0)
    other = begin(nodes, problem, {"engine": "Other"})
    other.put(BOUND, {0: [root]})
    process.run(SearchWork, other.attempt, BOUND, 0)
    for entry in (*told(run), *told(other)):
        assert (entry["error"], "same version" in entry["message"]) == ("failed", True)
    assert len(told(other)) == 1
    other.drop()


def test_dead_searches_are_removed_as_dead_enumerations_are(run: SearchWork, nodes: RedisNodes) -> None:
    attempts.drop_dead(nodes, "2-other")
    assert nodes.main.keys(f"{attempts.prefix(run.attempt)}*")
    attempts.drop_dead(nodes, "1")
    assert nodes.main.keys(f"{attempts.prefix(run.attempt)}*") == []
