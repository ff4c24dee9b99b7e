"""Reading the blobs of single shards out of those of their blocks, wherever these are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.errors import LostStateError
from farthest.stores.blobs.blob import ShardTable, damaged, head_bytes, longest_block_blob, read_table
from farthest.stores.blobs.place import BlobName, BlobPart

if TYPE_CHECKING:
    from farthest import _kernel
    from farthest.stores.redis.attempt_steps import AttemptSteps
    from farthest.stores.redis.records import Record


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
