"""Blobs that nobody reads any more, on their way out of their place while workers step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from farthest.stores.blobs.place import BlobName
from farthest.stores.redis.attempt_steps import AttemptSteps

REMOVED_AT_ONCE = 1000


class Removals:
    """What a thread of its own removes for an attempt; what fails there is raised by the next call."""

    def __init__(self, store: AttemptSteps[Any]) -> None:
        self._store = store
        self._remover = ThreadPoolExecutor(1, "farthest-removal")
        self._begun: list[Future[None]] = []

    def layer(self, depth: int, names: Sequence[BlobName]) -> None:
        """Begins to remove the blobs and the records of a layer."""
        self._submit(partial(self._remove, names, self._store.records_key(depth)))

    def blobs(self, names: Sequence[BlobName]) -> None:
        """Begins to remove blobs."""
        self._submit(partial(self._remove, names, None))

    def _submit(self, action: Callable[[], None]) -> None:
        while self._begun and self._begun[0].done():
            self._begun.pop(0).result()
        self._begun.append(self._remover.submit(action))

    def _remove(self, names: Sequence[BlobName], key: str | None) -> None:
        for start in range(0, len(names), REMOVED_AT_ONCE):
            self._store.discard(names[start : start + REMOVED_AT_ONCE])
        if key is not None:
            self._store.nodes.call(lambda: self._store.nodes.main.delete(key))

    def settle(self) -> None:
        """Waits until what has begun is done."""
        while self._begun:
            self._begun.pop(0).result()

    def close(self) -> None:
        """Gives up, without waiting for Redis."""
        with self._store.nodes.hurried():
            self._remover.shutdown(cancel_futures=True)
