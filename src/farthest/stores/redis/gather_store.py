"""The gather store whose records are in Redis, for steps in any number of processes; stores/redis/attempts.py lists its
keys.

What is new in a block depends on the graph (kernel/include/farthest/step.hpp):

    exclude "none"    graded (all paths to a state are equally long): everything is new
    exclude "before"  bipartite, undirected, origins of one colour: not in the block's layer d-2
    exclude "two"     undirected: not in its layers d-1 and d-2
    exclude "all"     any: not among all its states found, a blob of their own that each step with fresh states replaces
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from farthest import _kernel
from farthest.errors import LateStepError, LostStateError
from farthest.spaces.contract import gather
from farthest.stores.blobs.blob import (
    FOUND,
    VISITED,
    ShardTable,
    damaged,
    decode_blob,
    encode_blob,
    head_bytes,
    join_shards,
    longest_block_blob,
    read_table,
)
from farthest.stores.blobs.place import BlobName, BlobPart
from farthest.stores.blocks import Bitmap, Blocks
from farthest.stores.contract import BitmapStepInput
from farthest.stores.redis.attempt_steps import AttemptSteps, Commit, StepRecords
from farthest.stores.redis.attempts import AttemptFacts, unbelieved
from farthest.stores.redis.records import FoundBlob, Pointer, Record

if TYPE_CHECKING:
    from farthest.stores.blobs.blob import BlobCache
    from farthest.stores.blobs.place import BlobPlace
    from farthest.stores.redis.connections import RedisNodes


# --- Reading the blobs of single shards out of those of their blocks, wherever these are.


@dataclass(frozen=True, slots=True)
class BlockBlob:
    """The whole blob of a block, as a cache keeps it."""

    blob: bytes
    table: ShardTable

    @property
    def bytes(self) -> int:
        """Bytes of memory that it takes."""
        return len(self.blob) + self.table.bytes


@dataclass(frozen=True, slots=True)
class Wanted:
    """Of a block at a depth: its record, and which of its shards that have states are to be read."""

    record: Record
    shards: list[int]


class ShardReader:
    """Reads for the steps of one attempt. Of a block with states in more shards than twice those that are wanted only
    these are read, else the whole blob, which the store's cache then keeps."""

    def __init__(self, store: AttemptSteps[Any], kernel: _kernel.Space) -> None:
        self._store = store
        self._kernel = kernel

    def read(self, step: int, depth: int, wanted: Mapping[int, Wanted]) -> dict[int, memoryview]:
        """The blob of each wanted shard of the layer at ``depth``, by its number, for the step to depth ``step``;
        ``wanted``: by block. Raises LostStateError, LateStepError where the layer ``step`` is over."""
        cache = self._store.cache
        names = {
            block: self._store.found_name(depth, block, one.record.nonce) for block, one in wanted.items()
        }
        whole = {
            block: have for block, name in names.items() if (have := cache.get(name, BlockBlob)) is not None
        }
        rest = [block for block in wanted if block not in whole]
        alone = [block for block in rest if 2 * len(wanted[block].shards) < len(wanted[block].record.states)]
        whole |= self._read_whole(
            step, depth, [(block, names[block]) for block in rest if block not in alone]
        )
        found: dict[int, memoryview] = {}
        for block, have in whole.items():
            self._check(depth, block, have.table, wanted[block].record)
            for shard in wanted[block].shards:
                found[shard] = have.table.shard(have.blob, self._number(block, shard))
        tables = self._tables(step, depth, [(block, names[block]) for block in alone])
        for block, table in tables.items():
            self._check(depth, block, table, wanted[block].record)
        found |= self._read_parts(step, depth, tables, wanted, names)
        return found

    def _number(self, block: int, shard: int) -> int:
        return shard - self._store.blocks.shards(block).start

    def _read_whole(
        self, step: int, depth: int, blocks: Sequence[tuple[int, BlobName]]
    ) -> dict[int, BlockBlob]:
        most = longest_block_blob(self._kernel, self._store.blocks.per_block)
        blobs = self._store.fetch([name for _, name in blocks], most)
        found = {}
        for (block, name), blob in zip(blocks, blobs, strict=True):
            if blob is None:
                raise self._store.missing(step, depth, block)
            table = read_table(self._kernel, depth, block, blob, len(self._store.blocks.shards(block)))
            if table.starts[-1] != len(blob):
                raise damaged(depth, block, f"it has {len(blob)} bytes, expected {table.starts[-1]}")
            found[block] = BlockBlob(blob, table)
            self._store.cache.put(name, found[block])
        return found

    def _tables(self, step: int, depth: int, blocks: Sequence[tuple[int, BlobName]]) -> dict[int, ShardTable]:
        cache = self._store.cache
        tables = {
            block: table
            for block, name in blocks
            if (table := cache.get(("table", name), ShardTable)) is not None
        }
        unknown = [(block, name) for block, name in blocks if block not in tables]
        sizes = [head_bytes(len(self._store.blocks.shards(block))) for block, _ in unknown]
        parts = [BlobPart(name, 0, size) for (_, name), size in zip(unknown, sizes, strict=True)]
        for (block, name), head in zip(unknown, self._store.fetch_parts(parts), strict=True):
            if not head:
                raise self._store.missing(step, depth, block)
            shards = len(self._store.blocks.shards(block))
            tables[block] = read_table(self._kernel, depth, block, head, shards)
            cache.put(("table", name), tables[block])
        return tables

    def _read_parts(
        self,
        step: int,
        depth: int,
        tables: Mapping[int, ShardTable],
        wanted: Mapping[int, Wanted],
        names: Mapping[int, BlobName],
    ) -> dict[int, memoryview]:
        places = [(block, shard) for block in tables for shard in wanted[block].shards]
        parts = []
        for block, shard in places:
            first, end = tables[block].starts[self._number(block, shard) :][:2]
            parts.append(BlobPart(names[block], first, end - first))
        found = {}
        for (block, shard), part, blob in zip(places, parts, self._store.fetch_parts(parts), strict=True):
            if not blob:
                raise self._store.missing(step, depth, block)
            if len(blob) != part.size:
                raise damaged(depth, block, "it is cut off")
            found[shard] = memoryview(blob)
        return found

    def _check(self, depth: int, block: int, table: ShardTable, record: Record) -> None:
        """Whether record and blob say the same of the block."""
        has = {
            shard
            for number, shard in enumerate(self._store.blocks.shards(block))
            if table.starts[number] < table.starts[number + 1]
        }
        if has != record.states.keys() or table.states != sum(record.states.values()):
            raise LostStateError(
                f"attempt {self._store.attempt}: the blob of block {block} at depth {depth} has other states than its "
                "record says"
            )


