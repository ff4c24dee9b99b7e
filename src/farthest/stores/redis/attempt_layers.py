"""What the coordinator's stores of both engines have in common: beginning layers, counting them, the end.

The place of blobs keeps the layers that steps read: those at depths d-1 and d-2 for a step to depth d. Where
distances are kept, it has older ones too, until a checkpoint has them; those that a residue map is made of stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from farthest.errors import LateStepError, LostStateError, RedisFullError, StorageError
from farthest.stores.blobs.place import BlobName
from farthest.stores.distances import check_depth
from farthest.stores.redis import attempts
from farthest.stores.redis.attempt_steps import AttemptSteps, Opened
from farthest.stores.redis.records import Pointer, Record, numbers

if TYPE_CHECKING:
    from farthest.map_files.form import ResidueForm


# --- Blobs that nobody reads any more, on their way out of their place while workers step.

REMOVED_AT_ONCE = 1000


class Removals:
    """What a thread of its own removes for an attempt; what fails there is raised by the next call."""

    def __init__(self, store: AttemptSteps[Any]) -> None:
        self._store = store
        self._remover = ThreadPoolExecutor(1, "farthest-removal")
        self._begun: list[Future[None]] = []

    def layer(self, depth: int, names: Sequence[BlobName]) -> None:
        """Begins to remove the blobs and the records of a layer."""
        self._submit(partial(self._remove, names, self._store.records_key(depth)))

    def blobs(self, names: Sequence[BlobName]) -> None:
        """Begins to remove blobs."""
        self._submit(partial(self._remove, names, None))

    def _submit(self, action: Callable[[], None]) -> None:
        while self._begun and self._begun[0].done():
            self._begun.pop(0).result()
        self._begun.append(self._remover.submit(action))

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
        with self._store.nodes.hurried():
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
    """A coordinator's store; a class that derives from it is a worker's store too. ``_prepare`` is to be called
    first."""

    _depth = 0

    def _prepare(self, *, distances: bool, residues: ResidueForm | None = None) -> None:
        self.keeps_distances = distances
        self._residues = residues
        self.removals = Removals(self)
        self._begin = self.nodes.main.register_script(BEGIN)
        self._begun: dict[int, list[int]] = {}  # by depth, the blocks of the layer
        # By depth, complete layers that are in the place: those that results are made from, and three.
        self._layers: dict[int, dict[int, Record]] = {}
        self._pointers: dict[int, Pointer] = {}  # as the attempt began
        self._stored_depth = -1  # results are made without the layers up to it

    def _start(self, depth: int) -> None:
        """Writes the attempt's facts and the records of the layers ``depth`` and before, which it has the blobs of."""
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

    def late(self, depth: int, error: LateStepError) -> StorageError:
        """A layer that should be under way and is not has been lost."""
        return LostStateError(str(error)) if depth == self._depth else error

    def counts(self, depth: int) -> dict[int, int]:
        """Raises LostStateError when the layer is not complete."""
        states: dict[int, int] = {}
        for record in self._complete(depth).values():
            states.update(record.states)
        return states

    def work(self, depth: int) -> int:
        """How many states the steps to a depth work on, about."""
        return sum(self.counts(depth - 1).values())

    def _complete(self, depth: int) -> dict[int, Record]:
        """The records of a complete layer, by block."""
        if depth not in self._layers:
            if depth != self._depth:
                raise StorageError(f"layer {depth} is not known; layer {self._depth} is under way")
            texts: Any = self.nodes.call(lambda: self.nodes.main.hgetall(self.records_key(depth)))
            found = numbers(texts, self.records_key(depth))
            if sorted(found) != self._begun[depth]:
                raise LostStateError(
                    f"attempt {self.attempt}: layer {depth} has {len(texts)} of {len(self._begun[depth])} blocks"
                )
            stored = zip(found, texts.values(), strict=True)
            records = {block: Record.of(text, depth, block) for block, text in stored}
            if (self.keeps_distances or self._residues) and any(record.states for record in records.values()):
                check_depth(depth)
            self._layers[depth] = records
        return self._layers[depth]

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
        of_residues = self._residues is not None and self._residues.number(depth) != 0
        if depth in self._layers and not of_distances and not of_residues:
            self._remove(depth)

    def _remove(self, depth: int) -> None:
        names = [
            self.found_name(depth, block, record.nonce)
            for block, record in self._layers.pop(depth).items()
            if record.nonce
        ]
        self.removals.layer(depth, names)

    def unfolded(self) -> tuple[int, int]:
        """How many states the layers in the place have that only results are made from, and how many the others."""
        sizes = {
            depth: sum(sum(record.states.values()) for record in records.values())
            for depth, records in self._layers.items()
        }
        older = sum(states for depth, states in sizes.items() if depth < self._depth - 2)
        return older, sum(sizes.values()) - older

    def drop(self) -> None:
        """Removes everything of the attempt from Redis and from the place of its blobs."""
        self.removals.close()
        with suppress(StorageError), self.nodes.errors():  # what is left, the next coordinator removes
            attempts.drop(self.nodes, self.attempt, self.place)
