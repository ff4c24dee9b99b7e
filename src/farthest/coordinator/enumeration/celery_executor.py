"""The executor whose steps run in Celery workers, on any hosts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.coordinator.outstanding import Outstanding, Publisher, RollCall
from farthest.environment import LEASE_SECONDS, SMALL_LAYER_STATES
from farthest.errors import NoRoomError
from farthest.stores.contract import ShardStore, step
from farthest.stores.redis.attempt_layers import AttemptLayers
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.records import NO_BASE, NO_JOB
from farthest.stores.redis.scatter_attempt import GrowingAttempt
from farthest.worker.app import PART_TASK, TASK
from farthest.worker.enumeration.choice import offer

if TYPE_CHECKING:
    from farthest.stores.contract import JobStore
    from farthest.stores.redis.map_parts import AttemptParts, MadeParts
    from farthest.stores.redis.records import WorkKind


# --- Work of an enumeration that was sent to workers: the blocks of a layer, or the parts of a map.
#
# A message is sent for each item; workers report commits on the attempt's done-list (coordinator/outstanding.py).
# Only the records of committed items count: the work is complete when all of its items have one.

NAMES = {
    "step": ("the step of block", "layer {}: blocks"),
    "part": ("the map part", "the map up to depth {}: parts"),
}


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
    """``Work`` of one depth. ``committed`` gives the items that have records; ``provide``: see Outstanding."""

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
        """See Work."""
        return self._store.done_key

    def finished(self, depth: int) -> Collection[int]:
        """See Work."""
        return self._committed()

    def name(self, depth: int, item: int) -> str:
        """See Work."""
        return f"{NAMES[self.kind][0]} {item} at depth {depth}"

    def named(self, depth: int, items: Iterable[int]) -> str:
        """See Work."""
        return f"{NAMES[self.kind][1].format(depth)} {list(items)}"

    def begin(self) -> None:
        """Sends what is not committed."""
        missing = self._missing()
        if missing:
            offer(self.nodes, self.attempt, self._depth, missing, self.kind)
        self.outstanding.send(missing)

    def complete(self) -> bool:
        """Whether all items are committed."""
        if self.outstanding:
            return False
        # A reported record may be lost, where Redis came back with older data.
        self.outstanding.expect(self._missing())
        return not self.outstanding

    def _missing(self) -> list[int]:
        committed = self._committed()
        return [item for item in self._items if item not in committed]

    def progress(self, workers: int, resent: int, note: str) -> LayerProgress:
        """The progress of the work; ``resent``: messages sent again before it."""
        done = len(self._items) - len(self.outstanding)
        resent += self.outstanding.resent
        return LayerProgress(self._depth, len(self._items), done, workers, resent, note)


# --- A map that workers make, part by part, while the coordinator waits and handles records alone.

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
        watch: Callable[[LayerProgress], None] = lambda progress: None,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._nodes = nodes
        self._room = room
        self._small_keys = int(SMALL_LAYER_STATES.number()) if small_keys is None else small_keys
        self._lease_seconds = lease_seconds or LEASE_SECONDS.number()
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
        publisher = Publisher(self._nodes, PART_TASK)
        try:
            if not self._made(store, parts, publisher):
                parts.end()
                return None
            return parts.made(states)
        except NoRoomError:
            parts.end()
            return None
        finally:
            publisher.close()

    def _made(self, store: GatherAttempt, parts: AttemptParts, publisher: Publisher) -> bool:
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
            self._lease_seconds,
            parts.give_base,
        )
        roll_call = RollCall(self._nodes)
        work.begin()
        while not work.complete():
            self._look()
            roll = roll_call.look()
            if roll is not None:
                work.outstanding.alive = roll.workers > 0
                if roll.told and not roll.workers:
                    return False
                if roll.told:
                    self._watch(work.progress(roll.workers, 0, ""))
            work.outstanding.wait()
        return True


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
