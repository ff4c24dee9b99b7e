"""The style and the scripts of pages: a few files of the package, read once. No other file has an address."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """For each name the bytes and the media type."""
    found = {}
    for file in (files("farthest.web") / "static").iterdir():
        ending = file.name[file.name.rfind(".") :]
        if ending in TYPES:
            found[file.name] = file.read_bytes(), TYPES[ending]
    return found


@cache
def version() -> str:
    """A part of their addresses: another version of the files has other addresses, so these are cached for ever."""
    digest = hashlib.sha256()
    for name, (content, _) in sorted(static_files().items()):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def address(name: str) -> str:
    """The address of one of them."""
    return f"/static/{version()}/{name}"
