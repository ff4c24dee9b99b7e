"""The backend whose steps, and maps, are made by workers on any number of machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from farthest.coordinator.enumeration.backends import Backend, Poll, Progress
from farthest.coordinator.enumeration.executors import Executor
from farthest.coordinator.enumeration.workers_model import SMALL_LAYER_BLOCKS
from farthest.coordinator.workers import Servers, Workers, WorkProgress
from farthest.environment import BLOCK_SIZE, SMALL_LAYER_STATES
from farthest.errors import NoRoomError
from farthest.spaces.contract import gather, scatter
from farthest.stores.blocks import GROWTH, MOST_BLOCKS, Cut
from farthest.stores.contract import JobStore, MadeMap, ShardStore, step
from farthest.stores.redis import attempts
from farthest.stores.redis.attempt_stores import AttemptLayers
from farthest.stores.redis.attempts import SPARSE
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.map_parts import AttemptParts
from farthest.stores.redis.records import NO_BASE, NO_JOB
from farthest.stores.redis.scatter_attempt import GrowingAttempt, ScatterAttempt, shards_for
from farthest.wording import bytes_text
from farthest.worker.enumeration import CutWork, PartWork, StepWork

if TYPE_CHECKING:
    from farthest.coordinator.enumeration.plan import Plan
    from farthest.coordinator.enumeration.record import JobRecorder

STEPPED_AT_ONCE = 16
"""Blocks that the coordinator itself steps at a time, with their input in memory."""

CHUNK_SHARE = 0.5
"""Bytes of a key in payloads on their way, at most: 0.39 to 0.46 were measured."""

PIECE_BYTES, SPARSE_BYTES = 4.0, 5.0
"""Bytes of a state of a sparse map on its way, about: in the pieces of shards, and in payloads."""


class CeleryExecutor(Executor):
    """Steps the stores of coordinators. Layers whose steps work on at most FARTHEST_SMALL_LAYER_STATES
    states, of at most SMALL_LAYER_BLOCKS blocks, are stepped here, by threads.

    ``watch`` is called every two seconds with the progress of a layer that workers step. ``should_stop`` is called
    about once a second and may raise an exception: what workers still do then has no effect. ``nodes`` says how long to
    wait for Redis.
    """

    def __init__(
        self,
        nodes: RedisNodes,
        *,
        threads: int = 1,
        watch: Callable[[WorkProgress], None] = lambda progress: None,
        should_stop: Poll = lambda: None,
    ) -> None:
        self._threads = threads
        self._small_states = SMALL_LAYER_STATES.number()
        self._watch = watch
        self._should_stop = should_stop
        self._workers = Workers(nodes)

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """Raises LostStateError when Redis has lost the attempt, UnavailableError when it stays away, JobError when the
        workers cannot do it."""
        attempt = _attempt_of(store)
        if not shards:
            return
        blocks = attempt.blocks.of(shards)
        if attempt.work(depth) <= self._small_states and len(blocks) <= SMALL_LAYER_BLOCKS:
            self._run_here(attempt, depth, blocks)
            return
        self._workers.do(
            StepWork(attempt.nodes, attempt.attempt),
            depth,
            blocks,
            poll=self._should_stop,
            watch=self._watch,
            # Where workers lose their steps because the place of blobs is away, this one waits for it, too.
            renew=lambda items: attempt.look_for_mark(),
        )

    def _run_here(self, store: AttemptLayers[Any], depth: int, blocks: Sequence[int]) -> None:
        store.poll = self._should_stop
        for start in range(0, len(blocks), STEPPED_AT_ONCE):
            self._should_stop()
            part = blocks[start : start + STEPPED_AT_ONCE]
            step(store, depth, [shard for one in part for shard in store.blocks.shards(one)], self._threads)

    def close(self) -> None:
        """Ends the connection to the broker."""
        self._workers.close()


def _attempt_of(store: ShardStore) -> AttemptLayers[Any]:
    """The attempt that a store is now."""
    if isinstance(store, GrowingAttempt):
        return store.current
    if not isinstance(store, AttemptLayers):
        raise TypeError(f"expected a store of an attempt in Redis, not {type(store).__name__}")
    return store


class CeleryBackend(Backend):
    """Bitmaps or sorted runs in Redis, or where FARTHEST_BLOBS says, stepped by Celery workers."""

    def __init__(self, plan: Plan, servers: Servers, notice: Callable[[str], None]) -> None:
        super().__init__(plan)
        self._nodes = servers.nodes
        self._place = servers.blobs
        self._notice = notice
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
            distances=settings.stores_distances,
            residues=self.plan.form,
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
                residues=self.plan.form,
                place=self._place,
            )

        return GrowingAttempt(
            name,
            make,
            shards_for(space, block),
            max(1, block // space.code_bytes),
            distances=settings.stores_distances,
        )

    def executor(self, progress: Progress, should_stop: Poll, still_ours: Poll) -> Executor:
        return CeleryExecutor(
            self._nodes, threads=self.plan.threads, watch=self._watch(progress), should_stop=should_stop
        )

    def _watch(self, progress: Progress) -> Callable[[WorkProgress], None]:
        def watch(layer: WorkProgress) -> None:
            if layer.note:
                self._notice(layer.note)
            progress(
                {
                    "blocks": layer.items,
                    "blocks_done": layer.done,
                    "workers": layer.workers,
                    "resent": layer.resent,
                    **layer.queued.progress(),
                }
            )

        return watch

    def short_of_room(self, store: JobStore) -> bool:
        return isinstance(store, GatherAttempt) and store.is_short_of_room()

    def give_up(self, depth: int) -> bool:
        """Forgets a layer of sorted runs, where no other job takes room."""
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
        database store the map there. None where it is small, no worker is alive, or there is no room for it on its
        way. Raises as ``CeleryExecutor.run_layer``."""
        attempt = _attempt_of(store)
        sparse = attempt.facts.keys == SPARSE
        if (states if sparse else attempt.facts.keys) <= SMALL_LAYER_STATES.number():
            return None
        job = recorder.job if recorder.database.is_server else NO_JOB
        parts = AttemptParts.of(attempt, depth, job, recorder.owner)
        items, in_place = parts.cut.items, parts.fold.job == NO_JOB
        if parts.fold.planes:
            needed = 8 * items
        elif sparse:
            needed = int(items * (PIECE_BYTES + in_place * SPARSE_BYTES))
        else:
            needed = in_place * int(items * CHUNK_SHARE) * (1 if parts.fold.base == NO_BASE else 2)
        room = self._nodes.call(self._place.free) if needed else None
        if room is not None and needed > room:
            return None
        workers = Workers(self._nodes)
        try:
            if self._made(attempt, parts, workers, self._watch(progress), still_ours):
                return parts.made(states)
        except NoRoomError:
            pass
        finally:
            workers.close()
        parts.end()
        return None

    def _made(
        self,
        store: AttemptLayers[Any],
        parts: AttemptParts,
        workers: Workers,
        watch: Callable[[WorkProgress], None],
        poll: Poll,
    ) -> bool:
        parts.begin()
        if parts.fold.job == NO_JOB:
            for part in parts.parts:
                parts.give_base(part)
        works: list[tuple[type[PartWork], range]] = [(PartWork, parts.parts)]
        if parts.shards:
            works.insert(0, (CutWork, parts.shards))
        return all(
            workers.do(
                kind(self._nodes, store.attempt),
                parts.fold.depth,
                items,
                poll=poll,
                watch=watch,
                renew=lambda items: store.look_for_mark(),
                provide=parts.give_base,
                wait_for_workers=False,
            )
            for kind, items in works
        )
