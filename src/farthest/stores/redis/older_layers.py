"""Layers that no step reads any more: on their way from Redis to the spool, and there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from farthest.errors import LostStateError
from farthest.stores.blobs.place import BlobName
from farthest.stores.blobs.spool import Spool
from farthest.stores.redis.attempt_steps import AttemptSteps
from farthest.stores.redis.records import Record

MOVED_AT_ONCE = 8
"""Blobs that are fetched in one command."""
REMOVED_AT_ONCE = 1000


class OlderLayers:
    """The older layers of an attempt. ``keeps``: whether there is a spool, or they are only removed from Redis.

    They are moved by a thread of their own while workers step; what fails there is raised by the next call.
    """

    def __init__(self, store: AttemptSteps[Any], spool: Spool | None) -> None:
        self.keeps = spool is not None
        self._store = store
        self._spool = spool
        self._mover = ThreadPoolExecutor(1, "farthest-spool")
        self._moves: list[Future[None]] = []
        self._never_in_redis: set[int] = set()

    def move(self, depth: int, records: Mapping[int, Record], *, keep: bool) -> None:
        """Begins to take a layer out of Redis, into the spool if it is to be kept."""
        if depth not in self._never_in_redis:
            self._submit(partial(self._take, depth, records, keep))

    def _submit(self, action: Callable[[], None]) -> None:
        while self._moves and self._moves[0].done():
            self._moves.pop(0).result()
        self._moves.append(self._mover.submit(action))

    def _take(self, depth: int, records: Mapping[int, Record], keep: bool) -> None:
        store = self._store
        names = [
            (store.found_name(depth, block, record.nonce), block)
            for block, record in records.items()
            if record.nonce
        ]
        for start in range(0, len(names), MOVED_AT_ONCE):
            part = names[start : start + MOVED_AT_ONCE]
            if keep and self._spool is not None:
                states = max(sum(records[block].states.values()) for _, block in part)
                blobs = store.fetch([name for name, _ in part], store.longest_blob(states))
                found = zip(part, blobs, strict=True)
                self._spool.put(
                    ((depth, block), self._present(blob, depth, block)) for (_, block), blob in found
                )
            store.discard([name for name, _ in part])
        store.nodes.call(lambda: store.nodes.main.delete(store.records_key(depth)))

    def put(self, depth: int, blobs: Mapping[int, bytes]) -> None:
        """Keeps a layer that Redis never had: its blobs by block."""
        self._never_in_redis.add(depth)
        if self._spool is not None:
            self._spool.put(((depth, block), blob) for block, blob in blobs.items())

    def remove(self, names: Sequence[BlobName]) -> None:
        """Begins to remove blobs from their place."""
        self._submit(partial(self._remove, names))

    def _remove(self, names: Sequence[BlobName]) -> None:
        for start in range(0, len(names), REMOVED_AT_ONCE):
            self._store.discard(names[start : start + REMOVED_AT_ONCE])

    def settle(self) -> None:
        """Waits until the moves that have begun are done."""
        while self._moves:
            self._moves.pop(0).result()

    def blob(self, depth: int, block: int, record: Record) -> bytes:
        """The blob of a block that has states, wherever it is. Raises LostStateError."""
        if self._spool is not None and (depth, block) in self._spool:
            return self._spool.get(depth, block)
        name = self._store.found_name(depth, block, record.nonce)
        most = self._store.longest_blob(sum(record.states.values()))
        return self._present(self._store.fetch([name], most)[0], depth, block)

    def _present(self, blob: bytes | None, depth: int, block: int) -> bytes:
        if blob is None:
            raise LostStateError(
                f"attempt {self._store.attempt}: the blob of block {block} at depth {depth} is missing"
            )
        return blob

    def clear(self) -> None:
        """Forgets what the spool has: the database has it now."""
        if self._spool is not None:
            self._spool.clear()

    def close(self) -> None:
        """Gives everything up, without waiting for Redis."""
        with self._store.nodes.hurried():
            self._mover.shutdown(cancel_futures=True)
        if self._spool is not None:
            self._spool.close()
