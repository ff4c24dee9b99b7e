"""The registry of workers on a real Redis server."""

import subprocess
import sys
import threading
import time

import pytest

from farthest.errors import SettingError, UnavailableError
from farthest.stores.redis.connections import RedisNodes
from farthest.worker.leases import Leases, holder_name
from farthest.worker.registry import (
    LIFE_SECONDS,
    Heartbeat,
    WorkerRecord,
    claim_name,
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
    leases = Leases(nodes, "4-abc", "step", 5)
    leases.take(3, 7, holder_name(ALPHA.name, 12))
    (alpha,) = list_workers(nodes)
    (work,) = alpha.busy
    assert (work.process, work.attempt, work.depth, work.block) == (12, "4-abc", 3, 7)
    assert 0 <= work.seconds < 5
    leases.release(3, 7, holder_name(ALPHA.name, 12))
    assert list_workers(nodes)[0].busy == ()


def test_a_record_vanishes_with_its_worker(nodes: RedisNodes) -> None:
    beat(nodes, ALPHA)
    assert 0 < nodes.main.ttl(f"farthest:worker:{ALPHA.name}") <= LIFE_SECONDS
    nodes.main.delete(f"farthest:worker:{ALPHA.name}")
    assert list_workers(nodes) == []


def test_a_time_in_the_future_counts_when_it_is_written_again(nodes: RedisNodes) -> None:
    """The server's clock was set back."""
    beat(nodes, ALPHA)
    nodes.main.zadd("farthest:workers", {ALPHA.name: nodes.now() + 3600})
    assert list_workers(nodes) == []
    beat(nodes, ALPHA)
    assert [worker.name for worker in list_workers(nodes)] == [ALPHA.name]


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


def of_another(nodes: RedisNodes, host: str = "elsewhere", pid: int = 7) -> Heartbeat:
    """The heartbeat of a process on another host, of the same name."""
    return Heartbeat(nodes, ALPHA, list, 0.05, owner=f"{host}/{pid}/5.boot.1")


@pytest.mark.slow
def test_a_name_that_is_written_anew_is_refused(nodes: RedisNodes) -> None:
    other, done = of_another(nodes), threading.Event()
    other.beat()

    def live() -> None:
        while not done.wait(0.05):
            other.beat_if_due()

    living = threading.Thread(target=live)
    living.start()
    try:
        with pytest.raises(
            SettingError, match="farthest@alpha runs already, on host here as process 10; give each"
        ):
            claim_name(Heartbeat(nodes, ALPHA, list))
    finally:
        done.set()
        living.join()


def test_a_name_whose_worker_was_killed_is_free_soon(nodes: RedisNodes) -> None:
    of_another(nodes).beat()
    nodes.main.pexpire(f"farthest:worker:{ALPHA.name}", 300)  # as 15 s later
    mine = Heartbeat(nodes, ALPHA, lambda: [11])
    claim_name(mine)
    mine.beat()
    assert [worker.pids for worker in list_workers(nodes)] == [(11,)]


def test_a_name_whose_record_never_vanishes_is_refused(nodes: RedisNodes) -> None:
    of_another(nodes).beat()
    nodes.main.persist(f"farthest:worker:{ALPHA.name}")
    with pytest.raises(SettingError, match="farthest@alpha runs already"):
        claim_name(Heartbeat(nodes, ALPHA, list))


def test_a_name_whose_worker_is_known_to_be_dead_is_free_at_once(nodes: RedisNodes) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "from farthest.models.leases import owner_token; print(owner_token())"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    Heartbeat(nodes, ALPHA, list, owner=ended.stdout.strip()).beat()
    begun = time.monotonic()
    mine = Heartbeat(nodes, ALPHA, lambda: [11])
    claim_name(mine)
    assert time.monotonic() - begun < 1
    assert of_another(nodes).beat() is not None, "the name is taken before the worker is listed"
    mine.beat()
    assert [worker.pids for worker in list_workers(nodes)] == [(11,)]


def test_a_worker_whose_name_was_taken_leaves_it_and_says_so_once(
    nodes: RedisNodes, caplog: pytest.LogCaptureFixture
) -> None:
    mine = Heartbeat(nodes, ALPHA, lambda: [11], 0.0)
    of_another(nodes).beat()
    mine.beat_if_due()
    mine.beat_if_due()
    mine.end()
    (said,) = [record.getMessage() for record in caplog.records]
    assert said == (
        f"another worker has the name {ALPHA.name} now, on host {ALPHA.host} as process {ALPHA.pid}, so this one "
        "is not listed; give each worker a --name of its own"
    )
    assert [worker.pids for worker in list_workers(nodes)] == [()]
