"""The progress of unfinished jobs as server-sent events.

The database is read once a second for each job that is followed, however many follow it. Each event says all that is
known, so that a reader whose connection was lost needs nothing of what it has missed. What a page shows of it is in it
as texts (``told``, ``rows``), made once for all readers.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.responses import StreamingResponse

from farthest.documents.jobs import job_summary
from farthest.documents.progress import progress_rows
from farthest.drawing.chart import Chart
from farthest.errors import UnavailableError
from farthest.models.records import QUEUED, RUNNING, SEARCH
from farthest.models.searches import Searches
from farthest.web.asking import ask
from farthest.web.pages.search import iteration_rows
from farthest.web.refusals import RefusalError
from farthest.web.requests import number_in, shelf_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from farthest.web.shelf import Shelf

_LOG = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
QUIET_SECONDS = 15.0
"""After so long without an event a comment is sent: what is between the two does not end a silent connection."""

STREAM_SECONDS = 3600.0
"""A connection is ended after so long; the reader makes a new one."""

MOST_READERS = 1000
RETRY = b"retry: 2000\n\n"


class Feed:
    """What is known of one job, for all who follow it."""

    def __init__(self) -> None:
        self.event = b""
        self.chart = b""
        self.ended = False
        self.readers = 0
        self.changed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def tell(self, event: bytes, chart: bytes, *, ended: bool) -> None:
        """Wakes all readers, if there is something new. ``chart``: an event of its own, which is only sent when there
        is another layer."""
        if event != self.event:
            self.event, self.chart, self.ended = event, chart, ended
            self.changed.set()
            self.changed = asyncio.Event()


class Feeds:
    """The feeds of the jobs that are followed now. ``look_seconds``: how often the database is asked."""

    def __init__(self, shelf: Shelf, look_seconds: float = LOOK_SECONDS) -> None:
        self._shelf = shelf
        self._look_seconds = look_seconds
        self._feeds: dict[int, Feed] = {}

    def check_room(self) -> None:
        """Raises RefusalError where too many follow jobs already."""
        if sum(feed.readers for feed in self._feeds.values()) >= MOST_READERS:
            raise RefusalError(503, "too many readers follow jobs now; try again later")

    async def follow(self, number: int) -> AsyncIterator[bytes]:
        """The events of a job until it has ended."""
        feed = self._feeds.setdefault(number, Feed())
        feed.readers += 1
        if feed.task is None:
            feed.task = asyncio.create_task(self._look(number, feed))
        try:
            yield RETRY
            told = drawn = b""
            until = asyncio.get_running_loop().time() + STREAM_SECONDS
            while asyncio.get_running_loop().time() < until:
                changed = feed.changed
                if feed.event != told:
                    if feed.chart != drawn:
                        drawn = feed.chart
                        yield drawn
                    told = feed.event
                    yield told
                    if feed.ended:
                        return
                    continue
                try:
                    async with asyncio.timeout(QUIET_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    yield b": nothing new\n\n"
        finally:
            feed.readers -= 1
            if not feed.readers:
                feed.task.cancel()
                if self._feeds.get(number) is feed:
                    del self._feeds[number]

    async def _look(self, number: int, feed: Feed) -> None:
        while not feed.ended:
            try:
                document = await anyio.to_thread.run_sync(self._document, number)
            except UnavailableError:  # the next look may find it
                await asyncio.sleep(self._look_seconds)
                continue
            except Exception as error:
                # Deleted meanwhile, or damaged; or an error of the program, at which readers must not wait for ever.
                _LOG.info("job %s cannot be followed any more: %s", number, error)
                document = {"job": number, "status": "gone"}
            ended = document["status"] not in (QUEUED, RUNNING)
            layers = document.get("layers") or []
            chart = (
                event_of("chart", Chart(layers, logarithmic=True).part_of_page())
                if layers and not ended
                else b""
            )
            feed.tell(event_of("end" if ended else "progress", document), chart, ended=ended)
            await asyncio.sleep(self._look_seconds)

    def _document(self, number: int) -> dict[str, Any]:
        record = self._shelf.job(number)
        document = {**job_summary(record), "told": progress_rows(record)}
        if record.kind == SEARCH:
            iterations = Searches(self._shelf.database).iterations(number)
            return {**document, "iterations": [*map(asdict, iterations)], "rows": iteration_rows(iterations)}
        return {**document, "layers": [layer.states for layer in self._shelf.layers(record)]}


def event_of(kind: str, document: Any) -> bytes:
    """One server-sent event; JSON on one line."""
    return f"event: {kind}\ndata: {json.dumps(document)}\n\n".encode()


async def events(request: Request) -> Response:
    """The progress of a job. Raises JobError where there is none."""
    shelf, number = shelf_of(request), number_in(request)
    await ask(request, lambda: shelf.job(number))
    feeds: Feeds = request.app.state.feeds
    feeds.check_room()
    return StreamingResponse(
        feeds.follow(number), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
    )
