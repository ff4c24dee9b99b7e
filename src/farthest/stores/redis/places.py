"""Which place the blobs of attempts are in: what FARTHEST_BLOBS says, for all processes alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farthest.environment import BLOBS
from farthest.errors import SettingError
from farthest.locations import Bucket, folder_or_bucket, hide_password
from farthest.stores.blobs.place import REDIS, BlobName, BlobPart, BlobPlace, NameTakenError
from farthest.stores.redis.attempts import begun_on, prefix

if TYPE_CHECKING:
    from redis import Redis

    from farthest.stores.redis.connections import RedisNodes


def blob_key(name: BlobName) -> str:
    """The key of a blob."""
    return f"{prefix(name.attempt)}{name.kind}:{name.depth}:{name.block}:{name.nonce}"


class RedisPlace:
    """``BlobPlace`` on the nodes: blobs are spread over them, block by block. Methods are to be called by
    ``RedisNodes.call``."""

    url = REDIS

    def __init__(self, nodes: RedisNodes) -> None:
        self._nodes = nodes

    def check(self) -> None:
        """``RedisNodes.ask`` does."""

    def put(self, blobs: Mapping[BlobName, bytes]) -> None:
        for client, names in self._by_node(blobs).items():
            pipe = client.pipeline(transaction=False)
            for name in names:
                pipe.set(blob_key(name), blobs[name], nx=True)
            written = zip(names, pipe.execute(), strict=True)
            # A command whose answer was lost is sent again.
            for name in [name for name, new in written if not new]:
                if client.get(blob_key(name)) != blobs[name]:
                    raise NameTakenError(f"{blob_key(name)}: there is another blob of that name")

    def read(self, parts: Sequence[BlobPart]) -> list[bytes]:
        found: dict[int, bytes] = {}
        by_node: dict[Redis, list[int]] = {}
        for number, part in enumerate(parts):
            by_node.setdefault(self._nodes.node(part.name.block), []).append(number)
        for client, here in by_node.items():
            pipe = client.pipeline(transaction=False)
            for name, first, size in (parts[number] for number in here):
                pipe.getrange(blob_key(name), first, first + size - 1)
            found.update(zip(here, pipe.execute(), strict=True))
        return [found[number] for number in range(len(parts))]

    def remove(self, names: Iterable[BlobName]) -> None:
        for client, here in self._by_node(names).items():
            client.unlink(*map(blob_key, here))

    def drop(self, attempt: str) -> None:
        for client in self._nodes.clients:
            found = client.scan_iter(match=f"{prefix(attempt)}[bovmp]:*", count=10_000)
            if keys := list(found):
                client.unlink(*keys)

    def attempts(self) -> list[str]:
        return sorted(begun_on(self._nodes))

    def silence(self, attempt: str) -> float:
        """Redis does not say when a key was written."""
        return 0.0

    def free(self) -> int | None:
        """Shared with all else in Redis; None where no server has a limit."""
        memories: list[Any] = [client.info("memory") for client in self._nodes.clients]
        free = [one["maxmemory"] - one["used_memory"] for one in memories if one["maxmemory"]]
        return min(free) * len(memories) if free else None

    def _by_node(self, names: Iterable[BlobName]) -> dict[Redis, list[BlobName]]:
        by_node: dict[Redis, list[BlobName]] = {}
        for name in names:
            by_node.setdefault(self._nodes.node(name.block), []).append(name)
        return by_node


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
