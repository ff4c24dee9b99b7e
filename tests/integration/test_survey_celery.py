"""Surveys by workers: the same result as by threads, also when messages are lost, Redis is emptied, or processes are
killed."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster import until
from farthest import metrics
from farthest.coordinator import workers
from farthest.coordinator.survey import SurveyProgress, _Survey, survey_by_threads, survey_by_workers
from farthest.cosets import Drawn, _tables, cosets_named
from farthest.environment import LEASE_SECONDS
from farthest.errors import BusyError, JobError, LateStepError, ResourceError, StorageError
from farthest.models.database import Database, open_database
from farthest.models.surveys import StoredSurvey, Surveys
from farthest.starts import Found, RushHour, Starts, starts_named, surveyed
from farthest.stores.redis.attempts import ATTEMPTS, DEAD_SECONDS, PROTOCOL, SEEN_SECONDS, new_attempt, seen
from farthest.stores.redis.connections import RedisNodes
from farthest.subgroups import Needs
from farthest.worker import survey as worker_survey
from farthest.worker.registry import Heartbeat, WorkerRecord
from farthest.worker.survey import SurveyWork
from farthest.worker.work import ENDING, WorkerProcess
from servers import RedisServer

STARTS = RushHour(4, 2, 18, "solvable")
PARTS = 9
QUEUE = "farthest:farthest.steps\x06\x162"


@pytest.fixture
def nodes(redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch) -> RedisNodes:
    monkeypatch.setattr(workers, "BLOCK_SECONDS", 0.05)
    monkeypatch.setattr(workers, "LEASE_SECONDS", replace(LEASE_SECONDS, default="0.3"))
    return redis_nodes


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(tmp_path / "f.db", create=True) as opened:
        yield opened


@pytest.fixture
def expected(tmp_path: Path) -> str:
    """The digest of the survey by threads."""
    with open_database(tmp_path / "threads.db", create=True) as opened:
        stored = survey_by_threads(STARTS, opened, threads=1, parts=PARTS, watch=lambda _: None)
        return Surveys(opened).digest(stored.id)


@contextmanager
def worker(nodes: RedisNodes, heed: Callable[[int], bool] = lambda part: False) -> Iterator[list[int]]:
    """A worker in a thread, and the parts that its messages name; those that ``heed`` gives True for are lost."""
    named: list[int] = []
    ended = threading.Event()

    def receive() -> None:
        process = WorkerProcess("farthest@played")
        while not ended.is_set():
            found: Any = process.nodes.main.brpop([QUEUE], timeout=0.05)
            if found is not None:
                (attempt, depth, part), *_ = json.loads(base64.b64decode(json.loads(found[1])["body"]))
                named.append(part)
                if not heed(part):
                    process.run(SurveyWork, attempt, depth, part)
        process.nodes.close()

    thread = threading.Thread(target=receive)
    thread.start()
    try:
        yield named
    finally:
        ended.set()
        thread.join()


def by_workers(
    nodes: RedisNodes, database: Database, told: list[str], starts: Starts = STARTS
) -> tuple[str, list[SurveyProgress]]:
    seen: list[SurveyProgress] = []
    own = RedisNodes(nodes.urls)
    stored = survey_by_workers(
        starts, database, parts=PARTS, watch=seen.append, notice=told.append, nodes=own
    )
    assert stored.finished
    assert nodes.main.keys("farthest:attempt:*") == []
    return Surveys(database).digest(stored.id), seen


def test_the_same_result(nodes: RedisNodes, database: Database, expected: str) -> None:
    told: list[str] = []
    with worker(nodes) as named:
        digest, seen = by_workers(nodes, database, told)
    assert digest == expected
    assert sorted(named) == list(range(PARTS))
    assert seen[-1].done == seen[-1].parts == PARTS
    assert seen[-1].components == 493
    assert by_workers(nodes, database, told) == (expected, [])  # all parts are stored


def test_blocks(nodes: RedisNodes, database: Database) -> None:
    starts = starts_named("pennant", keep="solvable")
    stored = survey_by_threads(starts, database, threads=1, parts=1, watch=lambda _: None)
    whole = Surveys(database).digest(stored.id)
    Surveys(database).delete(stored.id)
    with worker(nodes) as named:
        assert by_workers(nodes, database, [], starts)[0] == whole
    assert sorted(named) == list(range(PARTS))


def test_cosets(nodes: RedisNodes, tmp_path: Path) -> None:
    asked = cosets_named("pyraminx<U,L>", "<U>", 8, Drawn(5, 1))
    digests = []
    for place in ("threads.db", "workers.db"):
        with open_database(tmp_path / place, create=True) as opened:
            if place == "threads.db":
                stored = survey_by_threads(asked, opened, threads=2, watch=lambda _: None)
            else:
                with worker(nodes) as named:
                    stored = survey_by_workers(
                        asked,
                        opened,
                        watch=lambda _: None,
                        notice=lambda _: None,
                        nodes=RedisNodes(nodes.urls),
                    )
                assert sorted(named) == list(range(5))
            assert len([*Surveys(opened).cosets(stored.id)]) == 5
            digests.append(Surveys(opened).digest(stored.id))
    assert digests[0] == digests[1]


COSETS = cosets_named("pyraminx<U,L>", "<U>", 8, Drawn(6, 1))


def cosets_by_workers(nodes: RedisNodes, database: Database, told: list[str]) -> StoredSurvey:
    own = RedisNodes(nodes.urls)
    return survey_by_workers(COSETS, database, watch=lambda _: None, notice=told.append, nodes=own)


def test_a_coset_that_a_worker_has_no_memory_for_now(
    nodes: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tables.cache_clear()  # of other tests: they would be dropped first
    free = iter([0, 0, 0])
    monkeypatch.setattr("farthest.cosets.UNCHECKED_BYTES", 0)
    monkeypatch.setattr("farthest.cosets.memory_limit", lambda asked: next(free, 2**30))
    monkeypatch.setattr("farthest.worker.survey.BUSY_SECONDS", 0.01)
    told: list[str] = []
    with worker(nodes) as named:
        assert cosets_by_workers(nodes, database, told).finished
    assert len(named) == 6 + 3
    (waits,) = (text for text in told if text.startswith("a worker waits: "))
    assert "which is more than is free" in waits


def test_the_system_gives_no_more_memory_now(
    nodes: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = iter([True])

    def full(*arguments: Any) -> tuple[Found, float]:
        if next(failing, False):
            raise MemoryError
        return surveyed(*arguments)

    monkeypatch.setattr(worker_survey, "surveyed", full)
    monkeypatch.setattr(worker_survey, "BUSY_SECONDS", 0.01)
    results: list[str] = []
    monkeypatch.setattr(metrics, "observe", lambda *_, result, **__: results.append(result))
    told: list[str] = []
    with worker(nodes):
        assert cosets_by_workers(nodes, database, told).finished
    assert sorted(results) == ["busy", *["done"] * 6]
    assert told == ["a worker waits: the system gives this process no more memory"]


def test_no_worker_has_the_memory_for_a_coset(nodes: RedisNodes, database: Database) -> None:
    small = WorkerRecord("farthest@small", "here", 1, "0.0.7", PROTOCOL, 1, "", memory=10_000)
    Heartbeat(nodes, small, list).beat()
    with pytest.raises(JobError, match=r"the largest worker had 9\.8 KiB free when it began"):
        cosets_by_workers(nodes, database, [])
    unknown = replace(small, name="farthest@unknown", memory=0)
    Heartbeat(nodes, unknown, list).beat()
    with worker(nodes):
        assert cosets_by_workers(nodes, database, []).finished


def test_the_worker_that_has_the_memory_starts_anew(
    nodes: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is under way is not thrown away where only small workers are there for a while."""
    monkeypatch.setattr(workers, "ROLL_CALL_SECONDS", 0.01)
    small = WorkerRecord("farthest@small", "here", 1, "0.0.7", PROTOCOL, 1, "", memory=10_000)
    large = Heartbeat(nodes, replace(small, name="farthest@large", memory=2**40), list)
    for heartbeat in Heartbeat(nodes, small, list), large:
        heartbeat.beat()

    def heed(part: int) -> bool:
        if part == 3:
            large.end()
            time.sleep(0.3)
        return False

    with worker(nodes, heed):
        assert cosets_by_workers(nodes, database, []).finished


