"""`farthest worker` as a process: how it starts, ends and lasts."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from redis import Redis

from cases import for_each
from cluster import Service, until
from farthest import retry
from farthest.cli.app import cli
from farthest.coordinator.workers import Publisher
from farthest.stores.redis.connections import RedisNodes
from farthest.worker.app import QUEUE, broker_settings, queue_length
from farthest.worker.registry import list_workers
from servers import RedisServer

PASSWORD = "s3cr%t@1/x"

Start = Callable[..., Service]


@pytest.fixture
def nodes(redis_nodes: RedisNodes) -> RedisNodes:
    return redis_nodes


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a worker with one process, and waits until it is there."""
    started: list[Service] = []

    def begin(nodes: RedisNodes, *words: str) -> Service:
        environment = {**os.environ, "FARTHEST_REDIS_URL": nodes.urls[0]}
        number = len(started)
        worker = Service(
            tmp_path, f"worker{number}", ["worker", "--concurrency", "1", *words], environment, 0.0
        )
        started.append(worker)
        until(lambda: [1 for one in list_workers(nodes) if one.pid == worker.pid] or None, 30, "it is there")
        return worker

    yield begin
    for worker in started:
        worker.kill()


@pytest.mark.slow
def test_a_worker_tells_of_itself_and_drains(nodes: RedisNodes, start: Start) -> None:
    worker = start(nodes, "--name", "alpha")
    (record,) = list_workers(nodes)
    assert (record.name, record.concurrency, record.pids) == ("farthest@alpha", 1, tuple(worker.children()))
    assert CliRunner().invoke(cli, ["worker", "--healthy"]).exit_code == 0
    assert CliRunner().invoke(cli, ["worker", "--healthy", "--name", "alpha"]).exit_code == 0
    assert CliRunner().invoke(cli, ["worker", "--healthy", "--name", "beta"]).exit_code == 1
    shown = CliRunner().invoke(cli, ["workers"]).output
    assert "farthest@alpha" in shown
    assert "idle" in shown
    assert worker.stop() == 0
    assert list_workers(nodes) == []
    assert CliRunner().invoke(cli, ["worker", "--healthy"]).exit_code == 1


@pytest.mark.slow
def test_signals_to_all_processes_of_a_worker_drain_it(nodes: RedisNodes, start: Start) -> None:
    worker = start(nodes)
    os.killpg(worker.pid, signal.SIGTERM)
    assert worker.process.wait(20) == 0


@pytest.mark.slow
def test_a_second_signal_ends_a_worker_at_once(nodes: RedisNodes, start: Start) -> None:
    worker = start(nodes)
    worker.process.send_signal(signal.SIGTERM)
    until(lambda: "SIGTERM" in worker.said() or None, 10, "it has noticed")
    worker.process.send_signal(signal.SIGTERM)
    assert worker.process.wait(5) == 128 + signal.SIGTERM


@pytest.mark.slow
def test_a_worker_that_drains_is_there_until_its_steps_have_ended(nodes: RedisNodes, start: Start) -> None:
    worker = start(nodes)
    (child,) = worker.children()
    os.kill(child, signal.SIGSTOP)
    worker.process.send_signal(signal.SIGTERM)
    until(lambda: "SIGTERM" in worker.said() or None, 10, "it has noticed")
    nodes.main.flushall()
    until(lambda: list_workers(nodes) or None, 10, "it has told of itself again")
    os.kill(child, signal.SIGCONT)
    assert worker.process.wait(20) == 0
    assert list_workers(nodes) == []


@pytest.mark.slow
def test_processes_end_with_their_worker(nodes: RedisNodes, start: Start) -> None:
    worker = start(nodes)
    (child,) = worker.children()
    os.kill(worker.pid, signal.SIGKILL)
    until(lambda: gone(child) or None, 10, "the child has ended")


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.slow
def test_a_worker_outlives_restarts_of_redis_and_keeps_its_password(tmp_path: Path, start: Start) -> None:
    server = RedisServer(tmp_path / "redis", password=PASSWORD)
    server.start()
    nodes = RedisNodes([server.url], wait=10)
    try:
        worker = start(nodes)
        server.kill()
        time.sleep(1.2)
        server.start()
        publisher = Publisher(nodes)
        publisher.publish("step", "1-over", 1, range(3))
        publisher.close()
        until(lambda: queue_length(nodes) == 0 or None, 20, "it works again")
        assert worker.stop() == 0
        said = worker.said()
        assert "Connected" in said
        assert PASSWORD not in said
        assert quote(PASSWORD, safe="") not in said
        assert "s3cr" not in said
    finally:
        nodes.close()
        server.close()


