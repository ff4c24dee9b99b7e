"""The gather store whose records are in Redis, for steps in any number of processes; stores/redis/attempts.py lists its
keys.

What is new in a block depends on the graph (kernel/include/farthest/step.hpp):

    exclude "none"    graded (all paths to a state are equally long): everything is new
    exclude "before"  bipartite, undirected, origins of one colour: not in the block's layer d-2
    exclude "two"     undirected: not in its layers d-1 and d-2
    exclude "all"     any: not among all its states found, a blob of their own that each step with fresh states replaces
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from farthest import _kernel
from farthest.spaces.contract import gather
from farthest.stores.bitmaps import Bitmap
from farthest.stores.blobs.blob import FOUND, VISITED, decode_blob, encode_blob, longest_block_blob
from farthest.stores.blocks import Blocks
from farthest.stores.contract import BitmapStepInput
from farthest.stores.redis.attempt_steps import AttemptSteps, Commit, StepRecords
from farthest.stores.redis.attempts import AttemptFacts, unbelieved
from farthest.stores.redis.coded_steps import LEAST_SHARD, CodedStepInput, CodedSteps
from farthest.stores.redis.records import FoundBlob, Pointer, Record

if TYPE_CHECKING:
    from farthest.stores.blobs.cache import BlobCache
    from farthest.stores.blobs.place import BlobName, BlobPlace
    from farthest.stores.redis.connections import RedisNodes
    from farthest.stores.redis.shard_blobs import BlockBlob


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
