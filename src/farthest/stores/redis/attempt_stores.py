"""What the stores of both engines have in common: committing blocks, and reading what is committed.

A block's states at a depth are one immutable blob, and a *record* in the hash of that depth names it. Committing a step
is setting the record, once: the first to do so has stepped the block, whoever comes later changes nothing. A layer is
complete when all of its blocks have records; it is then *sealed* by their number, so that a lost record is never read
as an empty block. Where all states found are kept, a *pointer* of each block names their blobs.

The place of blobs keeps the layers that steps read: those at depths d-1 and d-2 for a step to depth d. Where
distances are kept, it has older ones too, until a checkpoint has them; those that a residue map is made of stay.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from farthest import metrics
from farthest.environment import WORKER_MEMORY
from farthest.errors import LateStepError, LostStateError, RedisFullError, SettingError, StorageError
from farthest.stores.blobs.blob import BlobCache
from farthest.stores.blobs.place import REDIS, BlobName, BlobPart, BlobPlace, Kind, mark_of, new_nonce
from farthest.stores.contract import ONLY_COUNTS, Base, StepInput, check_depth
from farthest.stores.redis import attempts
from farthest.stores.redis.attempts import AttemptFacts, AttemptKeys, read_meta
from farthest.stores.redis.places import RedisPlace
from farthest.stores.redis.records import (
    NO_BASE,
    NO_JOB,
    NOBODY_WAITS,
    NOT_COUNTED,
    OURS,
    Fold,
    FoundBlob,
    Pointer,
    Record,
    RecordTexts,
    Report,
    set_records,
)
from farthest.wording import shown

if TYPE_CHECKING:
    from farthest.map_files.form import ResidueForm
    from farthest.stores.blocks import Blocks
    from farthest.stores.redis.assembly import Assembly, RecordsOf
    from farthest.stores.redis.connections import RedisNodes


MARK = b"farthest"
"""What the mark of an attempt holds."""


@dataclass(slots=True)
class Commit:
    """The outcome of a block's step. ``blobs``: to be stored, by name; ``pointer``: to be set, where it changes;
    ``replaced``: names of the blobs that it named before and does not name now."""

    record: Record
    blobs: dict[BlobName, bytes] = field(default_factory=dict)
    pointer: Pointer | None = None
    replaced: list[BlobName] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StepRecords:
    """What is committed of what a step needs: the blocks still to be stepped; the records at depth d-1 of the blocks
    that they read, and at d-2 of the blocks themselves; pointers to what was visited; how many blocks have records at
    d-1."""

    blocks: list[int]
    before: dict[int, Record]
    two_before: dict[int, Record]
    visited: dict[int, Pointer]
    senders: int


NOTHING = Record("", {})


Opened = TypeVar("Opened", bound="StepInput")
Contents = TypeVar("Contents")


@dataclass(frozen=True, slots=True)
class Access:
    """How a process comes to an attempt. ``holder``: who commits, as the done-list tells it; None leaves the done-list
    alone. ``place``: of its blobs."""

    nodes: RedisNodes
    attempt: str
    facts: AttemptFacts
    cache: BlobCache
    holder: str | None
    place: BlobPlace

    @classmethod
    def begun(cls, nodes: RedisNodes, attempt: str, facts: AttemptFacts, place: BlobPlace) -> Access:
        """To an attempt that its coordinator begins."""
        return cls(nodes, attempt, facts, BlobCache(WORKER_MEMORY.size()), None, place)

    @classmethod
    def found(
        cls, nodes: RedisNodes, attempt: str, cache: BlobCache, holder: str, place: BlobPlace | None = None
    ) -> Access:
        """To an attempt that a coordinator has begun; ``place``: None for the nodes. Raises LateStepError when it has
        ended, VersionError for another version's."""
        facts = AttemptFacts.of(read_meta(nodes, attempt), attempt)
        return cls(nodes, attempt, facts, cache, holder, place or RedisPlace(nodes))


