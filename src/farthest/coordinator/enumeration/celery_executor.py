"""The executor whose steps run in Celery workers, on any hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from farthest.coordinator.enumeration.sent_work import LayerProgress, SentWork
from farthest.coordinator.publisher import Publisher
from farthest.coordinator.roll_call import RollCall
from farthest.environment import LEASE_SECONDS, SMALL_LAYER_STATES
from farthest.stores.contract import ShardStore
from farthest.stores.redis.attempt_layers import AttemptLayers
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.growing_attempt import GrowingAttempt
from farthest.worker.app import TASK
from farthest.worker.enumeration.step import step

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
        watch: Callable[[LayerProgress], None] = lambda progress: None,
        should_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._nodes = nodes
        self._threads = threads
        self._small_states = int(SMALL_LAYER_STATES.number()) if small_states is None else small_states
        self._lease_seconds = lease_seconds or LEASE_SECONDS.number()
        self._watch = watch
        self._should_stop = should_stop
        self._publisher = Publisher(nodes, TASK)
        self._roll_call = RollCall(nodes)
        self._resent = 0

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
        layer = SentWork(
            store, "step", depth, blocks, lambda: store.committed(depth), self._publisher, self._lease_seconds
        )
        self._roll_call.soon()
        layer.begin()
        while not layer.complete():
            self._should_stop()
            roll = self._roll_call.look()
            if roll is not None:
                layer.outstanding.alive = roll.workers > 0
                if roll.told:
                    self._watch(layer.progress(roll.workers, self._resent, roll.note))
            layer.outstanding.wait()
        self._resent += layer.outstanding.resent

    def close(self) -> None:
        """Ends the connection to the broker."""
        self._publisher.close()
