"""The executor whose steps run in Celery workers, on any hosts.

A message is sent for each block of a layer; workers report commits on the attempt's done-list
(coordinator/outstanding.py). Only the records of committed blocks count: a layer is complete when all of its blocks
have one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from farthest.coordinator.outstanding import Outstanding
from farthest.coordinator.publisher import Publisher
from farthest.coordinator.roll_call import RollCall
from farthest.environment import LEASE_SECONDS, SMALL_LAYER_STATES
from farthest.stores.contract import ShardStore
from farthest.stores.redis.attempt_layers import AttemptLayers
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.growing_attempt import GrowingAttempt
from farthest.worker.app import TASK
from farthest.worker.enumeration.choice import offer
from farthest.worker.enumeration.step import step

SMALL_LAYER_BLOCKS = 256
"""In more blocks than that even a few states are stepped faster by workers, and with less memory."""
STEPPED_AT_ONCE = 16
"""Blocks that the coordinator itself steps at a time, with their input in memory."""


@dataclass(frozen=True, slots=True)
class LayerProgress:
    """The layer under way. ``resent``: messages that were sent again. ``note``: for the user, once, else ''."""

    depth: int
    blocks: int
    done: int
    workers: int
    resent: int
    note: str = ""


class CeleryExecutor:
    """``Executor`` for the stores of coordinators. Layers found from at most ``small_states`` states, of at most
    SMALL_LAYER_BLOCKS blocks, are stepped here, by threads.

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
        if sum(store.counts(depth - 1).values()) <= self._small_states and len(blocks) <= SMALL_LAYER_BLOCKS:
            store.poll = self._should_stop
            for start in range(0, len(blocks), STEPPED_AT_ONCE):
                self._should_stop()
                part = blocks[start : start + STEPPED_AT_ONCE]
                step(
                    store, depth, [shard for one in part for shard in store.blocks.shards(one)], self._threads
                )
            return
        layer = _Layer(store, depth, shards, self._publisher, self._lease_seconds)
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


class _Layer:
    """One layer that is under way in the workers: work whose items are blocks."""

    def __init__(
        self,
        store: AttemptLayers[Any],
        depth: int,
        shards: Sequence[int],
        publisher: Publisher,
        lease_seconds: float,
    ) -> None:
        self.nodes = store.nodes
        self.attempt = store.attempt
        self._store = store
        self._depth = depth
        self._blocks = store.blocks.of(shards)
        # Where workers lose their steps because the place of blobs is away, this one waits for it, too.
        self.outstanding = Outstanding(
            self, depth, publisher, lease_seconds, lambda items: store.look_for_mark()
        )

    @property
    def done_key(self) -> str:
        """See Work."""
        return self._store.done_key

    def finished(self, depth: int) -> Collection[int]:
        """See Work."""
        return self._store.committed(depth)

    def name(self, depth: int, item: int) -> str:
        """See Work."""
        return f"the step of block {item} at depth {depth}"

    def named(self, depth: int, items: Iterable[int]) -> str:
        """See Work."""
        return f"layer {depth}: blocks {list(items)}"

    def begin(self) -> None:
        """Sends what is not committed."""
        missing = self._missing()
        if missing:
            offer(self.nodes, self.attempt, self._depth, missing)
        self.outstanding.send(missing)

    def complete(self) -> bool:
        """Whether all blocks are committed."""
        if self.outstanding:
            return False
        # A reported record may be lost, where Redis came back with older data.
        self.outstanding.expect(self._missing())
        return not self.outstanding

    def _missing(self) -> list[int]:
        committed = self._store.committed(self._depth)
        return [block for block in self._blocks if block not in committed]

    def progress(self, workers: int, resent: int, note: str) -> LayerProgress:
        """The progress of the layer; ``resent``: messages sent again in the layers before."""
        done = len(self._blocks) - len(self.outstanding)
        resent += self.outstanding.resent
        return LayerProgress(self._depth, len(self._blocks), done, workers, resent, note)
