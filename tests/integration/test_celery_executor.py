"""What the Celery executor does when workers, messages or Redis fail; the workers are played by the tests."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from farthest.coordinator import workers
from farthest.coordinator.enumeration import celery_backend
from farthest.coordinator.enumeration.celery_backend import CeleryExecutor
from farthest.coordinator.workers import WorkProgress
from farthest.environment import LEASE_SECONDS, SMALL_LAYER_STATES
from farthest.errors import JobError, LostStateError, UnavailableError
from farthest.stores.redis import attempts
from farthest.stores.redis.attempts import prefix
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.worker.app import queue_length
from farthest.worker.enumeration import StepWork
from farthest.worker.leases import Leases
from farthest.worker.registry import Heartbeat, WorkerRecord
from farthest.worker.work import WorkerProcess
from run_cases import begin_run
from store_cases import case

LEASE = 0.3


@pytest.fixture
def nodes(redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch) -> RedisNodes:
    monkeypatch.setattr(workers, "BLOCK_SECONDS", 0.05)
    return redis_nodes


@pytest.fixture
def store(nodes: RedisNodes) -> Iterator[GatherAttempt]:
    """A run with its first layer under way, of one shard a block."""
    made = begin_run(case("two colours"), nodes, per_block=1, distances=False)
    made.begin(1, range(made.kernel.shards))
    yield made
    made.drop()


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator's; workers have their own. No layer is small."""
    monkeypatch.setattr(workers, "LEASE_SECONDS", replace(LEASE_SECONDS, default=str(LEASE)))
    monkeypatch.setenv(SMALL_LAYER_STATES.name, "0")


