"""Steps of blocks whose layers stay coded: only the shards that are pulled from are decoded, into slots.

A shard is stepped when its sources are in slots, where they stay for the next steps of this process as long as there is
room. What is excluded is read as it is stored, and decoded piece by piece within the step; what is fresh comes out
coded. So a step needs memory for the slots, and for what is read and written of its blocks, coded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest.errors import LateStepError, LostStateError
from farthest.stores.blobs.blob import join_shards, read_table
from farthest.stores.redis.shard_blobs import BlockBlob, ShardReader, Wanted
from farthest.stores.redis.slots import EMPTY, ShardName, Slots

if TYPE_CHECKING:
    from farthest import _kernel
    from farthest.stores.redis.attempt_steps import AttemptSteps, StepRecords
    from farthest.stores.redis.records import Record

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
