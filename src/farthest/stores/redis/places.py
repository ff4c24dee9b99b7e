"""Which place the blobs of attempts are in: what FARTHEST_BLOBS says, for all processes alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from farthest.environment import BLOBS
from farthest.errors import SettingError
from farthest.locations import Bucket, folder_or_bucket
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
    found = folder_or_bucket(said)
    if isinstance(found, Path):
        from farthest.stores.blobs.folder import FolderPlace

        return FolderPlace(found)
    if isinstance(found, Bucket):
        from farthest.stores.blobs.objects import ObjectPlace

        return ObjectPlace(found)
    raise SettingError(
        f"{BLOBS.name} is {hide_password(said)!r}; expected {REDIS}, a folder by its full path as file:///scratch, or "
        "an object store as s3://bucket/prefix"
    )
