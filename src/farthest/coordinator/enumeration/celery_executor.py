"""Steps, and parts of maps, in Celery workers, on any hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from farthest.coordinator.outstanding import Workers, WorkProgress
from farthest.environment import SMALL_LAYER_STATES
from farthest.errors import NoRoomError
from farthest.stores.contract import ShardStore, step
from farthest.stores.redis.attempt_layers import AttemptLayers
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.records import NO_BASE, NO_JOB
from farthest.stores.redis.scatter_attempt import GrowingAttempt
from farthest.worker.enumeration.tasks import PartWork, StepWork

if TYPE_CHECKING:
    from farthest.stores.contract import JobStore
    from farthest.stores.redis.map_parts import AttemptParts, MadeParts

CHUNK_SHARE = 0.5
"""Bytes of a key in payloads on their way, at most: 0.39 to 0.46 were measured."""


class MapParts:
    """Makes the maps of an attempt with workers. Those of at most ``small_keys`` keys, and those of spaces given by
    their successors, are left to the coordinator, which makes them alone.

    ``room``: bytes that the place of blobs has for parts on their way, None where that is not known; ``look`` is called
    about once a second and may raise an exception.
    """

    def __init__(
        self,
        nodes: RedisNodes,
        *,
        room: Callable[[], int | None],
        small_keys: int | None = None,
        lease_seconds: float | None = None,
        watch: Callable[[WorkProgress], None] = lambda progress: None,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._nodes = nodes
        self._room = room
        self._small_keys = int(SMALL_LAYER_STATES.number()) if small_keys is None else small_keys
        self._lease_seconds = lease_seconds
        self._watch = watch
        self._look = look

    def make(self, store: JobStore, depth: int, states: int, job: int, owner: str) -> MadeParts | None:
        """The map up to ``depth``, of ``states`` states; None where the coordinator is to make it alone: it is small,
        no worker is alive, or there is no room for it on its way. ``job``: in whose database workers may store it while
        ``owner`` runs it, or NO_JOB. Raises as ``CeleryExecutor.run_layer``."""
        if not isinstance(store, GatherAttempt) or store.kernel.keys <= self._small_keys:
            return None
        parts = store.parts(depth, job, owner)
        needed = int(store.kernel.keys * CHUNK_SHARE) * (1 if parts.fold.base == NO_BASE else 2)
        if parts.fold.planes:
            needed = store.kernel.words * 8 * parts.fold.planes
        room = self._room() if parts.fold.job == NO_JOB else None
        if room is not None and needed > room:
            return None
        workers = Workers(self._nodes, self._lease_seconds)
        try:
            if self._made(store, parts, workers):
                return parts.made(states)
        except NoRoomError:
            pass
        finally:
            workers.close()
        parts.end()
        return None

    def _made(self, store: GatherAttempt, parts: AttemptParts, workers: Workers) -> bool:
        parts.begin()
        if parts.fold.job == NO_JOB:
            for part in parts.parts:
                parts.give_base(part)
        return workers.do(
            PartWork(self._nodes, store.attempt),
            parts.fold.depth,
            parts.parts,
            poll=self._look,
            watch=self._watch,
            renew=lambda items: store.look_for_mark(),
            provide=parts.give_base,
            wait_for_workers=False,
        )


SMALL_LAYER_BLOCKS = 256
"""In more blocks than that even a few states are stepped faster by workers, and with less memory."""
STEPPED_AT_ONCE = 16
"""Blocks that the coordinator itself steps at a time, with their input in memory."""


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
        watch: Callable[[WorkProgress], None] = lambda progress: None,
        should_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._nodes = nodes
        self._threads = threads
        self._small_states = int(SMALL_LAYER_STATES.number()) if small_states is None else small_states
        self._watch = watch
        self._should_stop = should_stop
        self._workers = Workers(nodes, lease_seconds)

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """See Executor. Raises LostStateError when Redis has lost the attempt, UnavailableError when it stays away,
        JobError when the workers cannot do it."""
        if isinstance(store, GrowingAttempt):
            store = store.current
        if not isinstance(store, AttemptLayers):
            raise TypeError(f"expected a store of an attempt in Redis, not {type(store).__name__}")
        if not shards:
            return
        blocks = store.blocks.of(shards)
        if store.work(depth) <= self._small_states and len(blocks) <= SMALL_LAYER_BLOCKS:
            store.poll = self._should_stop
            for start in range(0, len(blocks), STEPPED_AT_ONCE):
                self._should_stop()
                part = blocks[start : start + STEPPED_AT_ONCE]
                step(
                    store, depth, [shard for one in part for shard in store.blocks.shards(one)], self._threads
                )
            return
        self._workers.do(
            StepWork(self._nodes, store.attempt),
            depth,
            blocks,
            poll=self._should_stop,
            watch=self._watch,
            # Where workers lose their steps because the place of blobs is away, this one waits for it, too.
            renew=lambda items: store.look_for_mark(),
        )

    def close(self) -> None:
        """Ends the connection to the broker."""
        self._workers.close()
