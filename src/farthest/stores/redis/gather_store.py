"""The gather store whose records are in Redis, for steps in any number of processes; stores/redis/attempts.py lists its
keys.

Layers stay coded: only the shards that are pulled from are decoded, into slots, where they stay for the next steps of
this process as long as there is room. What is not new (``contract.Excluded``) is read as it is stored, and decoded
piece by piece within the step; what is fresh comes out coded. So a step needs memory for the slots, and for what is
read and written of its blocks, coded. Where all states found are excluded, each block has one blob of them, which a
step with fresh states replaces. Where layers are united, a block's blob has all its states up to its depth.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Self

from farthest import _kernel
from farthest.errors import LostStateError
from farthest.spaces.contract import gather
from farthest.stores.blobs.blob import (
    FOUND,
    VISITED,
    ShardTable,
    damaged,
    head_bytes,
    join_shards,
    longest_block_blob,
    read_table,
)
from farthest.stores.blobs.place import BlobName, BlobPart
from farthest.stores.blocks import Blocks, inputs_of
from farthest.stores.contract import excluded_layers
from farthest.stores.redis.attempt_stores import Access, AttemptSteps, Commit, StepRecords
from farthest.stores.redis.attempts import unbelieved
from farthest.stores.redis.map_parts import BitmapAssembly, block_blobs
from farthest.stores.redis.records import NOT_COUNTED, Fold, FoundBlob, Pointer, Record

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.stores.redis.assembly import RecordsOf

BLOBS_SHARE = 4
"""This part of a cache's memory is for blobs as they were read or written; the rest is for slots."""

EMPTY = 0
"""The slot of shards without states."""

ShardName = tuple[int, str, int]
"""A shard of a layer: its depth, the nonce of its block's blob, its number."""

Fresh = tuple[bytes, int, bytes]
"""Of a shard the blob of its fresh states, their number, and where all states found are kept the blob of these."""


@dataclass(frozen=True, slots=True)
class BlockBlob:
    """The whole blob of a block, as a cache keeps it."""

    blob: bytes
    table: ShardTable

    @property
    def bytes(self) -> int:
        """Bytes of memory that it takes."""
        return len(self.blob) + self.table.bytes

    def shard(self, number: int) -> memoryview:
        """The blob of the shard that is number n of the block."""
        return self.table.shard(self.blob, number)


@dataclass(frozen=True, slots=True)
class GatherStepInput:
    """``StepInput`` of whole blocks. ``visited``: by block, where all states found are kept, their blob, if the block
    has any; ``fresh``: by shard, of those that have fresh states, where layers are united any;
    ``classes``: by block, of the fresh states."""

    store: GatherStore
    depth: int
    shards: list[int]
    records: StepRecords
    visited: dict[int, dict[BlobName, BlockBlob]] = field(default_factory=dict)
    fresh: dict[int, Fresh] = field(default_factory=dict)
    classes: dict[int, int] = field(default_factory=dict)

    def run(self, threads: int = 1) -> list[int]:
        """Raises what reading blobs raises."""
        self.fresh.update(self.store.stepped(self, threads))
        return [self.fresh[shard][1] if shard in self.fresh else 0 for shard in self.shards]


