"""A map that workers make, part by part, while the coordinator waits and handles records alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.sent_work import LayerProgress, SentWork
from farthest.coordinator.publisher import Publisher
from farthest.coordinator.roll_call import RollCall
from farthest.environment import LEASE_SECONDS, SMALL_LAYER_STATES
from farthest.errors import NoRoomError
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.part_records import NO_BASE, NO_JOB
from farthest.worker.app import PART_TASK

if TYPE_CHECKING:
    from farthest.stores.contract import JobStore
    from farthest.stores.redis.attempt_parts import AttemptParts, MadeParts
    from farthest.stores.redis.connections import RedisNodes

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
