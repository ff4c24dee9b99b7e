"""The executor whose steps run in Celery workers, wherever they are.

A message is sent for each block of a layer; workers report commits on the run's done-list. Messages, reports and leases
may be lost: about once a second the executor looks at what Redis has, and sends again what nobody works on. Only the
records of committed blocks count: a layer is complete when all of its blocks have one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from farthest import __version__
from farthest.coordinator.publisher import StepPublisher
from farthest.environment import LEASE_SECONDS, SMALL_LAYER_STATES
from farthest.errors import JobError, LostStateError
from farthest.worker.app import queue_length
from farthest.worker.choice import offer
from farthest.worker.connections import BLOCK_SECONDS, RedisNodes
from farthest.worker.leases import StepLeases
from farthest.worker.registry import WorkerRecord, list_workers
from farthest.worker.reports import Report
from farthest.worker.run_layers import RunLayers
from farthest.worker.runs import PROTOCOL
from farthest.worker.step import step
from farthest.worker.store import ShardStore

log = logging.getLogger(__name__)

LOSSES_ALLOWED = 8
"""A step that lost its lease so often ends the job: it seems to kill its workers."""
SMALL_LAYER_BLOCKS = 256
"""In more blocks than these even a few states are stepped sooner by workers, and in less memory."""
STEPPED_AT_ONCE = 16
"""Blocks that the coordinator itself has in memory at a time, with what their steps read."""
QUEUE_SECONDS = 30.0
"""A message may wait so long in a queue before it is sent again, then twice as long, and so on."""
STILL_SECONDS = 2.5 * BLOCK_SECONDS
"""Nothing was heard for so long: more than two waits for reports, one after the other, take."""
ROLL_CALL_SECONDS = 2.0
ALONE_SECONDS = 6.0
"""So long no worker must have been seen before that is told: after Redis was emptied they register again."""
DRAINED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class LayerProgress:
    """The layer under way. ``resent``: messages that were sent again. ``note``: for the user, once, else ''."""

    depth: int
    blocks: int
    done: int
    workers: int
    resent: int
    note: str = ""


@dataclass(slots=True)
class _Sent:
    """What is known of a block's message."""

    moment: float
    times: int = 1
    taken: bool = False  # seen with a lease since it was sent
    missed: bool = False  # seen nowhere: it may be between its queue and its lease
    losses: int = 0


