"""The coordinator's side of a run in Redis: begins it and its layers, restores it, reads its results.

Redis keeps the layers that steps read: those at depths d-1 and d-2 for a step to depth d. Older ones are moved to the
*spool* meanwhile, and a checkpoint folds them into the distance map of the database, the *base*.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.environment import WORKER_MEMORY
from farthest.errors import JobError, LateStepError, LostStateError, StorageError
from farthest.models.chunks import Chunk, Unit
from farthest.worker import runs
from farthest.worker.assembly import Assembly
from farthest.worker.bitmaps import Bitmap
from farthest.worker.blobs import decode_blob, encode_blob
from farthest.worker.cache import BitmapCache
from farthest.worker.distances import check_depth
from farthest.worker.memory import searches_in_place
from farthest.worker.older_layers import OlderLayers
from farthest.worker.records import Pointer, Record, new_nonce
from farthest.worker.redis_store import BlockViews, RedisStore
from farthest.worker.restoring import read_blocks
from farthest.worker.spool import Spool

if TYPE_CHECKING:
    from farthest.spaces.contract import GatherSpace
    from farthest.worker.blocks import Cut
    from farthest.worker.connections import RedisNodes
    from farthest.worker.store import Base, LayerViews

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


class RunStore(RedisStore):
    """``RedisStore`` of a coordinator; made by ``create``. ``distances``: keep all layers for the map, not only to
    count."""

    _depth = 0

    @classmethod
    def create(
        cls,
        nodes: RedisNodes,
        run: str,
        space: GatherSpace,
        cut: Cut,
        *,
        distances: bool,
        spool_folder: str | None = None,
    ) -> RunStore:
        """A new run at depth 0. Raises StorageError (UnavailableError where waiting may help)."""
        kernel = cut.kernel
        origins = space.keys_of(space.origins)
        in_place = searches_in_place(kernel, origins)
        facts = runs.RunFacts(
            puzzle=space.puzzle.to_json(),
            direction=space.origin.direction,
            where=space.origin.where,
            layout=json.dumps(space.layout_fields()),
            shard_classes=cut.classes,
            per_block=cut.per_block,
            exclude="before" if in_place else "two" if kernel.reversible else "all",
            keys=kernel.keys,
            shards=kernel.shards,
            nodes=len(nodes),
        )
        spool = Spool(spool_folder) if distances else None
        store = cls(nodes, run, facts, kernel, BitmapCache(WORKER_MEMORY.size()), None)
        store._prepare(origins, in_place, spool)
        try:
            store._write_origins(origins)
        except BaseException:
            store.drop()
            raise
        return store

    def _prepare(self, origins: Sequence[int], in_place: bool, spool: Spool | None) -> None:
        keys_per_shard = self.kernel.keys // self.kernel.shards
        colours = self.kernel.colours if in_place else []
        self._parity = [colour ^ colours[origins[0] // keys_per_shard] for colour in colours]
        self._shift = 1 if in_place else 0
        self._older = OlderLayers(self, spool)
        self._begin = self.nodes.main.register_script(BEGIN)
        self._begun: dict[int, list[int]] = {}  # by depth, the blocks of the layer
        # By depth, complete layers: those that the base lacks, and three.
        self._layers: dict[int, dict[int, Record]] = {}
        self._pointers: dict[int, Pointer] = {}  # as the run began
        self._base: tuple[int, Base] | None = None

    def _write_origins(self, origins: Sequence[int]) -> None:
        keys_per_shard = self.kernel.keys // self.kernel.shards
        bitmaps: dict[int, Bitmap] = {}
        for key in origins:
            block = self.blocks.of([key // keys_per_shard])[0]
            bitmap = bitmaps.setdefault(block, Bitmap(self.kernel, self.blocks.shards(block)))
            _kernel.insert(self.kernel, bitmap.layer, key)
        for block, bitmap in bitmaps.items():
            self._write(0, block, bitmap)
            if self.facts.exclude == "all":
                self._write_visited(0, block, bitmap)
        self._start(0)

    def _start(self, depth: int) -> None:
        """Writes the run's facts and the records of the layers ``depth`` and before, which it has the blobs of."""
        for known in range(max(depth - 1, 0), depth + 1):
            self._layers.setdefault(known, {})
            self._begun[known] = list(self._layers[known])
        self._depth = depth

        def write() -> None:
            pipe = self.nodes.main.pipeline()
            for known in range(max(depth - 1, 0), depth + 1):
                for block, record in self._layers[known].items():
                    pipe.hset(self.records_key(known), str(block), record.text(known, block))
                if known < depth:
                    pipe.hset(self.meta_key, f"sealed:{known}", len(self._layers[known]))
            if self.facts.exclude == "all":
                for block in range(self.blocks.count):
                    pointer = self._pointers.get(block, Pointer())
                    pipe.hset(self.visited_key, str(block), pointer.text(block))
            for name, value in {**self.facts.fields(), "depth": str(depth)}.items():
                pipe.hset(self.meta_key, name, value)
            pipe.execute()

        self.nodes.call(write)

    def _write(self, depth: int, block: int, bitmap: Bitmap) -> None:
        """Stores the blob of a block that the coordinator has made itself, and notes its record."""
        population = _kernel.population(self.kernel, bitmap.layer)
        states = {shard: n for shard, n in zip(self.blocks.shards(block), population, strict=True) if n}
        if not states:
            return
        self.touch()
        record = Record.new(states)
        name = self.blob_key(depth, block, record.nonce)
        self.send({name: (block, encode_blob(self.kernel, depth, block, sum(population), bitmap))})
        self._layers.setdefault(depth, {})[block] = record

    def _write_visited(self, depth: int, block: int, bitmap: Bitmap) -> None:
        pointer = Pointer(depth, new_nonce())
        name = self.visited_blob_key(block, pointer.nonce)
        self.send({name: (block, self.visited_blob(depth, block, bitmap))})
        self._pointers[block] = pointer

    # ShardStore

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        """See ShardStore. Raises LostStateError when Redis does not have what it should."""
        if depth == self._depth and depth in self._begun:
            return [shard for block in self._begun[depth] for shard in self.blocks.shards(block)]
        if depth != self._depth + 1:
            raise StorageError(f"layer {depth} cannot begin: layer {self._depth} is the last one begun")
        records = self._complete(self._depth)
        keys = [self.meta_key, self.records_key(self._depth), self.done_key]
        if not self.nodes.call(lambda: self._begin(keys=keys, args=[self._depth, depth, len(records)])):
            raise LostStateError(f"run {self.run}: Redis has lost layer {self._depth} or a part of it")
        self._depth = depth
        self._begun[depth] = self.blocks.of(shards)
        self._retire(depth - 3)
        self.touch()
        return [shard for block in self._begun[depth] for shard in self.blocks.shards(block)]

    def open(self, depth: int, shards: Sequence[int]) -> BlockViews:
        """See RedisStore; a layer that should be under way and is not has been lost."""
        try:
            return super().open(depth, shards)
        except LateStepError as error:
            raise self._not_under_way(depth, error) from error

    def commit(self, depth: int, views: LayerViews, counts: Sequence[int]) -> None:
        """See RedisStore."""
        try:
            super().commit(depth, views, counts)
        except LateStepError as error:
            raise self._not_under_way(depth, error) from error

    def _not_under_way(self, depth: int, error: LateStepError) -> StorageError:
        return LostStateError(str(error)) if depth == self._depth else error

    def counts(self, depth: int) -> dict[int, int]:
        """See ShardStore. Raises LostStateError when the layer is not complete."""
        states: dict[int, int] = {}
        for record in self._complete(depth).values():
            states.update(record.states)
        return states

    def _complete(self, depth: int) -> dict[int, Record]:
        """The records of a complete layer, by block."""
        if depth not in self._layers:
            if depth != self._depth:
                raise StorageError(f"layer {depth} is not known; layer {self._depth} is under way")
            texts: Any = self.nodes.call(lambda: self.nodes.main.hgetall(self.records_key(depth)))
            if sorted(map(int, texts)) != self._begun[depth]:
                raise LostStateError(
                    f"run {self.run}: layer {depth} has {len(texts)} of {len(self._begun[depth])} blocks"
                )
            records = {int(block): Record.of(text, depth, int(block)) for block, text in texts.items()}
            if self._older.keeps and any(record.states for record in records.values()):
                check_depth(depth)
            self._layers[depth] = records
        return self._layers[depth]

    # The layer under way

    def committed(self, depth: int) -> set[int]:
        """The blocks of the layer under way that have been stepped. Raises LostStateError when Redis knows nothing of
        it."""

        def read() -> tuple[bytes | None, list[bytes]]:
            pipe = self.nodes.main.pipeline()
            pipe.hget(self.meta_key, "depth")
            pipe.hkeys(self.records_key(depth))
            now, blocks = pipe.execute()
            return now, blocks

        self.touch()
        now, blocks = self.nodes.call(read)
        if now != str(depth).encode():
            raise LostStateError(f"run {self.run}: Redis does not know that layer {depth} is under way")
        return {int(block) for block in blocks}

    def touch(self) -> None:
        """Says that the run's coordinator is alive."""
        self.nodes.call(lambda: runs.touch(self.nodes, self.run))

    def _retire(self, depth: int) -> None:
        """A layer that no step reads any more leaves Redis."""
        if depth not in self._layers:
            return
        wanted = self._older.keeps and (self._base is None or depth > self._base[0])
        self._older.move(depth, self._layers[depth], keep=wanted)
        if not wanted:
            del self._layers[depth]

    # Results

    def keys(self, depth: int, limit: int) -> list[int]:
        """See JobStore."""
        self._older.settle()
        found: list[int] = []
        for block, record in sorted(self._complete(depth).items()):
            if record.nonce and len(found) < limit:
                bitmap = Bitmap(self.kernel, self.blocks.shards(block))
                decode_blob(self.kernel, depth, block, self._older.blob(depth, block, record), [bitmap])
                found += _kernel.keys_of(self.kernel, bitmap.layer, limit - len(found))
        return found

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[tuple[int, int, Unit, memoryview]]:
        """See JobStore. Raises LostStateError where layers are missing."""
        if not self._older.keeps:
            raise StorageError("this store keeps no distances: it only counts")
        self._older.settle()
        base_depth, base = self._base or (-1, None)

        def blobs(block: int) -> Iterator[tuple[int, bytes]]:
            self.touch()
            for known in range(base_depth + 1, depth + 1):
                record = self._complete(known).get(block)
                if record is not None and record.nonce:
                    yield known, self._older.blob(known, block, record)

        assembly = Assembly(
            self.kernel, self.blocks, depth, blobs=blobs, base=base, shift=self._shift, parity=self._parity
        )
        return assembly.chunks(size, threads)

    def stored(self, depth: int, base: Base) -> None:
        """The distances up to ``depth`` are in the database, where ``base`` finds them: they need not be kept any
        more."""
        self._older.settle()

        def checked(key: int) -> Chunk:
            try:
                chunk = base(key)
            except JobError as error:
                raise LostStateError(f"run {self.run}: {error}") from error
            if chunk.depth < depth:
                raise LostStateError(
                    f"run {self.run}: the database has the checkpoint of depth {chunk.depth} again, after that of "
                    f"depth {depth}"
                )
            return chunk

        self._base = depth, checked
        self._older.clear()
        for known in [one for one in self._layers if one <= min(depth, self._depth - 3)]:
            del self._layers[known]

    def restore(
        self, depth: int, chunks: Iterable[tuple[int, Unit, memoryview]], states: int, threads: int = 1
    ) -> None:
        """See JobStore; ``stored`` is to follow."""
        if self._depth != 0:
            raise StorageError("a store can be restored only before its first step")
        names = [
            (self.blob_key(0, block, record.nonce), block) for block, record in self._layers.pop(0).items()
        ]
        names += [(self.visited_blob_key(block, one.nonce), block) for block, one in self._pointers.items()]
        self._pointers.clear()
        self.nodes.call(lambda: self.nodes.main.delete(self.records_key(0), self.visited_key))
        self.discard(names)
        all_found = self.facts.exclude == "all"
        depths = [depth, -1] if all_found else [one for one in (depth, depth - 1) if one >= 0]
        for block, bitmaps in read_blocks(self.kernel, self.blocks, depth, depths, chunks, states, threads):
            for known, bitmap in bitmaps.items():
                if known >= 0:
                    self._write(known, block, bitmap)
                elif any(_kernel.population(self.kernel, bitmap.layer)):
                    self._write_visited(depth, block, bitmap)
        self._start(depth)

    def drop(self) -> None:
        """Removes everything of the run from Redis, and gives the spool back."""
        self._older.close()
        with suppress(StorageError), self.nodes.errors():  # what is left, the next coordinator removes
            runs.drop(self.nodes, self.run)
