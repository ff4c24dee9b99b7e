"""How a process of a worker handles its messages (attempt, depth, item), for steps, map parts and batches of searches.

Messages may come twice, late, or for attempts that have ended: then there is nothing to do. If the attempt is the
reason for a failure, it is reported on the attempt's done-list; if Redis is away, the message is dropped, and sent
again later.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

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
from farthest.stores.redis.attempt_steps import AttemptKeys
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.records import Error, Report, WorkKind
from farthest.worker.registry import holder_name

# --- Ends a process that is stuck: one whose work neither ends nor uses the processor.
#
# A separate thread renews its lease, so no other process would ever take the work over. The main process starts
# another process, and the coordinator sends the work again; work that is stuck again and again ends the job
# (coordinator/outstanding.py).

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
LOOKS = 6
"""So many checks in a row must find that no processor time was used. No regular wait is that long: waits for servers
have their own limits. Checks are counted instead of seconds, because time also passes while the whole process is
stopped."""


@contextmanager
def ended_if_stuck(name: str) -> Iterator[None]:
    """During the block, if the calling thread is stuck, this process ends, with the stacks of its threads on standard
    error. ``name``: the name of the work in the log."""
    if not hasattr(time, "pthread_getcpuclockid"):  # macOS
        yield
        return
    thread = threading.get_ident()
    under_way = _watch(os.getpid()).under_way
    under_way[thread] = _Work(name, time.pthread_getcpuclockid(thread))
    try:
        yield
    finally:
        del under_way[thread]


@dataclass(eq=False, slots=True)
class _Work:
    """The work of a thread. ``clock``: of its processor time; ``used``: at the last check; ``looks``: the checks in a
    row that found no more time used."""

    name: str
    clock: int
    used: float = -1.0
    looks: int = 0


class _Watch:
    """Checks the threads of this process, from a thread of its own."""

    def __init__(self) -> None:
        self.under_way: dict[int, _Work] = {}
        threading.Thread(target=self._run, name="farthest-stuck", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            for work in list(self.under_way.values()):
                try:
                    before, work.used = work.used, time.clock_gettime(work.clock)
                except OSError:  # its thread has ended
                    continue
                work.looks = work.looks + 1 if work.used == before else 0
                if work.looks >= LOOKS:
                    self._end(work)

    def _end(self, work: _Work) -> None:
        seconds = work.looks * LOOK_SECONDS
        log.critical("%s is stuck: no processor used for %g s; ending this process", work.name, seconds)
        faulthandler.dump_traceback()
        os._exit(os.EX_SOFTWARE)


@cache
def _watch(pid: int) -> _Watch:
    return _Watch()


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
