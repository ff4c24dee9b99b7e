"""What URLs of settings name: a folder, or a bucket of an object store and a prefix in it."""

from __future__ import annotations

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
