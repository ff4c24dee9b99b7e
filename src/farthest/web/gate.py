"""What every request passes before anything looks at it: the name of the server, the token, the origin of a change.

And what every answer carries: headers by which a browser runs no script and loads nothing but this server's own files.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request

from farthest.environment import WEB_TOKEN
from farthest.errors import SettingError
from farthest.safe_text import safe
from farthest.web.asking import RefusalError
from farthest.web.own_user import is_own, told

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


_LOG = logging.getLogger(__name__)

COOKIE = "farthest"
SIGN_IN = "/sign-in"
OPEN_PATHS = (SIGN_IN, "/static/")
"""What is answered without the token: the form for it, and the files that pages consist of."""

READING = ("GET", "HEAD")
ASKING = "/api/jobs/{}/distances"
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    # Not no-referrer: browsers would then hide the origin of forms as well.
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
}


class Gate:
    """An ASGI application round the application of pages and JSON."""

    def __init__(
        self,
        app: ASGIApp,
        settings: WebSettings,
        refuse: Callable[[Request, RefusalError], Awaitable[Response]],
    ) -> None:
        """``refuse``: makes the answer to a request that is not let in."""
        self._app = app
        self._settings = settings
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
                headers.add_vary_header("cookie")
                headers.add_vary_header("authorization")
            await send(message)

        try:
            try:
                self._check(scope)
            except RefusalError as refusal:
                response = await self._refuse(Request(scope, receive), refusal)
                if _has_two_lengths(Headers(scope=scope)):  # where the next request begins is not known
                    response.headers["connection"] = "close"
                await response(scope, receive, answer)
                return
            await self._app(scope, receive, answer)
        finally:
            # Without the query, which is nobody's business.
            _LOG.info(
                "%s %s %s %.0f ms",
                scope["method"],
                safe(scope["path"]),
                status or "-",
                1000 * (time.monotonic() - began),
            )

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if _has_two_lengths(headers):
            raise RefusalError(
                400, "the request has both Content-Length and Transfer-Encoding; expected one of them"
            )
        host = headers.get("host", "")
        if not self._settings.is_name(_without_port(host)):
            raise RefusalError(
                421,
                "the Host header names another server; if it is a name of this one, start it with --name NAME",
            )
        path, method = scope["path"], scope["method"]
        changes = method not in READING
        known = self._known(headers)
        scope["may_change"] = lambda: (self._settings.allow_jobs and known) or self._own(scope, host)
        if self._settings.needs_token and not known and not path.startswith(OPEN_PATHS):
            raise RefusalError(401, "enter the token that this server was started with")
        if not changes or is_question(method, path):
            return
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            raise RefusalError(403, "the request comes from a page of another server")
        if path == SIGN_IN:
            return
        if origin is None and not self._bearer(headers):
            raise RefusalError(403, "the request does not say which page it comes from (Origin)")
        if not scope["may_change"]():
            raise self._refusal()

    def _own(self, scope: Scope, host: str) -> bool:
        """Whether a request is one of the user who started the server, who needs no token."""
        # At another name for this machine another user may listen, whose page could send this request.
        name = _without_port(host).removeprefix("[").removesuffix("]")
        return self._settings.own_jobs and name == self._settings.host.lower() and is_own(scope)

    def _refusal(self) -> RefusalError:
        """Why a change is refused."""
        if self._settings.allow_jobs:
            return RefusalError(401, "enter the token of this server first, to change something")
        if self._settings.own_jobs and told():
            return RefusalError(
                403, f"only the user who started this server may change something; others need {BY_TOKEN}"
            )
        if self._settings.own_jobs:
            return RefusalError(
                403, f"this system does not tell whose connection this is: start the server with {BY_TOKEN}"
            )
        return RefusalError(403, "this server does not start jobs; `farthest serve --allow-jobs` does")

    def _known(self, headers: Headers) -> bool:
        if not self._settings.token:
            return False
        cookies = Request({"type": "http", "headers": headers.raw}).cookies
        return self._bearer(headers) or equal(cookies.get(COOKIE, ""), cookie_of(self._settings.token))

    def _bearer(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and equal(token.strip(), self._settings.token)


def is_question(method: str, path: str) -> bool:
    """Whether a POST only asks: it has a body because it asks for many boards."""
    parts = path.split("/")
    return method == "POST" and len(parts) == 5 and parts[3].isdecimal() and path == ASKING.format(parts[3])


def cookie_of(token: str) -> str:
    """What a browser keeps instead of the token, which cannot be found from it."""
    return hmac.new(token.encode(), b"farthest serve, cookie", hashlib.sha256).hexdigest()


def equal(given: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell how far they are."""
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())


