"""The work of enumerations: the steps of a layer, and the parts of a map."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from time import monotonic
from typing import TYPE_CHECKING

from farthest.environment import DATABASE_URL
from farthest.errors import (
    FarthestError,
    LateStepError,
    LostStateError,
    NoBaseError,
    NoRoomError,
    StorageError,
)
from farthest.models.chunks import CHUNK_KEYS, Chunk, MadeChunk
from farthest.models.records import job_token
from farthest.stores.contract import Base, step
from farthest.stores.nearest import NearestFirst
from farthest.stores.redis.attempt_stores import Access
from farthest.stores.redis.gather_store import GatherStore
from farthest.stores.redis.map_parts import PartMaker
from farthest.stores.redis.records import FOLD, NO_BASE, NO_JOB, Fold
from farthest.stores.redis.scatter_store import ScatterStore
from farthest.worker.work import Work, WorkerProcess

if TYPE_CHECKING:
    from farthest.models.database import Database

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
        log.warning("map parts are sent through the place of blobs for a while: %s", error)
        self._pause = monotonic() + PAUSE_SECONDS
        self.close()

    def close(self) -> None:
        """Closes its connections; the next use opens others."""
        self._known = "", ""
        if self._database is not None:
            self._database.close()
            self._database = None


class StepWork(Work):
    """The steps of a layer; an item is a block."""

    kind = "step"
    item_name = "the step of block {item} at depth {depth}"
    whole_name = "layer {depth}"
    under_way = "depth"

    store: GatherStore | ScatterStore
    choice: BlockChoice | NearestBlocks

    def records_key(self, depth: int) -> str:
        return self.keys.records_key(depth)

    def open(self, process: WorkerProcess) -> None:
        self.store = attach(
            Access.found(self.nodes, self.attempt, process.cache, process.holder, process.place)
        )
        if isinstance(self.store, GatherStore) and self.store.united:
            blocks = self.store.blocks
            sources = {block: self.store.sources_of(block) for block in range(blocks.count)}
            self.choice = NearestBlocks(sources, self.store.room // blocks.per_block)
        else:
            self.choice = BlockChoice(self.store.sources_of)

    def wishes(self, depth: int) -> list[int]:
        return self.choice.wishes(depth)

    def choose(self, depth: int, named: int, again: bool) -> int:
        block = super().choose(depth, named, again)
        if not again:
            self.choice.taken(block)
        return block

    def do(self, depth: int, item: int) -> None:
        if item >= self.store.blocks.count:
            raise LateStepError(f"attempt {self.attempt} has no block {item}")
        step(self.store, depth, self.store.blocks.shards(item))
        self.choice.stepped(depth, item)


def attach(access: Access) -> GatherStore | ScatterStore:
    """The store of an attempt. Raises VersionError when this process cannot work for it, SettingError where it sees
    another place for blobs, and what compiling its space raises."""
    return (GatherStore if access.facts.engine == "gather" else ScatterStore).attach(access)


WISHES = 64
"""Most blocks that are named in one request."""


class BlockChoice:
    """Which blocks a process would best step next: those whose input it has in memory. A process that stepped a block
    two layers ago still has the states to be subtracted now, and one that stepped its neighbours has its frontier.
    ``sources_of``: gives the blocks whose states a step of a block reads whole."""

    def __init__(self, sources_of: Callable[[int], list[int]]) -> None:
        self._sources_of = sources_of
        self._stepped: dict[int, dict[int, None]] = {}  # by depth, in the order in which they were stepped
        self._depth = -1
        self._wishes: dict[int, None] = {}  # for that depth, the blocks with the most input in memory first

    def wishes(self, depth: int) -> list[int]:
        """The first blocks to ask for: at a new depth those that this process has input for, later those near the block
        that it stepped last."""
        here, before, two_before = (self._stepped.get(depth - back, {}) for back in range(3))
        if depth != self._depth:
            self._depth = depth
            self._wishes = dict.fromkeys((*two_before, *before, *self._near(before)))
        if not self._wishes:
            last = list(here)[-1:]
            self._wishes = dict.fromkeys(one for one in self._near(self._near(last)) if one not in here)
        return list(islice(self._wishes, WISHES))

    def taken(self, block: int) -> None:
        """Notes the block that was given: other processes have taken the wishes before it, or all."""
        for wish in list(islice(self._wishes, WISHES)):
            del self._wishes[wish]
            if wish == block:
                break

    def stepped(self, depth: int, block: int) -> None:
        """Notes a step that this process has taken."""
        self._stepped.setdefault(depth, {})[block] = None
        for old in [one for one in self._stepped if one < depth - 2]:
            del self._stepped[old]

    def _near(self, blocks: Iterable[int]) -> Iterator[int]:
        for block in blocks:
            yield from self._sources_of(block)


class NearestBlocks:
    """The same where layers are united, and the sources of a shard are all over: those blocks with the fewest
    ``sources`` that are not among the last ones which this process has read, of which it has ``held``. In each layer it
    begins anywhere, so that processes do not have the same ones."""

    def __init__(self, sources: Mapping[int, Sequence[int]], held: int) -> None:
        self._sources, self._held = sources, held
        self._depth = -1

    def wishes(self, depth: int) -> list[int]:
        """The first blocks to ask for."""
        if depth != self._depth:
            self._depth, self._nearest = depth, NearestFirst(self._sources, self._held)
            self._wishes: list[int] = []
        else:
            self._wishes = self._nearest.best(WISHES)
        return self._wishes

    def taken(self, block: int) -> None:
        """Notes the block that was given: other processes have taken the wishes before it, or all."""
        for wish in takewhile(lambda one: one != block, self._wishes):
            self._nearest.drop(wish)

    def stepped(self, depth: int, block: int) -> None:
        """Notes a step that this process has taken."""
        if depth == self._depth:
            self._nearest.take(block)


class PartWork(Work):
    """The parts of a map. Their chunks go to the database where this process sees that of the job, else to the place of
    blobs."""

    kind = "part"
    item_name = "map part {item} at depth {depth}"
    whole_name = "the map up to depth {depth}"
    under_way = FOLD

    _maker: PartMaker
    _database: JobDatabase
    _last = -1

    def records_key(self, depth: int) -> str:
        return self.keys.parts_key(depth)

    def is_under_way(self, said: bytes, depth: int) -> bool:
        return Fold.of(said).depth == depth

    def open(self, process: WorkerProcess) -> None:
        self._maker = PartMaker(process.opened(StepWork, self.attempt).store)
        self._database = process.shared(JobDatabase)

    def wishes(self, depth: int) -> list[int]:
        return [self._last + 1]  # neighbours have blocks in common

    def do(self, depth: int, item: int) -> None:
        self._last = item
        maker = self._maker
        fold = maker.fold(depth)
        if item >= maker.cut(fold).count:
            raise LateStepError(f"the map of attempt {self.attempt} has no part {item}")
        if maker.made(self.records_key(depth), item):
            return
        base = None
        if fold.base != NO_BASE:
            base = maker.base_in_place(fold, item) or self._database.base(
                self.attempt, fold, maker.cut(fold).chunks(item)
            )
        made, states = maker.make(fold, item, base)
        maker.commit(
            fold, item, made, states, lambda nonce: self._database.write(self.attempt, fold, nonce, made)
        )


class CutWork(PartWork):
    """The shards of a sparse map, which are cut by codes for its parts."""

    kind = "cut"
    item_name = "shard {item} for the map up to depth {depth}"
    whole_name = "the shards for the map up to depth {depth}"

    def records_key(self, depth: int) -> str:
        return self.keys.cuts_key(depth)

    def wishes(self, depth: int) -> list[int]:
        return []

    def do(self, depth: int, item: int) -> None:
        maker = self._maker
        fold = maker.fold(depth)
        if item >= maker.shards:
            raise LateStepError(f"attempt {self.attempt} has no shard {item}")
        if not maker.made(self.records_key(depth), item):
            maker.cut_shard(fold, item)