class CeleryExecutor:
    """``Executor`` for the stores of coordinators. Layers found from at most ``small_states`` states, of at most
    SMALL_LAYER_BLOCKS blocks, are stepped here, by threads.

    ``watch`` is told every two seconds how a layer that was sent out goes. ``should_stop`` is called about once a
    second and may raise: what workers still do then changes nothing. ``nodes`` says how long to wait for Redis.
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
        self._publisher = StepPublisher(nodes)
        self._alone_since: float | None = None
        self._alone_told = False
        self._resent = 0

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """See Executor. Raises LostStateError when Redis has lost the run, UnavailableError when it stays away,
        JobError when the workers cannot do it."""
        if not isinstance(store, RunLayers):
            raise TypeError(f"expected a store of a run in Redis, not {type(store).__name__}")
        if not shards:
            return
        blocks = store.blocks.of(shards)
        if sum(store.counts(depth - 1).values()) <= self._small_states and len(blocks) <= SMALL_LAYER_BLOCKS:
            for start in range(0, len(blocks), STEPPED_AT_ONCE):
                self._should_stop()
                part = blocks[start : start + STEPPED_AT_ONCE]
                step(
                    store, depth, [shard for one in part for shard in store.blocks.shards(one)], self._threads
                )
            return
        layer = _Layer(store, depth, shards, self._publisher, self._lease_seconds)
        roll_call = 0.0
        layer.begin()
        while not layer.complete():
            self._should_stop()
            if monotonic() >= roll_call:
                roll_call = monotonic() + ROLL_CALL_SECONDS
                self._call_roll(layer)
            layer.wait()
        self._resent += layer.resent

    def close(self) -> None:
        """Ends the connection to the broker."""
        self._publisher.close()

    def _call_roll(self, layer: _Layer) -> None:
        workers = self._nodes.call(lambda: list_workers(self._nodes))
        able = [worker for worker in workers if worker.protocol == PROTOCOL]
        if workers and not able:
            raise JobError(_other_versions(workers))
        layer.alive = bool(able)
        note = ""
        if able:
            self._alone_since = None
            self._alone_told = False
        else:
            if self._alone_since is None:
                self._alone_since = monotonic()
            if monotonic() - self._alone_since < ALONE_SECONDS:
                return
            if not self._alone_told:
                self._alone_told = True
                note = "no worker is alive: start some with `farthest worker`; waiting"
        self._watch(layer.progress(len(able), self._resent, note))


class _Layer:
    """One layer that is under way in the workers."""

    alive = True
    """Whether any worker is."""

    def __init__(
        self,
        store: RunLayers[Any],
        depth: int,
        shards: Sequence[int],
        publisher: StepPublisher,
        lease_seconds: float,
    ) -> None:
        self._store = store
        self._nodes = store.nodes
        self._depth = depth
        self._publisher = publisher
        self._lease_seconds = lease_seconds
        self._leases = StepLeases(store.nodes, store.run, lease_seconds)
        self._blocks = store.blocks.of(shards)
        self._sent: dict[int, _Sent] = {}  # of the blocks that are not committed
        self._looked = monotonic()
        self.resent = 0

    def begin(self) -> None:
        """Sends what is not committed."""
        committed = self._store.committed(self._depth)
        missing = [block for block in self._blocks if block not in committed]
        if missing:
            offer(self._nodes, self._store.run, self._depth, missing)
        self._send(missing)
        self._sent = {block: _Sent(monotonic()) for block in missing}

    def complete(self) -> bool:
        """Whether all blocks are committed."""
        if self._sent:
            return False
        # What was reported may have been lost again with a Redis that came back with older data.
        committed = self._store.committed(self._depth)
        self._sent = {block: _Sent(0.0, taken=True) for block in self._blocks if block not in committed}
        return not self._sent

    def progress(self, workers: int, resent: int, note: str) -> LayerProgress:
        """How far it is; ``resent``: in the layers before."""
        done = len(self._blocks) - len(self._sent)
        return LayerProgress(self._depth, len(self._blocks), done, workers, resent + self.resent, note)

    def wait(self) -> None:
        """Waits for reports, for a second at most, and looks after the blocks when a second has passed."""
        for entry in self._nodes.call(self._reports):
            self._heed(Report.of(entry))
        if monotonic() - self._looked >= BLOCK_SECONDS:
            self._look_after()
            self._looked = monotonic()

    def _reports(self) -> list[bytes]:
        main, key = self._nodes.main, self._store.done_key
        first: Any = main.blpop([key], timeout=BLOCK_SECONDS)
        if first is None:
            return []
        more: Any = main.lpop(key, DRAINED_AT_ONCE)
        return [first[1], *(more or [])]

    def _heed(self, report: Report) -> None:
        if report.depth != self._depth:
            return
        if not report.error:
            self._sent.pop(report.block, None)
        elif report.error == "lost":
            raise LostStateError(report.message)
        else:
            raise JobError(f"worker {report.by}: {report.message}")

    def _look_after(self) -> None:
        """Sends again what nobody works on."""
        # Leases first: a step that ends in between has either its lease or its record.
        held = self._nodes.call(lambda: self._leases.held(self._depth, list(self._sent)))
        for block in self._store.committed(self._depth):
            self._sent.pop(block, None)
        waiting = self._nodes.call(lambda: queue_length(self._nodes))
        now = monotonic()
        if now - self._looked > max(self._lease_seconds / 2, STILL_SECONDS):
            # Redis or this process stood still, and leases may have lapsed: let their holders take them back.
            for sent in self._sent.values():
                sent.moment, sent.taken = now, False
            return
        again = []
        for block, sent in self._sent.items():
            if block in held:
                sent.taken = True
            elif sent.taken:
                sent.losses += 1
                again.append(block)
            elif now - sent.moment > self._lease_seconds and self._gone(sent, now, waiting):
                if sent.missed:
                    again.append(block)
                sent.missed = True
        self._send_again(again, now)

    def _gone(self, sent: _Sent, now: float, waiting: int) -> bool:
        """Whether a message that no worker has begun is lost, or may be: other jobs may keep the queue long."""
        if waiting == 0:
            return True
        return self.alive and now - sent.moment > QUEUE_SECONDS * 2 ** (sent.times - 1)

    def _send_again(self, blocks: list[int], now: float) -> None:
        if not blocks:
            return
        for block in blocks:
            sent = self._sent[block]
            if sent.losses >= LOSSES_ALLOWED:
                raise JobError(
                    f"the step of block {block} at depth {self._depth} was begun {sent.losses} times and never ended: "
                    "it may need more memory than its workers have (see their logs, and FARTHEST_BLOCK_SIZE), or they "
                    "are killed"
                )
            sent.moment, sent.taken, sent.missed = now, False, False
            sent.times += 1
        log.info("layer %d: sent again, as nobody works on them: blocks %s", self._depth, blocks)
        self._send(blocks, urgent=True)
        self.resent += len(blocks)

    def _send(self, blocks: list[int], *, urgent: bool = False) -> None:
        if blocks:
            self._nodes.call(
                lambda: self._publisher.publish(self._store.run, self._depth, blocks, urgent=urgent)
            )


def _other_versions(workers: list[WorkerRecord]) -> str:
    versions = ", ".join(sorted({worker.version for worker in workers}))
    return (
        f"all workers are of another version: farthest {versions}, this is {__version__}; run the same version in all "
        "workers and coordinators"
    )
