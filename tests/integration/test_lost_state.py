"""Runs over Redis that lose their working state, or what surrounds it, at awkward moments; no worker is needed."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Outcome, Settings
from farthest.errors import (
    DamagedMapError,
    JobError,
    LostStateError,
    RedisFullError,
    ResourceError,
    StorageError,
    UnavailableError,
)
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.scatter_attempt import ScatterAttempt
from run_cases import keys
from servers import RedisServer

ONE_WAY, PUZZLE = load("roundabout"), load("8-puzzle")


@pytest.fixture
def redis(redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch) -> RedisNodes:
    monkeypatch.setenv("FARTHEST_REDIS_WAIT_SECONDS", "0")
    monkeypatch.setenv("FARTHEST_BLOCK_SIZE", "4KiB")
    return redis_nodes


@pytest.fixture
def either(database_url: str) -> Iterator[Database]:
    """A file, and PostgreSQL."""
    with open_database(database_url, create=True) as opened:
        yield opened


class Meddler(Reporter):
    """Does something after each of the given layers, once."""

    def __init__(self, depths: set[int] | range, act: Callable[[], Any]) -> None:
        self.depths = set(depths)
        self.act = act
        self.notices: list[str] = []

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth in self.depths:
            self.depths.remove(depth)
            self.act()

    def notice(self, text: str) -> None:
        self.notices.append(text)


def run(
    puzzle: Puzzle, database: Database | None, reporter: Reporter | None = None, **settings: Any
) -> Outcome:
    return enumerate_puzzle(puzzle, database, Settings(workers="celery", **settings), reporter)


@pytest.mark.slow
def test_the_result_is_that_of_threads(redis: RedisNodes, either: Database) -> None:
    """With checkpoints after each layer, so that each is put together from the one before."""
    for puzzle in (ONE_WAY, PUZZLE):
        expected = enumerate_puzzle(puzzle, None)
        found = run(puzzle, either, checkpoint_seconds=0.0)
        assert (found.digest, found.layers, found.farthest) == (
            expected.digest,
            expected.layers,
            expected.farthest,
        )
        assert found.job is not None
        assert sum(1 for _ in Maps(either).states(found.job)) == expected.states
    assert keys(redis) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("puzzle", "histogram_only"), [(ONE_WAY, False), (PUZZLE, True)], ids=["one-way, map", "8-puzzle, layers"]
)
def test_a_redis_that_loses_everything_costs_time_alone(
    redis: RedisNodes, database: Database, puzzle: Puzzle, histogram_only: bool
) -> None:
    expected = enumerate_puzzle(puzzle, None, Settings(histogram_only=histogram_only))
    meddler = Meddler({0, 3, 4, len(expected.layers) - 1}, redis.main.flushall)
    found = run(puzzle, database, meddler, checkpoint_seconds=0.0, histogram_only=histogram_only)
    assert not meddler.depths
    assert (found.digest, found.layers, found.farthest) == (
        expected.digest,
        expected.layers,
        expected.farthest,
    )
    # Once all keys are found no step is taken. The map reads the last layer's records, a histogram needs none.
    noticed = 3 if histogram_only else 4
    assert [notice.endswith("to the last checkpoint") for notice in meddler.notices] == [True] * noticed
    assert keys(redis) == set()


def test_a_redis_that_loses_everything_again_and_again_is_given_up(redis: RedisNodes) -> None:
    class Flushing(Meddler):
        def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
            redis.main.flushall()

    flushing = Flushing(range(0), redis.main.flushall)
    with pytest.raises(LostStateError, match=r"lost 6 times since the last .*evicts data in Redis"):
        run(PUZZLE, None, flushing)
    assert len(flushing.notices) == 5
    assert keys(redis) == set()


@pytest.mark.slow
def test_what_is_lost_sooner_than_checkpoints_are_due_ends_all_the_same(
    redis: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each loss halves the time between checkpoints. Here that is counted in layers."""
    monkeypatch.setattr("farthest.coordinator.enumeration.job.monotonic", count().__next__)

    class FlushingEachTwelfth(Meddler):
        seen = 0

        def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
            self.seen += 1
            if self.seen % 12 == 0:
                redis.main.flushall()

    flushing = FlushingEachTwelfth(range(0), redis.main.flushall)
    found = run(PUZZLE, database, flushing, checkpoint_seconds=20)
    assert found.digest == enumerate_puzzle(PUZZLE, None).digest
    assert len(flushing.notices) >= 2