class GatherStore(AttemptSteps[GatherStepInput]):
    """``StepStore`` of one attempt: opens and commits whole blocks. The coordinator's store
    (stores/redis/gather_attempt.py) begins layers and reads results."""

    def __init__(self, access: Access, kernel: _kernel.Space) -> None:
        super().__init__(access, Blocks(kernel.shards, access.facts.per_block))
        self.kernel = kernel
        self._sources: dict[int, list[int]] = {}
        self.united = access.facts.exclude == "united"
        self._counts_classes = isinstance(kernel, _kernel.ReducedSpace)
        self._reader = ShardReader(self)

    @classmethod
    def attach(cls, access: Access) -> Self:
        facts, attempt = access.facts, access.attempt
        space = gather(facts.space(attempt, len(access.nodes)))
        with unbelieved(attempt):
            kernel = space.compile_kernel(facts.shard_classes)
        facts.check(attempt, kernel.keys, kernel.shards)
        store = cls(access, kernel)
        store.look_for_mark()
        return store

    def inputs_of(self, shard: int) -> list[int]:
        """The shards that the step of one reads whole."""
        return inputs_of(self.kernel, shard, united=self.united)

    def sources_of(self, block: int) -> list[int]:
        if block not in self._sources:
            shards = {source for shard in self.blocks.shards(block) for source in self.inputs_of(shard)}
            self._sources[block] = self.blocks.of(shards)
        return self._sources[block]

    def longest_blob(self, states: int) -> int:
        return longest_block_blob(self.kernel, self.blocks.per_block)

    def assembly(self, fold: Fold, records: RecordsOf) -> BitmapAssembly:
        def blobs(block: int) -> Iterator[tuple[int, bytes]]:
            return block_blobs(self, block, records(block))

        return BitmapAssembly(self.kernel, self.blocks, fold, blobs, self.facts.part_chunks)

    @property
    def room(self) -> int:
        """How many shards this process keeps decoded."""
        return self._slots().room

    # Opening and committing

    def open(self, depth: int, shards: Sequence[int]) -> GatherStepInput:
        wanted = self.blocks.of(shards)
        sources = sorted({source for block in wanted for source in self.sources_of(block)} | set(wanted))
        records = self._read_records(depth, wanted, sources)
        blocks = records.blocks
        visited: dict[int, dict[BlobName, BlockBlob]] = {}
        if self.facts.exclude == "all":
            visited = self._visited(depth, records, self._read_visited)
            blocks = list(visited)
        stepped = [shard for block in blocks for shard in self.blocks.shards(block)]
        return GatherStepInput(self, depth, stepped, records, visited)

    def _read_visited(self, wanted: Mapping[BlobName, int]) -> dict[BlobName, BlockBlob]:
        if len({name.block for name in wanted}) < len(wanted):
            raise LostStateError(f"attempt {self.attempt}: what a block has visited is in more than one blob")
        blobs = self._reader.whole(list(wanted), VISITED)
        for name, one in blobs.items():
            if one.table.states != wanted[name]:
                problem = f"it holds {one.table.states} states, expected {wanted[name]}"
                raise damaged(name.depth, name.block, problem)
        return blobs

    def commit(self, depth: int, step_input: GatherStepInput, counts: Sequence[int]) -> None:
        commits: dict[int, Commit] = {}
        made: dict[BlobName, BlockBlob] = {}
        for block in self.blocks.of(step_input.shards):
            here = {
                shard: step_input.fresh[shard]
                for shard in self.blocks.shards(block)
                if shard in step_input.fresh
            }
            commits[block] = commit = Commit(
                Record.new(
                    {shard: states for shard, (_, states, _) in here.items()},
                    classes=step_input.classes.get(block, 0) if self._counts_classes else NOT_COUNTED,
                )
            )
            if not here:
                continue
            nonce, states = commit.record.nonce, sum(commit.record.states.values())
            blobs = {shard: blob for shard, (blob, _, _) in here.items()}
            made[self.found_name(depth, block, nonce)] = self._joined(depth, block, states, blobs)
            if step_input.visited:
                united: dict[int, Buffer] = {}
                for name, before in step_input.visited[block].items():
                    states += before.table.states
                    for number, shard in enumerate(self.blocks.shards(block)):
                        united[shard] = before.shard(number)
                    commit.replaced.append(name)
                united.update({shard: blob for shard, (_, _, blob) in here.items()})
                name = self.visited_name(depth, block, nonce)
                made[name] = self._joined(depth, block, states, united, VISITED)
                commit.pointer = Pointer(depth, (FoundBlob(depth, nonce, states),))
        for name, one in made.items():
            commits[name.block].blobs[name] = one.blob
        mine = self._commit_blocks(depth, commits)
        for name, one in made.items():
            if name.block in mine:
                self.cache.put(name, one)

    def _joined(
        self,
        depth: int,
        block: int,
        states: int,
        blobs: Mapping[int, Buffer],
        kind: bytes = FOUND,
    ) -> BlockBlob:
        """The blob of a block that has ``states`` states in these shards."""
        shards = self.blocks.shards(block)
        blob = join_shards(depth, block, states, [blobs.get(shard, b"") for shard in shards], kind)
        return BlockBlob(blob, read_table(self.kernel, depth, block, blob, len(shards), kind))

    # The step

    def stepped(self, step_input: GatherStepInput, threads: int) -> dict[int, Fresh]:
        """What is fresh in each shard that has fresh states. Raises LateStepError, LostStateError,
        UnavailableError."""
        depth, before = step_input.depth, step_input.records.before
        slots = self._slots()
        fresh: dict[int, Fresh] = {}
        try:
            with slots.lock:
                for group, sources in self._groups(depth, step_input.shards, before, slots.room):
                    self.poll()
                    missing = slots.missing(sources)
                    blobs = self._read(depth, depth - 1, [shard for _, _, shard in missing], before)
                    slots.load([(name, blobs[name[2]]) for name in missing], threads)
                    fresh.update(self._step(slots, group, step_input, threads))
        except ValueError as error:
            raise LostStateError(
                f"attempt {self.attempt}: a blob that a step to depth {depth} reads is damaged: {error}"
            ) from error
        return fresh

    def _step(
        self, slots: Slots, group: Sequence[int], step_input: GatherStepInput, threads: int
    ) -> Iterator[tuple[int, Fresh]]:
        depth, records, unite = step_input.depth, step_input.records, bool(step_input.visited)
        if unite:
            not_new = [self._visited_shards(group, step_input.visited)]
        else:
            not_new = [
                self._read(depth, at, (one for one in group if self._shard_name(at, one, of) is not None), of)
                for at in excluded_layers(self.facts.exclude, depth)
                for of in (records.before if at == depth - 1 else records.two_before,)
            ]
        steps = []
        for shard in group:
            sources = [self._shard_name(depth - 1, one, records.before) for one in self.inputs_of(shard)]
            where = [EMPTY if name is None else slots.slot(name) for name in sources]
            steps.append((shard, where, [blobs[shard] for blobs in not_new if shard in blobs]))
        self.kernel.prepare(group, threads)
        together = self.blocks.per_block if self._counts_classes else self.kernel.shards
        for block, some in groupby(steps, lambda one: one[0] // together):
            of_block = list(some)
            for (shard, _, _), one in zip(
                of_block, slots.stepper.step(of_block, threads, unite), strict=True
            ):
                if one[0]:
                    yield shard, one
            step_input.classes[block] = step_input.classes.get(block, 0) + slots.stepper.classes

    def _visited_shards(
        self, shards: Iterable[int], visited: Mapping[int, dict[BlobName, BlockBlob]]
    ) -> dict[int, memoryview]:
        """The blobs of all states found of those shards that have some."""
        found = {}
        for shard in shards:
            block, number = divmod(shard, self.blocks.per_block)
            for one in visited[block].values():
                if blob := one.shard(number):
                    found[shard] = blob
        return found

    def _slots(self) -> Slots:
        slots = self.cache.get(("slots", self.attempt), Slots)
        if slots is None:
            slots = Slots(self.kernel, self.cache.size, self._most_sources)
            self.cache.put(("slots", self.attempt), slots)
        return slots

    @cached_property
    def _most_sources(self) -> int:
        return max(len(set(self.inputs_of(shard))) for shard in range(self.kernel.shards))

    def _groups(
        self, depth: int, shards: Iterable[int], before: dict[int, Record], room: int
    ) -> Iterator[tuple[list[int], list[ShardName]]]:
        """The shards that have sources with states, so many at a time that all of these fit the slots; and these
        sources."""
        group: list[int] = []
        needed: dict[ShardName, None] = {}
        for shard in shards:
            sources = [
                name
                for source in self.inputs_of(shard)
                if (name := self._shard_name(depth - 1, source, before)) is not None
            ]
            if not sources:
                continue
            if group and len(needed.keys() | set(sources)) > room:
                yield group, list(needed)
                group, needed = [], {}
            group.append(shard)
            needed |= dict.fromkeys(sources)
        if group:
            yield group, list(needed)

    def _shard_name(self, depth: int, shard: int, records: dict[int, Record]) -> ShardName | None:
        """None where the shard has no states."""
        record = records[shard // self.blocks.per_block]
        return (depth, record.nonce, shard) if shard in record.states else None

    def _read(
        self, step: int, depth: int, shards: Iterable[int], records: dict[int, Record]
    ) -> dict[int, memoryview]:
        """The blobs of shards that have states."""
        wanted: dict[int, list[int]] = {}
        for shard in shards:
            wanted.setdefault(shard // self.blocks.per_block, []).append(shard)
        return self._reader.read(step, depth, wanted, records)


class ShardReader:
    """Reads the blobs of single shards out of those of their blocks. Of a block with states in more shards than twice
    those that are wanted only these are read, else the whole blob, which the store's cache then keeps."""

    def __init__(self, store: GatherStore) -> None:
        self._store = store

    def read(
        self, step: int, depth: int, wanted: Mapping[int, list[int]], records: Mapping[int, Record]
    ) -> dict[int, memoryview]:
        """The blob of each wanted shard of the layer at ``depth``, by its number, for the step to depth ``step``;
        ``wanted``: shards by block. Raises LostStateError, LateStepError where the layer ``step`` is over."""
        store = self._store
        names = {block: store.found_name(depth, block, records[block].nonce) for block in wanted}
        alone = {
            block: name
            for block, name in names.items()
            if 2 * len(wanted[block]) < len(records[block].states)
            and store.cache.get(name, BlockBlob) is None
        }
        whole = self.whole([name for block, name in names.items() if block not in alone])
        found: dict[int, memoryview] = {}
        for block, name in names.items():
            if block not in alone:
                if name not in whole:
                    raise store.missing(step, depth, block)
                self._check(depth, block, whole[name].table, records[block])
                for shard in wanted[block]:
                    found[shard] = whole[name].shard(shard % store.blocks.per_block)
        tables = self._tables(step, depth, alone)
        parts: dict[int, BlobPart] = {}
        for block, table in tables.items():
            self._check(depth, block, table, records[block])
            for shard in wanted[block]:
                first, end = table.starts[shard % store.blocks.per_block :][:2]
                parts[shard] = BlobPart(names[block], first, end - first)
        for (shard, part), blob in zip(parts.items(), store.fetch_parts(list(parts.values())), strict=True):
            if not blob:
                raise store.missing(step, depth, part.name.block)
            if len(blob) != part.size:
                raise damaged(depth, part.name.block, "it is cut off")
            found[shard] = memoryview(blob)
        return found

    def whole(self, names: Sequence[BlobName], kind: bytes = FOUND) -> dict[BlobName, BlockBlob]:
        """Those of the blobs that are there. Raises LostStateError where one is damaged."""
        store = self._store
        found = {name: have for name in names if (have := store.cache.get(name, BlockBlob)) is not None}
        rest = [name for name in names if name not in found]
        for name, blob in zip(rest, store.fetch(rest, store.longest_blob(0)), strict=True):
            if blob is None:
                continue
            shards = len(store.blocks.shards(name.block))
            table = read_table(store.kernel, name.depth, name.block, blob, shards, kind)
            if table.starts[-1] != len(blob):
                raise damaged(
                    name.depth, name.block, f"it has {len(blob)} bytes, expected {table.starts[-1]}"
                )
            found[name] = BlockBlob(blob, table)
            store.cache.put(name, found[name])
        return found

    def _tables(self, step: int, depth: int, names: Mapping[int, BlobName]) -> dict[int, ShardTable]:
        store, tables = self._store, dict[int, ShardTable]()
        for block, name in names.items():
            if (table := store.cache.get(("table", name), ShardTable)) is not None:
                tables[block] = table
        rest = [block for block in names if block not in tables]
        parts = [BlobPart(names[block], 0, head_bytes(len(store.blocks.shards(block)))) for block in rest]
        for block, head in zip(rest, store.fetch_parts(parts), strict=True):
            if not head:
                raise store.missing(step, depth, block)
            tables[block] = read_table(store.kernel, depth, block, head, len(store.blocks.shards(block)))
            store.cache.put(("table", names[block]), tables[block])
        return tables

    def _check(self, depth: int, block: int, table: ShardTable, record: Record) -> None:
        """Whether record and blob say the same of the block."""
        has = {
            shard
            for number, shard in enumerate(self._store.blocks.shards(block))
            if table.starts[number] < table.starts[number + 1]
        }
        if has != record.states.keys() or table.states != sum(record.states.values()):
            raise LostStateError(
                f"attempt {self._store.attempt}: the blob of block {block} at depth {depth} does not have the "
                "states that its record says"
            )


class Slots:
    """Slots for the decoded shards of one attempt; that of the shard that was used longest ago is taken for another.

    To be used while ``lock`` is held. Contents of a BlobCache, of whose ``memory`` they take a share, and more where
    that is not enough for ``least`` shards: those that one shard is stepped from."""

    def __init__(self, kernel: _kernel.Space, memory: int, least: int) -> None:
        each = _kernel.UnitStepper.slot_bytes(kernel)
        self.room = max(least, min(kernel.shards, (memory - memory // BLOBS_SHARE) // each))
        self.bytes = self.room * each
        self.stepper = _kernel.UnitStepper(kernel, 1 + self.room)
        self.stepper.load([(EMPTY, b"")])
        self.lock = threading.Lock()
        self._free = list(range(self.room, EMPTY, -1))
        self._held: OrderedDict[ShardName, int] = OrderedDict()

    def missing(self, wanted: Iterable[ShardName]) -> list[ShardName]:
        """Those of the shards that are in no slot. The others stay in theirs until ``room`` other shards were taken."""
        missing = []
        for name in wanted:
            if name in self._held:
                self._held.move_to_end(name)
            else:
                missing.append(name)
        return missing

    def load(self, blobs: Iterable[tuple[ShardName, memoryview]], threads: int) -> None:
        """Decodes shards into slots. Raises ValueError where a blob is damaged."""
        loads = []
        for name, blob in blobs:
            slot = self._free.pop() if self._free else self._held.popitem(last=False)[1]
            self._held[name] = slot
            loads.append((slot, blob))
        try:
            self.stepper.load(loads, threads)
        except ValueError:
            self._free += self._held.values()
            self._held.clear()
            raise

    def slot(self, name: ShardName) -> int:
        """The slot of a shard that has been loaded."""
        return self._held[name]
