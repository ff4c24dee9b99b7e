"""Searches whose workers and coordinators are killed by kill -9, or stopped by Ctrl-C: the same nodes and solutions."""

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import farthest
import small_pieces
from cluster import Cluster, Service, until
from farthest.coordinator.search.settings import SearchOutcome, SearchSettings
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.searches import Searches
from searching import solve_problem
from servers import RedisServer

SEED = int(os.environ.get("FARTHEST_TEST_SEED", "0")) or random.SystemRandom().getrandbits(32)
WORDS = ["solve", small_pieces.PUZZLE, small_pieces.BOARD, "--heuristic", "manhattan", "--json", "--store"]


@pytest.fixture(params=["first", "all"])
def wanted(request: pytest.FixtureRequest) -> list[str]:
    return ["--all"] if request.param == "all" else []


@pytest.fixture
def expected(wanted: list[str], monkeypatch: pytest.MonkeyPatch) -> SearchOutcome:
    problem = small_pieces.problem(monkeypatch.setattr)
    return solve_problem(problem, SearchSettings(all_solutions=bool(wanted), threads=1))


@pytest.fixture
def cluster(redis_server: RedisServer, tmp_path: Path, wanted: list[str]) -> Iterator[Cluster]:
    """Pieces take some time, so that a search lasts long enough to be disturbed: the fewer they are the more."""
    seconds = 0.004 if wanted else 0.01
    redis_server.flush()
    settings = {"TEST_PIECES": f"{small_pieces.CUT} {seconds}", "LEASE_SECONDS": "1"}
    with Cluster(tmp_path, redis_server.url, f"sqlite:///{tmp_path / 'maps.db'}", settings) as made:
        yield made


def document(service: Service) -> dict[str, Any]:
    """What a search that has ended has printed."""
    found: dict[str, Any] = json.loads(service.said().splitlines()[-1])
    return found


def is_the_same(found: dict[str, Any], expected: SearchOutcome) -> bool:
    """Whether nothing but times differs."""
    iterations = [
        (one["bound"], one["nodes"], one["solutions"], one["pieces"]) for one in found["iterations"]
    ]
    return (
        found["digest"] == expected.digest
        and (found["length"], found["nodes"]) == (small_pieces.LENGTH, expected.nodes)
        and found["solutions"] == expected.solutions
        and iterations == [(one.bound, one.nodes, one.solutions, one.pieces) for one in expected.iterations]
    )


def ended(service: Service) -> bool | None:
    return None if service.alive else True


def committed(cluster: Cluster) -> tuple[int, int]:
    """The bound of the iteration under way, and how many of its pieces are stored."""
    with open_database(cluster.database_url, create=True) as database:
        jobs = Jobs(database).list()
        rows = Searches(database).iterations(jobs[-1].id) if jobs else []
        return (rows[-1].bound, rows[-1].pieces) if rows else (0, 0)


def more_than(cluster: Cluster, before: tuple[int, int]) -> Callable[[], bool | None]:
    """Asks whether more is stored."""
    return lambda: committed(cluster) > before or None


@pytest.mark.parametrize("wanted", ["all"], indirect=True)
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.night
def test_any_number_of_workers_counts_the_same(
    cluster: Cluster, workers: int, wanted: list[str], expected: SearchOutcome
) -> None:
    for concurrency in (1,) * workers if workers < 4 else (2, 2):
        cluster.add_worker(concurrency)
    cluster.ready()
    search = cluster.start(*WORDS, *wanted, "--workers", "celery")
    until(lambda: ended(search), 60, "the search ends")
    assert is_the_same(document(search), expected)
    assert cluster.redis.keys("farthest:attempt:*") == []


@pytest.mark.parametrize(
    "wanted",
    [pytest.param("first", marks=pytest.mark.night), pytest.param("all", marks=pytest.mark.slow)],
    indirect=True,
)
def test_killed_workers_change_nothing(cluster: Cluster, wanted: list[str], expected: SearchOutcome) -> None:
    rng = random.Random(SEED)
    cluster.add_worker(2)
    cluster.add_worker(1)
    cluster.ready()
    search = cluster.start(*WORDS, *wanted, "--workers", "celery")
    until(lambda: cluster.redis.keys("farthest:working:*") or None, 60, "workers search")
    for _ in range(4):
        time.sleep(rng.uniform(0.05, 0.3))
        if rng.random() < 0.5:
            with suppress(ProcessLookupError):  # it is just being replaced
                cluster.workers[0].kill_child(rng.randrange(2))
        else:
            cluster.remove(cluster.workers[-1])
            cluster.add_worker(1)
    until(lambda: ended(search), 60, "the search ends")
    assert is_the_same(document(search), expected), f"seed {SEED}\n{cluster.logs()}"


