"""Pages of other servers that may read what is below /api/: those that `--cors-origin` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.middleware.cors import CORSMiddleware

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send


def open_to(gate: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """The gate, open to pages of these origins."""
    return CrossOrigin(gate, origins) if origins else gate


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
        """See ASGI."""
        below_api = scope["type"] == "http" and scope["path"].startswith("/api/")
        await (self._cors if below_api else self._gate)(scope, receive, send)
