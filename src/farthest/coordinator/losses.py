"""What is told where the working state of a run was lost so often that it gives up."""

from __future__ import annotations

from farthest.errors import LostStateError, RedisFullError, StorageError


def lost_again(error: LostStateError, since: str, losses: int, restarts: int) -> StorageError:
    """The error that ends the run. ``restarts``: how many of the losses came with another process of Redis."""
    told = f"{error}; this is the {losses}th loss {since}"
    if not restarts:
        return LostStateError(
            f"{told}: look for what damages or evicts data in Redis, or take checkpoints more often"
        )
    return RedisFullError(
        f"{told}, and Redis had been started anew {restarts} times: see its log. Where it is killed for want of "
        "memory, let its maxmemory be four fifths at most of what its machine or container has (REDIS_MAXMEMORY and "
        "REDIS_LIMIT with Docker Compose), and more of both if that is too little for the job"
    )
