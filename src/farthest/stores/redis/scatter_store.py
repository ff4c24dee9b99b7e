"""The scatter store whose blobs are in Redis, for steps in any number of processes; its keys: stores/redis/attempts.py.

A block is one shard. Its fresh states at a depth are a sorted run (stores/redis/run_blobs.py). A step to depth d finds
what is for its shard in one of two ways, as the attempt's facts say, and leaves out what is not new
(``contract.Excluded``):

    few shards    it reads all runs of depth d-1, finds their successors, and keeps those of its shard. Nothing but
                  the layers themselves is sent
    outboxes      what the fresh states of a shard lead to is its *outbox* of that depth: a blob with a part for each
                  shard that any of them leads to, itself a run. A step unites the parts that are for its shard

All states found are several runs, which the shard's pointer names (``scattering.with_run``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from farthest import _kernel
from farthest.errors import LostStateError
from farthest.spaces.contract import ScatterSpace, scatter
from farthest.stores.blobs.blob import SENT, VISITED, damaged, longest_blob, seal, unseal
from farthest.stores.blobs.place import BlobName, BlobPart
from farthest.stores.blocks import Blocks
from farthest.stores.contract import excluded_layers
from farthest.stores.redis.attempt_stores import NOTHING, Access, AttemptSteps, Commit, StepRecords
from farthest.stores.redis.attempts import SPARSE
from farthest.stores.redis.records import Fold, FoundBlob, Part, Pointer, Record
from farthest.stores.redis.run_blobs import MANY, SENDER, least_bytes, most_bytes, run_in, with_least
from farthest.stores.redis.run_parts import RunAssembly
from farthest.stores.scattering import (
    ALL,
    LEAST_KEPT,
    NO_STATES,
    Candidates,
    SortedRun,
    least_of,
    with_run,
)

if TYPE_CHECKING:
    from farthest.stores.redis.assembly import Assembly, RecordsOf


@dataclass(slots=True)
class ShardStep:
    """The step of one shard. What it reads: what was sent to it, what is not new, its blobs of all states found. What
    comes out: its fresh states, what they lead to by shard, and where all are kept the run that takes the place of
    those of these blobs that do not ``stay``, the first ones."""

    incoming: list[SortedRun] = field(default_factory=list)
    exclude: list[SortedRun] = field(default_factory=list)
    visited: tuple[FoundBlob, ...] = ()
    fresh: SortedRun = NO_STATES
    outbox: dict[int, SortedRun] = field(default_factory=dict)
    united: SortedRun = NO_STATES
    stay: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """A part of the outbox of the shard ``by``: where it is."""

    by: int
    part: Part
    where: BlobPart


ROOM = 2**27
"""Bytes of successors before repeated ones are removed early."""

EXPANDING = 8
"""Without outboxes there are at most so many shards: each layer is expanded for each of them. For a cube that is as
much work as to sort, send and merge outboxes, and a twentieth of the bytes."""


@dataclass(frozen=True, slots=True)
class ScatterStepInput:
    """``StepInput`` of sorted runs: the step of each shard; without outboxes all runs of the layer ``before``."""

    store: ScatterStore
    depth: int
    steps: dict[int, ShardStep]
    before: list[SortedRun]

    @property
    def shards(self) -> list[int]:
        return list(self.steps)

    def run(self, threads: int = 1) -> list[int]:
        if not self.store.facts.outboxes:
            self.store.take_successors(self.depth, self.before, self.steps, threads)
        for shard, one in self.steps.items():
            if self.store.facts.outboxes:
                one.fresh = self.store.merged(self.depth, shard, one.incoming, one.exclude)
            if one.fresh.states:
                self.store.expand(self.depth, one, threads)
                self.store.remember(self.depth, shard, one)
        return [one.fresh.states for one in self.steps.values()]


class ScatterStore(AttemptSteps[ScatterStepInput]):
    """``StepStore`` of one attempt: opens and commits shards. The coordinator's store
    (stores/redis/scatter_attempt.py) begins layers and reads results."""

    def __init__(self, access: Access, space: ScatterSpace) -> None:
        super().__init__(access, Blocks(access.facts.shards, 1))
        self.space = space
        self._width = space.code_bytes
        # Of the layer before the one that was stepped last, after its depth: the records; for each shard what is for it
        # in the outboxes.
        self._sealed: tuple[int, dict[int, Record]] = -1, {}
        self._parts: tuple[int, dict[int, list[Sent]]] = -1, {}

    @classmethod
    def attach(cls, access: Access) -> Self:
        facts = access.facts
        space = scatter(facts.space(access.attempt, len(access.nodes)))
        facts.check(access.attempt, SPARSE if space.keys is None else space.keys, facts.shards)
        store = cls(access, space)
        store.look_for_mark()
        return store

    def sources_of(self, block: int) -> list[int]:
        """Its own layers before; of others it reads a part each."""
        return [block]

    # StepStore

    def open(self, depth: int, shards: Sequence[int]) -> ScatterStepInput:
        needed = self._read_records(depth, shards, shards)
        if self.facts.exclude == "all":
            steps = {
                shard: ShardStep(exclude=list(runs.values()), visited=needed.visited[shard].blobs)
                for shard, runs in self._visited(depth, needed, self._runs).items()
            }
        else:
            steps = {shard: ShardStep() for shard in needed.blocks}
            for earlier in excluded_layers(self.facts.exclude, depth):
                records = needed.before if earlier == depth - 1 else needed.two_before
                for shard, run in self._layer(depth, earlier, {shard: records[shard] for shard in steps}):
                    steps[shard].exclude.append(run)
        before: list[SortedRun] = []
        if steps and self.facts.outboxes:
            for shard, run in self._incoming(depth, needed, steps):
                steps[shard].incoming.append(run)
        elif steps:
            before = [
                run for _, run in self._layer(depth, depth - 1, self._layer_before(depth, needed.senders))
            ]
        return ScatterStepInput(self, depth, steps, before)

    def commit(self, depth: int, step_input: ScatterStepInput, counts: Sequence[int]) -> None:
        commits = {shard: self._outcome(depth, shard, one) for shard, one in step_input.steps.items()}
        for shard in self._commit_blocks(depth, commits):
            one, nonce = step_input.steps[shard], commits[shard].record.nonce
            if nonce and depth != self.facts.counted:
                self.cache.put(self.found_name(depth, shard, nonce), one.fresh)
                if one.united.states:
                    self.cache.put(self.visited_name(depth, shard, nonce), one.united)

    def _outcome(self, depth: int, shard: int, one: ShardStep) -> Commit:
        """What is to be stored of a step."""
        if not one.fresh.states:
            return Commit(NOTHING)
        sealed = {
            to: seal(SENT, depth, to, run.states, SENDER.pack(shard) + bytes(run.data))
            for to, run in one.outbox.items()
        }
        outbox = tuple(Part(to, one.outbox[to].states, len(blob)) for to, blob in sealed.items())
        commit = Commit(Record.new({shard: one.fresh.states}, outbox))
        nonce = commit.record.nonce
        stored = least_of(self._width, one.fresh) if depth == self.facts.counted else one.fresh
        commit.blobs[self.found_name(depth, shard, nonce)] = with_least(self._width, depth, shard, stored)
        if sealed:
            commit.blobs[self.outbox_name(depth, shard, nonce)] = b"".join(sealed.values())
        if one.united.states:
            longer = one.visited[: one.stay]
            commit.pointer = Pointer(depth, (*longer, FoundBlob(depth, nonce, one.united.states)))
            blob = seal(VISITED, depth, shard, one.united.states, one.united.data)
            commit.blobs[self.visited_name(depth, shard, nonce)] = blob
            gone = one.visited[one.stay :]
            commit.replaced += [self.visited_name(found.depth, shard, found.nonce) for found in gone]
        return commit

    # The step

    def merged(
        self, depth: int, shard: int, runs: Iterable[SortedRun], exclude: Iterable[SortedRun] = ()
    ) -> SortedRun:
        """The states of any of the runs that are in none of ``exclude``. Raises LostStateError where a run is
        damaged."""
        try:
            united = _kernel.merge_runs(
                self._width, [one.data for one in runs], [one.data for one in exclude]
            )
        except ValueError as error:
            raise damaged(depth, shard, error) from error
        return SortedRun(*united)

    def take_successors(
        self, depth: int, before: Sequence[SortedRun], steps: Mapping[int, ShardStep], threads: int
    ) -> None:
        """Finds the fresh states of steps among the successors of the layer ``before``: of a layer that is only counted
        the run of the least of them. Raises LostStateError where a run is damaged."""
        if not steps:
            return
        shards, boxes = sorted(steps), self.boxes()
        most = LEAST_KEPT if depth == self.facts.counted else ALL
        try:
            for first in range(0, len(before), threads):
                runs = [run.data for run in before[first : first + threads]]
                boxes.put(runs, threads, shards=(shards[0], shards[-1] + 1))
                self.poll()
            older = {shard: [run.data for run in one.exclude] for shard, one in steps.items()}
            for shard, fresh in boxes.take(shards, older.__getitem__, threads, most).items():
                steps[shard].fresh = fresh
        except ValueError as error:
            raise damaged(depth - 1, shards[0], error) from error

    def expand(self, depth: int, one: ShardStep, threads: int) -> None:
        """Fills the outbox of a step, where there are any; those of the last layer nobody will ask for."""
        if self.facts.outboxes and depth != self.facts.max_depth:
            boxes = self.boxes()
            boxes.put([one.fresh.data], threads, self.poll)
            one.outbox = boxes.take_all(threads)

    def boxes(self) -> Candidates:
        """Room for codes on their way to shards."""
        return Candidates(self.space, self.facts.shards, ROOM)

    def remember(self, depth: int, shard: int, one: ShardStep) -> None:
        """Adds the fresh states of a step to all states found, where these are kept."""
        if self.facts.exclude == "all" and depth != self.facts.counted:
            try:
                one.stay, one.united = with_run(self._width, one.exclude, one.fresh)
            except ValueError as error:
                raise damaged(depth, shard, error) from error

    # Reading

    def _layer(self, step: int, depth: int, records: dict[int, Record]) -> Iterator[tuple[int, SortedRun]]:
        """The runs at ``depth`` of those shards that have states."""
        wanted = {
            self.found_name(depth, shard, record.nonce): sum(record.states.values())
            for shard, record in records.items()
            if record.nonce
        }
        runs = self._runs(wanted)
        for name in wanted:
            if name not in runs:
                raise self.missing(step, depth, name.block)
            yield name.block, runs[name]

    def _runs(self, wanted: Mapping[BlobName, int]) -> dict[BlobName, SortedRun]:
        """``read``, but what the cache has; it has all then."""
        runs = {name: run for name in wanted if (run := self.cache.get(name, SortedRun)) is not None}
        read = self.read({name: states for name, states in wanted.items() if name not in runs})
        for name, run in read.items():
            self.cache.put(name, run)
        return runs | read

    def read(self, wanted: Mapping[BlobName, int]) -> dict[BlobName, SortedRun]:
        """The runs in those of the blobs that are there, which are to have so many states. Raises LostStateError for
        damaged ones."""
        blobs = self.fetch(list(wanted), self.longest_blob(max(wanted.values(), default=0)))
        return {
            name: run_in(blob, self._width, name, states)
            for (name, states), blob in zip(wanted.items(), blobs, strict=True)
            if blob is not None
        }

    def longest_blob(self, states: int) -> int:
        least = least_bytes(self._width) if states > MANY else 0
        return least + longest_blob(most_bytes(self._width, states))

    def assembly(self, fold: Fold, records: RecordsOf) -> Assembly:
        return RunAssembly(self, self.space, fold, records)

    def _incoming(
        self, depth: int, needed: StepRecords, shards: Iterable[int]
    ) -> Iterator[tuple[int, SortedRun]]:
        """What the outboxes of the layer before have for the shards."""
        of = self._sent_to(depth, needed.senders)
        wanted = [(shard, sent) for shard in shards for sent in of.get(shard, ())]
        blobs = self.fetch_parts([sent.where for _, sent in wanted])
        for (shard, sent), blob in zip(wanted, blobs, strict=True):
            if not blob:
                raise self.missing(depth, depth - 1, sent.by)
            most = SENDER.size + most_bytes(self._width, sent.part.codes)
            codes, data = unseal(SENT, depth - 1, shard, blob, most)
            if codes != sent.part.codes or bytes(data[: SENDER.size]) != SENDER.pack(sent.by):
                raise damaged(depth - 1, sent.by, f"its part for shard {shard} is another's")
            yield shard, SortedRun(codes, data[SENDER.size :])

    def _sent_to(self, step: int, records: int) -> dict[int, list[Sent]]:
        """What is for each shard in the outboxes that the step reads; the layer before has so many ``records``."""
        if self._parts[0] != step - 1:
            parts: dict[int, list[Sent]] = {}
            for by, record in self._layer_before(step, records).items():
                name, first = self.outbox_name(step - 1, by, record.nonce), 0
                for part in record.outbox:
                    sent = Sent(by, part, BlobPart(name, first, part.bytes))
                    parts.setdefault(part.to, []).append(sent)
                    first += part.bytes
            self._parts = step - 1, parts
        return self._parts[1]

    def _layer_before(self, step: int, records: int) -> dict[int, Record]:
        """The records of the layer before a step, of which there are to be so many; as it is sealed they stay as they
        are."""
        depth = step - 1
        if self._sealed[0] != depth:
            found = Record.all_of(self.nodes, self.records_key(depth), depth)
            if len(found) != records:
                self._check_under_way(step)
                raise LostStateError(
                    f"attempt {self.attempt}: layer {depth} has {len(found)} records, expected {records}"
                )
            self._sealed = depth, found
        return self._sealed[1]
