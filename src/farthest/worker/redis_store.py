"""The store whose blobs are in Redis, for steps in any number of processes; worker/runs.py lists its keys.

A block's states at a depth are one immutable blob, and a *record* in the hash of that depth names it. Committing a step
is setting the record, once: the first to do so has stepped the block, whoever comes later changes nothing. A layer is
complete when all of its blocks have records; it is then *sealed* by their number, so that a lost record is never read
as an empty block. What is new in a block depends on the graph (kernel/include/farthest/step.hpp):

    exclude "before"  bipartite, undirected, origins of one colour: not in the block's layer d-2
    exclude "two"     undirected: not in its layers d-1 and d-2
    exclude "all"     any: not among all its states found, a blob of their own that each step with fresh states replaces
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.errors import LateStepError, LostStateError
from farthest.worker.bitmaps import Bitmap
from farthest.worker.blobs import FOUND, VISITED, decode_blob, encode_blob
from farthest.worker.blocks import Blocks
from farthest.worker.records import Pointer, Record
from farthest.worker.reports import Report
from farthest.worker.run_blobs import RunBlobs
from farthest.worker.runs import RunFacts
from farthest.worker.store import LayerViews

if TYPE_CHECKING:
    from farthest.worker.cache import BitmapCache
    from farthest.worker.connections import RedisNodes

COMMIT = """
local under_way = redis.call('HGET', KEYS[1], 'depth') == ARGV[1]
local outcome = {}
for i = 2, #ARGV, 4 do
  local record = redis.call('HGET', KEYS[2], ARGV[i])
  if under_way and not record then
    record = ARGV[i + 1]
    redis.call('HSET', KEYS[2], ARGV[i], record)
    if ARGV[i + 2] ~= '' then redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 2]) end
    if ARGV[i + 3] ~= '' then redis.call('RPUSH', KEYS[4], ARGV[i + 3]) end
  end
  outcome[#outcome + 1] = record == ARGV[i + 1] and 1 or 0
end
return {under_way and 1 or 0, outcome}
"""
"""Sets records where there are none, if the layer is under way. KEYS: meta, records, visited, done. ARGV: depth, then
for each block its number, record, visited pointer or '', entry of the done-list or ''. Gives whether the layer is under
way, and for each block 1 where the record is now this one (it may be since the command was sent before), else 0."""


@dataclass(frozen=True, slots=True)
class BlockViews(LayerViews):
    """What was opened, by block: its shards, the bitmap for its fresh states, and that of all its states with the nonce
    of its blob (where ``exclude`` is "all")."""

    fresh_of: dict[int, Bitmap]
    visited_of: dict[int, tuple[Bitmap, str]]


class RedisStore(RunBlobs):
    """``StepStore`` of one run: opens and commits whole blocks. ``holder``: who commits, as the done-list tells it;
    None leaves the done-list alone. The coordinator's store (worker/run_store.py) begins layers and reads results.
    """

    def __init__(
        self,
        nodes: RedisNodes,
        run: str,
        facts: RunFacts,
        kernel: _kernel.Space,
        cache: BitmapCache,
        holder: str | None,
    ) -> None:
        super().__init__(nodes, run)
        self.kernel = kernel
        self.blocks = Blocks(kernel.shards, facts.per_block)
        self.holder = holder
        self.facts = facts
        self._cache = cache
        self._commit = nodes.main.register_script(COMMIT)
        self._sources: dict[int, list[int]] = {}

    @classmethod
    def attach(cls, nodes: RedisNodes, run: str, cache: BitmapCache, holder: str) -> RedisStore:
        """The store of a run that a coordinator has begun. Raises LateStepError when it has ended, VersionError when
        this process cannot work for it."""
        meta_key = RunBlobs(nodes, run).meta_key
        fields: dict[Any, Any] = nodes.call(lambda: nodes.main.hgetall(meta_key))
        facts = RunFacts.of({name.decode(): value.decode() for name, value in fields.items()}, run)
        _, kernel = facts.compile(run, len(nodes))
        return cls(nodes, run, facts, kernel, cache, holder)

    # StepStore

    def open(self, depth: int, shards: Sequence[int]) -> BlockViews:
        """See StepStore: whole blocks. Raises LateStepError when the layer is over, LostStateError when input is
        missing or damaged, UnavailableError."""
        if not shards:
            return BlockViews([], [], [], [], [], {}, {})
        look = self._look(depth, self.blocks.of(shards))
        frontier = self._bitmaps(depth, depth - 1, look.before)
        exclude: list[list[_kernel.Layer]] = []
        visited: dict[int, tuple[Bitmap, str]] = {}
        if self.facts.exclude == "all":
            visited = self._visited(depth, look)
            exclude.append([bitmap.layer for bitmap, _ in visited.values()])
        else:
            exclude.append(self._bitmaps(depth, depth - 2, look.two_before))
            if self.facts.exclude == "two":
                exclude.append(frontier)
        blocks = list(visited) if self.facts.exclude == "all" else look.blocks
        fresh = {block: Bitmap(self.kernel, self.blocks.shards(block)) for block in blocks}
        return BlockViews(
            shards=[shard for block in blocks for shard in self.blocks.shards(block)],
            frontier=frontier,
            fresh=[bitmap.layer for bitmap in fresh.values()],
            exclude=exclude,
            accumulate=exclude if visited else [],
            fresh_of=fresh,
            visited_of=visited,
        )

    def commit(self, depth: int, views: LayerViews, counts: Sequence[int]) -> None:
        """See StepStore. Raises LateStepError when the layer is over, UnavailableError, StorageError (Redis is
        full)."""
        assert isinstance(views, BlockViews), "these views are not this store's"
        states = {shard: count for shard, count in zip(views.shards, counts, strict=True) if count}
        blobs: dict[str, tuple[int, bytes]] = {}
        arguments: list[str] = [str(depth)]
        replaced: dict[int, str] = {}
        kept: dict[str, Bitmap] = {}
        for block, bitmap in views.fresh_of.items():
            here = {shard: states[shard] for shard in self.blocks.shards(block) if shard in states}
            record, pointer = Record.new(here), ""
            if here:
                name = self.blob_key(depth, block, record.nonce)
                blobs[name] = block, encode_blob(self.kernel, depth, block, sum(here.values()), bitmap)
                kept[name] = bitmap
                if block in views.visited_of:
                    visited, old = views.visited_of[block]
                    pointer = Pointer(depth, record.nonce).text(block)
                    blobs[self.visited_blob_key(block, record.nonce)] = (
                        block,
                        self.visited_blob(depth, block, visited),
                    )
                    if old:
                        replaced[block] = old
            arguments += [str(block), record.text(depth, block), pointer, self._entry(depth, block)]
        self.send(blobs)
        keys = [self.meta_key, self.records_key(depth), self.visited_key, self.done_key]
        under_way, outcome = self.nodes.call(lambda: self._commit(keys=keys, args=arguments))
        mine = {block for block, won in zip(views.fresh_of, outcome, strict=True) if won}
        self.discard([(name, block) for name, (block, _) in blobs.items() if block not in mine])
        if not under_way and len(mine) < len(views.fresh_of):
            raise LateStepError(f"layer {depth} of run {self.run} is over")
        self.discard([(name, block) for block, name in replaced.items() if block in mine])
        for name, bitmap in kept.items():
            if blobs[name][0] in mine:
                self._cache.put(name, bitmap)

    def _entry(self, depth: int, block: int) -> str:
        """What the done-list says of a commit."""
        return "" if self.holder is None else Report(depth, block, self.holder).text()

    # Reading

    def _look(self, depth: int, wanted: Sequence[int]) -> _Look:
        """Reads, at one moment, what is committed of what the step of the wanted blocks needs."""
        sources = sorted({source for block in wanted for source in self.sources_of(block)} | set(wanted))
        all_found = self.facts.exclude == "all"

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
            raise LateStepError(f"layer {depth} of run {self.run} is not under way")
        blocks = [block for block, done in zip(wanted, own, strict=True) if done is None]
        self._check_sealed(depth - 1, sealed, records)
        frontier = self._records(depth - 1, sources, before)
        if all_found:
            texts = dict(zip(wanted, two_before, strict=True))
            return _Look(blocks, frontier, {}, {block: texts[block] for block in blocks})
        if depth >= 2:
            self._check_sealed(depth - 2, sealed_before, others)
        return _Look(blocks, frontier, self._records(depth - 2, wanted, two_before), {})

    def _check_sealed(self, depth: int, sealed: bytes | None, records: int) -> None:
        expected = "an unknown number" if sealed is None else sealed.decode(errors="replace")
        if str(records) != expected:
            raise LostStateError(f"run {self.run}: layer {depth} has {records} records, expected {expected}")

    def _records(self, depth: int, blocks: Sequence[int], texts: Sequence[bytes | None]) -> dict[int, str]:
        """The nonces of the blobs of those blocks that have states; '' for the others."""
        return {
            block: "" if text is None else Record.of(text, depth, block).nonce
            for block, text in zip(blocks, texts, strict=True)
        }

    def sources_of(self, block: int) -> list[int]:
        """The blocks that moves lead from into a block."""
        if block not in self._sources:
            shards = {source for shard in self.blocks.shards(block) for source in self.kernel.sources(shard)}
            self._sources[block] = self.blocks.of(shards)
        return self._sources[block]

    def _bitmaps(self, step: int, depth: int, nonces: dict[int, str]) -> list[_kernel.Layer]:
        """The layers at ``depth`` of the blocks, for the step to depth ``step``."""
        names = {block: self.blob_key(depth, block, nonce) for block, nonce in nonces.items() if nonce}
        have: dict[int, Bitmap | None] = {block: self._cache.get(name) for block, name in names.items()}
        missing = [block for block, bitmap in have.items() if bitmap is None]
        blobs = self.fetch([(names[block], block) for block in missing])
        for block, blob in zip(missing, blobs, strict=True):
            read = Bitmap(self.kernel, self.blocks.shards(block))
            self._decode(step, depth, block, blob, [read])
            self._cache.put(names[block], read)
            have[block] = read
        return [
            self._empty.at(self.blocks.shards(block)) if (bitmap := have.get(block)) is None else bitmap.layer
            for block in nonces
        ]

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
            self._check_under_way(step)  # what a step that comes late needs may be gone
            raise LostStateError(f"run {self.run}: the blob of block {block} at depth {depth} is missing")
        decode_blob(self.kernel, depth, block, blob, bitmaps, kind)

    def _check_under_way(self, depth: int) -> None:
        now = self.nodes.call(lambda: self.nodes.main.hget(self.meta_key, "depth"))
        if now != str(depth).encode():
            raise LateStepError(f"layer {depth} of run {self.run} is over")

    # All states of a block, where moves are one-way

    def _visited(self, depth: int, look: _Look) -> dict[int, tuple[Bitmap, str]]:
        """For each block a bitmap of its own of all states found, and the name of the blob that it is from ('': there
        are none). Blocks that another has stepped meanwhile are left out: the blob to be read has been replaced."""
        visited = {}
        for block in look.blocks:
            bitmap, name = Bitmap(self.kernel, self.blocks.shards(block)), ""
            pointer = self._pointer(depth, block, look)
            if pointer.nonce:
                name = self.visited_blob_key(block, pointer.nonce)
                blob = self.fetch([(name, block)])[0]
                if blob is None and block not in self._look(depth, [block]).blocks:
                    continue
                self._decode(depth, pointer.depth, block, blob, [bitmap], VISITED)
            visited[block] = bitmap, name
        return visited

    def _pointer(self, depth: int, block: int, look: _Look) -> Pointer:
        """Where all found states of a block are, that are to be those before ``depth``."""
        text = look.visited[block]
        pointer = None if text is None else Pointer.of(text, block)
        least = depth - 1 if look.before[block] else 0
        if pointer is None or not least <= pointer.depth < depth:
            raise LostStateError(
                f"run {self.run}: what block {block} has visited before depth {depth} is lost"
            )
        return pointer

    def visited_blob(self, depth: int, block: int, bitmap: Bitmap) -> bytes:
        """The blob of all states of a block found up to a depth."""
        states = sum(_kernel.population(self.kernel, bitmap.layer))
        return encode_blob(self.kernel, depth, block, states, bitmap, VISITED)


@dataclass(frozen=True, slots=True)
class _Look:
    """What ``_look`` saw: the blocks still to be stepped; nonces of the blobs at depth d-1 of all blocks that moves
    lead from, and at d-2 of the blocks themselves; pointers to what was visited."""

    blocks: list[int]
    before: dict[int, str]
    two_before: dict[int, str]
    visited: dict[int, bytes | None]
