"""Removes the keys of attempts whose coordinators could not remove them at their end, because Redis was away."""

from __future__ import annotations

import logging
import time

from farthest.coordinator.owned_job import attempt_of
from farthest.models.jobs import Jobs
from farthest.models.records import RUNNING
from farthest.stores.blobs.place import BlobPlace
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes

log = logging.getLogger(__name__)

LOOK_SECONDS = 60.0


class Leftovers:
    """Removes the keys of attempts at jobs of this database that nobody runs, and their blobs in a ``place``
    elsewhere."""

    def __init__(self, jobs: Jobs, nodes: RedisNodes, place: BlobPlace | None = None) -> None:
        self._jobs = jobs
        self._nodes = nodes
        self._place = place
        self._due = 0.0

    def look(self) -> None:
        """Removes them, at most once in LOOK_SECONDS. Raises StorageError."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + LOOK_SECONDS
        with self._nodes.errors():
            silent = attempts.silent(self._nodes)
        if not silent:
            return
        ended = {attempt_of(record) for record in self._jobs.list() if record.status != RUNNING}
        for attempt in silent:
            if attempt.rpartition("-")[0] in ended:
                with self._nodes.errors():
                    attempts.drop(self._nodes, attempt, self._place)
                log.info("attempt %s has ended, and its keys were still in Redis: removed", attempt)
