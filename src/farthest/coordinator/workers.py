"""The coordinator's side of work that workers do (worker/work.py): the servers that it needs, and the messages that
it sends, waits for, and sends again where nobody works on them.

Messages, reports and leases may be lost. About once a second the records in Redis are read; only what is stored there
as done counts as done. docs/progress.md says why no item is waited for forever.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from farthest import metrics, tracing
from farthest.environment import LEASE_SECONDS, REDIS_WAIT_SECONDS
from farthest.errors import JobError, LostStateError, NoRoomError, RedisFullError
from farthest.stores.redis.attempts import PROTOCOL
from farthest.stores.redis.connections import BLOCK_SECONDS, MORE_MEMORY, RedisNodes, translate_any
from farthest.stores.redis.places import place_of
from farthest.stores.redis.records import Report
from farthest.version import __version__
from farthest.wording import bytes_text
from farthest.worker.app import (
    LATER,
    NORMAL,
    QUEUE,
    URGENT,
    broker_settings,
    celery_app,
    priority_of,
    queue_length,
    task_name,
)
from farthest.worker.leases import Leases
from farthest.worker.registry import WorkerRecord, list_workers

if TYPE_CHECKING:
    from farthest.stores.blobs.place import BlobPlace
    from farthest.worker.work import Work

log = logging.getLogger(__name__)

LOSSES_ALLOWED = 8
"""An item that lost its lease so often ends the job: it seems to kill its workers."""
QUEUE_SECONDS = 30.0
"""How long a message may wait in a queue before it is sent again; then twice as long, and so on."""
LONGEST_QUEUE_SECONDS = 240.0
"""The longest of these waits, but for parts of surveys, which wait behind hours of others."""
STILL_SECONDS = 2.5 * BLOCK_SECONDS
"""A pause between two checks that shows a standstill: longer than two waits for reports."""
DRAINED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Servers:
    """Redis, and the place of blobs."""

    nodes: RedisNodes
    blobs: BlobPlace

    @classmethod
    def open(cls, notice: Callable[[str], None]) -> Servers:
        """Those that the environment names. Raises SettingError, StorageError or UnavailableError where they cannot be
        used."""
        nodes = RedisNodes.from_environment(REDIS_WAIT_SECONDS.number(), notice)
        nodes.ask()
        blobs = place_of(nodes)
        blobs.check()
        return cls(nodes, blobs)

    def memory(self) -> int:
        """Bytes that the servers may use, or their machines have. Raises RedisFullError."""
        limit = 0
        for client, place in zip(self.nodes.clients, self.nodes.places, strict=True):
            memory: Any = self.nodes.call(partial(client.info, "memory"))
            most, used = int(memory["maxmemory"]), int(memory["used_memory"])
            # Its memory has shrunk, or is all in use: it is not known how much a job may use.
            if 0 < most < used:
                raise RedisFullError(
                    f"{place}: Redis has no memory left ({bytes_text(used)} of {bytes_text(most)} used); {MORE_MEMORY}"
                )
            limit += most or int(memory["total_system_memory"])
        return limit


@dataclass(frozen=True, slots=True)
class Queued:
    """Of items that were sent and are not done: how many processes work on, and since when, in seconds since 1970, the
    oldest of the others waits."""

    leased: int = 0
    waiting_since: float | None = None

    def progress(self) -> dict[str, Any]:
        """As a part of a job's progress."""
        since = self.waiting_since
        return {"blocks_leased": self.leased, "waiting_since": None if since is None else round(since, 1)}


@dataclass(slots=True)
class _Sent:
    """What is known of an item's message."""

    moment: float
    since: float  # by the clock of the host: when it was sent first, or its loss was seen
    times: int = 1
    taken: bool = False  # seen with a lease since it was sent
    missed: bool = False  # not seen: between its queue and its lease, or its lease and a report, or lost
    spared: bool = False  # excused once after a standstill, since it was sent or seen with a lease
    held: bool = False  # seen with a lease at the last check
    losses: int = 0


