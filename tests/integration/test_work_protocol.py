"""A new kind of work is one class: coordinators and workers do it without knowing it."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from farthest.coordinator import workers
from farthest.coordinator.workers import Outstanding, Publisher, Workers, WorkProgress
from farthest.environment import LEASE_SECONDS
from farthest.errors import JobError, LateStepError, LostStateError
from farthest.stores.redis.attempts import prefix
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.records import Report
from farthest.worker import app
from farthest.worker.leases import Leases
from farthest.worker.work import Work, WorkerProcess

ATTEMPT, DEPTH = "1-0a1b2c3d", 3


class Squares(Work):
    """The squares of numbers; that of 13 cannot be found."""

    kind = "square"
    item_name = "the square of {item} at depth {depth}"
    whole_name = "the squares at depth {depth}"
    under_way = "squares"

    def records_key(self, depth: int) -> str:
        return f"{prefix(self.attempt)}squares:{depth}"

    def open(self, process: WorkerProcess) -> None:
        self.holder = process.holder

    def wishes(self, depth: int) -> list[int]:
        return [7]

    def do(self, depth: int, item: int) -> None:
        if item == 13:
            raise ValueError("an unlucky number")
        if not self.set_record(depth, item, str(item * item), self.holder):
            raise LateStepError(f"nobody waits for {self.name(depth, item)}")


@pytest.fixture
def nodes(redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch) -> RedisNodes:
    monkeypatch.setattr(workers, "BLOCK_SECONDS", 0.05)
    monkeypatch.setitem(app.KINDS, "square", "work:Squares")
    return redis_nodes


@pytest.fixture
def work(nodes: RedisNodes) -> Squares:
    made = Squares(nodes, ATTEMPT)
    nodes.main.hset(made.keys.meta_key, "squares", str(DEPTH))
    return made


@pytest.fixture
def taken(nodes: RedisNodes) -> Iterator[list[int]]:
    """A worker in a thread, and the items that its messages name."""
    named: list[int] = []
    ended = threading.Event()

    def receive() -> None:
        process = WorkerProcess("farthest@played")
        queues = ["farthest:farthest.steps", "farthest:farthest.steps\x06\x161"]
        while not ended.is_set():
            found: Any = process.nodes.main.brpop(queues, timeout=0.05)
            if found is not None:
                message = json.loads(found[1])
                assert message["headers"]["task"] == "farthest.square"
                (attempt, depth, item), *_ = json.loads(base64.b64decode(message["body"]))
                named.append(item)
                process.run(Squares, attempt, depth, item)
        process.nodes.close()

    thread = threading.Thread(target=receive)
    thread.start()
    yield named
    ended.set()
    thread.join()


@pytest.fixture(autouse=True)
def short_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator's; workers have their own."""
    monkeypatch.setattr(workers, "LEASE_SECONDS", replace(LEASE_SECONDS, default="0.5"))


def do(nodes: RedisNodes, work: Squares, items: list[int]) -> list[WorkProgress]:
    """What a coordinator does."""
    seen: list[WorkProgress] = []
    workers = Workers(nodes)
    try:
        assert workers.do(work, DEPTH, items, poll=lambda: None, watch=seen.append)
    finally:
        workers.close()
    return seen


def test_all_items_are_done_once(nodes: RedisNodes, work: Squares, taken: list[int]) -> None:
    do(nodes, work, list(range(12)))
    records = nodes.main.hgetall(work.records_key(DEPTH))
    assert {int(item): int(square) for item, square in records.items()} == {n: n * n for n in range(12)}
    assert sorted(taken) == list(range(12))
    assert work.finished(DEPTH) == set(range(12))
    do(nodes, work, list(range(12)))  # all have records
    assert len(taken) == 12


def test_what_cannot_be_done_ends_the_job(nodes: RedisNodes, work: Squares, taken: list[int]) -> None:
    with pytest.raises(JobError, match="ValueError: an unlucky number"):
        do(nodes, work, [12, 13])


def told(nodes: RedisNodes, work: Squares, kind: str, items: list[int]) -> None:
    """Reports that these items of a kind of work are done."""
    for item in items:
        nodes.main.rpush(work.keys.done_key, Report(DEPTH, item, "farthest@played/1", kind=kind).text())


