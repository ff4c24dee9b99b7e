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
from farthest.coordinator.workers import Workers, WorkProgress
from farthest.environment import LEASE_SECONDS
from farthest.errors import JobError, LateStepError, LostStateError
from farthest.stores.redis.attempts import prefix
from farthest.stores.redis.connections import RedisNodes
from farthest.worker import app
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


def test_another_depth_is_under_way(nodes: RedisNodes, work: Squares) -> None:
    with pytest.raises(LostStateError, match="Redis has lost the squares at depth 4"):
        work.finished(DEPTH + 1)
    process = WorkerProcess("farthest@test")
    process.run(Squares, ATTEMPT, DEPTH + 1, 2)
    process.nodes.close()
    assert not nodes.main.exists(work.records_key(DEPTH + 1))
