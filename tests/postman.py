"""What goes wrong with messages: they come twice, late, or not at all.

Redis tells of every command (MONITOR); the messages of tasks among them are seen here, and pushed again.
"""

from __future__ import annotations

import ast
import heapq
import json
import random
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import RedisError

ARGUMENT = re.compile(rb'"(?:[^"\\]|\\.)*"')
LOOK_SECONDS = 0.01


class Postman:
    """Sees each message of a task as it is published. ``deliver`` says when it comes again: after so many seconds each.

    ``seen``: (queue, message) in the order in which they were published; ``again``: how many were pushed again.
    """

    def __init__(self, url: str, deliver: Callable[[], list[float]]) -> None:
        self.seen: list[tuple[bytes, bytes]] = []
        self.again = 0
        self._url = url
        self.deliver = deliver
        self._own: set[str] = set()
        self._due: list[tuple[float, int, bytes, bytes]] = []
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._listening = threading.Event()
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._listen, self._push_due)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        assert self._listening.wait(10)

    def stop(self) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def push(self, queue: bytes, message: bytes) -> None:
        """Publishes a message again, as a delivery of its own."""
        fields = json.loads(message)
        tag = fields["properties"]["delivery_tag"] = str(uuid.uuid4())
        self._own.add(tag)
        with Redis.from_url(self._url) as client:
            client.lpush(queue, json.dumps(fields))
        self.again += 1

    def _listen(self) -> None:
        while not self._done.is_set():
            try:
                for queue, message in self._published():
                    self._take(queue, message)
            except OSError:  # Redis is away
                time.sleep(LOOK_SECONDS)

    def _published(self) -> Iterator[tuple[bytes, bytes]]:
        place = urlsplit(self._url)
        with socket.create_connection((place.hostname, place.port), 10) as connection:
            connection.sendall(b"MONITOR\r\n")
            connection.settimeout(0.2)
            rest = b""
            while not self._done.is_set():
                try:
                    data = connection.recv(1 << 20)
                except TimeoutError:
                    continue
                if not data:
                    raise ConnectionError
                *lines, rest = (rest + data).split(b"\r\n")
                for line in lines:
                    if line == b"+OK":
                        self._listening.set()
                    elif line.startswith(b"-"):  # refused: there may be a password for a while
                        raise ConnectionError
                    yield from messages(line)

    def _take(self, queue: bytes, message: bytes) -> None:
        fields = json.loads(message)
        if "task" not in fields["headers"] or fields["properties"]["delivery_tag"] in self._own:
            return
        with self._lock:
            self.seen.append((queue, message))
            for seconds in self.deliver():
                heapq.heappush(self._due, (time.monotonic() + seconds, len(self.seen), queue, message))

    def _push_due(self) -> None:
        while not self._done.wait(LOOK_SECONDS):
            while (due := self._next_due()) is not None:
                try:
                    self.push(*due)
                except (RedisError, OSError):
                    break

    def _next_due(self) -> tuple[bytes, bytes] | None:
        with self._lock:
            if not self._due or self._due[0][0] > time.monotonic():
                return None
            _, _, queue, message = heapq.heappop(self._due)
            return queue, message


def messages(line: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The queue and the message that one line of MONITOR tells of, if it does."""
    head = line[:200].lower()
    if (b'] "lpush" ' not in head and b'] "rpush" ' not in head) or b"delivery_tag" not in line:
        return
    _, queue, *values = (ast.literal_eval("b" + text.decode("ascii")) for text in ARGUMENT.findall(line))
    yield from ((queue, value) for value in values)


@contextmanager
def postman(url: str, deliver: Callable[[], list[float]]) -> Iterator[Postman]:
    """A postman who works meanwhile."""
    man = Postman(url, deliver)
    man.start()
    try:
        yield man
    finally:
        man.stop()


class Thief:
    """Takes a part of the messages that wait in a queue."""

    def __init__(self, url: str, queue: str, share: float, rng: random.Random) -> None:
        self.stolen = 0
        self._url, self._queue, self._share, self._chance = url, queue, share, rng
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._steal, daemon=True)

    def __enter__(self) -> Thief:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _steal(self) -> None:
        with Redis.from_url(self._url) as client:
            while not self._done.wait(LOOK_SECONDS):
                if self._chance.random() < self._share and client.lpop(self._queue) is not None:
                    self.stolen += 1
