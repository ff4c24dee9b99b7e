"""Passwords in URLs, also in those that are not quite right: hidden where a URL is shown, and found for the log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

_USER = r"\A((?:[^:/]*://)?+[^:]*):"
"""What stands before a password, with the colon."""

_PASSWORD = re.compile(rf"{_USER}(?P<password>.+)@", re.DOTALL)
_PASSWORD_OPTION = re.compile(r"[?&]password=(?P<password>[^&#]+)")


def hide_password(url: str) -> str:
    """A URL's text as it may be shown: the password as ***, without options (which may hold secrets too).

    Also right for passwords that should have been %-encoded, and for what is not quite a URL: where it cannot be known
    where the password ends, nothing after its beginning is shown.
    """
    place, _, options = url.partition("?")
    end = "" if "@" in options else "@"
    return re.sub(rf"{_USER}.*{end}", rf"\1:***{end}", place, flags=re.DOTALL)


def passwords_in(urls: Iterable[str]) -> list[str]:
    """The passwords in URLs, as they stand there and as they are meant."""
    found = set()
    for url in urls:
        for pattern in (_PASSWORD, _PASSWORD_OPTION):
            for match in pattern.finditer(url):
                found |= {match["password"], unquote(match["password"])}
    return sorted(found)