# --- Decoded shards that stay in a process from step to step, in the slots of a stepper.

BLOBS_SHARE = 4
"""This part of a cache's memory is for blobs as they were read or written; the rest is for slots."""

EMPTY = 0
"""The slot of shards without states."""

ShardName = tuple[int, str, int]
"""A shard of a layer: its depth, the nonce of its block's blob, its number."""


class Slots:
    """Slots for the shards of one attempt; that of the shard that was used longest ago is taken for another.

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
        """Those of the shards that are in no slot. The others will stay until so many as there is room for were
        taken."""
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


# --- Steps of blocks whose layers stay coded: only the shards that are pulled from are decoded, into slots.
#
# A shard is stepped when its sources are in slots, where they stay for the next steps of this process as long as
# there is room. What is excluded is read as it is stored, and decoded piece by piece within the step; what is fresh
# comes out coded. So a step needs memory for the slots, and for what is read and written of its blocks, coded.

LEAST_SHARD = 2**16
"""Bytes of a shard's bitmap from which on this is faster than stepping whole blocks: less is soon decoded, and what is
done shard by shard takes longer than the step."""


@dataclass(frozen=True, slots=True)
class CodedStepInput:
    """``StepInput`` of whole blocks. ``fresh``: for each shard that has fresh states its blob and their number."""

    steps: CodedSteps
    depth: int
    shards: list[int]
    records: StepRecords
    fresh: dict[int, tuple[bytes, int]] = field(default_factory=dict)

    def run(self, threads: int = 1) -> list[int]:
        """See StepInput. Raises what reading blobs raises."""
        self.fresh.update(self.steps.stepped(self.depth, self.shards, self.records, threads))
        return [self.fresh[shard][1] if shard in self.fresh else 0 for shard in self.shards]


class CodedSteps:
    """The steps of one store."""

    def __init__(self, store: AttemptSteps[Any], kernel: _kernel.Space) -> None:
        self._store = store
        self._kernel = kernel
        self._blocks = store.blocks
        self._reader = ShardReader(store, kernel)

    def stepped(
        self, depth: int, shards: Sequence[int], records: StepRecords, threads: int
    ) -> dict[int, tuple[bytes, int]]:
        """Of each shard that has fresh states at ``depth`` their blob and number. Raises LateStepError, LostStateError,
        UnavailableError."""
        slots = self._slots()
        fresh: dict[int, tuple[bytes, int]] = {}
        try:
            with slots.lock:
                for group, sources in self._groups(depth, shards, records.before, slots.room):
                    self._store.poll()
                    self._load(depth, slots, sources, records.before, threads)
                    fresh.update(self._step(depth, slots, group, records, threads))
        except LateStepError as error:
            raise self._store.late(depth, error) from error
        except ValueError as error:
            raise LostStateError(
                f"attempt {self._store.attempt}: a blob that a step to depth {depth} reads is damaged: {error}"
            ) from error
        return fresh

    def blob(self, depth: int, block: int, fresh: dict[int, tuple[bytes, int]]) -> BlockBlob:
        """The blob of a block of which some shards have fresh states."""
        shards = self._blocks.shards(block)
        here = [fresh.get(shard, (b"", 0)) for shard in shards]
        blob = join_shards(depth, block, sum(states for _, states in here), [one for one, _ in here])
        return BlockBlob(blob, read_table(self._kernel, depth, block, blob, len(shards)))

    def _slots(self) -> Slots:
        cache, name = self._store.cache, ("slots", self._store.attempt)
        slots = cache.get(name, Slots)
        if slots is None:
            slots = Slots(self._kernel, cache.size, self._most_sources)
            cache.put(name, slots)
        return slots

    @cached_property
    def _most_sources(self) -> int:
        return max(len(set(self._kernel.sources(shard))) for shard in range(self._kernel.shards))

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
                for source in self._kernel.sources(shard)
                if (name := self._name(depth - 1, source, before)) is not None
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

    def _name(self, depth: int, shard: int, records: dict[int, Record]) -> ShardName | None:
        """None where the shard has no states."""
        record = records[shard // self._blocks.per_block]
        return (depth, record.nonce, shard) if shard in record.states else None

    def _load(
        self,
        depth: int,
        slots: Slots,
        sources: Sequence[ShardName],
        before: dict[int, Record],
        threads: int,
    ) -> None:
        missing = slots.missing(sources)
        blobs = self._read(depth, depth - 1, [shard for _, _, shard in missing], before)
        slots.load([(name, blobs[name[2]]) for name in missing], threads)

    def _read(
        self, step: int, depth: int, shards: Iterable[int], records: dict[int, Record]
    ) -> dict[int, memoryview]:
        """The blobs of shards that have states."""
        wanted: dict[int, Wanted] = {}
        for shard in shards:
            block = shard // self._blocks.per_block
            wanted.setdefault(block, Wanted(records[block], [])).shards.append(shard)
        return self._reader.read(step, depth, wanted)

    def _step(
        self, depth: int, slots: Slots, group: Sequence[int], records: StepRecords, threads: int
    ) -> Iterator[tuple[int, tuple[bytes, int]]]:
        excluded = []
        if self._store.facts.exclude != "none":
            excluded.append((depth - 2, records.two_before))
        if self._store.facts.exclude == "two":
            excluded.append((depth - 1, records.before))
        known = [
            self._read(depth, at, (one for one in group if self._name(at, one, of) is not None), of)
            for at, of in excluded
        ]
        steps = []
        for shard in group:
            sources = [
                self._name(depth - 1, source, records.before) for source in self._kernel.sources(shard)
            ]
            where = [EMPTY if name is None else slots.slot(name) for name in sources]
            steps.append((shard, where, [blobs[shard] for blobs in known if shard in blobs]))
        self._kernel.prepare(group, threads)
        for shard, one in zip(group, slots.stepper.step(steps, threads), strict=True):
            if one[1]:
                yield shard, one[:2]


@dataclass(frozen=True, slots=True)
class BlockStepInput(BitmapStepInput):
    """What was opened, by block: its shards, the bitmap for its fresh states, and that of all its states with the name
    of its blob (where ``exclude`` is "all")."""

    fresh_of: dict[int, Bitmap]
    visited_of: dict[int, tuple[Bitmap, BlobName | None]]


GatherStepInput = BlockStepInput | CodedStepInput


class GatherStore(AttemptSteps[GatherStepInput]):
    """``StepStore`` of one attempt: opens and commits whole blocks. The coordinator's store
    (stores/redis/gather_attempt.py) begins layers and reads results.
    """

    def __init__(
        self,
        nodes: RedisNodes,
        attempt: str,
        facts: AttemptFacts,
        kernel: _kernel.Space,
        cache: BlobCache,
        holder: str | None,
        place: BlobPlace | None = None,
    ) -> None:
        super().__init__(nodes, attempt, facts, Blocks(kernel.shards, facts.per_block), cache, holder, place)
        self.kernel = kernel
        self._sources: dict[int, list[int]] = {}
        large = kernel.words_per_shard * 8 >= LEAST_SHARD
        self._coded = CodedSteps(self, kernel) if large and facts.exclude != "all" else None

    @classmethod
    def of(
        cls,
        nodes: RedisNodes,
        attempt: str,
        facts: AttemptFacts,
        cache: BlobCache,
        holder: str,
        place: BlobPlace | None = None,
    ) -> Self:
        """See AttemptSteps."""
        space = gather(facts.space(attempt, len(nodes)))
        with unbelieved(attempt):
            kernel = space.compile_kernel(facts.shard_classes)
        facts.check(attempt, kernel.keys, kernel.shards)
        return cls(nodes, attempt, facts, kernel, cache, holder, place)

    # StepStore

    def _open(self, depth: int, shards: Sequence[int]) -> GatherStepInput:
        if not shards:
            return BlockStepInput(self.kernel, [], [], [], [], [], {}, {})
        wanted = self.blocks.of(shards)
        sources = sorted({source for block in wanted for source in self.sources_of(block)} | set(wanted))
        look = self._look(depth, wanted, sources)
        if self._coded is not None:
            stepped = [shard for block in look.blocks for shard in self.blocks.shards(block)]
            return CodedStepInput(self._coded, depth, stepped, look)
        frontier = self._bitmaps(depth, depth - 1, look.before)
        exclude: list[list[_kernel.Layer]] = []
        visited: dict[int, tuple[Bitmap, BlobName | None]] = {}
        if self.facts.exclude == "all":
            visited = self._visited(depth, look)
            exclude.append([bitmap.layer for bitmap, _ in visited.values()])
        elif self.facts.exclude != "none":
            exclude.append(self._bitmaps(depth, depth - 2, look.two_before))
            if self.facts.exclude == "two":
                exclude.append(frontier)
        blocks = list(visited) if self.facts.exclude == "all" else look.blocks
        fresh = {block: Bitmap(self.kernel, self.blocks.shards(block)) for block in blocks}
        return BlockStepInput(
            kernel=self.kernel,
            shards=[shard for block in blocks for shard in self.blocks.shards(block)],
            frontier=frontier,
            fresh=[bitmap.layer for bitmap in fresh.values()],
            exclude=exclude,
            accumulate=exclude if visited else [],
            fresh_of=fresh,
            visited_of=visited,
        )

    def _commit(self, depth: int, step_input: GatherStepInput, counts: Sequence[int]) -> None:
        if isinstance(step_input, CodedStepInput):
            self._commit_coded(depth, step_input, step_input.steps)
            return
        states = {shard: count for shard, count in zip(step_input.shards, counts, strict=True) if count}
        commits: dict[int, Commit] = {}
        for block, bitmap in step_input.fresh_of.items():
            here = {shard: states[shard] for shard in self.blocks.shards(block) if shard in states}
            commits[block] = commit = Commit(Record.new(here))
            if not here:
                continue
            nonce = commit.record.nonce
            blob = encode_blob(self.kernel, depth, block, sum(here.values()), bitmap)
            commit.blobs[self.found_name(depth, block, nonce)] = blob
            if block in step_input.visited_of:
                visited, old = step_input.visited_of[block]
                found, blob = self.visited_blob(depth, block, visited, nonce)
                commit.pointer = Pointer(depth, (found,))
                commit.blobs[self.visited_name(depth, block, nonce)] = blob
                commit.replaced += [] if old is None else [old]
        for block in self._commit_blocks(depth, commits):
            if nonce := commits[block].record.nonce:
                self.cache.put(self.found_name(depth, block, nonce), step_input.fresh_of[block])

    def _commit_coded(self, depth: int, step_input: CodedStepInput, steps: CodedSteps) -> None:
        commits: dict[int, Commit] = {}
        blobs: dict[BlobName, BlockBlob] = {}
        for block in self.blocks.of(step_input.shards):
            fresh = step_input.fresh
            here = {shard: fresh[shard][1] for shard in self.blocks.shards(block) if shard in fresh}
            commits[block] = commit = Commit(Record.new(here))
            if here:
                name = self.found_name(depth, block, commit.record.nonce)
                blobs[name] = steps.blob(depth, block, fresh)
                commit.blobs[name] = blobs[name].blob
        mine = self._commit_blocks(depth, commits)
        for name, blob in blobs.items():
            if name.block in mine:
                self.cache.put(name, blob)

    # Reading

    def sources_of(self, block: int) -> list[int]:
        """The blocks that moves lead from into a block."""
        if block not in self._sources:
            shards = {source for shard in self.blocks.shards(block) for source in self.kernel.sources(shard)}
            self._sources[block] = self.blocks.of(shards)
        return self._sources[block]

    def _bitmaps(self, step: int, depth: int, records: dict[int, Record]) -> list[_kernel.Layer]:
        """The layers at ``depth`` of the blocks, for the step to depth ``step``."""
        names = {
            block: self.found_name(depth, block, one.nonce) for block, one in records.items() if one.nonce
        }
        have: dict[int, Bitmap | None] = {
            block: self.cache.get(name, Bitmap) for block, name in names.items()
        }
        missing = [block for block, bitmap in have.items() if bitmap is None]
        blobs = self.fetch([names[block] for block in missing], self.longest_blob(0))
        for block, blob in zip(missing, blobs, strict=True):
            read = Bitmap(self.kernel, self.blocks.shards(block))
            self._decode(step, depth, block, blob, [read])
            self.cache.put(names[block], read)
            have[block] = read
        return [
            self._empty.at(self.blocks.shards(block)) if (bitmap := have.get(block)) is None else bitmap.layer
            for block in records
        ]

    def longest_blob(self, states: int) -> int:
        """See AttemptSteps: of any block."""
        return longest_block_blob(self.kernel, self.blocks.per_block)

    @cached_property
    def _empty(self) -> Bitmap:
        return Bitmap(self.kernel, self.blocks.shards(0))

    def _decode(
        self,
        step: int,
        depth: int,
        block: int,
        blob: bytes | None,
        bitmaps: Sequence[Bitmap],
        kind: bytes = FOUND,
    ) -> None:
        if blob is None:
            raise self.missing(step, depth, block)
        decode_blob(self.kernel, depth, block, blob, bitmaps, kind)

    # All states of a block, where moves are one-way

    def _visited(self, depth: int, look: StepRecords) -> dict[int, tuple[Bitmap, BlobName | None]]:
        """For each block a bitmap of its own of all states found, and the name of the blob that it is from (None: there
        is none). Blocks that another has stepped meanwhile are left out: the blob to be read has been replaced."""
        visited: dict[int, tuple[Bitmap, BlobName | None]] = {}
        for block in look.blocks:
            bitmap, name = Bitmap(self.kernel, self.blocks.shards(block)), None
            for found in self._pointer(depth, block, look).blobs:
                name = self.visited_name(found.depth, block, found.nonce)
                blob = self.fetch([name], self.longest_blob(0))[0]
                if blob is None and block not in self._look(depth, [block], [block]).blocks:
                    break
                self._decode(depth, found.depth, block, blob, [bitmap], VISITED)
            else:
                visited[block] = bitmap, name
        return visited

    def visited_blob(self, depth: int, block: int, bitmap: Bitmap, nonce: str) -> tuple[FoundBlob, bytes]:
        """The blob of all states of a block found up to a depth, and what a pointer says of it."""
        states = sum(_kernel.population(self.kernel, bitmap.layer))
        return FoundBlob(depth, nonce, states), encode_blob(
            self.kernel, depth, block, states, bitmap, VISITED
        )
