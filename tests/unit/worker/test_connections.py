"""Connections to Redis: what goes wrong is told with the place and the mend, without passwords; waiting."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from redis import exceptions

from cases import for_each
from farthest.errors import (
    AccessError,
    RedisFullError,
    SettingError,
    StorageError,
    UnavailableError,
)
from farthest.stores.redis import connections
from farthest.stores.redis.connections import RedisNodes, translate
from farthest.stores.redis.gather_attempt import GatherAttempt
from run_cases import Nodes, advance, begin_run, keys
from servers import RedisServer, free_port
from store_cases import case

SECRET = "s3cr3t/%@:"


def test_blobs_are_spread_over_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", "redis://main:1/0")
    monkeypatch.setenv("FARTHEST_REDIS_NODES", " redis://:hidden@second:2/0  redis://third:3/0 ")
    nodes = RedisNodes.from_environment()
    assert len(nodes) == 3
    assert nodes.places == ["redis://main:1/0", "redis://:***@second:2/0", "redis://third:3/0"]
    assert [nodes.clients.index(nodes.node(block)) for block in range(5)] == [0, 1, 2, 0, 1]
    assert nodes.main is nodes.clients[0]


@for_each(
    "url",
    [
        "http://host/0",
        "redis://host:port/0",
        "host:6379",
        "redis://:hid/den@host:1/0",
        "redis://host:1/0?x=(3",
    ],
)
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match="not a Redis URL; expected redis://HOST:PORT/0") as error:
        RedisNodes([url])
    assert "hid" not in str(error.value)


def test_a_url_among_the_nodes_is_named_by_its_setting() -> None:
    with pytest.raises(SettingError, match="FARTHEST_REDIS_NODES is 'nonsense'"):
        RedisNodes(["redis://127.0.0.1", "nonsense"])


def test_sockets_are_named_by_their_paths(tmp_path: Path) -> None:
    nodes = RedisNodes([f"unix://{tmp_path}/nobody.sock?db=0"])
    with pytest.raises(UnavailableError, match="Redis cannot be reached"):
        nodes.check()
    nodes.close()


def test_a_server_that_does_not_run_is_unavailable() -> None:
    url = f"redis://:{'hidden'}@127.0.0.1:{free_port()}/0"
    nodes = RedisNodes([url])
    with pytest.raises(UnavailableError, match=r"Redis cannot be reached \(.*FARTHEST_REDIS_URL") as error:
        nodes.check()
    assert "hidden" not in str(error.value)
    assert ":***@127.0.0.1" in str(error.value)
    nodes.close()


@pytest.mark.slow
def test_a_wrong_password_is_told_and_not_shown(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis", password=SECRET)
    server.start()
    try:
        RedisNodes([server.url]).check()
        for url in (
            f"redis://:wrong-one@127.0.0.1:{server.port}/0",
            f"redis://someone:wrong-one@127.0.0.1:{server.port}/0",
            f"redis://127.0.0.1:{server.port}/0",
        ):
            with pytest.raises(
                StorageError, match=r"refuses the user or the password .*FARTHEST_REDIS_URL"
            ) as error:
                RedisNodes([server.url, url]).check()
            assert not isinstance(error.value, UnavailableError)
            with pytest.raises(UnavailableError, match="refuses the user or the password"):
                RedisNodes([server.url, url]).ask()
            for secret in ("wrong-one", "s3cr3t"):
                assert secret not in str(error.value)
    finally:
        server.close()


def test_a_redis_without_memory_is_told(nodes: Nodes) -> None:
    of = case("one-way", 2)
    run = begin_run(of, nodes)
    advance(run, 1, 2)
    nodes.main.config_set("maxmemory", "1")
    try:
        told = (
            r"Redis has no memory left .*raise its maxmemory .* REDIS_MAXMEMORY and REDIS_LIMIT .*"
            "add servers with FARTHEST_REDIS_NODES"
        )
        with pytest.raises(RedisFullError, match=told):
            advance(run, 3, 3)
        with pytest.raises(RedisFullError, match=told):
            begin_run(of, nodes)
        run.drop()
    finally:
        nodes.main.config_set("maxmemory", "0")
    assert keys(nodes) == set()


def test_a_server_that_is_too_old_is_refused(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "LEAST_VERSION", (99, 0))
    with pytest.raises(StorageError, match=r"this is Redis \d+\.\d+\.\d+; expected 6.2 or newer"):
        RedisNodes([redis_url]).check()


@for_each(
    ("error", "kind"),
    [
        (exceptions.ConnectionError("Connection reset by peer"), UnavailableError),
        (exceptions.TimeoutError("Timeout reading from socket"), UnavailableError),
        (exceptions.BusyLoadingError("Redis is loading the dataset in memory"), UnavailableError),
        (exceptions.ReadOnlyError("You can't write against a read only replica."), UnavailableError),
        (ConnectionResetError("reset"), UnavailableError),
        (exceptions.ResponseError("MISCONF Redis is configured to save RDB snapshots"), UnavailableError),
        (exceptions.ResponseError("BUSY Redis is busy running a script."), UnavailableError),
        (exceptions.ResponseError("UNBLOCKED force unblock from blocking operation"), UnavailableError),
        (exceptions.ResponseError("WRONGTYPE Operation against a key of the wrong kind"), StorageError),
        (exceptions.AuthenticationError("WRONGPASS invalid password"), AccessError),
        (exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), RedisFullError),
        (
            exceptions.ResponseError(
                "Error running script (call to f_1): @user_script:1: @user_script: 1: "
                "-OOM command not allowed when used memory > 'maxmemory'."
            ),
            RedisFullError,
        ),
        (exceptions.ResponseError(""), StorageError),
        (exceptions.NoPermissionError("this user has no permissions"), StorageError),
    ],
)
def test_failures_that_waiting_may_mend(error: Exception, kind: type[Exception]) -> None:
    told = translate(error, "redis://somewhere")
    assert type(told) is kind
    assert str(told).startswith("redis://somewhere: ")


@pytest.mark.slow
def test_what_fails_is_tried_again_for_a_while(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis")
    server.start()
    told: list[str] = []
    nodes = RedisNodes([server.url], 30.0, told.append)
    try:
        nodes.call(nodes.main.ping)
        server.stop()
        waiter = threading.Thread(target=nodes.call, args=(nodes.main.ping,))
        waiter.start()
        time.sleep(0.3)
        server.start()  # here: servers end with the thread that has started them
        waiter.join(10)
        assert not waiter.is_alive()
        assert len(told) == 1
        assert "Redis cannot be reached" in told[0]
        assert told[0].endswith("waiting up to 30 s for it")
    finally:
        nodes.close()
        server.close()


def test_waiting_ends_at_once_where_it_is_hurried() -> None:
    nodes = RedisNodes([f"redis://127.0.0.1:{free_port()}/0"], 60.0)
    ended: list[float] = []

    def wait() -> None:
        with pytest.raises(UnavailableError):
            nodes.call(nodes.main.ping)
        ended.append(time.monotonic())

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.3)
    begun = time.monotonic()
    with nodes.waiting(0):
        waiter.join()
    assert ended[0] - begun < 5
    nodes.close()


def test_an_operation_that_redis_refuses_is_not_repeated(nodes: Nodes) -> None:
    tries: list[int] = []

    def refused() -> None:
        tries.append(1)
        nodes.main.eval("redis.call('NOSUCHCOMMAND')", 0)

    nodes._wait = 60.0
    with pytest.raises(StorageError, match=r"Redis refused: .*[Uu]nknown Redis command"):
        nodes.call(refused)
    assert tries == [1]


class Proxy:
    """Passes bytes on to a server, and cuts every connection when ``cut_after`` replies have come back.

    The reply that it cuts off is of a command that has been executed.
    """

    def __init__(self, port: int) -> None:
        self.target = port
        self.cut_after = 10**9
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._pairs: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            self._pairs += [client, server]
            threading.Thread(target=self._pass, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, True), daemon=True).start()

    def _pass(self, source: socket.socket, to: socket.socket, replies: bool) -> None:
        try:
            while data := source.recv(2**16):
                if replies:
                    self.cut_after -= 1
                    if self.cut_after < 0:
                        self.cut_after = 10**9
                        self.cuts += 1
                        break
                to.sendall(data)
        except OSError:
            pass
        for end in (source, to):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        for end in self._pairs:
            end.close()


@pytest.mark.slow
def test_connections_that_are_cut_after_a_command_change_nothing(
    redis_server: RedisServer, redis_url: str
) -> None:
    """At any reply in turn, in a whole search: commits, beginnings of layers, blobs."""
    of = case("one-way", 1)
    cut_at, cuts = 0, 0
    while True:
        proxy = Proxy(redis_server.port)
        nodes = Nodes([f"redis://127.0.0.1:{proxy.port}/0"])
        run: GatherAttempt = begin_run(of, nodes, per_block=8)
        proxy.cut_after = cut_at
        for depth in range(1, 4):
            advance(run, depth, depth)
            assert run.counts(depth) == of.counts(depth)
        whole = b"".join(memoryview(one.distances) for one in run.chunks(3, 10**9))
        proxy_cut, proxy.cut_after = proxy.cuts, 10**9
        run.drop()
        assert keys(nodes) == set()
        nodes.close()
        proxy.close()
        assert sum(byte != 255 for byte in whole) == sum(map(len, of.layers[:4]))
        cuts += proxy_cut
        if not proxy_cut:
            break
        cut_at += 3
    assert cuts > 5


@pytest.mark.slow
def test_a_frozen_server_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = RedisServer(tmp_path / "redis")
    server.start()
    from_url: Callable[..., redis.Redis] = redis.Redis.from_url

    def impatient(url: str, **options: object) -> redis.Redis:
        return from_url(url, **{**options, "socket_timeout": 0.2})

    monkeypatch.setattr(redis.Redis, "from_url", impatient)
    nodes = RedisNodes([server.url])
    nodes.call(nodes.main.ping)
    server.freeze()
    try:
        with pytest.raises(UnavailableError, match="Timeout"):
            nodes.call(nodes.main.ping)
    finally:
        server.thaw()
        nodes.close()
        server.close()
