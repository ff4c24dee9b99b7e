"""The strikes of a soak on servers, connections, messages, clocks and disks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from redis import Redis

from cluster import until
from farthest.worker.app import KEY_PREFIX, QUEUE
from postman import Thief
from soak import small_disk
from soak.strikes import Missed, strike

if TYPE_CHECKING:
    from soak.ground import Ground

JUMPS = (-7200, -90, -20, 20, 90, 7200)
"""Seconds by which clocks jump."""


def _while(ground: Ground, least: float = 0.5, most: float = 5.0) -> None:
    time.sleep(ground.chance.uniform(least, most))


# Redis


@contextlib.contextmanager
def _configured(ground: Ground, name: str, value: object, before: object) -> Iterator[Any]:
    """A setting of Redis meanwhile. The client's connection is there before and after."""
    client = Redis(port=ground.redis.port, single_connection_client=True)
    client.config_set(name, str(value))
    try:
        yield client
    finally:
        client.config_set(name, str(before))
        client.close()


@strike()
def redis_away(ground: Ground) -> None:
    """It is stopped, and comes back empty."""
    ground.redis.stop()
    _while(ground)
    ground.redis.start()


@strike()
def redis_clients_killed(ground: Ground) -> None:
    with Redis(port=ground.redis.port) as client:
        for kind in ("normal", "pubsub"):
            client.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")


@strike()
def redis_paused(ground: Ground) -> None:
    """It answers nobody, or no writer, for a while."""
    seconds = ground.chance.uniform(1, 5)
    with Redis(port=ground.redis.port) as client:
        client.execute_command(
            "CLIENT", "PAUSE", round(seconds * 1000), ground.chance.choice(["ALL", "WRITE"])
        )
    time.sleep(seconds)


