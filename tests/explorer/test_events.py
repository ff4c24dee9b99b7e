"""The progress of jobs as server-sent events, and the questions of readers who leave."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from explorer.conftest import KINDS, QUEUED, THREE, Client
from farthest.errors import JobError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.queries.stored_map import StoredMap
from farthest.web import asking
from farthest.web.api_routes import Feeds
from farthest.web.app import application
from farthest.web.gate import Gate, WebSettings
from farthest.web.shelf import Shelf

Events = list[tuple[str, dict[str, Any]]]


def event_in(part: bytes) -> tuple[str, dict[str, Any]]:
    kind, data = part.decode().strip().split("\n")
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


@pytest.fixture
def shelf(stored: Path, tmp_path: Path) -> Shelf:
    file = tmp_path / "copy.db"
    shutil.copy(stored, file)
    return Shelf(open_database(file, create=False))


def test_a_job_is_followed_to_its_end_by_many_who_read_the_database_once(shelf: Shelf) -> None:
    reads = 0
    read = shelf.job

    def counted(number: int) -> Any:
        nonlocal reads
        reads += 1
        return read(number)

    shelf.job = counted  # type: ignore[method-assign]
    jobs = Jobs(shelf.database)

    async def reader(feeds: Feeds, seen: Events) -> None:
        async for part in feeds.follow(QUEUED):
            if part.startswith(b"event"):
                seen.append(event_in(part))

    async def until(status: str, *all_seen: Events) -> None:
        while not all(seen and seen[-1][1]["status"] == status for seen in all_seen):
            await asyncio.sleep(0.01)

    async def run() -> list[Events]:
        feeds = Feeds(shelf, look_seconds=0.01)
        seen: list[Events] = [[] for _ in range(51)]
        readers = [asyncio.create_task(reader(feeds, each)) for each in seen[:50]]
        await until("queued", *seen[:50])
        assert jobs.claim(QUEUED, "a coordinator")
        jobs.renew(QUEUED, "a coordinator", 60.0, {"depth": 3})
        await until("running", *seen[:50])
        await asyncio.sleep(0.05)
        # A reader whose connection was lost comes again, and is told all that is known.
        readers.append(asyncio.create_task(reader(feeds, seen[50])))
        await until("running", seen[50])
        jobs.cancel(QUEUED)
        await asyncio.gather(*readers)
        return seen

    *first, late = asyncio.run(asyncio.wait_for(run(), 20))
    for events in first:
        told = list(dict.fromkeys((kind, found["status"]) for kind, found in events))
        assert told == [("progress", "queued"), ("progress", "running"), ("end", "cancelled")]
        assert {"depth": 3} in [found["progress"] for _, found in events]
        assert events == first[0]
    assert late[0][1]["progress"] == {"depth": 3}
    assert late[-1] == first[0][-1]
    assert reads < 60  # not once for each of 51 readers


def test_a_finished_job_ends_at_once(shelf: Shelf) -> None:
    async def run() -> list[bytes]:
        return [part async for part in Feeds(shelf, 0.01).follow(KINDS)]

    parts = asyncio.run(asyncio.wait_for(run(), 10))
    assert parts[0].startswith(b"retry:")
    kind, document = event_in(parts[1])
    assert (kind, document["states"], len(document["layers"])) == ("end", 90720, 31)


@asynccontextmanager
async def served(app: Gate) -> AsyncIterator[None]:
    """The application between its start and its end."""
    inside: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    outside: asyncio.Queue[Any] = asyncio.Queue()
    task = asyncio.create_task(app({"type": "lifespan", "app": None}, inside.get, outside.put))
    await inside.put({"type": "lifespan.startup"})
    assert (await outside.get())["type"] == "lifespan.startup.complete"
    try:
        yield
    finally:
        await inside.put({"type": "lifespan.shutdown"})
        await task


async def asked(app: Gate, method: str, path: str, receive: Callable[[], Any]) -> list[Any]:
    """What the application sends for a request whose messages ``receive`` gives."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope_of(method, path), receive, send)
    return sent


def scope_of(method: str, path: str) -> dict[str, Any]:
    """What a server hands to an application with a request."""
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
        "scheme": "http",
        "server": ("127.0.0.1", 8080),
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
    }


def copied(stored: Path, tmp_path: Path) -> tuple[Path, WebSettings]:
    file = tmp_path / "copy.db"
    shutil.copy(stored, file)
    return file, WebSettings(database=str(file))


def test_a_body_that_does_not_come_is_not_waited_for(stored: Path, tmp_path: Path) -> None:
    file, settings = copied(stored, tmp_path)
    app = application(open_database(file, create=False), settings, body_seconds=0.05)

    async def receive() -> Any:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def run() -> list[Any]:
        async with served(app):
            return await asked(app, "POST", f"/api/jobs/{THREE}/distances", receive)

    sent = asyncio.run(asyncio.wait_for(run(), 10))
    assert sent[0]["status"] == 408


def test_a_question_ends_when_its_reader_leaves(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layer is looked for chunk by chunk: no chunk is read after the reader has gone."""
    file, settings = copied(stored, tmp_path)
    app = application(open_database(file, create=False), settings)
    reading, given_up = threading.Event(), threading.Event()
    whole = StoredMap.chunks

    def endless(self: StoredMap, depth: int | None = None) -> Any:
        try:
            while True:
                reading.set()
                yield from whole(self, depth)
        finally:
            given_up.set()

    monkeypatch.setattr(StoredMap, "chunks", endless)

    async def run() -> list[Any]:
        messages = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await asyncio.to_thread(reading.wait, 5)
            return {"type": "http.disconnect"}

        # More states than there are: the layer would be looked for for ever.
        async with served(app):
            app._app.state.shelf._map(KINDS).layers = (*[1] * 30, 10**9)  # type: ignore[attr-defined]
            return await asked(app, "GET", f"/api/jobs/{KINDS}/layers/30", receive)

    asyncio.run(asyncio.wait_for(run(), 20))
    assert given_up.wait(5)


def test_a_reader_does_not_wait_for_a_call_that_cannot_be_cut_off(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread keeps its place until the call ends."""
    asked, calling, ends = client(), threading.Event(), threading.Event()
    state = asked.app._app.state  # type: ignore[attr-defined]
    monkeypatch.setattr(asking, "QUESTION_SECONDS", 0.01)
    monkeypatch.setattr(asking, "GRACE_SECONDS", 0.02)

    def long_call(number: int) -> None:
        del number
        calling.set()
        ends.wait(20)
        raise JobError("nobody hears this")

    monkeypatch.setattr(state.shelf, "job", long_call)
    try:
        answer = asked.get(f"/api/jobs/{THREE}")
        assert (answer.status_code, calling.is_set(), state.threads.borrowed_tokens) == (503, True, 1)
    finally:
        ends.set()
    limit = time.monotonic() + 10
    while state.threads.borrowed_tokens:
        assert time.monotonic() < limit
        time.sleep(0.002)
