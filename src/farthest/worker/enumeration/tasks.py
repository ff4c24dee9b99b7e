"""One step of an enumeration, or one part of its map, as a worker's process makes it for a message (attempt, depth,
block or part)."""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING

from farthest.environment import DATABASE_URL, WORKER_MEMORY
from farthest.errors import (
    FarthestError,
    LateStepError,
    LostStateError,
    NoBaseError,
    NoRoomError,
    StorageError,
)
from farthest.map_files.place import job_token
from farthest.models.chunks import CHUNK_KEYS, Chunk
from farthest.stores.blobs.blob import BlobCache
from farthest.stores.contract import step
from farthest.stores.redis.attempt_steps import facts_of
from farthest.stores.redis.gather_store import GatherStore
from farthest.stores.redis.map_parts import PartMaker
from farthest.stores.redis.places import place_of
from farthest.stores.redis.records import NO_BASE, NO_JOB, WorkKind
from farthest.stores.redis.scatter_store import ScatterStore
from farthest.worker.enumeration.choice import Choice, PartChoice
from farthest.worker.leases import StepLeases, renewed
from farthest.worker.task_process import TaskProcess

if TYPE_CHECKING:
    from farthest.models.chunks import MadeChunk
    from farthest.models.database import Database
    from farthest.stores.blobs.place import BlobPlace
    from farthest.stores.contract import Base
    from farthest.stores.redis.connections import RedisNodes
    from farthest.stores.redis.records import Fold


# --- The database of an attempt's job, as far as a worker's process sees it: only where it is on a server.

log = logging.getLogger(__name__)

PAUSE_SECONDS = 30.0
"""For so long a database that could not be used is not tried again: parts go by the place of blobs."""

SERVERS = ("postgresql:", "postgresql+")


class JobDatabase:
    """The database that FARTHEST_DATABASE_URL names, where it is on a server and has the attempt's job."""

    def __init__(self) -> None:
        self._database: Database | None = None
        self._known: tuple[str, str] = "", ""  # attempt and owner that it was found to have
        self._pause = 0.0

    def write(self, attempt: str, fold: Fold, nonce: str, made: Sequence[MadeChunk]) -> bool:
        """Stores chunks as drafts. Gives False where this process cannot. Raises NoRoomError, and LateStepError where
        the job is not run by the same owner any more."""
        from farthest.models.maps import write_drafts

        database = self._of(attempt, fold)
        if database is None:
            return False
        try:
            write_drafts(database, fold.job, fold.owner, fold.depth, nonce, made)
        except (NoRoomError, LateStepError):
            raise
        except StorageError as error:
            self._give_up(error)
            return False
        return True

    def base(self, attempt: str, fold: Fold, chunks: Sequence[tuple[int, int]]) -> Base:
        """The chunks of the checkpoint that a part's map is made from. Raises NoBaseError where this process does not
        see them, LostStateError where they are not those."""
        from farthest.models.maps import Maps

        database = self._of(attempt, fold)
        if database is None:
            raise NoBaseError(f"attempt {attempt}: this process does not see the database of its job")
        maps, found = Maps(database), dict[int, Chunk]()
        try:
            for first, _ in chunks:
                found[first] = maps.chunk_at(fold.job, first)
        except FarthestError as error:
            self._give_up(error)
            raise NoBaseError(str(error)) from error
        for one in found.values():
            if one.depth != fold.base:
                raise LostStateError(
                    f"attempt {attempt}: the database has the checkpoint of depth {one.depth}, expected {fold.base}"
                )
        return lambda key: found[key // CHUNK_KEYS * CHUNK_KEYS]

    def _of(self, attempt: str, fold: Fold) -> Database | None:
        if fold.job == NO_JOB or not DATABASE_URL.text().startswith(SERVERS) or monotonic() < self._pause:
            return None
        if self._known == (attempt, fold.owner):
            return self._database
        from farthest.models.database import open_database
        from farthest.models.jobs import Jobs

        try:
            if self._database is None:
                self._database = open_database(create=False)
            record = Jobs(self._database).get(fold.job)
            token = job_token(record.id, record.created, record.puzzle_digest)
            if token != attempt.rpartition("-")[0] or record.owner != fold.owner:
                raise StorageError(f"{self._database.place} does not have the job of attempt {attempt}")
        except FarthestError as error:
            self._give_up(error)
            return None
        self._known = attempt, fold.owner
        return self._database

    def _give_up(self, error: FarthestError) -> None:
        log.warning("map parts go by the place of blobs for a while: %s", error)
        self._pause = monotonic() + PAUSE_SECONDS
        self.close()

    def close(self) -> None:
        """Closes its connections; the next use opens others."""
        self._known = "", ""
        if self._database is not None:
            self._database.close()
            self._database = None


# --- Which store a worker makes of an attempt: that of the engine that the attempt says.


def attach(
    nodes: RedisNodes, attempt: str, cache: BlobCache, holder: str, place: BlobPlace | None = None
) -> GatherStore | ScatterStore:
    """The store of an attempt that a coordinator has begun. Raises LateStepError when it has ended, VersionError when
    this process cannot work for it, SettingError where it sees another place for blobs, and what compiling its space
    raises."""
    facts = facts_of(nodes, attempt)
    kind = GatherStore if facts.engine == "gather" else ScatterStore
    store = kind.of(nodes, attempt, facts, cache, holder, place)
    store.look_for_mark()
    return store


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
