"""Which workers are alive, for a coordinator that needs them."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from farthest.errors import JobError
from farthest.stores.redis.attempts import PROTOCOL
from farthest.version import __version__
from farthest.worker.registry import WorkerRecord, list_workers

if TYPE_CHECKING:
    from farthest.stores.redis.connections import RedisNodes

ROLL_CALL_SECONDS = 2.0
ALONE_SECONDS = 6.0
"""How long no worker must have been seen before the user is told: after Redis was emptied they register again."""


@dataclass(frozen=True, slots=True)
class LiveWorkers:
    """How many workers of this version are alive, and processes of theirs. ``told``: whether it is certain enough to be
    reported; ``note``: for the user, once, else ''."""

    workers: int
    processes: int
    told: bool = True
    note: str = ""


class RollCall:
    """Counts the living workers every two seconds."""

    def __init__(self, nodes: RedisNodes) -> None:
        self._nodes = nodes
        self._next = 0.0
        self._alone_since: float | None = None
        self._alone_told = False

    def soon(self) -> None:
        """Makes the next count due at once."""
        self._next = 0.0

    def look(self) -> LiveWorkers | None:
        """The living workers; None if they were counted less than two seconds ago. Raises JobError where all are of
        another version."""
        if monotonic() < self._next:
            return None
        self._next = monotonic() + ROLL_CALL_SECONDS
        workers = self._nodes.call(lambda: list_workers(self._nodes))
        able = [worker for worker in workers if worker.protocol == PROTOCOL]
        if workers and not able:
            raise JobError(_other_versions(workers))
        if able:
            self._alone_since = None
            self._alone_told = False
            return LiveWorkers(len(able), sum(worker.concurrency for worker in able))
        if self._alone_since is None:
            self._alone_since = monotonic()
        if monotonic() - self._alone_since < ALONE_SECONDS:
            return LiveWorkers(0, 0, told=False)
        note = "" if self._alone_told else "no worker is alive: start some with `farthest worker`; waiting"
        self._alone_told = True
        return LiveWorkers(0, 0, note=note)


def _other_versions(workers: list[WorkerRecord]) -> str:
    versions = ", ".join(sorted({worker.version for worker in workers}))
    return (
        f"all workers are of another version: farthest {versions}, this is {__version__}; run the same version in all "
        "workers and coordinators"
    )
