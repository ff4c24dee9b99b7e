"""Surveys by workers: the same result as by threads, also when messages are lost, Redis is emptied, or processes are
killed."""

from __future__ import annotations

import base64
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster import until
from farthest.coordinator import workers
from farthest.coordinator.survey import SurveyProgress, _Survey, survey_by_threads, survey_by_workers
from farthest.cosets import Drawn, cosets_named
from farthest.environment import LEASE_SECONDS
from farthest.errors import BusyError, JobError, LateStepError, ResourceError
from farthest.models.database import Database, open_database
from farthest.models.surveys import StoredSurvey, Surveys
from farthest.starts import Found, RushHour, Starts, starts_named, surveyed
from farthest.stores.redis.attempts import ATTEMPTS, PROTOCOL, SEEN_SECONDS, new_attempt
from farthest.stores.redis.connections import RedisNodes
from farthest.subgroups import Needs
from farthest.worker import survey as worker_survey
from farthest.worker.registry import Heartbeat, WorkerRecord
from farthest.worker.survey import SurveyWork
from farthest.worker.work import ENDING, WorkerProcess

STARTS = RushHour(4, 2, 18, "solvable")
PARTS = 9


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
        queues = ["farthest:farthest.steps", "farthest:farthest.steps\x06\x161"]
        while not ended.is_set():
            found: Any = process.nodes.main.brpop(queues, timeout=0.05)
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


def test_no_worker_has_the_memory_for_a_coset(nodes: RedisNodes, database: Database) -> None:
    small = WorkerRecord("farthest@small", "here", 1, "0.0.7", PROTOCOL, 1, "", memory=10_000)
    Heartbeat(nodes, small, list).beat()
    with pytest.raises(JobError, match=r"the largest worker had 9\.8 KiB free when it began"):
        cosets_by_workers(nodes, database, [])
    unknown = replace(small, name="farthest@unknown", memory=0)
    Heartbeat(nodes, unknown, list).beat()
    with worker(nodes):
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
    with pytest.raises(LateStepError, match="nobody waits for part 2"):
        work.do(0, 2)
    nodes.main.zincrby(ATTEMPTS, 2 * SEEN_SECONDS, work.attempt)
    work.do(0, 2)
    work.drop()
    with pytest.raises(LateStepError, match="nobody waits for part 4"):
        work.do(0, 4)


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
        until(lambda: nodes.main.llen("farthest:farthest.steps\x06\x161") == 0 or None, 10, "all are read")
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
    job = _Survey(STARTS, database, PARTS, lambda _: None).job
    left, damaged = (SurveyWork(nodes, new_attempt(job)) for _ in range(2))
    for work in left, damaged:
        work.create(STARTS, PARTS)
        work.want(range(PARTS))
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