def test_a_report_without_a_record_ends_no_work(nodes: RedisNodes, work: Squares) -> None:
    """Redis may have come back with older data."""
    rounds = [0]

    def poll() -> None:
        rounds[0] += 1
        if rounds[0] == 4:
            raise InterruptedError

    told(nodes, work, "square", [5, 6])
    workers = Workers(nodes)
    with pytest.raises(InterruptedError):
        workers.do(work, DEPTH, [5, 6], poll=poll, watch=lambda progress: None)
    workers.close()


def test_reports_of_another_kind_of_work_are_not_heeded(nodes: RedisNodes, work: Squares) -> None:
    publisher = Publisher(nodes)
    sent = Outstanding(work, DEPTH, publisher)
    sent.send([5, 6])
    told(nodes, work, "step", [5])
    told(nodes, work, "square", [6])
    while len(sent) == 2:
        done = sent.wait()
    assert done == {6}
    publisher.close()


def test_busy_with_what_another_process_has_done(nodes: RedisNodes, work: Squares) -> None:
    publisher = Publisher(nodes)
    sent = Outstanding(work, DEPTH, publisher)
    sent.send([5, 6])
    told(nodes, work, "square", [6])
    busy = Report(DEPTH, 6, "farthest@played/2", error="busy", kind="square")
    nodes.main.rpush(work.keys.done_key, busy.text())
    told(nodes, work, "square", [5])
    while sent:
        sent.wait()
    publisher.close()


def test_a_lease_that_ends_before_its_report_comes_is_no_loss(
    nodes: RedisNodes, work: Squares, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes that cannot do an item now take it, and give it back, for hours."""
    monkeypatch.setattr(workers, "BLOCK_SECONDS", 0.01)
    publisher = Publisher(nodes)
    sent = Outstanding(work, DEPTH, publisher)
    sent.send([5])
    leases = Leases(nodes, ATTEMPT, Squares.kind, 5)
    busy = Report(DEPTH, 5, "farthest@played/2", error="busy", kind="square")
    for _ in range(2):
        assert leases.take(DEPTH, 5, "farthest@played/2")
        sent.wait()
        leases.release(DEPTH, 5, "farthest@played/2")
        sent.wait()
        nodes.main.rpush(work.keys.done_key, busy.text())
        sent.wait()
    assert sent.resent == 0
    publisher.close()


def test_an_item_that_was_sent_again_is_not_chosen_twice(work: Squares) -> None:
    work.offer(DEPTH, [5, 6])
    assert work.choose(DEPTH, 5, again=True) == 5
    assert work.choose(DEPTH, 8, again=False) == 6
    assert work.choose(DEPTH, 8, again=False) == 8  # what is in the message, where nothing is to do


def test_steps_go_before_parts_of_surveys(nodes: RedisNodes) -> None:
    """These may take an hour each; what is sent again of them does not overtake steps either."""
    publisher = Publisher(nodes)
    publisher.publish("survey", "survey-0a1b2c3d", 0, [5], urgent=True)
    publisher.publish("step", ATTEMPT, DEPTH, [6])
    publisher.publish("step", ATTEMPT, DEPTH, [7], urgent=True)
    publisher.close()
    lengths = [app.queue_length(nodes, priority) for priority in app.PRIORITIES]
    with app.celery_app(nodes.urls[0]).connection_for_read() as connection:
        queue = connection.SimpleQueue(app.QUEUE)
        items = [queue.get(timeout=5).payload[0][2] for _ in range(3)]
        queue.close()
    assert items == [7, 6, 5]
    assert lengths == [1, 2, 3]


def test_another_depth_is_under_way(nodes: RedisNodes, work: Squares) -> None:
    with pytest.raises(LostStateError, match="Redis has lost the squares at depth 4"):
        work.finished(DEPTH + 1)
    process = WorkerProcess("farthest@test")
    process.run(Squares, ATTEMPT, DEPTH + 1, 2)
    process.nodes.close()
    assert not nodes.main.exists(work.records_key(DEPTH + 1))
