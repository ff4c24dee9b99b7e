"""How much room the place of blobs has, and when a checkpoint is due to make some."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from farthest.stores.blobs.place import REDIS
from farthest.stores.redis.gather_attempt import GatherAttempt

if TYPE_CHECKING:
    from farthest.stores.blobs.place import BlobPlace
    from farthest.stores.contract import JobStore
    from farthest.stores.redis.connections import RedisNodes

LEAST_SHARE = 0.25
"""Of the states in the place, at least so many must be such that a checkpoint removes, else it is not worth it."""

BYTES_A_STATE = 0.6
"""Of blobs: docs/scaling.md, Blobs."""


class PlaceRoom:
    """The room of a place."""

    def __init__(self, nodes: RedisNodes, place: BlobPlace) -> None:
        self._nodes = nodes
        self._place = place

    def free(self) -> int | None:
        """Bytes that may still be written; None where that is not known. Raises as ``RedisNodes.call``."""
        if self._place.url != REDIS:
            return self._nodes.call(self._place.free)
        free = []
        for client in self._nodes.clients:
            memory: Any = self._nodes.call(partial(client.info, "memory"))
            most = int(memory["maxmemory"])
            if most:
                free.append(most - int(memory["used_memory"]))
        return min(free) * len(self._nodes) if free else None

    def is_short(self, store: JobStore) -> bool:
        """Whether the place has less room than the attempt's layers take there, and a checkpoint would give a good part
        of that back."""
        if not isinstance(store, GatherAttempt):
            return False
        older, others = store.unfolded()
        free = self.free() if older >= LEAST_SHARE * (older + others) else None
        return free is not None and free < BYTES_A_STATE * (older + others)