class Outstanding:
    """The items of one depth that were sent. ``alive``: whether any worker is alive. ``resent``: messages sent
    again. ``busy``: why a process could not do one at its time, which another does, or it later; for users."""

    def __init__(
        self,
        work: Work,
        depth: int,
        publisher: Publisher,
        renew: Callable[[list[int]], None] = lambda items: None,
        provide: Callable[[int], None] = lambda item: None,
    ) -> None:
        """``renew`` is called with items that are about to be sent again, ``provide`` with one that a worker could not
        do for want of its base."""
        self._work = work
        self._nodes = work.nodes
        self._depth = depth
        self._publisher = publisher
        self._priority = priority_of(work.kind)
        self._lease_seconds = LEASE_SECONDS.number()
        self._leases = Leases(work.nodes, work.attempt, work.kind, self._lease_seconds)
        self._renew = renew
        self._provide = provide
        self._sent: dict[int, _Sent] = {}
        self._looked = monotonic()
        self.alive = True
        self.resent = 0
        self.busy = ""

    def __len__(self) -> int:
        return len(self._sent)

    def __contains__(self, item: object) -> bool:
        return item in self._sent

    def send(self, items: list[int]) -> None:
        """Sends items for the first time."""
        self._publish(items)
        self._sent.update({item: _Sent(monotonic(), time()) for item in items})

    def expect(self, items: Iterable[int]) -> None:
        """Adds items whose messages may be lost: they are soon sent again, where nobody works on them."""
        self._sent.update({item: _Sent(0.0, time(), taken=True) for item in items})

    def forget(self, items: Iterable[int]) -> None:
        """Removes items that are not needed any more."""
        for item in items:
            self._sent.pop(item, None)

    def queued(self) -> Queued:
        """Which of them nobody works on, by the last check."""
        waiting = [sent.since for sent in self._sent.values() if not sent.held]
        return Queued(len(self._sent) - len(waiting), min(waiting, default=None))

    def wait(self) -> set[int]:
        """Waits for reports, for a second at most, and checks the items when a second has passed. Returns the items
        that are done since the last call. Raises LostStateError, and JobError for an item that cannot be done."""
        before = set(self._sent)
        for entry in self._nodes.call(self._reports):
            try:
                report = Report.of(entry)
            except ValueError as error:  # it can be ignored: the records say what is done
                log.warning(
                    "%s: an entry that is not a report was left out: %s", self._work.keys.done_key, error
                )
            else:
                self._heed(report)
        if monotonic() - self._looked >= BLOCK_SECONDS:
            self._look_after()
            self._looked = monotonic()
        return before - set(self._sent)

    def _reports(self) -> list[bytes]:
        main, key = self._nodes.main, self._work.keys.done_key
        first: Any = main.blpop([key], timeout=BLOCK_SECONDS)
        if first is None:
            return []
        more: Any = main.lpop(key, DRAINED_AT_ONCE)
        return [first[1], *(more or [])]

    def _heed(self, report: Report) -> None:
        if (report.depth, report.kind) != (self._depth, self._work.kind):
            return
        if not report.error:
            self._sent.pop(report.block, None)
        elif report.error in ("no base", "busy") and report.block not in self._sent:
            return  # it was sent twice, and the other has done it
        elif report.error == "no base":
            self._provide(report.block)
            self._send_again([report.block], monotonic())
        elif report.error == "busy":
            sent = self._sent[report.block]
            sent.moment, sent.taken, sent.missed = monotonic(), False, False
            self.busy = report.message or self.busy
            self._publish([report.block])
        elif report.error == "lost":
            raise LostStateError(report.message)
        elif report.error == "full":
            raise RedisFullError(report.message)
        elif report.error == "no room":
            raise NoRoomError(report.message)
        else:
            raise JobError(f"worker {report.by}: {report.message}")

    def _look_after(self) -> None:
        """Sends items again that nobody works on."""
        # Leases first: a step that ends in between has either its lease or its record.
        held = self._nodes.call(lambda: self._leases.held(self._depth, list(self._sent)))
        for item in self._work.finished(self._depth):
            self._sent.pop(item, None)
        waiting = self._nodes.call(lambda: queue_length(self._nodes, self._priority))
        now = monotonic()
        # Redis or this process was stopped, and leases may have lapsed: let their holders renew them. But only once:
        # where every round takes so long, lost items must be sent again nevertheless.
        stood_still = now - self._looked > max(self._lease_seconds / 2, STILL_SECONDS)
        again = []
        for item, sent in self._sent.items():
            sent.held = item in held
            if stood_still and not sent.spared:
                sent.moment, sent.taken, sent.spared = now, False, True
            elif sent.held:
                sent.taken, sent.missed, sent.spared = True, False, False
            elif sent.taken or (now - sent.moment > self._lease_seconds and self._gone(sent, now, waiting)):
                if sent.missed:
                    again.append(item)
                    if sent.taken:
                        sent.losses += 1
                        sent.since = time()
                        metrics.add(metrics.LEASES_LOST, kind=self._work.kind)
                sent.missed = True
        self._send_again(again, now)

    def _gone(self, sent: _Sent, now: float, waiting: int) -> bool:
        """Whether a message that no worker has begun is, or may be, lost: other jobs may keep the queue long."""
        if waiting == 0:
            return True
        patience = QUEUE_SECONDS * 2 ** min(sent.times - 1, 9)
        if self._priority < LATER:
            patience = min(patience, LONGEST_QUEUE_SECONDS)
        return self.alive and now - sent.moment > patience

    def _send_again(self, items: list[int], now: float) -> None:
        if not items:
            return
        for item in items:
            sent = self._sent[item]
            if sent.losses >= LOSSES_ALLOWED:
                raise JobError(
                    f"{self._work.name(self._depth, item)} was begun {sent.losses} times and never ended: it may need "
                    "more memory than its workers have (see their logs, and FARTHEST_BLOCK_SIZE), hang, or be killed"
                )
            sent.moment, sent.taken, sent.missed, sent.spared = now, False, False, False
            sent.times += 1
        whole = self._work.whole_name.format(depth=self._depth)
        log.info("sent again, as nobody works on them: %s: %s", whole, items)
        self._renew(items)
        self._publish(items, urgent=True)
        self.resent += len(items)
        metrics.add(metrics.RESENT, len(items), kind=self._work.kind)

    def _publish(self, items: list[int], *, urgent: bool = False) -> None:
        if items:
            work = self._work
            self._nodes.call(
                lambda: self._publisher.publish(work.kind, work.attempt, self._depth, items, urgent=urgent)
            )


