"""How a process of a worker handles its messages (attempt, depth, item), for steps, map parts and batches of searches.

Messages may come twice, late, or for attempts that have ended: then there is nothing to do. If the attempt is the
reason for a failure, it is reported on the attempt's done-list; if Redis is away, the message is dropped, and sent
again later.
"""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod

from farthest.environment import LEASE_SECONDS
from farthest.errors import (
    FarthestError,
    LateStepError,
    LostStateError,
    NoBaseError,
    NoRoomError,
    RedisFullError,
    UnavailableError,
)
from farthest.stores.blobs.place import ATTEMPT_NAME
from farthest.stores.redis.attempt_blobs import AttemptKeys
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.reports import Error, Report, WorkKind
from farthest.worker.registry import holder_name
from farthest.worker.stuck import ended_if_stuck

log = logging.getLogger(__name__)

WAIT_SECONDS = 5.0
"""How long a message's work waits for Redis, or the place of blobs, before it is dropped."""

_REPORT = """
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RPUSH', KEYS[2], ARGV[1]) end
return 1
"""


def _is_message(attempt: object, depth: object, item: object) -> bool:
    """Whether the values can be those of a message: anyone who can write to the queue can write anything."""
    named = isinstance(attempt, str) and ATTEMPT_NAME.fullmatch(attempt)
    return bool(named) and all(type(number) is int and 0 <= number < 2**63 for number in (depth, item))


class TaskProcess(ABC):
    """The state that a process of a worker keeps between messages. It is made in that process: connections are not
    shared."""

    def __init__(self, worker: str) -> None:
        self.holder = holder_name(worker, os.getpid())
        self.nodes = RedisNodes.from_environment(wait=WAIT_SECONDS)
        self.lease_seconds = LEASE_SECONDS.number()
        self._report = self.nodes.main.register_script(_REPORT)

    kind: WorkKind

    @abstractmethod
    def name(self, attempt: str, depth: int, item: int) -> str:
        """The name of the work in the log and in reports."""

    @abstractmethod
    def work(self, attempt: str, depth: int, item: int, again: bool) -> None:
        """Does the work, under a lease, unless another process does. Raises an exception where it cannot. ``again``:
        the message was sent again."""

    def run(self, attempt: str, depth: int, item: int, again: bool = False) -> None:
        """Does the work of a message, and reports failures."""
        if not _is_message(attempt, depth, item):
            log.warning("a message that is not from farthest was dropped")
            return
        name = self.name(attempt, depth, item)
        try:
            with ended_if_stuck(name):
                self.work(attempt, depth, item, again)
        except LateStepError as late:
            log.debug("%s: %s", name, late)
        except UnavailableError as error:
            log.warning("%s dropped: %s", name, error)
        except FarthestError as error:
            log.error("%s: %s", name, error)
            self._tell(attempt, Report(depth, item, self.holder, _error(error), str(error), self.kind))
        except Exception as error:
            log.exception("%s failed", name)
            message = f"{type(error).__name__}: {error}"
            self._tell(attempt, Report(depth, item, self.holder, "failed", message, self.kind))

    def _tell(self, attempt: str, report: Report) -> None:
        of = AttemptKeys(attempt)
        try:
            self.nodes.call(lambda: self._report([of.meta_key, of.done_key], [report.text()]))
        except FarthestError as error:  # it will be sent again, and fail again
            log.warning("%s", error)


def _error(error: FarthestError) -> Error:
    if isinstance(error, LostStateError):
        return "lost"
    if isinstance(error, NoBaseError):
        return "no base"
    if isinstance(error, RedisFullError):
        return "full"
    return "no room" if isinstance(error, NoRoomError) else "failed"
