"""One step of an enumeration, or one part of its map, as a worker's process makes it for a message (attempt, depth,
block or part)."""

from __future__ import annotations

import os
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING

from farthest.environment import WORKER_MEMORY
from farthest.errors import LateStepError
from farthest.stores.blobs.cache import BlobCache
from farthest.stores.redis.attach import attach
from farthest.stores.redis.gather_store import GatherStore
from farthest.stores.redis.part_maker import PartMaker
from farthest.stores.redis.part_records import NO_BASE
from farthest.stores.redis.places import place_of
from farthest.stores.redis.reports import WorkKind
from farthest.worker.enumeration.choice import Choice, PartChoice
from farthest.worker.enumeration.job_database import JobDatabase
from farthest.worker.enumeration.step import step
from farthest.worker.leases import StepLeases, renewed
from farthest.worker.task_process import TaskProcess

if TYPE_CHECKING:
    from farthest.stores.redis.scatter_store import ScatterStore

RUNS_KEPT = 4


class StepProcess(TaskProcess):
    """Steps a block for each message: any block of the layer that nobody has begun, or the named one if it was sent
    again."""

    kind: WorkKind = "step"

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
        store, choice = self.store(attempt)
        if item >= store.blocks.count:
            raise LateStepError(f"attempt {attempt} has no block {item}")
        leases = StepLeases(self.nodes, attempt, self.lease_seconds)
        chosen = choice.named(depth, item) if again else choice.next(depth, item)
        if not leases.take(depth, chosen, self.holder):
            return
        with renewed(leases, depth, chosen, self.holder):
            step(store, depth, store.blocks.shards(chosen))
            choice.stepped(depth, chosen)

    def store(self, attempt: str) -> tuple[GatherStore | ScatterStore, Choice]:
        """The store of an attempt, and what this process has stepped there."""
        if attempt not in self._stores:
            store = attach(self.nodes, attempt, self._cache, self.holder, self._place)
            self._stores[attempt] = store, Choice(store)
            while len(self._stores) > RUNS_KEPT:
                self._stores.popitem(last=False)
        self._stores.move_to_end(attempt)
        return self._stores[attempt]


class PartProcess(TaskProcess):
    """Makes a map part for each message: a part that nobody has begun, or the named one if it was sent again. Its
    chunks go to the database where this process sees that of the job, else to the place of blobs. ``steps``: the same
    process as it takes steps."""

    kind: WorkKind = "part"

    def __init__(self, worker: str, steps: StepProcess) -> None:
        super().__init__(worker)
        self._steps = steps
        self._database = JobDatabase()
        self._makers: OrderedDict[str, tuple[PartMaker, PartChoice]] = OrderedDict()

    def name(self, attempt: str, depth: int, item: int) -> str:
        """See TaskProcess."""
        return f"part {item} of the map up to depth {depth} of attempt {attempt}"

    def work(self, attempt: str, depth: int, item: int, again: bool) -> None:
        """See TaskProcess."""
        maker, choice = self._maker(attempt)
        fold = maker.fold(depth)
        part = choice.next(depth, item, again)
        if part >= maker.cut(fold).count:
            raise LateStepError(f"the map of attempt {attempt} has no part {part}")
        leases = StepLeases(self.nodes, attempt, self.lease_seconds, "part")
        if not leases.take(depth, part, self.holder):
            return
        with renewed(leases, depth, part, self.holder):
            if maker.made(fold, part):
                return
            base = None
            if fold.base != NO_BASE:
                base = maker.base_in_place(fold, part) or self._database.base(
                    attempt, fold, maker.cut(fold).chunks(part)
                )
            made, states = maker.make(fold, part, base)
            maker.commit(
                fold, part, made, states, lambda nonce: self._database.write(attempt, fold, nonce, made)
            )

    def _maker(self, attempt: str) -> tuple[PartMaker, PartChoice]:
        if attempt not in self._makers:
            store, _ = self._steps.store(attempt)
            if not isinstance(store, GatherStore):
                raise LateStepError(f"attempt {attempt} has no map parts")
            self._makers[attempt] = PartMaker(store), PartChoice(self.nodes, attempt)
            while len(self._makers) > RUNS_KEPT:
                self._makers.popitem(last=False)
        self._makers.move_to_end(attempt)
        return self._makers[attempt]


@cache
def _parts(pid: int, worker: str) -> PartProcess:
    return PartProcess(worker, _process(pid, worker))


def run_part(worker: str, attempt: str, depth: int, part: int, again: bool) -> None:
    """The body of the task: one map part in this process of ``worker``; see ``TaskProcess.run``."""
    _parts(os.getpid(), worker).run(attempt, depth, part, again)


@cache
def _process(pid: int, worker: str) -> StepProcess:
    return StepProcess(worker)


def run_step(worker: str, attempt: str, depth: int, block: int, again: bool) -> None:
    """The body of the task: one step in this process of ``worker``; see ``TaskProcess.run``."""
    _process(os.getpid(), worker).run(attempt, depth, block, again)
