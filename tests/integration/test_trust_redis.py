"""Code from strangers does not run: workers take from Redis what their operator allows, and nothing else."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import farthest
import python_spaces
from cluster import Cluster, until
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.workers import Publisher
from farthest.errors import ForbiddenCodeError
from farthest.models.records import JobRecord
from farthest.spaces import compile_space
from farthest.spaces.contract import Space, scatter
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.scatter_attempt import ScatterAttempt
from farthest.worker.app import celery_app
from farthest.worker.search_batches import SearchFacts, open_for
from strangers import FROGS, hostile, parse_puzzle_allowed

pytestmark = pytest.mark.usefixtures("nothing_allowed")


@pytest.mark.slow
def test_a_run_in_redis_runs_nothing(redis_url: str, folder: Path, marker: Path) -> None:
    """A worker without a list, another that even allows ``os``: neither runs it, nor a harmless class; both live on
    through Celery's commands."""
    (folder / "frogs.toml").write_text(FROGS)
    space = scatter(compiled_allowed("frogs.toml"))
    nodes = RedisNodes([redis_url])
    told = []
    for options in ([], ["--allow-module", "os"]):
        with Cluster(folder, redis_url, f"sqlite:///{folder}/farthest.db") as cluster:
            worker = cluster.add_worker(1, *options)
            cluster.ready()
            made = ScatterAttempt.create(nodes, attempts.new_attempt("1"), space, 1, distances=False)
            (shard, *_) = made.begin(1, made.reachable(1))
            publisher = Publisher(nodes)
            for definition in (hostile(space.puzzle, marker), space.puzzle.to_json()):
                nodes.main.hset(made.meta_key, "puzzle", definition)
                publisher.publish("step", made.attempt, 1, [shard])
                told.append(
                    json.loads(until(partial(taken, nodes, made.done_key), 20, "the worker tells", 0.02))
                )
            made.drop()
            control = celery_app(redis_url).control
            control.broadcast("shutdown")
            control.broadcast("pool_grow", arguments={"n": 3})
            assert [*control.ping(timeout=2)[0].values()] == [{"ok": "pong"}]
            assert (worker.alive, len(worker.children())) == (True, 1)
            publisher.close()
    nodes.close()
    assert not marker.exists()
    assert [entry["error"] for entry in told] == ["failed"] * 4
    assert "puzzle class os:system was not run on " in told[0]["message"]
    assert "no module is allowed here" in told[1]["message"]
    assert "system is not a class derived from farthest.PuzzleSpace" in told[2]["message"]
    assert "puzzle class python_spaces:Frogs was not run on " in told[3]["message"]


def compiled_allowed(file: str) -> Space:
    """The space of a file of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FARTHEST_PUZZLE_MODULES", "python_spaces")
        return compile_space(parse_puzzle_allowed(file))


def taken(nodes: RedisNodes, key: str) -> str | None:
    """The first entry of a list in Redis, if there is one."""
    entry: Any = nodes.main.lpop(key)
    return None if entry is None else entry.decode()


def test_a_search_in_redis_runs_nothing(marker: Path) -> None:
    puzzle = hostile(farthest.load_puzzle(python_spaces.Ring()), marker)
    problem = json.dumps({"board": [0] * 8, "target": "0", "heuristic": "zero"})
    fields = {"puzzle": puzzle, "problem": problem, "first": "0", "limit": "10", "engine": "{}"}
    fields |= {"kind": "search", "protocol": str(attempts.PROTOCOL)}
    with pytest.raises(ForbiddenCodeError, match=r"^attempt 1-a: puzzle class os:system was not run on "):
        open_for(SearchFacts.of(fields, "1-a"), "1-a")
    assert not marker.exists()


def failed(cluster: Cluster, job: int) -> JobRecord | None:
    """The job, once it has failed."""
    record = cluster.job(job)
    return record if record.status == "failed" else None


@pytest.mark.slow
def test_workers_that_may_not_and_may(redis_url: str, folder: Path) -> None:
    """A job stops with the worker's message, goes on with a worker that allows the class, and has the same digest."""
    (folder / "frogs.toml").write_text(FROGS)
    allow = ("--allow-module", "python_spaces")
    database = f"sqlite:///{folder}/farthest.db"
    with Cluster(folder, redis_url, database, {"SMALL_LAYER_STATES": 0}) as cluster:
        cluster.add_coordinator(*allow)
        refusing = cluster.add_worker()
        cluster.ready()
        job = cluster.submit("frogs.toml", *allow)
        record = until(partial(failed, cluster, job), 20, "the job stops", 0.02)
        assert f"{job}-" in str(record.error)
        assert "puzzle class python_spaces:Frogs was not run on " in str(record.error)
        assert "no module is allowed here; if you trust it, add --allow-module" in str(record.error)
        cluster.remove(refusing)
        cluster.add_worker(1, *allow)
        cluster.ready()
        cluster.start("resume", str(job))
        until(lambda: True if cluster.job(job).status != "failed" else None, 20, "it is queued", 0.02)
        result = cluster.wait(job)
        coordinator = cluster.coordinators[0]
        cluster.remove(coordinator)
        cluster.add_coordinator()
        second = cluster.submit("frogs.toml", *allow)
        ended = until(partial(failed, cluster, second), 20, "the job stops", 0.02)
        assert str(ended.error).startswith(f"job {second}: puzzle class python_spaces:Frogs was not run on ")
    embedded = enumerate_puzzle(farthest.load_puzzle(python_spaces.Frogs()), None)
    assert (result.digest, result.layers) == (embedded.digest, embedded.layers)


@pytest.mark.slow
def test_what_messages_can_ask_of_a_worker() -> None:
    """In another process: what a worker leaves out is out for the whole process."""
    code = (
        "from celery.worker.control import Panel\nfrom farthest.worker.app import celery_app\n"
        "from farthest.worker.service import _restrict\napp = celery_app('redis://127.0.0.1:1')\n_restrict(app)\n"
        "print(*sorted(app.tasks), *sorted(Panel.data))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, encoding="utf-8"
    ).stdout
    assert told.split() == [
        *(
            "farthest.board",
            "farthest.cut",
            "farthest.part",
            "farthest.search",
            "farthest.step",
            "farthest.survey",
        ),
        *("active", "active_queues"),
        *(
            "disable_events",
            "enable_events",
            "heartbeat",
            "ping",
            "query_task",
            "registered",
            "reserved",
            "revoked",
        ),
        *("scheduled", "stats"),
    ]