def test_cosets_that_take_all_threads_are_done_one_at_a_time(
    nodes: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once: list[int] = []
    lock = threading.Lock()
    whole = surveyed

    def counted(*arguments: Any) -> tuple[Found, float]:
        assert lock.acquire(blocking=False)
        time.sleep(0.05)
        found = whole(*arguments)
        lock.release()
        at_once.append(arguments[1])
        return found

    monkeypatch.setattr("farthest.worker.survey.surveyed", counted)
    monkeypatch.setattr(worker_survey, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(worker_survey, "needs_of", lambda starts: Needs(0, 0, all_threads=True))
    with worker(nodes), worker(nodes):
        assert cosets_by_workers(nodes, database, []).finished
    assert sorted(at_once) == list(range(6))


def test_what_another_user_put_in_the_way_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = tmp_path / f"farthest-{os.getuid()}"
    place.symlink_to("/nonexistent")
    with (
        pytest.raises(ResourceError, match=f"{place}: .*expected a folder of this user"),
        worker_survey._alone(),
    ):
        pass
    place.unlink()
    with worker_survey._alone(), pytest.raises(BlockingIOError), worker_survey._alone():
        pass


def test_a_long_coset_tells_how_far_it_is_and_ends_with_its_attempt(
    nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_survey, "LOOK_SECONDS", 0.0)
    work = SurveyWork(nodes, new_attempt("survey"))
    work.create(COSETS, 6)
    work.want([2, 3, 4])
    work.open(WorkerProcess("farthest@played"))
    work.do(0, 3)
    assert work.under_way_now([3]).keys() == {3}
    assert work.under_way_now([3])[3].startswith("distance ")
    assert work.under_way_now([2]) == {}
    assert work.records(0, [3], worker_survey.Done)[3].found == COSETS.survey(3, 6)
    ENDING.set()
    with pytest.raises(BusyError):
        work.do(0, 2)
    ENDING.clear()
    nodes.main.zincrby(ATTEMPTS, -2 * SEEN_SECONDS, work.attempt)
    with pytest.raises(BusyError):
        work.do(0, 2)
    nodes.main.zincrby(ATTEMPTS, 2 * SEEN_SECONDS, work.attempt)
    work.do(0, 2)
    work.drop()
    with pytest.raises(LateStepError, match="nobody waits for part 4"):
        work.do(0, 4)


def at_looks(monkeypatch: pytest.MonkeyPatch, *looks: Callable[[], object]) -> None:
    """Parts that take a minute: before a process looks whether anybody waits, it calls these."""

    def slow(*arguments: Any) -> tuple[Found, float]:
        for look in looks:
            look()
            arguments[4]("distance 1")
        return surveyed(*arguments)[0], 60.0

    monkeypatch.setattr(worker_survey, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(worker_survey, "surveyed", slow)


def opened(nodes: RedisNodes) -> SurveyWork:
    work = SurveyWork(nodes, new_attempt("survey"))
    work.create(COSETS, 6)
    work.want(range(6))
    work.open(WorkerProcess("farthest@played"))
    return work


def test_a_part_is_gone_on_with_where_redis_was_away(
    nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When it is back a worker may look before its coordinator was seen again."""
    work = opened(nodes)

    def silent(seconds: float) -> None:
        nodes.main.zincrby(ATTEMPTS, -seconds, work.attempt)

    at_looks(monkeypatch, lambda: silent(2 * SEEN_SECONDS), lambda: silent(-2 * SEEN_SECONDS))
    work.do(0, 3)
    assert work.records(0, [3], worker_survey.Done)
    at_looks(monkeypatch, work.drop)
    with pytest.raises(BusyError):  # of a large coset a checkpoint is left
        work.do(0, 4)


def test_a_part_of_a_command_that_has_ended_is_left_where_redis_is_full(
    nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = opened(nodes)
    at_looks(monkeypatch, lambda: nodes.main.config_set("maxmemory", 1), work.drop)
    try:
        with pytest.raises(BusyError):
            work.do(0, 3)
    finally:
        nodes.main.config_set("maxmemory", 0)


def test_redis_is_away_as_a_part_ends(
    nodes: RedisNodes, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What took long is not thrown away after some seconds, and it does not wait at each look."""
    monkeypatch.setattr(worker_survey, "WAIT_SECONDS", 0.1)
    work = opened(RedisNodes(nodes.urls, wait=0.5))
    nodes.main.save()
    begun, away, ended = (threading.Event() for _ in range(3))
    at_looks(monkeypatch, begun.set, away.wait, *[lambda: None] * 5, ended.set)
    part = threading.Thread(target=work.do, args=(0, 3))
    part.start()
    assert begun.wait(5)
    redis_server.stop()
    away.set()
    assert ended.wait(2.5)
    time.sleep(0.6)
    redis_server.start()
    part.join()
    assert work.records(0, [3], worker_survey.Done)


def test_the_database_is_away(
    nodes: RedisNodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    """The coordinator waits, and says meanwhile that it is alive."""
    monkeypatch.setattr("farthest.models.database.BUSY_SECONDS", 0.01)
    ages: list[float] = []
    told: list[str] = []
    other = sqlite3.connect(tmp_path / "f.db", isolation_level=None, check_same_thread=False)

    def is_back() -> None:
        ages.extend(seen(nodes).values())
        other.rollback()

    def heed(part: int) -> bool:
        if part == 3:
            other.execute("BEGIN IMMEDIATE")
            threading.Timer(2.0, is_back).start()
        return False

    with (
        closing(other),
        open_database(tmp_path / "f.db", create=True) as opened,
        worker(nodes, heed) as named,
    ):
        assert by_workers(nodes, opened, told)[0] == expected
    assert sorted(named) == list(range(PARTS))
    assert max(ages) < 1.5
    assert any("waiting up to 300 s for it" in text for text in told)


@pytest.mark.parametrize("how", [StorageError, KeyboardInterrupt])
def test_what_could_not_be_stored_is_stored_later(
    how: type[BaseException],
    nodes: RedisNodes,
    tmp_path: Path,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where Ctrl-C ends the wait for the database."""
    monkeypatch.setattr("farthest.models.database.BUSY_SECONDS", 0.01)
    other = sqlite3.connect(tmp_path / "f.db", isolation_level=None, check_same_thread=False)

    class Told(list[str]):
        def append(self, text: str) -> None:
            assert "waiting up to 300 s for it" in text
            raise KeyboardInterrupt

    def heed(part: int) -> bool:
        if part == 0:
            other.execute("BEGIN IMMEDIATE")
            if how is StorageError:
                other.execute("ALTER TABLE component RENAME TO elsewhere")
                other.commit()
        return False

    with closing(other), open_database(tmp_path / "f.db", create=True) as opened:
        with worker(nodes, heed), pytest.raises(how):
            by_workers(nodes, opened, Told())
        if how is StorageError:
            other.execute("ALTER TABLE elsewhere RENAME TO component")
        else:
            other.rollback()
        (attempt,) = seen(nodes)
        found = {*map(int, nodes.main.hkeys(SurveyWork(nodes, attempt).records_key(0)))}
        assert found
        nodes.main.zincrby(ATTEMPTS, -2 * DEAD_SECONDS, attempt)
        with worker(nodes) as named:
            assert by_workers(nodes, opened, [])[0] == expected
    assert {*named} == {*range(PARTS)} - found


def test_no_part_is_done_again_for_a_message_that_was_sent_again(
    nodes: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a long part is under way the messages behind it are sent again and again."""
    monkeypatch.setattr(workers, "QUEUE_SECONDS", 0.1)
    Heartbeat(nodes, WorkerRecord("farthest@played", "here", 1, "0.0.7", PROTOCOL, 1, ""), list).beat()
    at: list[int] = []

    def slow(*arguments: Any) -> tuple[Found, float]:
        time.sleep(0.0 if at else 2.0)
        at.append(arguments[1])
        return surveyed(*arguments)

    monkeypatch.setattr(worker_survey, "surveyed", slow)
    with worker(nodes) as named:
        assert cosets_by_workers(nodes, database, []).finished
        until(lambda: nodes.main.llen(QUEUE) == 0 or None, 10, "all are read")
    assert sorted(at) == list(range(6))
    assert len(named) > 6


def test_lost_messages(nodes: RedisNodes, database: Database, expected: str) -> None:
    lost: set[int] = set()

    def heed(part: int) -> bool:
        first = part not in lost
        lost.add(part)
        return first

    with worker(nodes, heed) as named:
        assert by_workers(nodes, database, [])[0] == expected
    assert sorted(set(named)) == list(range(PARTS))


def test_what_a_coordinator_that_was_killed_has_left(
    nodes: RedisNodes, database: Database, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one stores it and asks for what is missing, also where it has begun before the other was silent."""
    monkeypatch.setattr(workers, "ROLL_CALL_SECONDS", 0.0)
    job = _Survey(STARTS, database, PARTS, lambda _: None, print).job
    left, damaged = (SurveyWork(nodes, new_attempt(job)) for _ in range(2))
    for work in left, damaged:
        work.create(STARTS, PARTS)
        work.want((0, 1, 2, 3, 8))
        work.open(WorkerProcess("farthest@played"))
    for part in 1, 2, 3, 8:
        left.do(0, part)
    damaged.do(0, 0)
    nodes.main.hset(damaged.records_key(0), "0", "{}")

    def silent(work: SurveyWork) -> None:
        nodes.main.zincrby(ATTEMPTS, -2 * SEEN_SECONDS, work.attempt)

    def heed(part: int) -> bool:
        silent(left)
        return False

    silent(damaged)
    with worker(nodes, heed) as named:
        assert by_workers(nodes, database, [])[0] == expected
    assert sorted({*named} | {1, 2, 3, 8}) == list(range(PARTS))
    with pytest.raises(LateStepError, match="nobody waits for part 1"):
        left.do(0, 1)


def test_two_coordinators_of_one_survey_share_its_parts(
    nodes: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "ROLL_CALL_SECONDS", 0.05)
    done: list[int] = []

    def slow(*arguments: Any) -> tuple[Found, float]:
        time.sleep(0.3)
        done.append(arguments[1])
        return surveyed(*arguments)

    monkeypatch.setattr(worker_survey, "surveyed", slow)
    other = threading.Thread(target=cosets_by_workers, args=(nodes, database, []))
    with worker(nodes):
        other.start()
        until(lambda: done or None, 5, "a part is done")
        assert cosets_by_workers(nodes, database, []).finished
        other.join()
    # Both may take the same part at the same moment.
    assert set(done) == set(range(6))
    assert len(done) <= 8


def test_redis_is_emptied(nodes: RedisNodes, database: Database, expected: str) -> None:
    """What was stored is not done again."""
    told: list[str] = []
    emptied: list[int] = []

    def heed(part: int) -> bool:
        if not emptied and Surveys(database).all()[0].done >= 3:
            emptied.append(Surveys(database).all()[0].done)
            nodes.main.flushall()
            return True
        return False

    with worker(nodes, heed) as named:
        assert by_workers(nodes, database, told)[0] == expected
    assert any("the parts that are not stored are sent again" in text for text in told)
    assert len(named) < 2 * PARTS


def test_damaged_results(nodes: RedisNodes, database: Database, expected: str) -> None:
    """They are done again."""
    damaged: list[str] = []
    whole = SurveyWork.set_record

    def changed(self: SurveyWork, depth: int, item: int, record: str, *others: str) -> bool:
        if not damaged:
            damaged.append(record)
            record = record.replace("states", "stages")
        return whole(self, depth, item, record, *others)

    with worker(nodes), pytest.MonkeyPatch.context() as patch:
        patch.setattr(SurveyWork, "set_record", changed)
        told: list[str] = []
        assert by_workers(nodes, database, told)[0] == expected
    assert any("is damaged" in text for text in told)


def test_a_survey_that_is_deleted(nodes: RedisNodes, database: Database) -> None:
    def heed(part: int) -> bool:
        for each in Surveys(database).all():
            Surveys(database).delete(each.id)
        return False

    with worker(nodes, heed), pytest.raises(JobError, match="survey 1 was deleted"):
        by_workers(nodes, database, [])
