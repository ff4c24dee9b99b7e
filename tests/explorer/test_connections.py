"""Who is too slow, by real connections: headers, bodies and readers have limits of time; others are not disturbed."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from explorer.conftest import KINDS, QUEUED, THREE
from explorer.test_events import copied
from farthest.models.database import open_database
from farthest.web import server as connections
from farthest.web.app import application
from farthest.web.gate import Gate

HEAD = b"GET /api/jobs/%d HTTP/1.1\r\nHost: 127.0.0.1\r\n" % THREE
POST = b"POST /api/jobs/%d/distances HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{" % THREE
LIMIT = 0.25

pytestmark = pytest.mark.slow


class Server:
    """A server in a thread of this process."""

    def __init__(self, app: Gate) -> None:
        self.app = app
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        config = uvicorn.Config(
            app, http=connections.BoundedConnection, log_config=None, ws="none", timeout_graceful_shutdown=1
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listening]})
        self.thread.start()

    def connect(self, sent: bytes) -> socket.socket:
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        made.settimeout(10)
        made.connect(self.listening.getsockname())
        made.sendall(sent)
        return made

    def end(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.listening.close()


@pytest.fixture
def server(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", LIMIT)
    monkeypatch.setattr(connections, "TAKE_SECONDS", LIMIT)
    file, settings = copied(stored, tmp_path)
    app = application(open_database(file, create=False), settings, look_seconds=0.02)
    assert isinstance(app, Gate)
    made = Server(app)
    yield made
    made.end()


def answer(connection: socket.socket) -> bytes:
    """One answer, which is a JSON object: its head and its body may come apart."""
    came = b""
    while not came.endswith(b"}"):
        came += connection.recv(65536)
    return came


def seconds_until_it_ends(connection: socket.socket, each: bytes) -> float:
    """Sends a byte now and then until the server has ended the connection."""
    begun = time.monotonic()
    connection.settimeout(0.02)
    with contextlib.suppress(ConnectionError, BrokenPipeError):
        while time.monotonic() < begun + 10:
            with contextlib.suppress(TimeoutError):
                if not connection.recv(65536):
                    break
            connection.sendall(each)
    return time.monotonic() - begun


@pytest.mark.parametrize(
    ("sent", "each"),
    [
        (b"", b""),  # a connection without a request
        (HEAD, b"x"),  # headers that do not end
        (HEAD + b"\r\n" + HEAD, b"x"),  # those of a second request
        (POST, b" "),  # a body that does not end
        (HEAD + b"Content-Length: 1000\r\n\r\n", b" "),  # one that nobody reads
    ],
)
def test_a_request_that_does_not_come_is_not_waited_for(server: Server, sent: bytes, each: bytes) -> None:
    with contextlib.closing(server.connect(sent)) as slow:
        assert LIMIT / 2 < seconds_until_it_ends(slow, each) < 5


def test_others_are_not_ended(server: Server) -> None:
    """A connection that is idle between two requests, and one that follows a job for longer than a request may take."""
    with (
        contextlib.closing(server.connect(HEAD + b"\r\n")) as idle,
        contextlib.closing(
            server.connect(b"GET /api/jobs/%d/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % QUEUED)
        ) as follower,
    ):
        assert answer(idle).startswith(b"HTTP/1.1 200")
        time.sleep(2 * LIMIT)
        idle.sendall(HEAD + b"\r\n")
        assert answer(idle).startswith(b"HTTP/1.1 200")
        shelf = server.app._app.state.shelf  # type: ignore[attr-defined]
        shelf.jobs.cancel(QUEUED)
        told = b""
        while b"event: end" not in told:
            told += follower.recv(65536)


def test_a_reader_who_takes_nothing_is_left(server: Server) -> None:
    with contextlib.closing(
        server.connect(b"GET /jobs/%d/map.csv HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % KINDS)
    ) as reader:
        assert reader.recv(15) == b"HTTP/1.1 200 OK"
        downloads = server.app._app.state.downloads  # type: ignore[attr-defined]
        assert downloads.borrowed_tokens == 1
        limit = time.monotonic() + 10
        while downloads.borrowed_tokens:
            assert time.monotonic() < limit
            time.sleep(0.01)
        taken = 15
        with contextlib.suppress(ConnectionError):
            while part := reader.recv(65536):
                taken += len(part)
        assert taken < 10**6


def test_a_body_of_two_lengths_is_refused_and_the_connection_closed(server: Server) -> None:
    """RFC 9112, 6.3: what stands before the server might see the second request elsewhere."""
    head = POST.split(b"\r\n\r\n")[0].replace(b"1000", b"5") + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    with contextlib.closing(server.connect(head + b"0\r\n\r\n" + HEAD + b"\r\n")) as asked:
        came = b""
        while part := asked.recv(65536):
            came += part
    assert came.startswith(b"HTTP/1.1 400 ")
    assert b"both Content-Length and Transfer-Encoding" in came
    assert came.count(b"HTTP/1.1 ") == 1
