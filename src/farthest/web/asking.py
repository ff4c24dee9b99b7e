"""Questions, which take a thread's time, and bodies, which others send: both are bounded.

A question runs in a thread, since the kernel and the database do not know the event loop. When its reader leaves, or
``QUESTION_SECONDS`` have passed, a flag is set, at which the question gives up at its next look at the map.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import msgspec
from starlette.exceptions import HTTPException

from farthest.errors import (
    BoardError,
    FarthestError,
    ForbiddenCodeError,
    JobError,
    PuzzleError,
    ResourceError,
    SettingError,
    UnavailableError,
)
from farthest.typed import convert
from farthest.untrusted_json import read_json_object

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from farthest.models.database import Database


class RefusalError(FarthestError):
    """A request that is refused by its form: ``status`` is that of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ReaderLeftError(Exception):
    """The reader has gone, or has waited for as long as may be: the question is given up."""


_STATUS = (
    (ForbiddenCodeError, 403),
    (BoardError, 400),
    (JobError, 404),
    (PuzzleError, 404),
    (SettingError, 400),
    (ResourceError, 413),
    (UnavailableError, 503),
)
_MEANINGS = {
    404: "there is no such page",
    405: "this address does not take that kind of request",
}


def status_and_message(error: Exception, database: Database | None = None) -> tuple[int, str]:
    """What an answer says of an error. The place of the database stays with the server: who reads from elsewhere need
    not know it. What is not a FarthestError is told in the log alone."""
    if isinstance(error, RefusalError):
        return error.status, str(error)
    if isinstance(error, ReaderLeftError):
        return 503, "the answer took too long and was given up; ask for less"
    if isinstance(error, ForbiddenCodeError) and error.module:
        return 403, (
            f"the moves of this puzzle are Python code, the module {error.module}, which this server does not run; if "
            f"you trust it, start the server again as `farthest serve --allow-module {error.module}`"
        )
    if isinstance(error, FarthestError):
        message = str(error)
        if database is not None:
            message = message.replace(database.place, "the database")
        return next((status for kind, status in _STATUS if isinstance(error, kind)), 500), message
    if isinstance(error, HTTPException):
        return error.status_code, _MEANINGS.get(error.status_code, error.detail)
    return 500, "this is an internal error of the server; its log has the details"


Answer = TypeVar("Answer")

QUESTION_SECONDS = 60.0
GRACE_SECONDS = 2.0
"""After these more a question is answered as given up, though its thread does not know that yet."""

BODY_SECONDS = 20.0
FORM_BYTES = 64 * 2**10
BATCH_BYTES = 16 * 2**20

_given_up: ContextVar[threading.Event | None] = ContextVar("given_up", default=None)


def check_wanted() -> None:
    """Raises ReaderLeftError where nobody waits for the answer of this thread any more."""
    given_up = _given_up.get()
    if given_up is not None and given_up.is_set():
        raise ReaderLeftError


async def ask(request: Request, question: Callable[[], Answer], seconds: float | None = None) -> Answer:
    """What the question gives. Its body, if it has one, has been read. Raises what the question raises, and
    ReaderLeftError."""
    limiter: anyio.CapacityLimiter = request.app.state.threads
    seconds = QUESTION_SECONDS if seconds is None else seconds
    async with wanted(request, seconds):
        # A call of the kernel cannot be cut off: it keeps its place among the threads to its end, not its reader.
        answer = asyncio.ensure_future(anyio.to_thread.run_sync(question, limiter=limiter))
        done, _ = await asyncio.wait({answer}, timeout=seconds + GRACE_SECONDS)
        if not done:
            answer.add_done_callback(_forgotten)
            raise ReaderLeftError
        return answer.result()


def answered(
    question: Callable[[Request], Any], made: Callable[[Any], Response] = lambda found: found
) -> Callable[[Request], Awaitable[Response]]:
    """The route that asks the question in a thread; ``made``: makes the answer of what was found, if
    that is not the answer itself."""

    async def answer(request: Request) -> Response:
        return made(await ask(request, lambda: question(request)))

    return answer


def _forgotten(answer: asyncio.Future[Any]) -> None:
    """Takes an error that nobody waits for."""
    if not answer.cancelled():
        answer.exception()


@asynccontextmanager
async def wanted(request: Request, seconds: float) -> AsyncIterator[None]:
    """Threads that are started within give up at ``check_wanted`` when the reader leaves, or after so many seconds."""
    given_up = threading.Event()
    _given_up.set(given_up)

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        given_up.set()

    watcher = asyncio.ensure_future(watch())
    timer = asyncio.get_running_loop().call_later(seconds, given_up.set)
    try:
        yield
    finally:
        timer.cancel()
        watcher.cancel()


async def body_of(request: Request, most: int = FORM_BYTES) -> bytes:
    """The body. Raises RefusalError where it has more than ``most`` bytes, or is not there after ``BODY_SECONDS``."""
    told = request.headers.get("content-length", "0")
    if not (told.isascii() and told.isdecimal()) or len(told) > 12 or int(told) > most:
        raise RefusalError(413, f"the body has more than {most:,} bytes")
    body = bytearray()
    try:
        async with asyncio.timeout(request.app.state.body_seconds):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    raise RefusalError(413, f"the body has more than {most:,} bytes")
    except TimeoutError:
        raise RefusalError(408, "the body was not received in time") from None
    return bytes(body)


class PuzzleBody(msgspec.Struct, forbid_unknown_fields=True):
    """What `POST /api/jobs` takes."""

    puzzle: str


class BoardsBody(msgspec.Struct, forbid_unknown_fields=True):
    """What `POST /api/jobs/1/distances` takes."""

    boards: list[str]


EXAMPLES: dict[type, str] = {PuzzleBody: '{"puzzle": "8-puzzle"}', BoardsBody: '{"boards": ["goal"]}'}

Body = TypeVar("Body", PuzzleBody, BoardsBody)


def json_body(body: bytes, kind: type[Body]) -> Body:
    """The object that a body is. Raises RefusalError for anything else, also where it has a field more."""
    expected = f"expected JSON such as {EXAMPLES[kind]}"
    try:
        fields = read_json_object(body)
    except ValueError as error:
        raise RefusalError(400, f"the body: {error}; {expected}") from None
    try:
        return convert(fields, kind)
    except msgspec.ValidationError as error:
        raise RefusalError(400, f"the body: {error}; {expected}") from None
