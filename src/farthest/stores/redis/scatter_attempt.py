"""The coordinator's side of an attempt in Redis by the scatter engine: begins it, restores it, reads its results.

All layers stay in the place of blobs until the end, as sorted runs of a byte or two per state: checkpoints are made
from them alone, by this process (``chunks``) or by workers (``parts``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from farthest import _kernel
from farthest.errors import LostStateError, StorageError
from farthest.models.chunks import CHUNK_KEYS, Chunk
from farthest.stores.blobs.blob import VISITED, seal
from farthest.stores.blobs.place import BlobName, BlobPart, BlobPlace
from farthest.stores.contract import ONLY_COUNTS, Base, JobStore, excluded
from farthest.stores.redis.assembly import chunks_of_part
from farthest.stores.redis.attempt_stores import Access, AttemptLayers
from farthest.stores.redis.attempts import NO_LIMIT, SPARSE, AttemptFacts
from farthest.stores.redis.places import RedisPlace
from farthest.stores.redis.records import NO_JOB, Fold, Record
from farthest.stores.redis.run_blobs import MANY, least_bytes, least_in
from farthest.stores.redis.run_parts import RANGES_PER_PART, states_of_part
from farthest.stores.redis.scatter_store import EXPANDING, ScatterStepInput, ScatterStore, ShardStep
from farthest.stores.scattering import (
    LEAST_KEPT,
    SortedRun,
    equal_ranges,
    expander_of,
    least_codes,
    map_of_runs,
    read_map,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.map_files.form import ResidueForm
    from farthest.spaces.contract import ScatterSpace
    from farthest.stores.redis.connections import RedisNodes


MOST_SHARDS = 256
"""Each step reads a part of each outbox: many more shards would be more parts than states."""

UNKNOWN_SHARDS = 64
"""Where nothing is known of the number of states, which are often far fewer than those that could be."""


READ_AT_ONCE = 16
"""Blobs that are in memory at a time."""


def shards_for(space: ScatterSpace, size: int) -> int:
    """So many shards that the codes of each have about ``size`` bytes, as far as the number of states is known."""
    published = [answer.states for answer in space.puzzle.known if answer.states is not None]
    states = max(published) if published else space.keys or space.puzzle.definition.arrangements()
    most = MOST_SHARDS if published or space.keys is not None else UNKNOWN_SHARDS
    return max(1, min(most, states * space.code_bytes // max(size, 1), space.keys or most))


class ScatterAttempt(AttemptLayers[ScatterStepInput], ScatterStore):
    """``ScatterStore`` of a coordinator; made by ``create``. ``distances``: keep all layers for the map, not only to
    count. ``residues``: the form of a residue map, whose layers are kept too."""

    @classmethod
    def create(
        cls,
        nodes: RedisNodes,
        attempt: str,
        space: ScatterSpace,
        shards: int,
        *,
        distances: bool,
        max_depth: int | None = None,
        counted: bool = False,
        outboxes: bool | None = None,
        residues: ResidueForm | None = None,
        place: BlobPlace | None = None,
    ) -> ScatterAttempt:
        """A new attempt at depth 0. ``max_depth``: states there need not be expanded, and if ``counted`` only their
        number is kept, and the least of them; ``outboxes``: whether shards send them, None where there are too
        many shards for anything else, or Python finds successors; ``place``: of its blobs, None: the nodes. Raises
        StorageError (UnavailableError where waiting may help)."""
        place = place or RedisPlace(nodes)
        if outboxes is None:
            outboxes = shards > EXPANDING or expander_of(space) is None
        facts = AttemptFacts.new(
            space,
            len(nodes),
            place,
            shard_classes=0,
            per_block=1,
            exclude=excluded(graded=space.graded, undirected=space.undirected),
            keys=SPARSE if space.keys is None else space.keys,
            shards=shards,
            max_depth=NO_LIMIT if max_depth is None else max_depth,
            counted=max_depth if counted and max_depth is not None else NO_LIMIT,
            outboxes=outboxes,
            part_chunks=chunks_of_part((space.keys or 0) // shards),
        )
        store = cls(Access.begun(nodes, attempt, facts, place), space)
        store._prepare(distances=distances, residues=residues)
        store._write_first(store._write_origins)
        return store

    def _write_origins(self) -> None:
        for shard, run in self.boxes().origins().items():
            one = ShardStep(fresh=run)
            self.expand(0, one, 1)
            self.remember(0, shard, one)
            self._write_block(0, shard, self._outcome(0, shard, one))
        self._start(0)

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        """Raises StorageError beyond the depth that the attempt is limited to."""
        if self.facts.max_depth != NO_LIMIT and depth > self.facts.max_depth:
            raise StorageError(
                f"layer {depth} lies beyond depth {self.facts.max_depth}, the last of this attempt"
            )
        before = self._complete(depth - 1).values()
        if not self.facts.outboxes:
            return list(range(self.shards)) if any(record.nonce for record in before) else []
        return sorted({part.to for record in before for part in record.outbox})

    def work(self, depth: int) -> int:
        """With outboxes what is found is expanded at once, and may be many times what it is found from."""
        before = super().work(depth)
        only = depth == self.facts.max_depth or not self.facts.outboxes
        return before if only else max(before, self.expected(depth))

    def expected(self, depth: int) -> int:
        """The states of a layer, if it grows as the one before did."""
        last = sum(self.counts(depth - 1).values())
        before = sum(self.counts(depth - 2).values()) if depth > 1 else 1
        return last * last // max(before, 1)

    def _retire(self, depth: int) -> None:
        """Outboxes are read by one layer alone, and leave Redis sooner."""
        super()._retire(depth)
        self._discard_outboxes(depth + 1)

    def _discard_outboxes(self, depth: int) -> None:
        records = self._layers.get(depth, {})
        self.removals.begin(
            [
                self.outbox_name(depth, shard, record.nonce)
                for shard, record in records.items()
                if record.outbox
            ]
        )
        for shard, record in records.items():
            records[shard] = Record(record.nonce, record.states)

    def give_up(self, depth: int) -> None:
        """Removes what was found of a layer for which there was no room, and the outboxes that it reads. Workers that
        still step it find that it is over."""
        if self._depth != depth:
            return  # it has not begun
        # No layer is under way any more. A full Redis takes no value for `depth`, and it does remove one.
        self.nodes.call(lambda: self.nodes.main.hdel(self.meta_key, "depth"))
        self._discard_outboxes(depth - 1)
        for shard, record in Record.all_of(self.nodes, self.records_key(depth), depth).items():
            self.discard(self._names(depth, shard, record))
        self.removals.settle()
        self.nodes.call(lambda: self.nodes.main.delete(self.records_key(depth)))
        self._depth = depth - 1

    # Results

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        wanted: list[tuple[int, int, Record]] = []
        least: dict[int, Buffer] = {}
        for shard, record in sorted(self._complete(depth).items()):
            if (
                record.nonce
                and record.states[shard] > MANY
                and limit <= LEAST_KEPT
                and depth != self.facts.counted
            ):
                name = self.found_name(depth, shard, record.nonce)
                (blob,) = self.fetch_parts([BlobPart(name, 0, least_bytes(self._width))])
                least[shard] = least_in(blob, self._width, name).data
            else:
                wanted.append((depth, shard, record))
        for _, shard, run in self._found(wanted):
            least[shard] = _kernel.run_of(self._width, _kernel.run_codes(self._width, run.data, limit))[1]
        return least_codes(self.space, least, limit)

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        """Raises LostStateError where layers are missing."""
        if not (self.keeps_distances or self.residues):
            raise StorageError(ONLY_COUNTS)

        def runs_of(shard: int) -> Iterator[tuple[int, Any]]:
            self.touch_if_room()
            return ((at, run.data) for at, _, run in self._found(self._layers_of(shard, depth)))

        return map_of_runs(self.space, self.shards, depth, runs_of, size, threads)

    def fold(self, depth: int, form: ResidueForm | None, job: int = NO_JOB, owner: str = "") -> Fold:
        """Of a sparse map with the bounds of its ranges of codes: those of the states of the largest shard."""
        fold = super().fold(depth, form, job, owner)
        if self.space.keys is not None:
            return fold
        shards: dict[int, int] = {}
        for layer in range(depth + 1):
            for shard, number in self.counts(layer).items():
                shards[shard] = shards.get(shard, 0) + number
        largest, states = max(shards, key=shards.__getitem__), sum(shards.values())
        ranges = -(-RANGES_PER_PART * states // states_of_part(self._width))
        runs = (run for _, _, run in self._found(self._layers_of(largest, depth)))
        bounds = memoryview(equal_ranges(self._width, runs, shards[largest], ranges)).hex()
        return msgspec.structs.replace(fold, states=states, bounds=bounds)

    def _layers_of(self, shard: int, depth: int) -> list[tuple[int, int, Record]]:
        """(depth, shard, record) of a shard at the depths up to ``depth``."""
        records = ((one, self._complete(one).get(shard)) for one in range(depth + 1))
        return [(one, shard, record) for one, record in records if record is not None]

    def _found(self, records: Iterable[tuple[int, int, Record]]) -> Iterator[tuple[int, int, SortedRun]]:
        """(depth, shard, run) of those (depth, shard, record) that have states. Raises LostStateError."""
        wanted: list[tuple[BlobName, int]] = []
        for depth, shard, record in records:
            if record.nonce:
                states = record.states[shard]
                counted = min(states, LEAST_KEPT) if depth == self.facts.counted else states
                wanted.append((self.found_name(depth, shard, record.nonce), counted))
        for start in range(0, len(wanted), READ_AT_ONCE):
            some = dict(wanted[start : start + READ_AT_ONCE])
            runs = self.read(some)
            for name in some:
                if name not in runs:
                    raise LostStateError(
                        f"attempt {self.attempt}: the blob of block {name.block} at depth {name.depth} is missing"
                    )
                yield name.depth, name.block, runs[name]

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        self._unwrite()
        found: dict[int, list[SortedRun]] = {}
        for at, runs in read_map(self.space, self.shards, depth, chunks, states):
            self._layers[at] = {}
            for shard, run in runs.items():
                one = ShardStep(fresh=run)
                if at == depth:
                    self.expand(depth, one, threads)
                self._write_block(at, shard, self._outcome(at, shard, one))
                if self.facts.exclude == "all":
                    found.setdefault(shard, []).append(run)
        for shard, some in found.items():
            run = self.merged(depth, shard, some)
            blob = seal(VISITED, depth, shard, run.states, run.data)
            self._write_visited(depth, shard, run.states, blob)
        self._start(depth)


OUTGROWN = 2
"""A shard has at most so many times the bytes that it should have."""
AHEAD = 4
"""So many times the shards that the states fill are made at once, or as many times as the last layer grows: going over
reads and writes all states found."""
LARGER = 16
"""Shards without outboxes have up to so many times the states of those with them."""
DEEP = 2**15
"""An attempt that keeps its layers only to go over to more shards does so at this depth at the latest: a map has a
limit."""


class GrowingAttempt(JobStore):
    """A scatter attempt whose number of shards grows with the states that it has found.

    How many states a space has is often not known before, and far fewer than there could be. Every step reads a part of
    the outbox of each shard that sends it any: a layer of a hundred states in 64 shards is a thousand parts of a state
    or two, and takes a hundred times as long as in one. So an attempt begins in one shard, and goes over to an attempt
    in more of them before its states outgrow these.

    ``of``: the job, as in the names of its attempts; ``make``: a new attempt with that many shards, which keeps all
    layers if told so; ``most``: shards, at the end; ``shard_states``: how many states fill one; ``distances``: keep all
    layers for the map, not only to count."""

    def __init__(
        self,
        of: str,
        make: Callable[[int, bool], ScatterAttempt],
        most: int,
        shard_states: int,
        *,
        distances: bool,
    ) -> None:
        self.of = of
        self._make = make
        self._most = most
        self._shard_states = shard_states
        self._distances = distances
        self.current = self._begin(1)
        self._found = sum(self.current.counts(0).values())
        self._counted = 0  # depth

    def _begin(self, shards: int) -> ScatterAttempt:
        # What goes over to more shards is read from all layers.
        return self._make(shards, self._distances or shards < self._most)

    def _fitting(self, states: int, ahead: int = AHEAD) -> int:
        """The number of shards for an attempt that has so many states; ``ahead``: times those that they fill."""
        if states <= OUTGROWN * self._shard_states * self.current.shards:
            return self.current.shards
        if expander_of(self.current.space) is not None and states <= EXPANDING * LARGER * self._shard_states:
            return min(self._most, EXPANDING, OUTGROWN * states // self._shard_states)
        return min(self._most, ahead * states // self._shard_states)

    # ShardStore

    @property
    def shards(self) -> int:
        return self.current.shards

    def reachable(self, depth: int) -> Sequence[int]:
        """Before, the attempt goes over to more shards where its own will not do for the layer, if that
        grows as the one before did."""
        if depth - 1 > self._counted:
            self._counted = depth - 1
            self._found += sum(self.current.counts(depth - 1).values())
            self._grow(depth - 1)
        return self.current.reachable(depth)

    def _grow(self, depth: int) -> None:
        if depth + 1 == self.current.facts.max_depth:
            return  # what is found there is sent to no shard
        expected = self.current.expected(depth + 1)
        growth = expected // sum(self.current.counts(depth).values()) if expected else 1
        shards = self._fitting(self._found + expected, max(AHEAD, growth))
        if not self._distances and depth >= DEEP:
            shards = self._most
        if shards == self.current.shards:
            return
        larger = self._begin(shards)
        try:
            larger.restore(depth, self.current.chunks(depth, CHUNK_KEYS), self._found)
        except BaseException:
            larger.drop()
            raise
        self.current.drop()
        self.current = larger

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        return self.current.begin(depth, shards)

    def counts(self, depth: int) -> dict[int, int]:
        return self.current.counts(depth)

    # StepStore

    def open(self, depth: int, shards: Sequence[int]) -> Any:
        return self.current.open(depth, shards)

    def commit(self, depth: int, step_input: Any, counts: Sequence[int]) -> None:
        self.current.commit(depth, step_input, counts)

    # JobStore

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        return self.current.keys(depth, limit)

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        return self.current.chunks(depth, size, threads)

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        shards = self._fitting(states)
        if shards != self.current.shards:
            self.current.drop()
            self.current = self._begin(shards)
        self.current.restore(depth, chunks, states, threads)
        self._found, self._counted = states, depth

    def stored(self, depth: int, base: Base) -> None:
        self.current.stored(depth, base)

    def give_up(self, depth: int) -> None:
        """Removes what was found of a layer for which there was no room."""
        self.current.give_up(depth)

    def drop(self) -> None:
        self.current.drop()