class AttemptSteps(AttemptKeys, ABC, Generic[Opened]):
    """An attempt's store as its steps need it: keys, blobs, records. ``Opened``: its step input. ``poll`` is called now
    and then while a step takes long, and may raise. What goes to the place of blobs waits, and raises, as
    ``RedisNodes.call`` does."""

    def __init__(self, access: Access, blocks: Blocks) -> None:
        super().__init__(access.attempt)
        self.nodes = access.nodes
        self.facts = access.facts
        self.cache = access.cache
        self.holder = access.holder
        self.place = access.place
        self.blocks = blocks
        self.poll: Callable[[], None] = lambda: None

    @classmethod
    @abstractmethod
    def attach(cls, access: Access) -> Self:
        """A worker's store of an attempt. Raises VersionError when this process cannot work for it, SettingError where
        it sees another place for blobs."""

    # Blobs

    def found_name(self, depth: int, block: int, nonce: str) -> BlobName:
        """Of a block's states at a depth."""
        return self._name("b", depth, block, nonce)

    def visited_name(self, depth: int, block: int, nonce: str) -> BlobName:
        """Of all states of a block up to a depth, or some of them."""
        return self._name("v", depth, block, nonce)

    def outbox_name(self, depth: int, block: int, nonce: str) -> BlobName:
        """Of what the states of a block at a depth lead to, part by part."""
        return self._name("o", depth, block, nonce)

    def part_name(self, depth: int, part: int, nonce: str) -> BlobName:
        """Of the chunks of a part of the map up to a depth."""
        return self._name("p", depth, part, nonce)

    def _name(self, kind: Kind, depth: int, block: int, nonce: str) -> BlobName:
        return BlobName(self.attempt, kind, depth, block, nonce)

    def fetch(self, names: Sequence[BlobName], most: int) -> list[bytes | None]:
        """The blobs of these names; of one with more than ``most`` bytes only the beginning, which is damaged."""
        return [blob or None for blob in self.fetch_parts([BlobPart(name, 0, most + 1) for name in names])]

    def fetch_parts(self, parts: Sequence[BlobPart]) -> list[bytes]:
        """Parts of blobs; what is missing is left out of the bytes."""
        read = self.nodes.call(lambda: self.place.read(parts)) if parts else []
        metrics.add(metrics.BLOB_BYTES, sum(map(len, read)), direction="read")
        return read

    def send(self, blobs: Mapping[BlobName, bytes]) -> None:
        """Stores blobs."""
        if blobs:
            self.nodes.call(lambda: self.place.put(blobs))
            metrics.add(metrics.BLOB_BYTES, sum(map(len, blobs.values())), direction="written")

    def discard(self, names: Sequence[BlobName]) -> None:
        """Removes blobs."""
        if names:
            self.nodes.call(lambda: self.place.remove(names))

    def write_mark(self) -> None:
        """Shows those who see the place of the attempt's blobs that they do."""
        self.send({mark_of(self.attempt, self.facts.mark): MARK})

    def look_for_mark(self) -> None:
        """Checks that this process sees the place that the attempt's coordinator has marked. Only its own setting says
        where that is: there may be another path to it here. Raises SettingError where it is another place,
        LostStateError where it should be this one."""
        mark, said = mark_of(self.attempt, self.facts.mark), self.facts.blobs
        if self.fetch_parts([BlobPart(mark, 0, len(MARK) + 1)]) == [MARK]:
            return
        if said != self.place.url:
            raise SettingError(
                f"attempt {self.attempt} keeps its blobs in {shown(said)}, this process in {self.place.url}: give "
                "all workers and coordinators the same FARTHEST_BLOBS"
            )
        raise LostStateError(
            f"attempt {self.attempt}: this process does not find what the coordinator wrote to "
            f"{self.place.url}: it was "
            "removed, or the hosts do not share that folder or store"
        )

    # StepStore

    @abstractmethod
    def open(self, depth: int, shards: Sequence[int]) -> Opened:
        """Whole blocks. Raises LateStepError when the layer is over, LostStateError when input is
        missing or damaged, UnavailableError."""

    @abstractmethod
    def commit(self, depth: int, step_input: Opened, counts: Sequence[int]) -> None:
        """Raises LateStepError when the layer is over, UnavailableError, StorageError (Redis, or
        the place of blobs, is full)."""

    def over(self, depth: int) -> StorageError:
        """What to raise where the layer that a step is of is not under way."""
        return LateStepError(f"layer {depth} of attempt {self.attempt} is over")

    @abstractmethod
    def sources_of(self, block: int) -> list[int]:
        """The blocks whose states a step of the block reads whole, and finds in memory if this process has had them."""

    @abstractmethod
    def longest_blob(self, states: int) -> int:
        """No blob of a block with so many states is longer."""

    @abstractmethod
    def assembly(self, fold: Fold, records: RecordsOf) -> Assembly:
        """What makes the parts of a map; ``records``: gives those of a block that ``fold`` wants, by depth."""

    # Both

    def _commit_blocks(self, depth: int, commits: Mapping[int, Commit]) -> set[int]:
        """Commits the steps of blocks, at once; gives those whose record is now that of ``commits``. Raises
        LateStepError when the layer is over, UnavailableError, StorageError (Redis, or the place of blobs,
        is full)."""
        items = {
            block: RecordTexts(
                commit.record.text(depth, block),
                "" if self.holder is None else Report(depth, block, self.holder).text(),
                "" if commit.pointer is None else commit.pointer.text(block),
            )
            for block, commit in commits.items()
        }
        blobs = {name: blob for commit in commits.values() for name, blob in commit.blobs.items()}
        if blobs and self.place.url != REDIS:
            # A step that is late writes nothing: were this process killed before it removes its blobs, nobody would
            # find those of an attempt that has been dropped. Redis finds them by their keys.
            self._check_under_way(depth)
        self.send(blobs)
        under_way = "depth", str(depth)
        outcomes = set_records(self.nodes, self, self.records_key(depth), under_way, items)
        ours = {block for block, outcome in zip(commits, outcomes, strict=True) if outcome == OURS}
        metrics.add(metrics.STATES, sum(sum(commits[block].record.states.values()) for block in ours))
        self.discard(
            [
                name
                for block, commit in commits.items()
                for name in (commit.replaced if block in ours else commit.blobs)
            ]
        )
        if NOBODY_WAITS in outcomes:
            raise self.over(depth)
        return ours

    def _read_records(self, depth: int, wanted: Sequence[int], sources: Sequence[int]) -> StepRecords:
        """Reads, at one moment, what is committed of what the steps of the wanted blocks need; ``sources``: the blocks
        whose records at depth d-1 they need. Raises LateStepError, LostStateError."""
        all_found = self.facts.exclude == "all"
        if not wanted:
            return StepRecords([], {}, {}, {}, 0)

        def read() -> list[Any]:
            pipe = self.nodes.main.pipeline()
            pipe.hmget(self.meta_key, ["depth", f"sealed:{depth - 1}", f"sealed:{depth - 2}"])
            pipe.hmget(self.records_key(depth), wanted)
            pipe.hlen(self.records_key(depth - 1))
            pipe.hmget(self.records_key(depth - 1), sources)
            pipe.hlen(self.records_key(depth - 2))
            pipe.hmget(self.visited_key if all_found else self.records_key(depth - 2), wanted)
            return list(pipe.execute())

        (now, sealed, sealed_before), own, records, before, others, two_before = self.nodes.call(read)
        if now != str(depth).encode():
            raise self.over(depth)
        blocks = [block for block, done in zip(wanted, own, strict=True) if done is None]
        self._check_sealed(depth - 1, sealed, records)
        frontier = self._records(depth - 1, sources, before)
        if all_found:
            texts = dict(zip(wanted, two_before, strict=True))
            pointers = {one: self._pointer(depth, one, texts[one], frontier[one]) for one in blocks}
            return StepRecords(blocks, frontier, {}, pointers, records)
        if depth >= 2:
            self._check_sealed(depth - 2, sealed_before, others)
        return StepRecords(blocks, frontier, self._records(depth - 2, wanted, two_before), {}, records)

    def _check_sealed(self, depth: int, sealed: bytes | None, records: int) -> None:
        expected = "an unknown number" if sealed is None else sealed.decode(errors="replace")
        if str(records) != expected:
            raise LostStateError(
                f"attempt {self.attempt}: layer {depth} has {records} records, expected {expected}"
            )

    def _records(self, depth: int, blocks: Sequence[int], texts: Sequence[bytes | None]) -> dict[int, Record]:
        return {
            block: NOTHING if text is None else Record.of(text, depth, block)
            for block, text in zip(blocks, texts, strict=True)
        }

    def _pointer(self, depth: int, block: int, text: bytes | None, before: Record) -> Pointer:
        """Where all found states of a block are, that are to be those before ``depth``."""
        pointer = None if text is None else Pointer.of(text, block)
        least = depth - 1 if before.nonce else 0
        if pointer is None or not least <= pointer.depth < depth:
            raise LostStateError(
                f"attempt {self.attempt}: what block {block} has visited before depth {depth} is lost"
            )
        return pointer

    def _visited(
        self,
        depth: int,
        records: StepRecords,
        read: Callable[[dict[BlobName, int]], Mapping[BlobName, Contents]],
    ) -> dict[int, dict[BlobName, Contents]]:
        """What the blobs of all states found of each block hold. Blocks that another has stepped meanwhile are left
        out: the blobs to be read have been replaced. ``read``: gives the contents of those blobs that are there, by the
        number of states that each is to have."""
        named = {
            block: {self.visited_name(one.depth, block, one.nonce): one.states for one in pointer.blobs}
            for block, pointer in records.visited.items()
        }
        contents = read({name: states for names in named.values() for name, states in names.items()})
        visited = {}
        for block, names in named.items():
            missing = [name for name in names if name not in contents]
            if not missing:
                visited[block] = {name: contents[name] for name in names}
            elif block in self._read_records(depth, [block], [block]).blocks:
                raise self.missing(depth, missing[0].depth, block)
        return visited

    def missing(self, step: int, depth: int, block: int) -> LostStateError:
        """The error for a blob that is not there. Raises LateStepError where the layer ``step`` is over: what a step
        that comes late needs may be gone."""
        self._check_under_way(step)
        return LostStateError(
            f"attempt {self.attempt}: the blob of block {block} at depth {depth} is missing"
        )

    def _check_under_way(self, depth: int) -> None:
        now = self.nodes.call(lambda: self.nodes.main.hget(self.meta_key, "depth"))
        if now != str(depth).encode():
            raise self.over(depth)


