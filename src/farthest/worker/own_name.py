"""A worker's name is its own: leases, logs and `farthest workers` tell workers apart by it.

A name is taken as long as its record is there. One that was killed leaves its record for LIFE_SECONDS: where that
cannot be known at once, the record either vanishes meanwhile, or is written anew, which a dead worker does not do. A
record that never vanishes, which no worker writes, counts as written anew.
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
    """Writes the worker's record, which is not listed yet, to keep its name. Raises SettingError where another worker
    has the name. Without Redis nothing is known: the worker begins, and finds out later."""
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
                log.info("a worker called %s was here: looking whether it still is", heartbeat.name)
            sleep(LOOK_SECONDS)
    except StorageError as error:
        log.debug("%s", error)


def tell_of(other: Holder, name: str) -> None:
    """Logs that another worker has taken the name of this one, which runs."""
    log.error(
        "another worker has the name %s now%s, so this one is not listed; %s", name, _place(other), ADVICE
    )


ADVICE = "give each worker a --name of its own"


def _place(other: Holder) -> str:
    return f", on host {other.host} as process {other.pid}"
