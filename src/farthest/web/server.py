"""The server process: it listens, tells its address, and ends at Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from starlette.middleware.cors import CORSMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from farthest.errors import SettingError
from farthest.models.database import open_database
from farthest.web.app import application

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from farthest.web.gate import WebSettings


REQUEST_SECONDS = 30.0
TAKE_SECONDS = 60.0


class BoundedConnection(H11Protocol):
    """uvicorn's connection, which gives up on who is too slow; uvicorn waits for headers, bodies and readers without an
    end.

    A request, its headers and its body, must have come ``REQUEST_SECONDS`` after its connection was made, or after its
    first byte on a connection that had one before; an idle connection ends by uvicorn's own limit. What is sent must be
    taken: a connection whose buffer stays full for ``TAKE_SECONDS`` is ended, and the question that it answers given
    up.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._request_limit: asyncio.TimerHandle | None = None
        self._take_limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._request_limit = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._request_limit = _end(self._request_limit)
        elif self._request_limit is None:
            self._request_limit = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._take_limit = self.loop.call_later(TAKE_SECONDS, self._give_up)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._take_limit = _end(self._take_limit)

    def connection_lost(self, exc: Exception | None) -> None:
        self._request_limit = _end(self._request_limit)
        self._take_limit = _end(self._take_limit)
        super().connection_lost(exc)

    def _give_up(self) -> None:
        self.transport.abort()


def _end(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None


class CrossOrigin:
    """An ASGI application round the gate, which refuses changes from pages of other servers, named or not. Cookies are
    never sent with such requests: where a token is needed, they have it in the header Authorization."""

    def __init__(self, gate: ASGIApp, origins: Sequence[str]) -> None:
        self._gate = gate
        self._cors = CORSMiddleware(
            gate,
            allow_origins=origins,
            allow_methods=("GET", "HEAD", "POST"),  # a question for many boards is a POST
            allow_headers=("authorization", "content-type"),
            expose_headers=("etag",),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        below_api = scope["type"] == "http" and scope["path"].startswith("/api/")
        await (self._cors if below_api else self._gate)(scope, receive, send)


BACKLOG = 128
MOST_CONNECTIONS = 2000
IDLE_SECONDS = 15
STOP_SECONDS = 3


def serve(settings: WebSettings, *, told: Callable[[str], None], open_browser: bool) -> None:
    """Answers until a signal ends it. ``told`` gets the address once the server listens. Raises StorageError where
    there is no database, SettingError where the port is taken. A database that is not
    there is made, but for the public, who can put nothing into it."""
    listening = _listening(settings.host, settings.port)
    try:
        database = open_database(settings.database, create=not settings.public)
    except BaseException:
        listening.close()
        raise
    port = listening.getsockname()[1]
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{'127.0.0.1' if shown == '0.0.0.0' else shown}:{port}/"
    told(address)
    gate = application(database, settings)
    config = uvicorn.Config(
        CrossOrigin(gate, settings.cors_origins) if settings.cors_origins else gate,
        http=BoundedConnection,
        log_config=None,
        access_log=False,  # the gate logs, without what stands behind a question mark
        server_header=False,
        date_header=True,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
        h11_max_incomplete_event_size=32 * 2**10,
        ws="none",
        lifespan="on",
    )
    if open_browser:
        # The socket listens already: what comes before the server is ready waits in its backlog.
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    # uvicorn stops at a signal and then gives it on: that SIGTERM has been obeyed is a success.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(BACKLOG)
        except BaseException:
            listening.close()
            raise
    except OSError as error:
        raise SettingError(
            f"--host {host} --port {port}: cannot listen there ({error.strerror or error}); choose another port"
        ) from None
    return listening
