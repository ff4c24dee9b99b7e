"""The keys of one attempt in Redis, and its blobs, which are spread over the nodes block by block."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from farthest.stores.redis.attempts import prefix

if TYPE_CHECKING:
    from redis import Redis

    from farthest.stores.redis.connections import RedisNodes


class AttemptBlobs:
    """The keys and blobs of the attempt called ``attempt``; all methods raise what ``RedisNodes.call`` does."""

    def __init__(self, nodes: RedisNodes, attempt: str) -> None:
        self.nodes = nodes
        self.attempt = attempt
        self._prefix = prefix(attempt)

    @property
    def done_key(self) -> str:
        """The done-list."""
        return f"{self._prefix}done"

    @property
    def meta_key(self) -> str:
        """What the attempt is, and how far."""
        return f"{self._prefix}meta"

    def records_key(self, depth: int) -> str:
        """The records of a layer."""
        return f"{self._prefix}c:{depth}"

    @property
    def visited_key(self) -> str:
        """Where each block's blob of all its states is."""
        return f"{self._prefix}v"

    def blob_key(self, depth: int, block: int, nonce: str) -> str:
        """A block's states at a depth."""
        return f"{self._prefix}b:{depth}:{block}:{nonce}"

    def visited_blob_key(self, block: int, nonce: str) -> str:
        """All states of a block, or some of them."""
        return f"{self._prefix}v:{block}:{nonce}"

    def outbox_key(self, depth: int, block: int, nonce: str) -> str:
        """What the states of a block at a depth lead to, part by part."""
        return f"{self._prefix}o:{depth}:{block}:{nonce}"

    def fetch(self, names: Sequence[tuple[str, int]], most: int) -> list[bytes | None]:
        """The blobs of these names and blocks; of one with more than ``most`` bytes only the beginning, which is
        damaged."""
        parts = [(name, block, 0, most + 1) for name, block in names]
        return [blob or None for blob in self.fetch_parts(parts)]

    def fetch_parts(self, parts: Sequence[tuple[str, int, int, int]]) -> list[bytes]:
        """Parts of blobs: (name, block, first byte, bytes) each; what is missing is left out of the bytes."""
        found: dict[int, bytes] = {}
        by_node: dict[Redis, list[int]] = {}
        for number, (_, block, _, _) in enumerate(parts):
            by_node.setdefault(self.nodes.node(block), []).append(number)
        for client, here in by_node.items():
            read = self.nodes.call(partial(_read_parts, client, [parts[number] for number in here]))
            found.update(zip(here, read, strict=True))
        return [found[number] for number in range(len(parts))]

    def _by_node(self, names: Sequence[tuple[str, int]]) -> dict[Redis, list[str]]:
        by_node: dict[Redis, list[str]] = {}
        for name, block in names:
            by_node.setdefault(self.nodes.node(block), []).append(name)
        return by_node

    def send(self, blobs: dict[str, tuple[int, bytes]]) -> None:
        """Stores blobs: (block, bytes) by name."""
        by_node = self._by_node([(name, block) for name, (block, _) in blobs.items()])
        for client, here in by_node.items():
            self.nodes.call(partial(_write, client, {name: blobs[name][1] for name in here}))

    def discard(self, names: Sequence[tuple[str, int]]) -> None:
        """Removes the blobs of these names and blocks."""
        for client, here in self._by_node(names).items():
            self.nodes.call(partial(client.unlink, *here))


def _write(client: Redis, blobs: dict[str, bytes]) -> None:
    pipe = client.pipeline(transaction=False)
    for name, blob in blobs.items():
        pipe.set(name, blob)
    pipe.execute()


def _read_parts(client: Redis, parts: Sequence[tuple[str, int, int, int]]) -> list[bytes]:
    pipe = client.pipeline(transaction=False)
    for name, _, first, size in parts:
        pipe.getrange(name, first, first + size - 1)
    return list(pipe.execute())
