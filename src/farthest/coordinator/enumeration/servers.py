"""The servers of enumerations by workers: Redis, and the place of blobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from farthest.environment import REDIS_WAIT_SECONDS
from farthest.errors import RedisFullError
from farthest.stores.redis.connections import MORE_MEMORY, RedisNodes
from farthest.stores.redis.places import place_of
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from farthest.stores.blobs.place import BlobPlace


@dataclass(frozen=True, slots=True)
class Servers:
    """Redis, and the place of blobs."""

    nodes: RedisNodes
    blobs: BlobPlace

    @classmethod
    def open(cls, notice: Callable[[str], None]) -> Servers:
        """Those that the environment names. Raises SettingError, StorageError or UnavailableError where they cannot be
        used."""
        nodes = RedisNodes.from_environment(REDIS_WAIT_SECONDS.number(), notice)
        nodes.ask()
        blobs = place_of(nodes)
        blobs.check()
        return cls(nodes, blobs)

    def memory(self) -> int:
        """Bytes that the servers may use, or their machines have. Raises RedisFullError."""
        limit = 0
        for client, place in zip(self.nodes.clients, self.nodes.places, strict=True):
            memory: Any = self.nodes.call(partial(client.info, "memory"))
            most, used = int(memory["maxmemory"]), int(memory["used_memory"])
            # Its memory has shrunk, or is all in use: it is not known how much a job may use.
            if 0 < most < used:
                raise RedisFullError(
                    f"{place}: Redis has no memory left ({bytes_text(used)} of {bytes_text(most)} used); {MORE_MEMORY}"
                )
            limit += most or int(memory["total_system_memory"])
        return limit
