"""What URLs of settings name: a folder, or a bucket of an object store and a prefix in it; and their passwords.
Folders whose names are to survive a power cut."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of an object store; ``prefix``: of all names in it, without slashes at its ends, or empty."""

    name: str
    prefix: str

    @property
    def url(self) -> str:
        """As settings say it."""
        return "/".join(part for part in (f"s3://{self.name}", self.prefix) if part)


def folder_or_bucket(url: str) -> Path | Bucket | None:
    """What ``file:///FOLDER`` or ``s3://BUCKET/PREFIX`` names; None for all else."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.query or parts.fragment or "\0" in path:
        return None
    if parts.scheme == "file" and parts.netloc in ("", "localhost") and path.startswith("/"):
        return Path(path)
    if parts.scheme == "s3" and parts.netloc and "@" not in parts.netloc:
        return Bucket(parts.netloc, path.strip("/"))
    return None


def synchronize(folder: Path) -> None:
    """Has the names in a folder written to its disk. Raises OSError."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


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
