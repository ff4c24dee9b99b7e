"""One step as a worker's process runs it: for a message (run, depth, block), and for nobody who waits.

Messages may come twice, late, or for runs that have ended: then there is nothing to do. A step that cannot be done
because of the run is reported on its done-list; one that cannot because Redis is away is dropped, and sent again.
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING, Literal

from farthest.environment import LEASE_SECONDS, WORKER_MEMORY
from farthest.errors import FarthestError, LateStepError, LostStateError, UnavailableError
from farthest.worker.attach import attach
from farthest.worker.cache import BlobCache
from farthest.worker.choice import Choice
from farthest.worker.connections import RedisNodes
from farthest.worker.leases import StepLeases, renewed
from farthest.worker.registry import holder_name
from farthest.worker.reports import Report
from farthest.worker.run_blobs import RunBlobs
from farthest.worker.step import step

if TYPE_CHECKING:
    from farthest.worker.redis_store import RedisStore
    from farthest.worker.scatter_redis import ScatterStore

log = logging.getLogger(__name__)

WAIT_SECONDS = 5.0
"""How long a step waits for Redis before it is dropped."""
RUNS_KEPT = 4

_REPORT = """
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RPUSH', KEYS[2], ARGV[1]) end
return 1
"""


class StepProcess:
    """What a process of a worker keeps from one step to the next. Made in that process: connections are not shared."""

    def __init__(self, worker: str) -> None:
        self.holder = holder_name(worker, os.getpid())
        self.nodes = RedisNodes.from_environment(wait=WAIT_SECONDS)
        self._lease_seconds = LEASE_SECONDS.number()
        self._cache = BlobCache(WORKER_MEMORY.size())
        self._stores: OrderedDict[str, tuple[RedisStore | ScatterStore, Choice]] = OrderedDict()
        self._report = self.nodes.main.register_script(_REPORT)

    def run(self, run: str, depth: int, block: int, again: bool = False) -> None:
        """Steps a block of the layer, unless there is nothing to do: ``block`` itself if it was sent ``again``."""
        name = f"step of block {block} at depth {depth} of run {run}"
        try:
            self._step(run, depth, block, again)
        except LateStepError as late:
            log.debug("%s: %s", name, late)
        except UnavailableError as error:
            log.warning("%s dropped: %s", name, error)
        except FarthestError as error:
            log.error("%s: %s", name, error)
            kind: Literal["lost", "failed"] = "lost" if isinstance(error, LostStateError) else "failed"
            self._tell(run, Report(depth, block, self.holder, kind, str(error)))
        except Exception as error:
            log.exception("%s failed", name)
            message = f"{type(error).__name__}: {error}"
            self._tell(run, Report(depth, block, self.holder, "failed", message))

    def _step(self, run: str, depth: int, block: int, again: bool) -> None:
        store, choice = self._store(run)
        leases = StepLeases(self.nodes, run, self._lease_seconds)
        chosen = choice.named(depth, block) if again else choice.next(depth, block)
        if not leases.take(depth, chosen, self.holder):
            return
        with renewed(leases, depth, chosen, self.holder):
            step(store, depth, store.blocks.shards(chosen))
            choice.stepped(depth, chosen)

    def _store(self, run: str) -> tuple[RedisStore | ScatterStore, Choice]:
        if run not in self._stores:
            store = attach(self.nodes, run, self._cache, self.holder)
            self._stores[run] = store, Choice(store)
            while len(self._stores) > RUNS_KEPT:
                self._stores.popitem(last=False)
        self._stores.move_to_end(run)
        return self._stores[run]

    def _tell(self, run: str, report: Report) -> None:
        of = RunBlobs(self.nodes, run)
        try:
            self.nodes.call(lambda: self._report([of.meta_key, of.done_key], [report.text()]))
        except FarthestError as error:  # it will be sent again, and fail again
            log.warning("%s", error)


@cache
def _process(pid: int, worker: str) -> StepProcess:
    return StepProcess(worker)


def run_step(worker: str, run: str, depth: int, block: int, again: bool) -> None:
    """The body of the task: one step in this process of ``worker``; see ``StepProcess.run``."""
    _process(os.getpid(), worker).run(run, depth, block, again)
