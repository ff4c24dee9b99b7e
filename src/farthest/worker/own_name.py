"""A worker's name is unique: leases, logs and `farthest workers` distinguish workers by it.

A name is taken as long as its record exists. A worker that was killed leaves its record for LIFE_SECONDS. If it cannot
be known at once whether a worker is dead, its record either expires or is written again, which a dead worker does not
do. A record without an expiry, which no worker writes, counts as written again.
"""

from __future__ import annotations

import logging
from time import sleep

from farthest.errors import SettingError, StorageError
from farthest.models.leases import owner_is_alive, owner_is_dead
from farthest.worker.registry import Heartbeat, Holder

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.2


def claim_name(heartbeat: Heartbeat) -> None:
    """Writes the worker's record, not listed yet, to reserve its name. Raises SettingError where another worker has the
    name. If Redis cannot be reached, the worker starts, and finds out later."""
    left: int | None = None
    try:
        while (other := heartbeat.beat(listed=False)) is not None:
            if owner_is_dead(other.owner):
                heartbeat.bury(other)
                continue
            before, left = left, heartbeat.left_ms()
            if owner_is_alive(other.owner) or (before is not None and left >= before):
                raise SettingError(f"a worker called {heartbeat.name} runs already{_place(other)}; {ADVICE}")
            if before is None:
                log.info("a worker called %s was here: checking whether it still runs", heartbeat.name)
            sleep(LOOK_SECONDS)
    except StorageError as error:
        log.debug("%s", error)


def tell_of(other: Holder, name: str) -> None:
    """Logs that another worker has taken the name of this running one."""
    log.error(
        "another worker has the name %s now%s, so this one is not listed; %s", name, _place(other), ADVICE
    )


ADVICE = "give each worker a --name of its own"


def _place(other: Holder) -> str:
    return f", on host {other.host} as process {other.pid}"
