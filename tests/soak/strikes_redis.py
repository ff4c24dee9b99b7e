"""The strikes of a soak on Redis: the server, what it holds, and the messages that go through it."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from typing import Any

from redis import Redis

from farthest.worker.app import KEY_PREFIX, QUEUE
from postman import Thief
from soak.ground import Ground
from soak.strikes import Missed, pause, strike


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
    pause(ground)
    ground.redis.start()


@strike()
def redis_clients_killed(ground: Ground) -> None:
    with Redis(port=ground.redis.port) as client:
        for kind in ("normal", "pubsub"):
            client.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")


@strike()
def redis_paused(ground: Ground) -> None:
    """It answers nobody, or no writer, for a while."""
    seconds = ground.rng.uniform(1, 5)
    with Redis(port=ground.redis.port) as client:
        client.execute_command("CLIENT", "PAUSE", round(seconds * 1000), ground.rng.choice(["ALL", "WRITE"]))
    time.sleep(seconds)


@strike()
def redis_full(ground: Ground) -> None:
    used = int(ground.cluster.redis.info("memory")["used_memory"])
    most = ground.rng.choice([1, used * 9 // 10, used + 20_000])
    with _configured(ground, "maxmemory", most, 0):
        pause(ground)


@strike()
def redis_password(ground: Ground) -> None:
    """A password that nobody knows, asked at each new connection."""
    with _configured(ground, "requirepass", "changed", "") as client:
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        pause(ground)


@strike()
def redis_maxclients(ground: Ground) -> None:
    """Too few connections are allowed; all are ended."""
    with _configured(ground, "maxclients", ground.rng.randrange(1, 10), 10_000) as client:
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        pause(ground)


def _key(ground: Ground) -> bytes:
    """Any key."""
    keys = sorted(ground.cluster.redis.scan_iter("farthest:*", 1000))
    if not keys:
        raise Missed("there are no keys")
    return bytes(ground.rng.choice(keys))


@strike()
def delete_key(ground: Ground) -> None:
    for _ in range(ground.rng.randrange(1, 4)):
        key = _key(ground)
        ground.cluster.redis.unlink(key)
        ground.say(key.decode())


@strike()
def alter_key(ground: Ground) -> None:
    """Another byte in a value of a run, whichever it is."""
    redis = ground.cluster.redis
    keys = [
        key for key in redis.scan_iter("farthest:attempt:*", 1000) if redis.type(key) in (b"string", b"hash")
    ]
    if not keys:
        raise Missed("there are no keys")
    key = ground.rng.choice(sorted(keys))
    if redis.type(key) == b"string":
        value = redis.get(key)
        if value:
            redis.set(key, _changed(ground, value), xx=True, keepttl=True)
    else:
        fields = redis.hgetall(key)
        if fields:
            name = ground.rng.choice(sorted(fields))
            redis.hset(key, name, _changed(ground, fields[name]))
            key += b" " + name
    ground.say(key.decode())


def _changed(ground: Ground, value: bytes) -> bytes:
    place = ground.rng.randrange(max(1, len(value)))
    return value[:place] + bytes([ground.rng.randrange(256)]) + value[place + 1 :]


# Messages


@strike()
def queue_lost(ground: Ground) -> None:
    """All messages that wait, again and again for a while."""
    end = time.monotonic() + ground.rng.uniform(0.2, 2)
    while time.monotonic() < end:
        ground.cluster.redis.unlink(*(f"{KEY_PREFIX}{QUEUE}{end}" for end in ("", "\x06\x160", "\x06\x161")))
        time.sleep(0.01)


@strike()
def messages_lost(ground: Ground) -> None:
    queue = f"{KEY_PREFIX}{QUEUE}\x06\x161"
    with Thief(ground.redis.url, queue, ground.rng.uniform(0.1, 0.9), ground.rng) as thief:
        time.sleep(ground.rng.uniform(1, 3))
    ground.say(f"{thief.stolen} messages")


@strike()
def messages_repeated(ground: Ground) -> None:
    copies = ground.rng.randrange(1, 4)
    with _delivering(ground, lambda: [0.0] * copies):
        time.sleep(ground.rng.uniform(1, 4))


@strike()
def messages_late(ground: Ground) -> None:
    """They come again, later in the layer, in later layers, after the end."""
    rng = random.Random(ground.rng.random())
    with _delivering(ground, lambda: [rng.uniform(0.1, 30.0)]):
        time.sleep(ground.rng.uniform(1, 4))


@contextlib.contextmanager
def _delivering(ground: Ground, deliver: Any) -> Iterator[None]:
    ground.man.deliver = deliver
    try:
        yield
    finally:
        ground.man.deliver = list