def _has_two_lengths(headers: Headers) -> bool:
    """Whether what stands before this server may see the end of the body at another place (RFC 9112, 6.3)."""
    return "content-length" in headers and "transfer-encoding" in headers


def may_change(request: Request) -> bool:
    """Whether the reader may start, cancel and resume jobs."""
    return bool(request.scope["may_change"]())


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host of this name."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.rpartition(":")[0] if ":" in host else host


BY_TOKEN = f"--allow-jobs and {WEB_TOKEN.name}"

LEAST_TOKEN = 16
"""Characters of a token: nobody guesses one by asking."""


@dataclass(frozen=True, slots=True)
class WebSettings:
    """``host``, ``port``: where the server listens; port 0: any that is free. ``database``: as for ``open_database``.
    ``public``: whoever reaches the server may read. ``allow_jobs``: who has the token may start, cancel and resume
    jobs; None: the user who started the server alone may, from this machine, where there is no token. ``names``: host
    names by which readers reach the server, besides ``host``, localhost and addresses. ``cors_origins``: pages of which
    other servers may read. ``token``: empty: none. ``redis``: whether one was configured, so that workers are asked
    for.

    Raises SettingError for a combination that would let strangers read or change.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    database: str | None = None
    public: bool = False
    allow_jobs: bool | None = None
    names: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    token: str = ""
    redis: bool = False

    def __post_init__(self) -> None:
        if self.public and self.allow_jobs:
            raise SettingError(
                "with --public everybody may read and nobody may change anything: leave out --allow-jobs"
            )
        if self.token and (len(self.token) < LEAST_TOKEN or not self.token.isascii() or " " in self.token):
            raise SettingError(
                f"{WEB_TOKEN.name}: expected {LEAST_TOKEN} or more ASCII characters without spaces; "
                "`openssl rand -hex 16` makes some"
            )
        for origin in self.cors_origins:
            self._check_origin(origin)
        if self.allow_jobs and not self.token:
            raise SettingError(
                f"--allow-jobs needs a token, which readers have to give: set {WEB_TOKEN.name}"
            )
        if not (self.loopback or self.token or self.public):
            raise SettingError(
                f"--host {self.host} is reached from other machines: set {WEB_TOKEN.name}, which readers have to "
                "give, or add --public, with which everybody may read and nobody change"
            )

    def _check_origin(self, origin: str) -> None:
        if origin == "*" and not self.public:
            raise SettingError(
                "--cors-origin *: pages of any server may read only what is --public; name origins"
            )
        parts = urlsplit(origin)
        plain = f"{parts.scheme}://{parts.netloc}" == origin and parts.scheme in ("http", "https")
        if origin != "*" and not (plain and parts.hostname and origin == origin.lower()):
            raise SettingError(
                f"--cors-origin {origin}: expected an origin as browsers send it, such as https://example.org or "
                "http://localhost:3000"
            )

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches the server."""
        return is_loopback(self.host)

    @property
    def own_jobs(self) -> bool:
        """Whether the user who started the server may change something without a token. Not where the server has
        another name: it stands behind another program, whose user may be the same."""
        return self.allow_jobs is None and self.loopback and not (self.token or self.public or self.names)

    @property
    def needs_token(self) -> bool:
        """Whether readers have to give the token."""
        return bool(self.token) and not self.public

    def is_name(self, host: str) -> bool:
        """Whether a Host header without its port names this server. An address does: only a name can be led elsewhere
        (DNS rebinding)."""
        name = host.lower().removesuffix(".")
        if name in {"localhost", self.host.lower(), *(each.lower() for each in self.names)}:
            return True
        try:
            return bool(ipaddress.ip_address(name.removeprefix("[").removesuffix("]")))
        except ValueError:
            return False
