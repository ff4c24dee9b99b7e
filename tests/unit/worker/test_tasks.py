"""Steps as a worker's process runs them, here in this process: messages that are late, doubled or hopeless."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import scatter
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.gather_store import GatherStore
from farthest.stores.redis.scatter_attempt import ScatterAttempt
from farthest.worker import work
from farthest.worker.app import celery_app
from farthest.worker.enumeration import StepWork
from farthest.worker.leases import Leases
from farthest.worker.work import WorkerProcess
from run_cases import begin_run
from store_cases import case


@pytest.fixture
def nodes(redis_nodes: RedisNodes) -> RedisNodes:
    return redis_nodes


@pytest.fixture
def process(nodes: RedisNodes) -> Iterator[WorkerProcess]:
    made = WorkerProcess("farthest@test")
    yield made
    made.nodes.close()


@pytest.fixture
def store(nodes: RedisNodes) -> Iterator[GatherAttempt]:
    """A run with its first layer under way, of one shard a block."""
    made = begin_run(case("two colours"), nodes, per_block=1, distances=False)
    made.begin(1, range(made.kernel.shards))
    yield made
    made.drop()


def told(store: GatherAttempt) -> list[dict[str, Any]]:
    return [json.loads(entry) for entry in store.nodes.main.lrange(store.done_key, 0, -1)]


def test_a_step_is_committed_and_told(process: WorkerProcess, store: GatherAttempt) -> None:
    for block in range(store.blocks.count):
        process.run(StepWork, store.attempt, 1, block)
    assert store.counts(1) == case("two colours").counts(1)
    assert [entry["block"] for entry in told(store)] == list(range(store.blocks.count))
    assert {entry["by"] for entry in told(store)} == {process.holder}
    assert Leases(store.nodes, store.attempt, "step", 5).held(1, [0]) == {}


def test_a_message_that_comes_twice_changes_nothing(process: WorkerProcess, store: GatherAttempt) -> None:
    process.run(StepWork, store.attempt, 1, 0)
    process.run(StepWork, store.attempt, 1, 0)
    assert StepWork(store.nodes, store.attempt).finished(1) == {0}
    assert len(told(store)) == 1


def test_a_step_that_another_works_on_is_left_to_it(process: WorkerProcess, store: GatherAttempt) -> None:
    Leases(store.nodes, store.attempt, "step", 5).take(1, 0, "another")
    process.run(StepWork, store.attempt, 1, 0)
    assert StepWork(store.nodes, store.attempt).finished(1) == set()


def test_messages_of_runs_and_layers_that_are_over_leave_nothing(
    process: WorkerProcess, store: GatherAttempt, nodes: RedisNodes
) -> None:
    for block in range(store.blocks.count):
        process.run(StepWork, store.attempt, 1, block)
    store.begin(2, range(store.kernel.shards))
    process.run(StepWork, store.attempt, 1, 0)
    store.drop()
    process.run(StepWork, store.attempt, 2, 0)
    process.run(StepWork, "never-was", 1, 0)
    assert list(nodes.main.scan_iter("farthest:attempt:*")) == []


def test_lost_states_are_told(process: WorkerProcess, store: GatherAttempt) -> None:
    for blob in store.nodes.main.scan_iter(f"farthest:attempt:{store.attempt}:b:*"):
        store.nodes.main.delete(blob)
    for block in range(store.blocks.count):
        process.run(StepWork, store.attempt, 1, block)
    assert "lost" in {entry.get("error") for entry in told(store)}


def test_a_run_of_another_version_is_told(process: WorkerProcess, store: GatherAttempt) -> None:
    store.nodes.main.hset(store.meta_key, "protocol", attempts.PROTOCOL + 1)
    process.run(StepWork, store.attempt, 1, 0)
    (entry,) = told(store)
    assert entry["error"] == "failed"
    assert "same version" in entry["message"]


def test_a_class_that_is_not_allowed_or_missing_where_the_worker_runs_is_told(
    process: WorkerProcess, nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'name = "p"\nfamily = "python"\n[python]\nclass = "python_spaces:Ring"\noptions = { n = 12 }\n'
    space = scatter(compile_space(parse_puzzle(text, "p.toml")))
    run = ScatterAttempt.create(nodes, attempts.new_attempt("1"), space, 2, distances=False)
    shards = run.begin(1, run.reachable(1))
    known = nodes.main.hget(run.meta_key, "puzzle")
    assert isinstance(known, bytes)
    nodes.main.hset(run.meta_key, "puzzle", known.replace(b"python_spaces:Ring", b"not_installed:Ring"))
    process.run(StepWork, run.attempt, 1, shards[0])
    monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", "python_spaces,not_installed")
    process.run(StepWork, run.attempt, 1, shards[0])
    refused, entry = [json.loads(one) for one in nodes.main.lrange(run.done_key, 0, -1)]
    assert (refused["error"], refused["by"]) == ("failed", process.holder)
    assert refused["message"].startswith(
        f"attempt {run.attempt}: puzzle class not_installed:Ring was not run on "
    )
    assert (entry["error"], entry["by"]) == ("failed", process.holder)
    assert "there is no module not_installed" in entry["message"]
    assert "install it wherever farthest and its workers run" in entry["message"]
    nodes.main.hset(run.meta_key, "puzzle", known)
    for shard in shards:
        process.run(StepWork, run.attempt, 1, shard)
    assert sum(run.counts(1).values()) == 2
    run.drop()


def test_what_nobody_expects_is_told_and_logged(
    process: WorkerProcess,
    store: GatherAttempt,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(GatherStore, "stepped", broken)
    process.run(StepWork, store.attempt, 1, 0)
    (entry,) = told(store)
    assert (entry["error"], entry["message"]) == ("failed", "ZeroDivisionError: a defect")
    assert "Traceback" in caplog.text


def test_a_step_without_redis_is_dropped_with_one_line(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", "redis://:secret@127.0.0.1:1")
    monkeypatch.setattr(work, "WAIT_SECONDS", 0.0)
    WorkerProcess("farthest@test").run(StepWork, "1-a", 1, 0)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "dropped" in record.getMessage()
    assert "secret" not in caplog.text


def test_the_app_takes_nothing_but_json(redis_url: str) -> None:
    app = celery_app(redis_url)
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"
    assert app.conf.result_backend is None