REMOVED_AT_ONCE = 1000


class Removals:
    """What a thread of its own removes for an attempt; what fails there is raised by the next call."""

    def __init__(self, store: AttemptSteps[Any]) -> None:
        self._store = store
        self._remover = ThreadPoolExecutor(1, "farthest-removal")
        self._begun: list[Future[None]] = []

    def begin(self, names: Sequence[BlobName], key: str | None = None) -> None:
        """Begins to remove blobs, and the records at a key."""
        while self._begun and self._begun[0].done():
            self._begun.pop(0).result()
        self._begun.append(self._remover.submit(self._remove, names, key))

    def _remove(self, names: Sequence[BlobName], key: str | None) -> None:
        for start in range(0, len(names), REMOVED_AT_ONCE):
            self._store.discard(names[start : start + REMOVED_AT_ONCE])
        if key is not None:
            self._store.nodes.call(lambda: self._store.nodes.main.delete(key))

    def settle(self) -> None:
        """Waits until what has begun is done."""
        while self._begun:
            self._begun.pop(0).result()

    def close(self) -> None:
        """Gives up, without waiting for Redis."""
        with self._store.nodes.waiting(0):
            self._remover.shutdown(cancel_futures=True)


BEGIN = """
local now = redis.call('HGET', KEYS[1], 'depth')
if now == ARGV[2] then return 1 end
if now ~= ARGV[1] then return 0 end
if redis.call('HLEN', KEYS[2]) ~= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'depth', ARGV[2], 'sealed:' .. ARGV[1], ARGV[3])
redis.call('HDEL', KEYS[1], 'sealed:' .. (ARGV[1] - 2))
redis.call('DEL', KEYS[3])
return 1
"""
"""Seals a complete layer and lets the next one begin. KEYS: meta, the layer's records, done. ARGV: its depth, the next
depth, its number of records. Gives 0 where Redis does not have what it should."""


