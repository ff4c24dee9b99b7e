"""The servers of the tests themselves: kept data, kills, freezes, and that they end with the tests."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
import redis

from servers import PostgresServer, RedisServer


@pytest.mark.slow
def test_redis_keeps_data_over_a_restart_at_the_same_port(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis", password="a b:c@d")
    server.start()
    try:
        client = redis.Redis.from_url(server.url)
        client.set("a", "1")
        server.restart()
        assert client.get("a") == b"1"
        server.kill()
        server.start()
        assert client.get("a") is None
        client.set("a", "1")
        server.restart(keep_data=False)
        assert client.get("a") is None
        client.close()
    finally:
        server.close()
    assert not server.folder.exists()


def test_a_port_that_was_taken_meanwhile_is_given_up(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis")
    with socket.create_server(("127.0.0.1", server.port)):
        server.start()
    try:
        with redis.Redis.from_url(server.url) as client:
            assert client.ping()
    finally:
        server.close()


def test_redis_with_a_log_keeps_data_when_it_is_killed(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis", appendonly=True, settings={"appendfsync": "always"})
    server.start()
    try:
        client = redis.Redis.from_url(server.url)
        client.set("a", "1")
        server.kill()
        server.start()
        assert client.get("a") == b"1"
        server.restart(keep_data=False)
        assert client.get("a") is None
        client.close()
    finally:
        server.close()


def test_a_frozen_redis_does_not_answer(redis_server: RedisServer, redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url, socket_timeout=0.1, retry=None)
    client.ping()
    redis_server.freeze()
    with pytest.raises(redis.TimeoutError):
        client.ping()
    redis_server.thaw()
    assert client.ping()
    client.close()


@pytest.mark.slow
def test_postgres_is_killed_frozen_and_started_again(tmp_path: Path) -> None:
    server = PostgresServer(tmp_path / "postgres", password="a b:c@d")
    server.start()
    try:
        server.execute("CREATE TABLE kept (x integer)")
        server.restart()
        server.kill()
        server.start()
        server.execute("SELECT x FROM kept")
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(server.url.replace("a%20b", "wrong"))
        server.freeze()
        with pytest.raises(psycopg.OperationalError, match="timeout"):
            psycopg.connect(server.url, connect_timeout=2)
        server.thaw()
        server.execute("SELECT x FROM kept")
        server.restart(keep_data=False)
        with pytest.raises(psycopg.errors.UndefinedTable):
            server.execute("SELECT x FROM kept")
    finally:
        server.close()
    assert not server.folder.exists()


@pytest.mark.parametrize("number", [1, 2])
def test_each_test_has_a_fresh_database(postgres_url: str, number: int) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE mine (x integer)")


PROGRAM = """
import sys
from pathlib import Path

from servers import PostgresServer, RedisServer
servers = [RedisServer(Path(sys.argv[1], "redis")), PostgresServer(Path(sys.argv[1], "postgres"))]
for server in servers:
    server.start()
    server.freeze()
    print(server.pid, server.folder, flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_servers_end_with_the_process_that_started_them_even_frozen(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    assert process.stdout is not None
    started = [process.stdout.readline().split() for _ in range(2)]
    assert all(Path("/proc", pid).exists() for pid, _ in started)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    limit = time.monotonic() + 20
    while any(alive(pid) for pid, _ in started):
        assert time.monotonic() < limit
        time.sleep(0.05)


def alive(pid: str) -> bool:
    """Whether a process runs; one that has ended may wait long for the system to collect it."""
    try:
        return ") Z " not in Path("/proc", pid, "stat").read_text()
    except FileNotFoundError:
        return False
