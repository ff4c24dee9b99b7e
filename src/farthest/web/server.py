"""The server process: it listens, tells its address, and ends at Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING

import uvicorn

from farthest.errors import SettingError
from farthest.models.database import open_database
from farthest.web.app import application
from farthest.web.connections import BoundedConnection
from farthest.web.cross_origin import open_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.web.settings import WebSettings

BACKLOG = 128
MOST_CONNECTIONS = 2000
IDLE_SECONDS = 15
STOP_SECONDS = 3


def serve(settings: WebSettings, *, told: Callable[[str], None], open_browser: bool) -> None:
    """Answers until a signal ends it. ``told`` gets the address once the server listens. Raises StorageError where
    there is no database, SettingError where the port is taken."""
    listening = _listening(settings.host, settings.port)
    try:
        database = open_database(settings.database, create=settings.allow_jobs)
    except BaseException:
        listening.close()
        raise
    port = listening.getsockname()[1]
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{'127.0.0.1' if shown == '0.0.0.0' else shown}:{port}/"
    told(address)
    config = uvicorn.Config(
        open_to(application(database, settings), settings.cors_origins),
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