class AttemptLayers(AttemptSteps[Opened]):
    """A coordinator's store. Each class that derives from it is also derived from a worker's store, and calls
    ``_prepare`` before anything else."""

    _depth = 0
    _colour = -1
    base: Base | None = None
    """Finds the chunks of the checkpoint that maps are made from, where there is one."""
    end_folding: Callable[[], None] | None = None
    """Removes what the map was made of that workers make now."""

    def _prepare(self, *, distances: bool, residues: ResidueForm | None = None) -> None:
        self.keeps_distances = distances
        self.residues = residues
        self.removals = Removals(self)
        self._begin = self.nodes.main.register_script(BEGIN)
        self._begun: dict[int, list[int]] = {}  # by depth, the blocks of the layer
        # By depth, complete layers that are in the place: those that results are made from, and three.
        self._layers: dict[int, dict[int, Record]] = {}
        self._pointers: dict[int, Pointer] = {}  # as the attempt began
        self._stored_depth = -1  # results are made without the layers up to it

    def holds(self, depth: int, key: int) -> None:
        """Its layers are blobs, which tell nothing unless they are read."""

    def _write_first(self, write: Callable[[], None]) -> None:
        """Writes the mark, then what ``write`` does; nothing stays of what fails."""
        try:
            self.touch()
            self.write_mark()
            write()
        except BaseException:
            self.drop()
            raise

    def _write_block(self, depth: int, block: int, made: Commit) -> None:
        """Stores the blobs of a block that the coordinator has made itself, and notes its record."""
        self.touch()
        self.send(made.blobs)
        self._layers.setdefault(depth, {})[block] = made.record
        if made.pointer is not None:
            self._pointers[block] = made.pointer

    def _write_visited(self, depth: int, block: int, states: int, blob: bytes) -> None:
        """Stores the blob of all states of a block up to a depth, and notes where they are."""
        found = FoundBlob(depth, new_nonce(), states)
        self.send({self.visited_name(depth, block, found.nonce): blob})
        self._pointers[block] = Pointer(depth, (found,))

    def _start(self, depth: int) -> None:
        """Writes the attempt's facts and the records of the layers ``depth`` and before that it has the blobs of."""
        for layer in range(max(depth - 1, 0), depth + 1):
            self._layers.setdefault(layer, {})
            self._begun[layer] = list(self._layers[layer])
        self._depth = depth

        def write() -> None:
            pipe = self.nodes.main.pipeline()
            for layer, records in self._layers.items():
                for block, record in records.items():
                    pipe.hset(self.records_key(layer), str(block), record.text(layer, block))
            if depth:
                pipe.hset(self.meta_key, f"sealed:{depth - 1}", len(self._layers[depth - 1]))
            if self.facts.exclude == "all":
                for block in range(self.blocks.count):
                    pointer = self._pointers.get(block, Pointer(0, ()))
                    pipe.hset(self.visited_key, str(block), pointer.text(block))
            for name, value in {**self.facts.fields(), "depth": str(depth)}.items():
                pipe.hset(self.meta_key, name, value)
            pipe.execute()

        self.nodes.call(write)

    def _unwrite(self) -> None:
        """Removes the layer at depth 0, which a checkpoint is to take the place of."""
        if self._depth != 0:
            raise StorageError("a store can be restored only before its first step")
        names = [
            name for block, record in self._layers.pop(0).items() for name in self._names(0, block, record)
        ]
        for block, pointer in self._pointers.items():
            names += [self.visited_name(found.depth, block, found.nonce) for found in pointer.blobs]
        self._pointers.clear()
        self.nodes.call(lambda: self.nodes.main.delete(self.records_key(0), self.visited_key))
        self.discard(names)

    def _names(self, depth: int, block: int, record: Record) -> list[BlobName]:
        """The blobs that a record names."""
        names = [self.found_name(depth, block, record.nonce)] if record.nonce else []
        return [*names, self.outbox_name(depth, block, record.nonce)] if record.outbox else names

    # ShardStore

    @property
    def shards(self) -> int:
        return self.facts.shards

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        """Raises LostStateError when Redis does not have what it should."""
        if depth == self._depth and depth in self._begun:
            return [shard for block in self._begun[depth] for shard in self.blocks.shards(block)]
        if depth != self._depth + 1:
            raise StorageError(f"layer {depth} cannot begin: layer {self._depth} is the last one begun")
        records = self._complete(self._depth)
        keys = [self.meta_key, self.records_key(self._depth), self.done_key]
        if not self.nodes.call(lambda: self._begin(keys=keys, args=[self._depth, depth, len(records)])):
            raise LostStateError(
                f"attempt {self.attempt}: Redis has lost layer {self._depth} or a part of it"
            )
        self._depth = depth
        self._begun[depth] = self.blocks.of(shards)
        self._retire(depth - 3)
        self.touch()
        return [shard for block in self._begun[depth] for shard in self.blocks.shards(block)]

    def over(self, depth: int) -> StorageError:
        """A layer that should be under way and is not has been lost."""
        late = super().over(depth)
        return LostStateError(str(late)) if depth == self._depth else late

    def counts(self, depth: int) -> dict[int, int]:
        """Raises LostStateError when the layer is not complete."""
        states: dict[int, int] = {}
        for record in self._complete(depth).values():
            states.update((shard, number) for shard, number in record.states.items() if number)
        return states

    def classes(self, depth: int) -> int | None:
        counted = [record.classes for record in self._complete(depth).values()]
        return None if NOT_COUNTED in counted else sum(counted)

    def work(self, depth: int) -> int:
        """How many states the steps to a depth work on, about."""
        return sum(self.counts(depth - 1).values())

    def _complete(self, depth: int) -> dict[int, Record]:
        """The records of a complete layer, by block."""
        if depth not in self._layers:
            if depth != self._depth:
                raise StorageError(f"layer {depth} is not known; layer {self._depth} is under way")
            records = Record.all_of(self.nodes, self.records_key(depth), depth)
            if sorted(records) != self._begun[depth]:
                raise LostStateError(
                    f"attempt {self.attempt}: layer {depth} has {len(records)} of {len(self._begun[depth])} blocks"
                )
            if (self.keeps_distances or self.residues) and any(record.states for record in records.values()):
                check_depth(depth)
            self._layers[depth] = records
        return self._layers[depth]

    # The map

    def whole_assembly(self, fold: Fold) -> Assembly:
        """``assembly`` for this process."""

        def records(block: int) -> dict[int, Record]:
            self.touch_if_room()
            layers = {depth: self._complete(depth) for depth in fold.wanted}
            return {depth: layer[block] for depth, layer in layers.items() if block in layer}

        return self.assembly(fold, records)

    def fold(self, depth: int, form: ResidueForm | None, job: int = NO_JOB, owner: str = "") -> Fold:
        """What the map up to ``depth`` is made of; ``form``: of a residue map, None for one of distances."""
        if form is None and not self.keeps_distances:
            raise StorageError(ONLY_COUNTS)
        base = NO_BASE if self.base is None else self._stored_depth
        depths = range(base + 1, depth + 1)
        numbers = () if form is None else tuple(map(form.number, depths))
        records = tuple(
            len(self._complete(layer)) if form is None or form.number(layer) else 0 for layer in depths
        )
        planes = 0 if form is None else form.planes
        return Fold(depth, base, records, self._colour, job, owner, planes, numbers)

    def stored(self, depth: int, base: Base) -> None:
        """A map up to ``depth`` is in the database: what workers have made it of can go."""
        if self.end_folding is not None:
            self.end_folding()
            self.end_folding = None

    def touch(self) -> None:
        """Says that the attempt's coordinator is alive."""
        self.nodes.call(lambda: attempts.touch(self.nodes, self.attempt))

    def touch_if_room(self) -> None:
        """``touch``, for what only reads and a full Redis need not stop."""
        with suppress(RedisFullError):
            self.touch()

    def _retire(self, depth: int) -> None:
        """A layer that no step reads any more leaves the place, unless results are made from it."""
        of_distances = self.keeps_distances and depth > self._stored_depth
        of_residues = self.residues is not None and self.residues.number(depth) != 0
        if depth in self._layers and not of_distances and not of_residues:
            self._remove(depth)

    def _remove(self, depth: int) -> None:
        names = [
            self.found_name(depth, block, record.nonce)
            for block, record in self._layers.pop(depth).items()
            if record.nonce
        ]
        self.removals.begin(names, self.records_key(depth))

    def drop(self) -> None:
        """Removes everything of the attempt from Redis and from the place of its blobs."""
        self.removals.close()
        with suppress(StorageError), self.nodes.errors():  # what is left, the next coordinator removes
            attempts.drop(self.nodes, self.attempt, self.place)