class Layer:
    """The first layer, run by an executor in a thread; what it says and how it ends."""

    def __init__(self, store: GatherAttempt, should_stop: Callable[[], None] = lambda: None) -> None:
        self.said: list[WorkProgress] = []
        self.error: BaseException | None = None
        self._store = store
        self._executor = CeleryExecutor(
            store.nodes,
            watch=self.said.append,
            should_stop=should_stop,
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._executor.run_layer(self._store, 1, range(self._store.kernel.shards))
        except BaseException as error:
            self.error = error

    @property
    def attempts(self) -> bool:
        return self._thread.is_alive()

    def ended(self) -> BaseException | None:
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._executor.close()
        return self.error


def message(nodes: RedisNodes) -> tuple[str, int, int]:
    """The next message in the queue, taken out of it."""
    found = nodes.main.brpop(["farthest:farthest.steps", "farthest:farthest.steps\x06\x161"], timeout=60)
    assert found is not None, "no message came"
    (run, depth, block), *_ = json.loads(base64.b64decode(json.loads(found[1])["body"]))
    return run, depth, block


def work(nodes: RedisNodes, messages: int) -> None:
    """Does what the next messages ask for."""
    process = WorkerProcess("farthest@played")
    for _ in range(messages):
        process.run(StepWork, *message(nodes))
    process.nodes.close()


def step_again(nodes: RedisNodes, step: tuple[str, int, int]) -> None:
    """Does what a message that was sent again asks for."""
    process = WorkerProcess("farthest@played")
    process.run(StepWork, *step, again=True)
    process.nodes.close()


def take(nodes: RedisNodes, seconds: float, holder: str) -> tuple[str, int, int]:
    """Takes the next message, and a lease of the block that it names."""
    step = message(nodes)
    hold(nodes, step, seconds, holder)
    return step


def hold(nodes: RedisNodes, step: tuple[str, int, int], seconds: float, holder: str) -> None:
    """Takes a lease of the block that a message names."""
    run, depth, block = step
    nodes.main.srem(f"{prefix(run)}todo:step:{depth}", str(block))
    assert Leases(nodes, run, "step", seconds).take(depth, block, holder)


@pytest.mark.slow
def test_messages_that_are_lost_are_sent_again(store: GatherAttempt, nodes: RedisNodes) -> None:
    layer = Layer(store)
    for _ in range(store.blocks.count):
        message(nodes)
    for _ in range(store.blocks.count):
        step_again(nodes, message(nodes))
    assert layer.ended() is None
    assert store.counts(1) == case("two colours").counts(1)


def test_only_the_block_of_a_worker_that_died_is_sent_again(store: GatherAttempt, nodes: RedisNodes) -> None:
    layer = Layer(store)
    step = take(nodes, LEASE, "who dies")
    work(nodes, store.blocks.count - 1)
    assert message(nodes) == step
    assert queue_length(nodes) == 0
    step_again(nodes, step)
    assert layer.ended() is None


@pytest.mark.slow
def test_a_block_that_is_worked_on_is_not_sent_again(store: GatherAttempt, nodes: RedisNodes) -> None:
    layer = Layer(store)
    run, depth, block = take(nodes, 10, "slow one")
    work(nodes, store.blocks.count - 1)
    assert nodes.main.brpop(["farthest:farthest.steps"], timeout=1) is None
    Leases(nodes, run, "step", 10).release(depth, block, "slow one")
    step_again(nodes, (run, depth, block))
    assert layer.ended() is None


@pytest.mark.slow
def test_a_step_that_kills_its_workers_ends_the_job(
    store: GatherAttempt, nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "LOSSES_ALLOWED", 2)
    layer = Layer(store)
    step = take(nodes, LEASE, "first")
    work(nodes, store.blocks.count - 1)
    others = 0
    while layer.attempts:
        # Where the machine stands still, blocks that others have done may be sent again as well.
        if queue_length(nodes) and message(nodes) == step:
            hold(nodes, step, LEASE, "another")
            others += 1
        time.sleep(0.02)
    error = layer.ended()
    assert others
    assert isinstance(error, JobError)
    assert "memory" in str(error)


@pytest.mark.parametrize(("kind", "expected"), [("lost", LostStateError), ("failed", JobError)])
def test_what_workers_report_ends_the_layer(
    store: GatherAttempt, nodes: RedisNodes, kind: str, expected: type[Exception]
) -> None:
    layer = Layer(store)
    for depth in (0, 1):  # of the layer before: nobody minds
        entry = {"depth": depth, "block": 0, "by": "w/1", "error": kind, "message": f"depth {depth}"}
        nodes.main.rpush(store.done_key, json.dumps(entry))
    error = layer.ended()
    assert isinstance(error, expected)
    assert "depth 1" in str(error)


def test_an_emptied_redis_is_noticed(store: GatherAttempt, nodes: RedisNodes) -> None:
    layer = Layer(store)
    message(nodes)
    nodes.main.flushall()
    assert isinstance(layer.ended(), LostStateError)


def test_that_nobody_works_is_said_once(
    store: GatherAttempt, nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthest.coordinator.workers.ALONE_SECONDS", 0.0)
    layer = Layer(store)
    work(nodes, store.blocks.count)
    assert layer.ended() is None
    assert [progress.note for progress in layer.said if progress.note] == [
        "no worker is alive: start some with `farthest worker`; waiting"
    ]


def test_workers_of_another_version_are_named(store: GatherAttempt, nodes: RedisNodes) -> None:
    old = WorkerRecord("farthest@old", "here", 1, "0.0.7", attempts.PROTOCOL + 1, 1, "")
    Heartbeat(nodes, old, list).beat()
    error = Layer(store).ended()
    assert isinstance(error, JobError)
    assert "0.0.7" in str(error)


def test_a_layer_can_be_stopped(store: GatherAttempt) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    assert isinstance(Layer(store, stop).ended(), KeyboardInterrupt)


def test_a_small_layer_can_be_stopped(store: GatherAttempt, nodes: RedisNodes) -> None:
    """Between the parts that the coordinator steps itself."""
    asked: list[int] = []

    def stop() -> None:
        asked.append(1)
        if len(asked) == 2:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SMALL_LAYER_STATES.name, "1000000")
        executor = CeleryExecutor(nodes, should_stop=stop)
        patch.setattr(celery_backend, "STEPPED_AT_ONCE", 1)
        with pytest.raises(KeyboardInterrupt):
            executor.run_layer(store, 1, range(store.kernel.shards))
    assert len(StepWork(store.nodes, store.attempt).finished(1)) == 1


@pytest.mark.slow
def test_a_broker_that_stays_away_is_an_error(store: GatherAttempt) -> None:
    away = RedisNodes(["redis://127.0.0.1:1"])
    executor = CeleryExecutor(away)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        executor.run_layer(store, 1, range(store.kernel.shards))
    executor.close()
