"""Connections that give up on who is too slow: uvicorn waits for headers, bodies and readers without an end.

A request, its headers and its body, must have come ``REQUEST_SECONDS`` after its connection was made, or after its
first byte on a connection that had one before; an idle connection ends by uvicorn's own limit. What is sent must be
taken: a connection whose buffer stays full for ``TAKE_SECONDS`` is ended, and the question that it answers given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

REQUEST_SECONDS = 30.0
TAKE_SECONDS = 60.0


class BoundedConnection(H11Protocol):
    """uvicorn's connection, with the two limits."""

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
