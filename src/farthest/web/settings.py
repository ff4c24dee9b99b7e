"""What `farthest serve` was asked for: where it listens, who may read, who may change."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from farthest.environment import WEB_TOKEN
from farthest.errors import SettingError

LEAST_TOKEN = 16
"""Characters of a token: nobody guesses one by asking."""


@dataclass(frozen=True, slots=True)
class WebSettings:
    """``host``, ``port``: where the server listens; port 0: any that is free. ``database``: as for ``open_database``.
    ``public``: whoever reaches the server may read. ``allow_jobs``: who has the token may start, cancel and resume
    jobs. ``names``: host names by which readers reach the server, besides ``host``, localhost and addresses.
    ``cors_origins``: pages of which other servers may read. ``token``: empty: none. ``redis``: whether one was
    configured, so that workers are asked for.

    Raises SettingError for a combination that would let strangers read or change.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    database: str | None = None
    public: bool = False
    allow_jobs: bool = False
    names: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    token: str = ""
    redis: bool = False

    def __post_init__(self) -> None:
        if self.public and self.allow_jobs:
            raise SettingError("--public lets everybody read and nobody change: leave out --allow-jobs")
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
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

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
