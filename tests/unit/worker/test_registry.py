"""The registry of workers on a real Redis server."""

import time

import pytest

from farthest.errors import UnavailableError
from farthest.stores.redis.connections import RedisNodes
from farthest.worker.leases import StepLeases
from farthest.worker.registry import (
    LIFE_SECONDS,
    Heartbeat,
    WorkerRecord,
    holder_name,
    list_workers,
    memory_of,
)
from servers import RedisServer

ALPHA = WorkerRecord("farthest@alpha", "here", 10, "1.2.3", 1, 2, "2026-11-21T09:00:00+00:00")
BETA = WorkerRecord("farthest@beta", "there", 20, "1.2.3", 1, 1, "2026-11-21T09:00:00+00:00")


def beat(nodes: RedisNodes, record: WorkerRecord, *pids: int) -> None:
    Heartbeat(nodes, record, lambda: pids).beat()


def test_there_is_no_worker_at_first(nodes: RedisNodes) -> None:
    assert list_workers(nodes) == []


def test_workers_are_listed_by_name(nodes: RedisNodes) -> None:
    beat(nodes, BETA, 21)
    beat(nodes, ALPHA, 12, 11)
    alpha, beta = list_workers(nodes)
    assert (alpha.name, alpha.host, alpha.pid, alpha.concurrency) == ("farthest@alpha", "here", 10, 2)
    assert (alpha.version, alpha.protocol, alpha.started) == (ALPHA.version, ALPHA.protocol, ALPHA.started)
    assert (alpha.pids, alpha.busy) == ((11, 12), ())
    assert beta.name == "farthest@beta"
    assert 0 <= beta.silent < 5


def test_what_processes_do_is_told(nodes: RedisNodes) -> None:
    beat(nodes, ALPHA, 11, 12)
    leases = StepLeases(nodes, "4-abc", 5)
    leases.take(3, 7, holder_name(ALPHA.name, 12))
    (alpha,) = list_workers(nodes)
    (work,) = alpha.busy
    assert (work.process, work.run, work.depth, work.block) == (12, "4-abc", 3, 7)
    assert 0 <= work.seconds < 5
    leases.release(3, 7, holder_name(ALPHA.name, 12))
    assert list_workers(nodes)[0].busy == ()


def test_a_record_vanishes_with_its_worker(nodes: RedisNodes) -> None:
    beat(nodes, ALPHA)
    assert 0 < nodes.main.ttl(f"farthest:worker:{ALPHA.name}") <= LIFE_SECONDS
    nodes.main.delete(f"farthest:worker:{ALPHA.name}")
    assert list_workers(nodes) == []


def test_a_heartbeat_writes_when_it_is_due(nodes: RedisNodes) -> None:
    heartbeat = Heartbeat(nodes, ALPHA, lambda: [11], seconds=0.1)
    heartbeat.beat_if_due()
    nodes.main.flushall()
    heartbeat.beat_if_due()
    assert list_workers(nodes) == []
    time.sleep(0.1)
    heartbeat.beat_if_due()
    assert [worker.name for worker in list_workers(nodes)] == [ALPHA.name]
    heartbeat.end()
    assert list_workers(nodes) == []


def test_a_heartbeat_survives_a_restart_of_redis(nodes: RedisNodes, redis_server: RedisServer) -> None:
    heartbeat = Heartbeat(nodes, ALPHA, lambda: [11], seconds=0.05)
    redis_server.stop()
    heartbeat.beat_if_due()
    with pytest.raises(UnavailableError):
        heartbeat.beat()
    with pytest.raises(UnavailableError):
        list_workers(nodes)
    redis_server.restart(keep_data=False)
    time.sleep(0.05)
    heartbeat.beat_if_due()
    assert [worker.name for worker in list_workers(nodes)] == [ALPHA.name]


def test_memory_is_told_for_each_server(redis_url: str) -> None:
    nodes = RedisNodes([redis_url, redis_url])
    one, other = memory_of(nodes)
    assert one.place == other.place == redis_url
    assert 0 < one.used <= one.peak
    assert one.most == 0