@pytest.mark.slow
def test_nothing_that_redis_does_ends_a_worker(tmp_path: Path, start: Start) -> None:
    server = RedisServer(tmp_path / "redis")
    server.start()
    nodes = RedisNodes([server.url], wait=30)
    try:
        worker = start(nodes, "--concurrency", "2")
        for strike in (
            kill_connections,
            forbid_writing,
            keep_all_out,
            change_the_password,
            send_what_is_no_message,
        ):
            strike(server)
        for pid in worker.children():
            os.kill(pid, signal.SIGKILL)
        kill_connections(server)
        server.kill()
        server.start()
        server.freeze()
        time.sleep(0.5)
        server.thaw()
        assert worker.alive, worker.said()
        until(lambda: consumers(nodes) == 2 or None, 30, "both processes wait for messages again")
        publisher = Publisher(nodes)
        publisher.publish("step", "1-over", 1, range(50))
        publisher.close()
        until(lambda: queue_length(nodes) == 0 or None, 10, "it works again")
        until(
            lambda: [1 for one in list_workers(nodes) if one.pid == worker.pid] or None,
            10,
            "it tells of itself",
        )
        assert worker.stop() == 0
    finally:
        nodes.close()
        server.close()


def consumers(nodes: RedisNodes) -> int:
    """The processes that wait for messages: each has a connection in which BRPOP is the last command."""
    return sum(one["cmd"] == "brpop" for one in nodes.main.client_list())


@contextlib.contextmanager
def administrator(server: RedisServer) -> Iterator[Any]:
    with Redis.from_url(server.url) as client:
        yield client


def cut(client: Any) -> None:
    """Cuts all connections but this one."""
    for kind in ("normal", "pubsub"):
        client.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")


def kill_connections(server: RedisServer) -> None:
    with administrator(server) as client:
        for _ in range(10):
            cut(client)
            time.sleep(0.05)


def forbid_writing(server: RedisServer) -> None:
    """As a replica, and then without memory."""
    with administrator(server) as client:
        client.replicaof("127.0.0.1", 1)
        cut(client)
        time.sleep(0.5)
        client.replicaof("NO", "ONE")
        client.config_set("maxmemory", 1)
        cut(client)
        time.sleep(0.5)
        client.config_set("maxmemory", 0)


def keep_all_out(server: RedisServer) -> None:
    """It takes no more connections, and then does not answer."""
    with administrator(server) as client:
        most = client.config_get("maxclients")["maxclients"]
        client.config_set("maxclients", 1)
        cut(client)
        time.sleep(0.5)
        client.config_set("maxclients", most)
        client.execute_command("CLIENT", "PAUSE", 500)


def change_the_password(server: RedisServer) -> None:
    with administrator(server) as client:
        client.config_set("requirepass", "another")
        client.execute_command("AUTH", "another")
        cut(client)
        time.sleep(0.5)
        client.config_set("requirepass", "")


NO_MESSAGES = ("", b"\xff\xfe", "[]", "{}", "null", "7", "[" * 5000, '{"body": "x", "properties": {}}')


def send_what_is_no_message(server: RedisServer) -> None:
    with administrator(server) as client:
        for text in NO_MESSAGES:
            client.lpush(f"farthest:{QUEUE}", text)