ROLL_CALL_SECONDS = 2.0
ALONE_SECONDS = 6.0
"""How long no worker must have been seen before the user is told: after Redis was emptied they register again."""


@dataclass(frozen=True, slots=True)
class LiveWorkers:
    """How many workers of this version are alive, and processes of theirs. ``certain``: enough to be reported;
    ``note``: for the user, once, else ''. ``memory``: bytes that the largest had; None where one does not say."""

    workers: int
    processes: int
    certain: bool = True
    note: str = ""
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class WorkProgress:
    """How many of the ``items`` of a work are done. ``resent``: messages that were sent again. ``note``: as in
    LiveWorkers."""

    items: int
    done: int
    workers: int
    resent: int
    queued: Queued
    note: str = ""


class Workers:
    """The workers, as one coordinator uses them. ``resent``: messages sent again for work that is over."""

    def __init__(self, nodes: RedisNodes) -> None:
        self.publisher = Publisher(nodes)
        self.resent = 0
        self._nodes = nodes
        self._next = 0.0
        self._alone_since: float | None = None
        self._noted = False

    def do(
        self,
        work: Work,
        depth: int,
        items: Sequence[int],
        *,
        poll: Callable[[], None],
        watch: Callable[[WorkProgress], None],
        renew: Callable[[list[int]], None] = lambda items: None,
        provide: Callable[[int], None] = lambda item: None,
        wait_for_workers: bool = True,
    ) -> bool:
        """Lets workers do items, and returns when all have records; False where no worker is alive and that is not to
        be waited for. ``poll`` is called about once a second, and may raise an exception: what workers still do then
        has no effect; ``watch`` every two seconds. ``renew``, ``provide``: as for Outstanding. Raises LostStateError
        when Redis has lost the attempt, UnavailableError when it stays away, JobError when the workers cannot do it."""

        def missing() -> list[int]:
            finished = work.finished(depth)
            return [item for item in items if item not in finished]

        outstanding = Outstanding(work, depth, self.publisher, renew, provide)
        begun = missing()
        if begun:
            work.offer(depth, begun)
        outstanding.send(begun)
        self.count_soon()
        while True:
            if not outstanding:
                outstanding.expect(
                    missing()
                )  # a reported record may be lost, where Redis came back with older data
            if not outstanding:
                self.resent += outstanding.resent
                return True
            poll()
            alive = self.count()
            if alive is not None:
                outstanding.alive = alive.workers > 0
                if alive.certain and not (alive.workers or wait_for_workers):
                    return False
                if alive.certain:
                    done, resent = len(items) - len(outstanding), self.resent + outstanding.resent
                    watch(
                        WorkProgress(
                            len(items), done, alive.workers, resent, outstanding.queued(), alive.note
                        )
                    )
            outstanding.wait()

    def count_soon(self) -> None:
        """Makes the next count due at once."""
        self._next = 0.0

    def count(self) -> LiveWorkers | None:
        """The living workers; None if they were counted less than two seconds ago. Raises JobError where all are of
        another version."""
        if monotonic() < self._next:
            return None
        self._next = monotonic() + ROLL_CALL_SECONDS
        workers = self._nodes.call(lambda: list_workers(self._nodes))
        able = [worker for worker in workers if worker.protocol == PROTOCOL]
        if workers and not able:
            raise JobError(_other_versions(workers))
        if able:
            self._alone_since = None
            self._noted = False
            memory = None if any(not each.memory for each in able) else max(each.memory for each in able)
            return LiveWorkers(len(able), sum(each.concurrency for each in able), memory=memory)
        if self._alone_since is None:
            self._alone_since = monotonic()
        if monotonic() - self._alone_since < ALONE_SECONDS:
            return LiveWorkers(0, 0, certain=False)
        note = "" if self._noted else "no worker is alive: start some with `farthest worker`; waiting"
        self._noted = True
        return LiveWorkers(0, 0, note=note)

    def close(self) -> None:
        """Ends the connection to the broker."""
        self.publisher.close()


