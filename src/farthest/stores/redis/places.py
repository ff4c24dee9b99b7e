"""Which place the blobs of attempts are in: what FARTHEST_BLOBS says, for all processes alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from farthest.environment import BLOBS
from farthest.errors import SettingError
from farthest.passwords import hide_password
from farthest.stores.blobs.place import REDIS
from farthest.stores.redis.blob_place import RedisPlace

if TYPE_CHECKING:
    from farthest.stores.blobs.place import BlobPlace
    from farthest.stores.redis.connections import RedisNodes


def place_of(nodes: RedisNodes) -> BlobPlace:
    """The place that FARTHEST_BLOBS names; ``nodes`` where that is Redis. Raises SettingError."""
    said = BLOBS.text()
    if said == REDIS:
        return RedisPlace(nodes)
    try:
        url = urlsplit(said)
    except ValueError:
        raise _no_place(said) from None
    path = unquote(url.path)
    if url.query or url.fragment:
        raise _no_place(said)
    if url.scheme == "file" and url.netloc in ("", "localhost") and path.startswith("/") and "\0" not in path:
        from farthest.stores.blobs.folder import FolderPlace

        return FolderPlace(Path(path))
    if url.scheme == "s3" and url.netloc and "@" not in url.netloc:
        from farthest.stores.blobs.object_store import ObjectPlace

        return ObjectPlace(url.netloc, path.strip("/"))
    raise _no_place(said)


def _no_place(said: str) -> SettingError:
    return SettingError(
        f"{BLOBS.name} is {hide_password(said)!r}; expected {REDIS}, a folder by its full path as file:///scratch, or "
        "an object store as s3://bucket/prefix"
    )