@pytest.mark.slow
def test_what_is_no_message_is_dropped_with_one_line(tmp_path: Path, start: Start) -> None:
    server = RedisServer(tmp_path / "redis")
    server.start()
    nodes = RedisNodes([server.url], wait=30)
    try:
        worker = start(nodes)
        children = worker.children()
        send_what_is_no_message(server)
        until(lambda: queue_length(nodes) == 0 or None, 20, "all are taken")
        assert worker.children() == children
        assert worker.stop() == 0
        said = worker.said()
        assert said.count("a message that is not from farthest was dropped: ") == len(NO_MESSAGES)
        assert "Traceback" not in said
        assert max(map(len, said.splitlines())) < 300
    finally:
        nodes.close()
        server.close()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"FARTHEST_REDIS_URL": "http://here"}, "FARTHEST_REDIS_URL is 'http://here'"),
        ({"FARTHEST_REDIS_URL": "redis://:s3cret@127.0.0.1:1"}, "check that it runs"),
        ({"FARTHEST_CONCURRENCY": "many"}, "FARTHEST_CONCURRENCY is 'many'"),
        ({"FARTHEST_LEASE_SECONDS": "0"}, "FARTHEST_LEASE_SECONDS is '0'"),
        ({"FARTHEST_WORKER_MEMORY": "much"}, "FARTHEST_WORKER_MEMORY is 'much'"),
        ({"FARTHEST_LOG_LEVEL": "loud"}, "FARTHEST_LOG_LEVEL is 'loud'"),
    ],
)
def test_wrong_settings_are_one_message(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "START_SECONDS", 0.0)
    result = CliRunner().invoke(cli, ["worker"], env=variables)
    assert result.exit_code == 2
    assert expected in result.output
    assert "s3cret" not in result.output


def test_a_wrong_password_is_named(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis", password=PASSWORD)
    server.start()
    try:
        url = server.url.replace("s3cr", "other")
        for command in (["worker"], ["workers"], ["worker", "--healthy"]):
            result = CliRunner().invoke(cli, command, env={"FARTHEST_REDIS_URL": url})
            assert result.exit_code == 2
            assert "password" in result.output
            assert "other" not in result.output
    finally:
        server.close()


@pytest.mark.slow
def test_a_second_worker_of_a_name_is_refused(nodes: RedisNodes, start: Start, tmp_path: Path) -> None:
    first = start(nodes, "--name", "twin")
    words = ["worker", "--concurrency", "1", "--name", "twin"]
    second = Service(tmp_path, "second", words, {**os.environ, "FARTHEST_REDIS_URL": nodes.urls[0]}, 0.0)
    assert second.process.wait(30) == 2
    assert f"a worker called farthest@twin runs already, on host {os.uname().nodename}" in second.said()
    assert f"as process {first.pid}; give each worker a --name of its own" in second.said()
    (record,) = list_workers(nodes)
    assert (record.pid, record.pids) == (first.pid, tuple(first.children()))
    first.kill()  # its record stays behind
    again = start(nodes, "--name", "twin")
    until(lambda: [one.pid for one in list_workers(nodes)] == [again.pid] or None, 30, "it alone is there")


@for_each("name", ["", "a b", "a/b", "x@y"])
def test_wrong_names_are_refused(name: str) -> None:
    result = CliRunner().invoke(cli, ["worker", "--name", name])
    assert result.exit_code == 2
    assert "--name" in result.output


@for_each(
    ("url", "settings"),
    [
        ("redis://here", {"broker_url": "redis://here:6379/0"}),
        ("redis://u:p%40@here:1/3?protocol=3", {"broker_url": "redis://u:p%40@here:1/3"}),
        ("unix://:p@/run/redis?db=2", {"broker_url": "redis+socket://:p@/run/redis", "broker_vhost": "2"}),
        (
            "rediss://here/1",
            {"broker_url": "rediss://here:6379/1", "broker_use_ssl": {"ssl_cert_reqs": "required"}},
        ),
        (
            "rediss://here/1?ssl_ca_certs=/ca.pem&ssl_cert_reqs=none",
            {
                "broker_url": "rediss://here:6379/1",
                "broker_use_ssl": {"ssl_ca_certs": "/ca.pem", "ssl_cert_reqs": "none"},
            },
        ),
    ],
)
def test_celery_gets_the_url_in_its_own_words(url: str, settings: dict[str, object]) -> None:
    assert broker_settings(url) == settings