@strike()
def redis_full(ground: Ground) -> None:
    used = int(ground.cluster.redis.info("memory")["used_memory"])
    most = ground.chance.choice([1, used * 9 // 10, used + 20_000])
    with _configured(ground, "maxmemory", most, 0):
        _while(ground)


@strike()
def redis_password(ground: Ground) -> None:
    """A password that nobody knows, asked at each new connection."""
    with _configured(ground, "requirepass", "changed", "") as client:
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        _while(ground)


@strike()
def redis_maxclients(ground: Ground) -> None:
    """Too few connections are allowed; all are ended."""
    with _configured(ground, "maxclients", ground.chance.randrange(1, 10), 10_000) as client:
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        _while(ground)


def _key(ground: Ground) -> bytes:
    """Any key."""
    keys = sorted(ground.cluster.redis.scan_iter("farthest:*", 1000))
    if not keys:
        raise Missed("there are no keys")
    return bytes(ground.chance.choice(keys))


@strike()
def delete_key(ground: Ground) -> None:
    for _ in range(ground.chance.randrange(1, 4)):
        key = _key(ground)
        ground.cluster.redis.unlink(key)
        ground.say(key.decode())


@strike()
def alter_key(ground: Ground) -> None:
    """Another byte in a value of a run, whichever it is."""
    redis = ground.cluster.redis
    keys = [key for key in redis.scan_iter("farthest:run:*", 1000) if redis.type(key) in (b"string", b"hash")]
    if not keys:
        raise Missed("there are no keys")
    key = ground.chance.choice(sorted(keys))
    if redis.type(key) == b"string":
        value = redis.get(key)
        if value:
            redis.set(key, _changed(ground, value), xx=True, keepttl=True)
    else:
        fields = redis.hgetall(key)
        if fields:
            name = ground.chance.choice(sorted(fields))
            redis.hset(key, name, _changed(ground, fields[name]))
            key += b" " + name
    ground.say(key.decode())


def _changed(ground: Ground, value: bytes) -> bytes:
    place = ground.chance.randrange(max(1, len(value)))
    return value[:place] + bytes([ground.chance.randrange(256)]) + value[place + 1 :]


# Messages


@strike()
def queue_lost(ground: Ground) -> None:
    """All messages that wait, again and again for a while."""
    end = time.monotonic() + ground.chance.uniform(0.2, 2)
    while time.monotonic() < end:
        ground.cluster.redis.unlink(*(f"{KEY_PREFIX}{QUEUE}{end}" for end in ("", "\x06\x160", "\x06\x161")))
        time.sleep(0.01)


@strike()
def messages_lost(ground: Ground) -> None:
    queue = f"{KEY_PREFIX}{QUEUE}\x06\x161"
    with Thief(ground.redis.url, queue, ground.chance.uniform(0.1, 0.9), ground.chance) as thief:
        time.sleep(ground.chance.uniform(1, 3))
    ground.say(f"{thief.stolen} messages")


@strike()
def messages_repeated(ground: Ground) -> None:
    copies = ground.chance.randrange(1, 4)
    with _delivering(ground, lambda: [0.0] * copies):
        time.sleep(ground.chance.uniform(1, 4))


@strike()
def messages_late(ground: Ground) -> None:
    """They come again, later in the layer, in later layers, after the end."""
    with _delivering(ground, lambda: [ground.chance.uniform(0.1, 30.0)]):
        time.sleep(ground.chance.uniform(1, 4))


@contextlib.contextmanager
def _delivering(ground: Ground, deliver: Any) -> Iterator[None]:
    ground.man.deliver = deliver
    try:
        yield
    finally:
        ground.man.deliver = list


# The database


@strike()
def kill_database(ground: Ground) -> None:
    ground.postgres.kill()
    _while(ground, 0, 4)
    ground.postgres.start()


@strike()
def stop_database(ground: Ground) -> None:
    ground.postgres.stop()
    _while(ground, 5, 10)
    ground.postgres.start()


@strike()
def freeze_database(ground: Ground) -> None:
    ground.postgres.freeze()
    _while(ground, 1, 12)
    ground.postgres.thaw()


@strike()
def database_backends_ended(ground: Ground) -> None:
    """Several times, as they come back."""
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'soak'"
    for _ in range(ground.chance.randrange(1, 5)):
        ground.postgres.execute(end)
        time.sleep(ground.chance.uniform(0, 0.5))


# Connections


@strike()
def redis_line_cut(ground: Ground) -> None:
    for _ in range(ground.chance.randrange(1, 6)):
        ground.redis_line.cut()
        time.sleep(ground.chance.uniform(0, 0.5))


@strike()
def redis_line_refused(ground: Ground) -> None:
    with ground.redis_line.refused():
        _while(ground, 1, 8)


@strike()
def redis_line_slow(ground: Ground) -> None:
    with ground.redis_line.slow(ground.chance.uniform(0.01, 0.5)):
        _while(ground, 1, 6)


@strike()
def redis_line_stalled(ground: Ground) -> None:
    """Perhaps for longer than any timeout; what was sent comes through then."""
    with ground.redis_line.stalled():
        _while(ground, 1, 15)


@strike()
def database_line_cut(ground: Ground) -> None:
    for _ in range(ground.chance.randrange(1, 6)):
        ground.database_line.cut()
        time.sleep(ground.chance.uniform(0, 0.5))


@strike()
def database_line_refused(ground: Ground) -> None:
    with ground.database_line.refused():
        _while(ground, 1, 8)


@strike()
def database_line_stalled(ground: Ground) -> None:
    with ground.database_line.stalled():
        _while(ground, 1, 15)


# Clocks: they go right again at the next jump, or when the process is replaced.


def _jump(ground: Ground, names: list[str]) -> None:
    for name in names:
        seconds = ground.chance.choice(JUMPS)
        ground.clocks.set(name, seconds)
        ground.say(f"{name}: {seconds:+d} s")
    _while(ground, 1.5, 4)
    if ground.chance.random() < 0.5:
        for name in names:
            ground.clocks.set(name, 0)


@strike("clocks")
def worker_clocks_jump(ground: Ground) -> None:
    workers = ground.cluster.workers
    _jump(ground, [one.name for one in ground.chance.sample(workers, ground.chance.randint(1, len(workers)))])


@strike("clocks")
def coordinator_clocks_jump(ground: Ground) -> None:
    some = ground.cluster.coordinators
    _jump(ground, [one.name for one in ground.chance.sample(some, ground.chance.randint(1, len(some)))])


# Disks


@strike("disks")
def spool_full(ground: Ground) -> None:
    with small_disk.full(ground.spool):
        _while(ground, 1, 5)


@strike("local")
def disk_full(ground: Ground) -> None:
    """Where the databases of commands that run alone are."""
    if ground.disks_why_not:
        raise Missed(ground.disks_why_not)
    [job] = ground.commands("local")
    with small_disk.full(ground.disk), contextlib.suppress(AssertionError):
        until(lambda: None if job.service.alive else True, ground.chance.uniform(1, 5), "the command ends")
