"""The backend whose steps, and maps, are made by workers on any number of machines.

A message is sent for each block of a layer, or part of a map; workers report commits on the attempt's done-list
(coordinator/outstanding.py). Only the records of committed items count: the work is complete when all of its items have
one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.coordinator.enumeration.backends import Backend, Poll, Progress
from farthest.coordinator.enumeration.cluster_model import SMALL_LAYER_BLOCKS, STEPPED_AT_ONCE
from farthest.coordinator.outstanding import Outstanding, Publisher, RollCall
from farthest.environment import BLOCK_SIZE, LEASE_SECONDS, SMALL_LAYER_STATES
from farthest.errors import NoRoomError
from farthest.spaces.contract import gather, scatter
from farthest.stores.contract import ShardStore, step
from farthest.stores.memory.gather_store import gathered_form
from farthest.stores.redis import attempts
from farthest.stores.redis.attempt_layers import AttemptLayers
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.cutting import GROWTH, MOST_BLOCKS
from farthest.stores.redis.gather_attempt import GatherAttempt, PlaceRoom
from farthest.stores.redis.records import NO_BASE, NO_JOB
from farthest.stores.redis.scatter_attempt import GrowingAttempt, ScatterAttempt, shards_for
from farthest.wording import bytes_text
from farthest.worker.app import PART_TASK, TASK
from farthest.worker.enumeration.choice import offer

if TYPE_CHECKING:
    from farthest.coordinator.enumeration.executors import Executor
    from farthest.coordinator.enumeration.plan import Plan, Servers
    from farthest.coordinator.enumeration.record import JobRecorder
    from farthest.stores.blocks import Cut
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.redis.map_parts import AttemptParts
    from farthest.stores.redis.records import WorkKind

NAMES = {
    "step": ("the step of block", "layer {}: blocks"),
    "part": ("the map part", "the map up to depth {}: parts"),
}

CHUNK_SHARE = 0.5
"""Bytes of a key in payloads on their way, at most: 0.39 to 0.46 were measured."""


@dataclass(frozen=True, slots=True)
class LayerProgress:
    """The layer, or the map, under way. ``resent``: messages that were sent again. ``note``: for the user, once, else
    ''."""

    depth: int
    blocks: int
    done: int
    workers: int
    resent: int
    note: str = ""


class SentWork:
    """``Work`` of one depth: the blocks of a layer, or the parts of a map. ``committed`` gives the items that have
    records; ``provide``: see Outstanding."""

    def __init__(
        self,
        store: AttemptLayers[Any],
        kind: WorkKind,
        depth: int,
        items: Sequence[int],
        committed: Callable[[], Collection[int]],
        publisher: Publisher,
        lease_seconds: float,
        provide: Callable[[int], None] = lambda item: None,
    ) -> None:
        self.nodes = store.nodes
        self.attempt = store.attempt
        self.kind = kind
        self._store = store
        self._depth = depth
        self._items = items
        self._committed = committed
        # Where workers lose their steps because the place of blobs is away, this one waits for it, too.
        self.outstanding = Outstanding(
            self, depth, publisher, lease_seconds, lambda items: store.look_for_mark(), provide
        )

    @property
    def done_key(self) -> str:
        """The list on which workers report what they have done."""
        return self._store.done_key

    def finished(self, depth: int) -> Collection[int]:
        """The items that have records."""
        return self._committed()

    def name(self, depth: int, item: int) -> str:
        """The name of an item in messages for users."""
        return f"{NAMES[self.kind][0]} {item} at depth {depth}"

    def named(self, depth: int, items: Iterable[int]) -> str:
        """The name of the depth and of items in messages for users."""
        return f"{NAMES[self.kind][1].format(depth)} {list(items)}"

    def done_by_workers(
        self,
        roll_call: RollCall,
        poll: Poll,
        watch: Callable[[LayerProgress], None],
        *,
        resent: int = 0,
        alone: bool = True,
    ) -> bool:
        """Sends what is not committed, and waits until all is. ``resent``: messages sent again before. ``alone``:
        whether to wait while no worker is alive; else False then."""
        missing = self._missing()
        if missing:
            offer(self.nodes, self.attempt, self._depth, missing, self.kind)
        self.outstanding.send(missing)
        while not self._complete():
            poll()
            roll = roll_call.look()
            if roll is not None:
                self.outstanding.alive = roll.workers > 0
                if roll.told and not (roll.workers or alone):
                    return False
                if roll.told:
                    again = resent + self.outstanding.resent
                    done = len(self._items) - len(self.outstanding)
                    watch(LayerProgress(self._depth, len(self._items), done, roll.workers, again, roll.note))
            self.outstanding.wait()
        return True

    def _complete(self) -> bool:
        if self.outstanding:
            return False
        # A reported record may be lost, where Redis came back with older data.
        self.outstanding.expect(self._missing())
        return not self.outstanding

    def _missing(self) -> list[int]:
        committed = self._committed()
        return [item for item in self._items if item not in committed]


class CeleryExecutor:
    """``Executor`` for the stores of coordinators. Layers whose steps work on at most ``small_states`` states, of at
    most SMALL_LAYER_BLOCKS blocks, are stepped here, by threads.

    ``watch`` is called every two seconds with the progress of a layer that workers step. ``should_stop`` is called
    about once a second and may raise an exception: what workers still do then has no effect. ``nodes`` says how long to
    wait for Redis.
    """

    def __init__(
        self,
        nodes: RedisNodes,
        *,
        threads: int = 1,
        small_states: int | None = None,
        lease_seconds: float | None = None,
        watch: Callable[[LayerProgress], None] = lambda progress: None,
        should_stop: Poll = lambda: None,
    ) -> None:
        self._threads = threads
        self._small_states = int(SMALL_LAYER_STATES.number()) if small_states is None else small_states
        self._lease_seconds = lease_seconds or LEASE_SECONDS.number()
        self._watch = watch
        self._should_stop = should_stop
        self._publisher = Publisher(nodes, TASK)
        self._roll_call = RollCall(nodes)
        self._resent = 0

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """Raises LostStateError when Redis has lost the attempt, UnavailableError when it stays away, JobError when the
        workers cannot do it."""
        if isinstance(store, GrowingAttempt):
            store = store.current
        if not isinstance(store, AttemptLayers):
            raise TypeError(f"expected a store of an attempt in Redis, not {type(store).__name__}")
        if not shards:
            return
        blocks = store.blocks.of(shards)
        if store.work(depth) <= self._small_states and len(blocks) <= SMALL_LAYER_BLOCKS:
            self._run_here(store, depth, blocks)
            return
        layer = SentWork(
            store, "step", depth, blocks, lambda: store.committed(depth), self._publisher, self._lease_seconds
        )
        self._roll_call.soon()
        layer.done_by_workers(self._roll_call, self._should_stop, self._watch, resent=self._resent)
        self._resent += layer.outstanding.resent

    def _run_here(self, store: AttemptLayers[Any], depth: int, blocks: Sequence[int]) -> None:
        store.poll = self._should_stop
        for start in range(0, len(blocks), STEPPED_AT_ONCE):
            self._should_stop()
            part = blocks[start : start + STEPPED_AT_ONCE]
            step(store, depth, [shard for one in part for shard in store.blocks.shards(one)], self._threads)

    def close(self) -> None:
        """Ends the connection to the broker."""
        self._publisher.close()


class CeleryBackend(Backend):
    """Bitmaps or sorted runs in Redis, or where FARTHEST_BLOBS says, stepped by Celery workers."""

    def __init__(self, plan: Plan, servers: Servers, notice: Callable[[str], None]) -> None:
        super().__init__(plan)
        self._nodes = servers.nodes
        self._place = servers.blobs
        self._notice = notice
        self._room = PlaceRoom(servers.nodes, servers.blobs)
        self._growing: GrowingAttempt | None = None

    def store(self, name: str) -> JobStore:
        """What earlier attempts have left in Redis, and in the place of blobs, is removed."""
        space, settings = self.plan.space, self.plan.settings
        self._nodes.call(lambda: attempts.drop_dead(self._nodes, name, self._place))
        if space.engine == "scatter":
            self._growing = self._grows(name, BLOCK_SIZE.size())
            return self._growing
        assert self.plan.cut is not None, "the plan asks servers"
        self._tell_of_larger_blocks(self.plan.cut)
        return GatherAttempt.create(
            self._nodes,
            attempts.new_attempt(name),
            gather(space),
            self.plan.cut,
            distances=settings.keeps_distances,
            residues=gathered_form(gather(space), settings.max_depth) if settings.residues else None,
            place=self._place,
        )

    def _tell_of_larger_blocks(self, made: Cut) -> None:
        """Where a size was asked for, and a layer would have too many blocks of it."""
        size = made.kernel.words_per_shard * 8 * made.per_block
        asked = BLOCK_SIZE.text() != BLOCK_SIZE.default
        if asked and made.per_block > 1 and size > GROWTH * BLOCK_SIZE.size():
            self._notice(
                f"puzzle {self.plan.space.puzzle.name}: blocks of {bytes_text(size)} are stepped, not of "
                f"{BLOCK_SIZE.text()}: a layer would have more than {MOST_BLOCKS:,} of those ({BLOCK_SIZE.name})"
            )

    def _grows(self, name: str, block: int) -> GrowingAttempt:
        space, settings = scatter(self.plan.space), self.plan.settings

        def make(shards: int, distances: bool) -> ScatterAttempt:
            return ScatterAttempt.create(
                self._nodes,
                attempts.new_attempt(name),
                space,
                shards,
                distances=distances,
                max_depth=settings.max_depth,
                counted=settings.histogram_only,
                place=self._place,
            )

        return GrowingAttempt(
            name,
            make,
            shards_for(space, block),
            max(1, block // space.code_bytes),
            distances=not settings.histogram_only,
        )

    def executor(self, progress: Progress, should_stop: Poll, still_ours: Poll) -> Executor:
        return CeleryExecutor(
            self._nodes, threads=self.plan.threads, watch=self._watch(progress), should_stop=should_stop
        )

    def _watch(self, progress: Progress) -> Callable[[LayerProgress], None]:
        def watch(layer: LayerProgress) -> None:
            if layer.note:
                self._notice(layer.note)
            progress(
                {
                    "blocks": layer.blocks,
                    "blocks_done": layer.done,
                    "workers": layer.workers,
                    "resent": layer.resent,
                }
            )

        return watch

    def short_of_room(self, store: JobStore) -> bool:
        return self._room.is_short(store)

    def give_up(self, depth: int) -> bool:
        """Of sorted runs, where no other job takes room."""
        growing = self._growing
        if growing is None or self._nodes.call(lambda: attempts.others(self._nodes, growing.of)):
            return False
        growing.give_up(depth)
        return True

    def while_waiting(self, action: Poll) -> None:
        self._nodes.while_waiting = action

    def restarted(self) -> bool:
        return self._nodes.restarted()

    # The map

    def make_map(
        self,
        store: JobStore,
        depth: int,
        states: int,
        recorder: JobRecorder,
        progress: Progress,
        still_ours: Poll,
    ) -> MadeMap | None:
        """Part by part, while the coordinator waits and handles records alone. On a server, workers that see the
        database store the map there. None where it is small, its space is given by its successors, no worker is alive,
        or there is no room for it on its way. Raises as ``CeleryExecutor.run_layer``."""
        if not isinstance(store, GatherAttempt) or store.kernel.keys <= SMALL_LAYER_STATES.number():
            return None
        job = recorder.job if recorder.database.is_server else NO_JOB
        parts = store.parts(depth, job, recorder.owner)
        needed = int(store.kernel.keys * CHUNK_SHARE) * (1 if parts.fold.base == NO_BASE else 2)
        if parts.fold.planes:
            needed = store.kernel.words * 8 * parts.fold.planes
        room = self._room.free() if job == NO_JOB else None
        if room is not None and needed > room:
            return None
        publisher = Publisher(self._nodes, PART_TASK)
        try:
            if self._made(store, parts, publisher, self._watch(progress), still_ours):
                return parts.made(states)
        except NoRoomError:
            pass
        finally:
            publisher.close()
        parts.end()
        return None

    def _made(
        self,
        store: GatherAttempt,
        parts: AttemptParts,
        publisher: Publisher,
        watch: Callable[[LayerProgress], None],
        poll: Poll,
    ) -> bool:
        parts.begin()
        if parts.fold.job == NO_JOB:
            for part in parts.parts:
                parts.give_base(part)
        work = SentWork(
            store,
            "part",
            parts.fold.depth,
            parts.parts,
            parts.committed,
            publisher,
            LEASE_SECONDS.number(),
            parts.give_base,
        )
        return work.done_by_workers(RollCall(self._nodes), poll, watch, alone=False)
