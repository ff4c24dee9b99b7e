"""The errors of jobs that are given up because their working state, or their coordinators, were lost too often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.errors import JobError, LostStateError, RedisFullError, StorageError
from farthest.stores.redis.connections import MEMORY_VARIABLES
from farthest.wording import times

if TYPE_CHECKING:
    from farthest.models.records import JobRecord


def lost_again(error: LostStateError, since: str, losses: int, restarts: int) -> StorageError:
    """The error that ends the job. ``restarts``: how many of the losses came with a restart of Redis."""
    told = f"{error}; this is the {losses}th loss {since}"
    if not restarts:
        return LostStateError(
            f"{told}: look for what damages or evicts data in Redis, or take checkpoints more often"
        )
    return RedisFullError(
        f"{told}, and Redis was restarted {times(restarts)}: see its log. A Redis that uses more memory than its "
        "container or machine has is killed and starts empty: lower its maxmemory or raise that limit; "
        f"{MEMORY_VARIABLES}"
    )


def taken_over_again(record: JobRecord, takeovers: int) -> JobError:
    """The error of a job that seems to kill its coordinators."""
    kept = "nothing" if record.depth is None else f"nothing beyond depth {record.depth}"
    return JobError(
        f"the coordinators that ran it ended {takeovers} times in a row without a word, and stored {kept} meanwhile: "
        "it may need more memory than they have, or be killed by its puzzle; see their logs and those of the "
        f"system, then `farthest resume {record.id}` lets it go on"
    )
