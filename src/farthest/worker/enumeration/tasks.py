"""One step of an enumeration, as a worker's process runs it for a message (attempt, depth, block)."""

from __future__ import annotations

import os
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING

from farthest.environment import WORKER_MEMORY
from farthest.errors import LateStepError
from farthest.stores.blobs.cache import BlobCache
from farthest.stores.redis.attach import attach
from farthest.stores.redis.places import place_of
from farthest.worker.enumeration.choice import Choice
from farthest.worker.enumeration.step import step
from farthest.worker.leases import StepLeases, renewed
from farthest.worker.task_process import TaskProcess

if TYPE_CHECKING:
    from farthest.stores.redis.gather_store import GatherStore
    from farthest.stores.redis.scatter_store import ScatterStore

RUNS_KEPT = 4


class StepProcess(TaskProcess):
    """Steps a block for each message: any block of the layer that nobody has begun, or the named one if it was sent
    again."""

    def __init__(self, worker: str) -> None:
        super().__init__(worker)
        self._cache = BlobCache(WORKER_MEMORY.size())
        self._place = place_of(self.nodes)
        self._stores: OrderedDict[str, tuple[GatherStore | ScatterStore, Choice]] = OrderedDict()

    def name(self, attempt: str, depth: int, item: int) -> str:
        """See TaskProcess."""
        return f"step of block {item} at depth {depth} of attempt {attempt}"

    def work(self, attempt: str, depth: int, item: int, again: bool) -> None:
        """See TaskProcess."""
        store, choice = self._store(attempt)
        if item >= store.blocks.count:
            raise LateStepError(f"attempt {attempt} has no block {item}")
        leases = StepLeases(self.nodes, attempt, self.lease_seconds)
        chosen = choice.named(depth, item) if again else choice.next(depth, item)
        if not leases.take(depth, chosen, self.holder):
            return
        with renewed(leases, depth, chosen, self.holder):
            step(store, depth, store.blocks.shards(chosen))
            choice.stepped(depth, chosen)

    def _store(self, attempt: str) -> tuple[GatherStore | ScatterStore, Choice]:
        if attempt not in self._stores:
            store = attach(self.nodes, attempt, self._cache, self.holder, self._place)
            self._stores[attempt] = store, Choice(store)
            while len(self._stores) > RUNS_KEPT:
                self._stores.popitem(last=False)
        self._stores.move_to_end(attempt)
        return self._stores[attempt]


@cache
def _process(pid: int, worker: str) -> StepProcess:
    return StepProcess(worker)


def run_step(worker: str, attempt: str, depth: int, block: int, again: bool) -> None:
    """The body of the task: one step in this process of ``worker``; see ``TaskProcess.run``."""
    _process(os.getpid(), worker).run(attempt, depth, block, again)
