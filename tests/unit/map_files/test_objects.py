"""Writing a map file while the object store is away for a time, or for too long: a server in this process answers."""

import tempfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy
import pytest

from farthest.environment import MAPS
from farthest.errors import NoRoomError, StorageError, UnavailableError
from farthest.locations import Bucket
from farthest.map_files import objects
from farthest.map_files.form import SECTION, ResidueForm, WordOrder
from farthest.map_files.objects import ObjectWriter
from farthest.object_store import ObjectStore

FORM = ResidueForm(3, WordOrder(9_000_000))
NAME = "7-0123abcd/0123456789abcdef.map"


class Answering(ThreadingHTTPServer):
    """Keeps what is put, unless ``refused`` gives a status for the request of that number."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kept: dict[str, bytes] = {}
        self.refused: Callable[[int], int] = lambda number: 0
        self.requests = 0
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        server = self.server
        assert isinstance(server, Answering)
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        with server.lock:
            server.requests += 1
            status = server.refused(server.requests) or 200
            if status == 200:
                server.kept[self.path] = sent
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("ETag", '"0"')
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answering]:
    made = Answering()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{made.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret of tests")
    monkeypatch.setattr(objects, "PIECE", SECTION)
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def begun(told: Callable[[str], None]) -> ObjectWriter:
    return ObjectWriter(
        ObjectStore(Bucket("bucket", "maps"), MAPS), NAME, FORM, {}, told, Path(tempfile.gettempdir())
    )


@pytest.mark.slow
def test_a_store_that_is_away_for_a_while_is_waited_for(server: Answering) -> None:
    words = numpy.random.default_rng(1).integers(0, 2**64, FORM.words, dtype=numpy.uint64)
    server.refused = lambda number: 503 if 2 <= number < 20 else 0
    told: list[str] = []
    with begun(told.append) as writer:
        writer.write(0, words.tobytes())
        found = writer.finish()
        writer.publish()
    assert any("does not serve now" in one and "waiting up to 300 s" in one for one in told)
    names = [f"/bucket/maps/{NAME}/{number:08}" for number in range(5)]
    assert sorted(server.kept) == names
    assert sum(map(len, server.kept.values())) == found.bytes
    assert b"".join(server.kept[name] for name in names[1:4]) == words.tobytes()


@pytest.mark.parametrize(("status", "kind"), [(507, NoRoomError), (400, StorageError)])
def test_a_store_that_refuses_is_told_at_once(
    server: Answering, status: int, kind: type[StorageError]
) -> None:
    server.refused = lambda number: status
    with begun(pytest.fail) as writer:
        writer.write(0, bytes(8 * FORM.words))
        with pytest.raises(kind, match="FARTHEST_MAPS is s3://bucket/maps at"):
            writer.finish()
    assert not server.kept


@pytest.mark.slow
def test_a_store_that_stays_away_is_told(server: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARTHEST_DATABASE_WAIT_SECONDS", "0.5")
    server.refused = lambda number: 503
    with begun(lambda text: None) as writer:
        writer.write(0, bytes(8 * FORM.words))
        with pytest.raises(UnavailableError, match="does not serve now"):
            writer.finish()


@pytest.mark.slow
def test_who_gives_up_does_not_wait_for_the_store(server: Answering) -> None:
    server.refused = lambda number: 503
    waiting = threading.Event()
    with begun(lambda text: waiting.set()) as writer:
        writer.write(0, bytes(8 * FORM.words))
        assert waiting.wait(20)
    assert writer._stopped.is_set()