def _other_versions(workers: list[WorkerRecord]) -> str:
    versions = ", ".join(sorted({worker.version for worker in workers}))
    return (
        f"all workers are of another version: farthest {versions}, this is {__version__}; run the same version in all "
        "workers and coordinators"
    )


class Publisher:
    """Sends messages, over a connection to the broker that is made again after it has failed.

    A thread imports Celery, which takes half a second: small layers do not wait for it, and the first layer that is
    sent waits less. Raises SettingError for a URL that cannot be used.
    """

    def __init__(self, nodes: RedisNodes) -> None:
        self._place = nodes.places[0]
        self._url = nodes.urls[0]
        self._producer: Any = None
        broker_settings(self._url)
        self._loading = threading.Thread(target=_load, args=(self._url,), name="farthest-celery", daemon=True)
        self._loading.start()

    def publish(
        self, kind: str, attempt: str, depth: int, items: Iterable[int], *, urgent: bool = False
    ) -> None:
        """Sends a message (attempt, depth, item) for each item; after an error some may have been sent, and all may be
        sent again. Raises UnavailableError where waiting may help, else StorageError."""
        self._loading.join()  # two threads that import the same modules may see them partly initialised
        app = celery_app(self._url)
        priority = URGENT if urgent and priority_of(kind) == NORMAL else priority_of(kind)
        options: dict[str, Any] = {"queue": QUEUE, "priority": priority, "retry": False}
        if headers := tracing.to_send():
            options["headers"] = headers
        try:
            if self._producer is None:
                self._producer = app.amqp.Producer(app.connection_for_write().channel())
            with self._producer.batch():
                for item in items:
                    app.send_task(task_name(kind), (attempt, depth, item), producer=self._producer, **options)
        except Exception as error:
            self.close()
            translated = translate_any(error, self._place)
            if translated is None:
                raise
            raise translated from error

    def close(self) -> None:
        """Ends the connection."""
        if self._producer is not None:
            connection, self._producer = self._producer.connection, None
            connection.collect()


def _load(url: str) -> None:
    """Imports what sending needs. An error is raised with the first message."""
    with suppress(Exception):
        celery_app(url).connection_for_write().get_transport_cls()