@pytest.mark.slow
def test_losses_are_counted_from_the_last_checkpoint_on(
    redis: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them than a job may have, each with a checkpoint since the one before."""
    monkeypatch.setattr("farthest.coordinator.enumeration.job.monotonic", count(step=100).__next__)
    puzzle, meddler = load("sliding-2x3"), Meddler(range(2, 16, 2), redis.main.flushall)
    found = run(puzzle, database, meddler, checkpoint_seconds=0.0)
    assert (len(meddler.notices), meddler.depths) == (7, set())
    assert found.digest == enumerate_puzzle(puzzle, None).digest


@pytest.mark.slow
def test_a_redis_that_is_started_again_and_again_is_told(
    redis: RedisNodes, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthest.coordinator.enumeration.job.LOSSES_ALLOWED", 3)

    class Restarting(Meddler):
        def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
            redis_server.kill()
            redis_server.start()

    restarting = Restarting(range(0), redis.main.flushall)
    told = "lost 4 times .*, and Redis was restarted 4 times: see its log.*REDIS_MAXMEMORY"
    with pytest.raises(RedisFullError, match=told) as error:
        run(PUZZLE, None, restarting)
    assert "damages or evicts" not in str(error.value)


def test_what_redis_loses_when_the_job_is_finished_is_not_missed(
    redis: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Jobs.finish

    def finish_and_flush(jobs: Jobs, *arguments: Any, **options: Any) -> None:
        finish(jobs, *arguments, **options)
        redis.main.flushall()

    monkeypatch.setattr(Jobs, "finish", finish_and_flush)
    expected = enumerate_puzzle(PUZZLE, None)
    found = run(PUZZLE, database)
    assert (found.digest, found.farthest) == (expected.digest, expected.farthest)


def test_a_job_that_another_has_taken_over_is_left_to_it(redis: RedisNodes, database: Database) -> None:
    """A coordinator that stood still finds its run gone: it must not begin anew, which would remove the other's."""
    jobs = Jobs(database)

    def taken_over() -> None:
        [record] = jobs.list()
        with database.write() as connection:
            connection.exec_driver_sql("UPDATE job SET owner = 'elsewhere/1/0'")
        [name] = {key.split(":")[2] for key in keys(redis) if ":attempt:" in key}
        assert name.startswith(f"{record.id}-")
        redis.main.flushall()
        other = f"{name.rpartition('-')[0]}-other"
        attempts.touch(redis, other)
        redis.main.set(f"{attempts.prefix(other)}meta", "the other's")

    with pytest.raises(JobError, match="another process has taken it over"):
        run(PUZZLE, database, Meddler({9}, taken_over))
    assert len([key for key in keys(redis) if ":attempt:" in key]) == 1
    assert jobs.list()[0].owner == "elsewhere/1/0"


def test_a_job_that_is_cancelled_ends(redis: RedisNodes, database: Database) -> None:
    jobs = Jobs(database)

    def cancel() -> None:
        jobs.cancel(jobs.list()[0].id)
        time.sleep(0.1)

    with pytest.raises(JobError, match="was cancelled"):
        run(PUZZLE, database, Meddler({9}, cancel), lease_seconds=0.06)
    assert jobs.list()[0].status == "cancelled"
    assert keys(redis) == set()


def test_a_lease_that_is_renewed_after_the_end_is_no_loss(redis: RedisNodes, database: Database) -> None:
    class Slow(Reporter):
        def finished(self, outcome: Outcome) -> None:
            time.sleep(0.1)

    found = run(PUZZLE, database, Slow(), lease_seconds=0.03)
    assert found.job is not None
    assert Jobs(database).get(found.job).status == "finished"


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["threads", "celery"])
def test_a_run_that_is_stopped_goes_on_anywhere(redis: RedisNodes, database: Database, workers: Any) -> None:
    """With other blocks, or without Redis."""
    with pytest.raises(Interrupted) as stopped:
        run(PUZZLE, database, Meddler({11}, lambda: signal.raise_signal(signal.SIGINT)))
    assert stopped.value.depth == 11
    assert keys(redis) == set()
    expected = enumerate_puzzle(PUZZLE, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FARTHEST_BLOCK_SIZE", "1KiB")
        found = enumerate_puzzle(PUZZLE, database, Settings(workers=workers))
    assert found.resumed_from == 11
    assert (found.digest, found.farthest) == (expected.digest, expected.farthest)


def test_a_run_is_stopped_at_once_though_the_database_is_away(
    redis: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(maps: Maps, job: int) -> int:
        raise UnavailableError("away")

    def stop() -> None:
        monkeypatch.setattr(Maps, "depth", away)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    begun = time.monotonic()
    with pytest.raises(Interrupted) as stopped:
        run(PUZZLE, database, Meddler({11}, stop), checkpoint_seconds=0.0)
    assert time.monotonic() - begun < 20
    assert stopped.value.depth is not None
    assert keys(redis) == set()


def test_a_redis_without_memory_is_not_a_damaged_checkpoint(redis: RedisNodes, database: Database) -> None:
    with pytest.raises(Interrupted):
        run(PUZZLE, database, Meddler({11}, lambda: signal.raise_signal(signal.SIGINT)))
    job = Jobs(database).list()[0].id
    create = attempts.new_attempt
    with pytest.MonkeyPatch.context() as patch:

        def new_attempt(name: str) -> str:
            patch.setattr("farthest.stores.redis.gather_attempt.GatherAttempt.restore", restore)
            return create(name)

        from farthest.stores.redis.gather_attempt import GatherAttempt

        real = GatherAttempt.restore

        def restore(store: GatherAttempt, *arguments: Any, **options: Any) -> None:
            redis.main.config_set("maxmemory", "1")
            real(store, *arguments, **options)

        patch.setattr(attempts, "new_attempt", new_attempt)
        try:
            with pytest.raises(StorageError, match="Redis has no memory left") as error:
                run(PUZZLE, database)
        finally:
            redis.main.config_set("maxmemory", "0")
    assert not isinstance(error.value, DamagedMapError)
    assert "delete" not in str(error.value)
    assert keys(redis) == set()
    assert run(PUZZLE, database).job == job


@pytest.mark.slow
def test_a_result_whose_storing_was_not_answered_is_stored_once(
    redis: RedisNodes, either: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, lost = Database.write, list[int]()

    @contextmanager
    def write(self: Database) -> Iterator[Any]:
        with real(self) as connection:
            yield connection
        nested = getattr(self._thread, "connection", None) is not None
        if not nested and not lost and Jobs(self).list()[0].status == "finished":
            lost.append(1)
            raise UnavailableError("the connection was lost")

    monkeypatch.setattr(Database, "write", write)
    expected = enumerate_puzzle(PUZZLE, None)
    assert run(PUZZLE, either).digest == expected.digest
    assert lost


def test_runs_without_a_database_leave_each_other_alone(redis: RedisNodes) -> None:
    inner: list[Outcome] = []
    meddler = Meddler({5}, lambda: inner.append(run(ONE_WAY, None)))
    assert run(PUZZLE, None, meddler).digest == enumerate_puzzle(PUZZLE, None).digest
    assert inner[0].digest == enumerate_puzzle(ONE_WAY, None).digest
    assert not meddler.notices
    assert keys(redis) == set()


@pytest.mark.slow
@pytest.mark.parametrize("block_size", ["512B", "64KiB"])
def test_each_checkpoint_is_made_from_the_one_before(
    redis: RedisNodes, either: Database, monkeypatch: pytest.MonkeyPatch, block_size: str
) -> None:
    """Whose chunks are replaced meanwhile, in the same transaction: blocks are smaller, or larger, than chunks."""
    monkeypatch.setenv("FARTHEST_BLOCK_SIZE", block_size)
    monkeypatch.setattr("farthest.coordinator.enumeration.record.CHUNK_KEYS", 10_007)
    monkeypatch.setattr(
        "farthest.coordinator.enumeration.job.perf_counter", lambda: 0.0
    )  # checkpoints cost nothing

    class Counting(Reporter):
        checkpoints = 0

        def checkpoint(self, depth: int, seconds: float) -> None:
            self.checkpoints += 1

    counting = Counting()
    expected = enumerate_puzzle(PUZZLE, None, Settings(max_depth=9))
    found = run(PUZZLE, either, counting, checkpoint_seconds=0.0, max_depth=9)
    assert counting.checkpoints == 9
    assert (found.digest, found.layers) == (expected.digest, expected.layers)


def test_a_redis_that_is_certainly_too_small_is_refused(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    redis = RedisNodes([redis_url])
    try:
        for memory, puzzle in (
            (8, "sliding-3x4"),
            (120, "pancake-12"),
        ):
            redis.main.config_set("maxmemory", f"{memory}mb")
            with pytest.raises(
                ResourceError,
                match=rf"of Redis, more than the {memory}\.0 MiB of its servers; raise maxmemory",
            ):
                enumerate_puzzle(load(puzzle), None, Settings(workers="celery", histogram_only=True))
        redis.main.config_set("maxmemory", "1")  # less than it has: room may come, and no job is too large
        with pytest.raises(
            RedisFullError, match=r"no memory left \(.* of 1 bytes used\); raise its maxmemory"
        ):
            enumerate_puzzle(load("sliding-3x4"), None, Settings(workers="celery", histogram_only=True))
    finally:
        redis.main.config_set("maxmemory", "0")
        redis.close()


@pytest.mark.parametrize(("kept", "margin"), [(False, True), (True, False)])
def test_a_full_redis_ends_a_run_of_some_layers_with_those_before(
    redis: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch, kept: bool, margin: bool
) -> None:
    """Without a ``margin`` Redis takes nothing at all any more once the first write was refused."""
    wanted = enumerate_puzzle(load("15-puzzle"), None, Settings(max_depth=9, histogram_only=True)).layers
    give_up = ScatterAttempt.give_up

    def fill() -> None:
        memory: Any = redis.main.info("memory")
        redis.main.config_set("maxmemory", memory["used_memory"] + 20_000)

    def give_up_without_margin(store: ScatterAttempt, depth: int) -> None:
        redis.main.config_set("maxmemory", 1)
        give_up(store, depth)

    if not margin:
        monkeypatch.setattr(ScatterAttempt, "give_up", give_up_without_margin)
    try:
        outcome = run(load("15-puzzle"), database, Meddler({9}, fill), max_depth=30, histogram_only=not kept)
    finally:
        redis.main.config_set("maxmemory", "0")
    assert outcome.stopped is not None
    assert "Redis has no memory left" in outcome.stopped
    assert f"the layers up to depth {len(outcome.layers) - 1} are complete" in outcome.stopped
    assert 10 <= len(outcome.layers) < 20
    assert outcome.layers[:10] == wanted
    assert outcome.job is not None
    assert Jobs(database).get(outcome.job).status == "finished"
    assert keys(redis) == set()