@pytest.mark.parametrize(
    ("wanted", "workers"),
    [
        pytest.param("first", "threads", marks=pytest.mark.night),
        pytest.param("all", "celery", marks=pytest.mark.slow),
        pytest.param("first", "celery", marks=pytest.mark.night),
        pytest.param("all", "threads", marks=pytest.mark.night),
    ],
    indirect=["wanted"],
)
def test_killed_coordinators_change_nothing(
    cluster: Cluster, workers: str, wanted: list[str], expected: SearchOutcome
) -> None:
    """Each goes on with what the one before has stored, the last one with the other executor."""
    rng = random.Random(SEED)
    cluster.add_worker(2)
    cluster.ready()
    command = [*WORDS, *wanted, "--threads", "2"]
    for _ in range(2):
        search = cluster.start(*command, "--workers", workers)
        until(more_than(cluster, committed(cluster)), 60, "something is stored")
        time.sleep(rng.uniform(0, 0.2))
        search.kill()
    other = {"threads": "celery", "celery": "threads"}[workers]
    search = cluster.start(*command, "--workers", other)
    until(lambda: ended(search), 60, "the search ends")
    found = document(search)
    assert is_the_same(found, expected), f"seed {SEED}\n{cluster.logs()}"
    assert found["resumed"] is not None
    with open_database(cluster.database_url, create=False) as database:
        (record,) = Jobs(database).list()
        assert (record.status, Searches(database).pieces(record.id)) == ("finished", [])
        assert len(Searches(database).solutions(record.id)) == expected.solutions


@pytest.mark.parametrize("wanted", ["all"], indirect=True)
@pytest.mark.slow
def test_what_redis_loses_is_taken_up_again(
    cluster: Cluster, wanted: list[str], expected: SearchOutcome
) -> None:
    cluster.add_worker(2)
    cluster.ready()
    search = cluster.start(*WORDS, *wanted, "--workers", "celery")
    until(lambda: cluster.redis.keys("farthest:attempt:*:p:*") or None, 60, "pieces are sent")
    cluster.redis.flushall()
    until(lambda: cluster.redis.keys("farthest:attempt:*:p:*") or ended(search), 60, "pieces are sent again")
    for key in cluster.redis.keys("farthest:attempt:*:p:*"):
        for number in cluster.redis.hkeys(key):
            cluster.redis.hset(key, number, b"damaged")
    until(lambda: ended(search), 60, "the search ends")
    assert is_the_same(document(search), expected)
    assert "going back to what is stored" in search.said()


@pytest.mark.parametrize("wanted", ["first"], indirect=True)
@pytest.mark.parametrize("workers", [pytest.param("threads", marks=pytest.mark.night), "celery"])
@pytest.mark.slow
def test_ctrl_c_stores_what_was_found(
    cluster: Cluster, workers: str, wanted: list[str], expected: SearchOutcome
) -> None:
    cluster.add_worker(1)
    cluster.ready()
    command = [*WORDS, *wanted, "--workers", workers, "--threads", "2"]
    search = cluster.start(*command)
    until(more_than(cluster, (0, 0)), 60, "something is stored")
    search.process.send_signal(signal.SIGINT)
    until(lambda: ended(search), 20, "it stops")
    assert search.process.returncode == 130
    assert "keeps what was found so far" in search.said()
    again = cluster.start(*command)
    until(lambda: ended(again), 60, "the search ends")
    found = document(again)
    assert is_the_same(found, expected)
    assert found["resumed"] is not None


PATTERNS = ["solve", "8-puzzle", "867254301", "--heuristic", "@1-4+@5-8", "--workers", "celery", "--json"]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.slow
def test_workers_read_pattern_databases_themselves(
    redis_server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    """Or say what they lack."""
    redis_server.flush()
    place = f"sqlite:///{tmp_path / 'maps.db'}"
    settings = {"TEST_PIECES": "20 4 10", **({} if known else {"DATABASE_URL": str(tmp_path / "other.db")})}
    for pattern in ("8-puzzle@1-4", "8-puzzle@5-8"):
        farthest.enumerate(pattern, database=place).close()
    small_pieces.cut("20 4 10", monkeypatch.setattr)
    expected = farthest.solve("8-puzzle", "867254301", heuristic="@1-4+@5-8", database=place)
    with Cluster(tmp_path, redis_server.url, place, settings) as cluster:
        cluster.add_worker(1)
        cluster.ready()
        search = cluster.start(*PATTERNS, "--database", place)
        until(lambda: ended(search), 60, "the search ends")
        if known:
            assert document(search)["digest"] == expected.digest
            return
        assert search.process.returncode == 2
        for part in ("worker farthest@", "other.db", "FARTHEST_DATABASE_URL"):
            assert part in search.said()
