"""Maps as files, streamed: what a thread writes goes to the reader at once, and nothing of it is kept.

The thread waits until the reader has taken what was written. When the reader leaves, or is too slow (``connections``),
the writing ends. A file that cannot be written to its end is cut off where the browser notices: the last part of the
answer never comes.
"""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING, BinaryIO, cast

import anyio.from_thread
import anyio.to_thread

from farthest.errors import FarthestError
from farthest.web.asking import check_wanted, wanted
from farthest.web.refusals import ReaderLeftError, RefusalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send
    from typing_extensions import Buffer

_LOG = logging.getLogger(__name__)

AT_ONCE = 2
"""Files that are written at the same time."""

PART_BYTES = 256 * 2**10
DOWNLOAD_SECONDS = 3600.0


class Parts(io.RawIOBase):
    """What is written is given in parts of ``PART_BYTES`` or a little more."""

    def __init__(self, give: Callable[[bytes], None]) -> None:
        self._give = give
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        """Raises ReaderLeftError where nobody waits for it any more."""
        check_wanted()
        self._held += memoryview(data).cast("B")
        if len(self._held) >= PART_BYTES:
            self.end()
        return memoryview(data).nbytes

    def end(self) -> None:
        """Gives what is held."""
        data = bytes(self._held)
        self._held.clear()
        self._give(data)


class Download:
    """An answer that is a file. ``write`` gets the stream, in a thread. Raises RefusalError where ``AT_ONCE`` others
    are written already."""

    def __init__(
        self, request: Request, write: Callable[[BinaryIO], object], headers: dict[str, str]
    ) -> None:
        self._request = request
        self._write = write
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._limiter: anyio.CapacityLimiter = request.app.state.downloads
        if self._limiter.available_tokens < 1:
            raise RefusalError(503, f"{AT_ONCE} files are written already; try again later")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        start = {"type": "http.response.start", "status": 200, "headers": self._headers}
        if scope["method"] == "HEAD":
            await send(start)
            await send({"type": "http.response.body", "body": b""})
            return
        begun = False

        async def give(data: bytes) -> None:
            nonlocal begun
            if not begun:
                begun = True
                await send(start)
            await send({"type": "http.response.body", "body": data, "more_body": True})

        def written() -> None:
            parts = Parts(lambda data: anyio.from_thread.run(give, data))
            self._write(cast("BinaryIO", parts))
            parts.end()

        try:
            async with wanted(self._request, DOWNLOAD_SECONDS):
                await anyio.to_thread.run_sync(written, limiter=self._limiter)
        except (FarthestError, ReaderLeftError) as error:
            if not begun:
                raise
            _LOG.info("%s was not written to its end: %s", scope["path"], str(error) or type(error).__name__)
            return
        await send({"type": "http.response.body", "body": b""})
