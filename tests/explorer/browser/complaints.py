"""What must not happen on a page: requests to other hosts, and words on the console."""

from __future__ import annotations

from playwright.sync_api import ConsoleMessage, Page, Request


class Complaints:
    """Watches a page of a server, whose address ends with a slash. ``cut``: the connection is cut on purpose."""

    def __init__(self, page: Page, server: str, *, cut: bool = False) -> None:
        self._server = server
        # The browser itself notes each page whose status is an error; the tests look at these pages.
        noted = "net::ERR" if cut else "the server responded with a status of"
        self._noted = f"Failed to load resource: {noted}"
        self._found: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._found.append(f"error: {error}"))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if not message.text.startswith(self._noted):
            self._found.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self._server, "data:")):
            self._found.append(f"request: {request.url}")

    def check(self) -> None:
        """Raises AssertionError if anything was seen since the last time."""
        found, self._found = self._found, []
        assert not found, found
