"""What is told where the working state of a run was lost so often that it gives up."""

from __future__ import annotations

from farthest.errors import LostStateError, RedisFullError, StorageError
from farthest.stores.redis.connections import MEMORY_VARIABLES


def lost_again(error: LostStateError, since: str, losses: int, restarts: int) -> StorageError:
    """The error that ends the run. ``restarts``: how many of the losses came with another process of Redis."""
    told = f"{error}; this is the {losses}th loss {since}"
    if not restarts:
        return LostStateError(
            f"{told}: look for what damages or evicts data in Redis, or take checkpoints more often"
        )
    return RedisFullError(
        f"{told}, and Redis was started anew {restarts} times: see its log. A Redis that uses more memory than its "
        "container or machine has is killed and starts empty: lower its maxmemory or raise that limit; "
        f"{MEMORY_VARIABLES}"
    )
