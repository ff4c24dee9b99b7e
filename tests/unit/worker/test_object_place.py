"""Object stores that answer in ways in which SeaweedFS cannot be made to: a server in this process answers instead."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from farthest import object_store
from farthest.errors import AccessError, NoRoomError, SettingError, StorageError, UnavailableError
from farthest.locations import Bucket
from farthest.stores.blobs.objects import ObjectPlace
from farthest.stores.blobs.place import BlobName, BlobPart, NameTakenError

NAME = BlobName("7-aa-1", "b", 3, 5, "0123abcd")


class Answering(ThreadingHTTPServer):
    """Answers each request with ``status`` and ``body``, or as ``answer`` says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.body = 200, b""
        self.answer: Callable[[Handler], tuple[int, bytes]] = lambda handler: (self.status, self.body)
        self.asked: list[str] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        assert isinstance(self.server, Answering)
        self.sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(f"{self.command} {self.path}")
        status, body = self.server.answer(self)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"0"')
        self.send_header("Last-Modified", "Sun, 22 Nov 2026 12:00:00 GMT")
        if self.command == "GET" and "Range" in self.headers and status == 206:
            self.send_header("Content-Range", f"bytes 0-{len(body) - 1}/{len(body)}")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = _answer

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
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def place(server: Answering) -> ObjectPlace:
    return ObjectPlace(Bucket("bucket", "prefix"))


def test_a_store_that_overwrites_is_refused(server: Answering, place: ObjectPlace) -> None:
    """As one does that does not know conditional requests: it takes them for plain ones."""
    with pytest.raises(
        SettingError, match=r"FARTHEST_BLOBS is s3://bucket/prefix: this place overwrites what it was"
    ):
        place.check()
    assert server.asked[0].startswith("PUT /bucket/prefix/farthest-attempt-probe-")


STATUSES: dict[int, tuple[type[StorageError], str]] = {
    403: (AccessError, "refuses the credentials, or this user"),
    503: (UnavailableError, "cannot be reached, or does not serve now"),
    507: (NoRoomError, "the object store is full"),
    400: (StorageError, "the object store refused"),
}


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 403, 507, pytest.param(503, marks=pytest.mark.slow)])
def test_what_the_server_answers_is_told(
    server: Answering, place: ObjectPlace, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.status = status
    kind, message = STATUSES[status]
    for action in (
        lambda: place.put({NAME: b"blob"}),
        lambda: place.read([BlobPart(NAME, 0, 9)]),
        lambda: place.remove([NAME]),
        lambda: place.drop("7-aa-1"),
        place.attempts,
    ):
        with pytest.raises(StorageError, match=message) as error:
            action()
        assert type(error.value) is kind or kind is StorageError
        assert not (kind is StorageError and isinstance(error.value, UnavailableError))
        assert str(error.value).startswith("FARTHEST_BLOBS is s3://bucket/prefix at http://127.0.0.1:")
        assert "\n" not in str(error.value)
        assert "a secret of tests" not in str(error.value)


def test_a_server_that_is_not_there_is_away(place: ObjectPlace, server: Answering) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(UnavailableError, match="cannot be reached"):
        place.put({NAME: b"blob"})


def test_a_server_that_does_not_answer_is_away(server: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "ANSWER_SECONDS", 0.2)
    done = threading.Event()
    server.answer = lambda handler: (200 if done.wait(20) else 500, b"")
    place = ObjectPlace(Bucket("bucket", "prefix"))
    with pytest.raises(UnavailableError, match="cannot be reached"):
        place.put({NAME: b"blob"})
    done.set()


@pytest.mark.parametrize(
    ("there", "error"), [(b"blob", None), (b"other", NameTakenError), (b"blob and more", NameTakenError)]
)
def test_a_blob_that_is_there_already(
    server: Answering, place: ObjectPlace, there: bytes, error: type[Exception] | None
) -> None:
    """Such as one whose request was answered, and the answer lost."""
    server.answer = lambda handler: (206, there[:5]) if handler.command == "GET" else (412, b"")
    if error is None:
        place.put({NAME: b"blob"})
    else:
        with pytest.raises(error):
            place.put({NAME: b"blob"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_ENDPOINT_URL", "nonsense"),
        ("AWS_ENDPOINT_URL", "http://host:1/x y"),
        ("AWS_ENDPOINT_URL_S3", "ftp://host"),
        ("AWS_ENDPOINT", "https://user:secret@host"),
        ("AWS_CONDITIONAL_PUT", "nonsense"),
    ],
)
def test_variables_that_cannot_be_used(
    server: Answering, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    if name.startswith("AWS_ENDPOINT"):
        monkeypatch.delenv("AWS_ENDPOINT_URL")
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match=r"AWS_") as error:
        ObjectPlace(Bucket("bucket", ""))
    assert "secret" not in str(error.value)


def test_without_its_package_it_is_told() -> None:
    code = (
        "import sys; sys.modules['obstore'] = None\n"
        "from farthest.locations import Bucket\n"
        "from farthest.stores.blobs.objects import ObjectPlace\n"
        "from farthest.errors import SettingError\n"
        "try: ObjectPlace(Bucket('bucket', ''))\n"
        "except SettingError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "s3://bucket: this needs the package obstore; pip install 'farthest[s3]'" in said
