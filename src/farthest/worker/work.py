"""The work protocol: how what a coordinator sends is done by workers, the same for every kind of work.

A *work* belongs to an attempt and a depth: the steps of a layer, the parts of a map, the batches of an iteration of a
search, whose depth is its bound. Its *items* have numbers. In Redis, with the prefix of the attempt's keys, there are

    meta                            hash: what the attempt is; one of its fields says what is under way
    the records                     hash: the *record* of each item that is done; the first to set it has done the item
    lease:{kind}:{depth}:{item}     who does the item now (worker/leases.py)
    todo:{kind}:{depth}             set: the items that were sent and not begun
    done                            list: *reports* of what was done, and what failed, for the coordinator that waits

A message has the attempt, the depth and an item. The process that receives it may do another item of the to-do set, one
whose input it has in memory. Only records say what is done. Messages, to-do sets, leases and reports save time; they
may be lost, late or repeated (docs/progress.md). coordinator/workers.py is the coordinator's side.

A new kind of work is one class that derives from ``Work``, and its line in ``KINDS`` (worker/app.py).
"""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, TypeVar, cast

import msgspec

from farthest import metrics, tracing
from farthest.environment import LEASE_SECONDS, WORKER_MEMORY
from farthest.errors import (
    BusyError,
    FarthestError,
    LateStepError,
    LostStateError,
    NoBaseError,
    NoRoomError,
    RedisFullError,
    UnavailableError,
    VersionError,
)
from farthest.logs import about
from farthest.stores.blobs.blob import BlobCache
from farthest.stores.blobs.place import ATTEMPT_NAME, BlobPlace
from farthest.stores.redis.attempts import (
    PROTOCOL,
    AttemptKeys,
    drop,
    other_version,
    prefix,
    read_meta,
    touch,
)
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.places import place_of
from farthest.stores.redis.records import (
    NOBODY_WAITS,
    Error,
    RecordTexts,
    Report,
    numbers,
    recorded,
    set_records,
    with_checksum,
)
from farthest.version import __version__
from farthest.worker.leases import Leases, holder_name, renewed

log = logging.getLogger(__name__)

WAIT_SECONDS = 5.0
"""How long a message's work waits for Redis, or the place of blobs, before it is dropped."""

ENDING = threading.Event()
"""Set when this process was told to end. Work that takes long, and may be begun anew elsewhere, need not be ended."""

_TAKE = """
for i = 1, #ARGV do
  if redis.call('SREM', KEYS[1], ARGV[i]) == 1 then return ARGV[i] end
end
return redis.call('SPOP', KEYS[1])
"""
"""Takes an item out of the to-do set: the first of the wishes that is there, or any. ARGV: the wishes."""

_REPORT = """
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RPUSH', KEYS[2], ARGV[1]) end
return 1
"""

Shared = TypeVar("Shared")
Kept = TypeVar("Kept")


class Work(ABC):
    """The work of one kind for one attempt, as its coordinator and the processes of workers see it.

    ``kind``: in messages, keys and reports. ``item_name``, ``whole_name``: of an item, and of all items of a depth, in
    messages for users. ``under_way``: the field of ``meta`` that says what is under way. ``most_open``: how many
    attempts stay open in a process.
    """

    kind: ClassVar[str]
    item_name: ClassVar[str]
    whole_name: ClassVar[str]
    under_way: ClassVar[str]
    most_open: ClassVar[int] = 4

    def __init__(self, nodes: RedisNodes, attempt: str) -> None:
        self.nodes = nodes
        self.attempt = attempt
        self.keys = AttemptKeys(attempt)
        self._take = nodes.main.register_script(_TAKE)

    @abstractmethod
    def records_key(self, depth: int) -> str:
        """The key of the records."""

    def is_under_way(self, said: bytes, depth: int) -> bool:
        """Whether the work of ``depth`` is under way, where ``meta`` says ``said``."""
        return said == str(depth).encode()

    @classmethod
    def name(cls, depth: int, item: int) -> str:
        """The name of an item in messages for users."""
        return cls.item_name.format(depth=depth, item=item)

    # For coordinators

    def make_known(self, facts: dict[str, str]) -> None:
        """Writes ``meta``."""
        fields: Any = {"kind": self.kind, "protocol": str(PROTOCOL), "version": __version__, **facts}

        def write() -> None:
            touch(self.nodes, self.attempt)
            self.nodes.main.hset(self.keys.meta_key, mapping=fields)

        self.nodes.call(write)

    def records(self, depth: int, items: Iterable[int], kind: type[Kept]) -> dict[int, Kept]:
        """The records of items that are done. Raises LostStateError where one is missing or damaged."""
        key = self.records_key(depth)
        names = [str(item) for item in items]
        texts: Any = self.nodes.call(lambda: self.nodes.main.hmget(key, names)) if names else []
        found = {}
        for item, text in zip(map(int, names), texts, strict=True):
            if text is None:
                raise LostStateError(
                    f"attempt {self.attempt}: the result of {self.name(depth, item)} is missing"
                )
            found[item] = recorded(text, self._place(depth, item), self.name(depth, item), kind)
        return found

    def drop(self) -> None:
        """Removes all keys of the attempt."""
        self.nodes.call(lambda: drop(self.nodes, self.attempt))

    def offer(self, depth: int, items: Iterable[int]) -> None:
        """Makes the to-do set, in place of that of the depth before."""
        key = self._todo_key(depth)
        pipe = self.nodes.main.pipeline()
        pipe.delete(self._todo_key(depth - 1), key)
        pipe.sadd(key, *map(str, items))
        self.nodes.call(pipe.execute)

    def finished(self, depth: int) -> set[int]:
        """The items that have records. Says that the coordinator is alive. Raises LostStateError where Redis does not
        know that the work is under way."""
        key = self.records_key(depth)

        def read() -> tuple[bytes | None, list[bytes]]:
            touch(self.nodes, self.attempt)
            pipe = self.nodes.main.pipeline()
            pipe.hget(self.keys.meta_key, self.under_way)
            pipe.hkeys(key)
            said, items = pipe.execute()
            return said, items

        said, items = self.nodes.call(read)
        if said is None or not self.is_under_way(said, depth):
            raise LostStateError(
                f"attempt {self.attempt}: Redis has lost {self.whole_name.format(depth=depth)}"
            )
        return set(numbers(items, key))

    # For workers

    def known(self, field: str) -> dict[str, str]:
        """``meta``, in which ``make_known`` wrote a ``field``. Raises LateStepError where the attempt has ended,
        VersionError for another version's."""
        fields = read_meta(self.nodes, self.attempt)
        if field not in fields:
            raise LateStepError(f"attempt {self.attempt} has ended")
        if (fields.get("protocol"), fields.get("kind")) != (str(PROTOCOL), self.kind):
            raise VersionError(other_version(self.attempt, fields.get("version", "unknown")))
        return fields

    @abstractmethod
    def open(self, process: WorkerProcess) -> None:
        """Reads what is needed to do items in ``process``. Raises LateStepError where the attempt has ended, and what
        is wrong with it."""

    def wishes(self, depth: int) -> Sequence[int]:
        """The items that this process does with the least reading, the best first."""
        return ()

    def choose(self, depth: int, named: int, again: bool) -> int:
        """The item to do, taken from the to-do set; ``named``, the one in the message, where that was sent ``again`` or
        the set is empty. A wrong choice costs only time; an item that was taken and not done is sent again, by name."""
        key = self._todo_key(depth)
        if again:
            self.nodes.call(lambda: self.nodes.main.srem(key, str(named)))
            return named
        wishes = [str(wish) for wish in self.wishes(depth)]
        taken = self.nodes.call(lambda: self._take(keys=[key], args=wishes))
        return named if taken is None else numbers([taken], key)[0]

    @abstractmethod
    def do(self, depth: int, item: int) -> None:
        """Does an item, whose lease this process has, and sets its record: by ``set_record``, or by a script of the
        store, as steps do, whose commit is one with that of their blobs. Raises LateStepError where nobody waits for
        it, BusyError where it cannot be done now: it is then sent again."""

    def set_found(self, depth: int, item: int, found: object, holder: str, *wanted_in: str) -> bool:
        """``set_record`` of what ``records`` gives."""
        text = with_checksum(self._place(depth, item), msgspec.json.encode(found).decode())
        return self.set_record(depth, item, text, holder, *wanted_in)

    def set_record(self, depth: int, item: int, record: str, holder: str, *wanted_in: str) -> bool:
        """Sets the record of an item, once, and reports it. Returns whether anyone waits for it, or it was set before.
        ``wanted_in``: the key of a hash in which the item must be."""
        texts = RecordTexts(record, Report(depth, item, holder, kind=self.kind).text())
        under_way = self.under_way, str(depth)
        outcomes = set_records(
            self.nodes, self.keys, self.records_key(depth), under_way, {item: texts}, *wanted_in
        )
        return outcomes != [NOBODY_WAITS]

    def _place(self, depth: int, item: int) -> str:
        return f"{self.records_key(depth).removeprefix(prefix(self.attempt))}:{item}"

    def _todo_key(self, depth: int) -> str:
        return f"{prefix(self.attempt)}todo:{self.kind}:{depth}"


class WorkerProcess:
    """Does the work of messages in one process of a worker, and keeps what it has read between them. It is made in that
    process: connections are not shared.

    Messages may come twice, late, or for attempts that have ended: then there is nothing to do. If the attempt is the
    reason for a failure, it is reported on the attempt's done-list; if Redis is away, the message is dropped, and sent
    again later.
    """

    def __init__(self, worker: str) -> None:
        self.holder = holder_name(worker, os.getpid())
        self.nodes = RedisNodes.from_environment(wait=WAIT_SECONDS)
        self._lease_seconds = LEASE_SECONDS.number()
        self._report = self.nodes.main.register_script(_REPORT)
        self._works: dict[type[Work], OrderedDict[str, Work]] = {}
        self._shared: dict[Callable[[], Any], Any] = {}

    @cached_property
    def cache(self) -> BlobCache:
        """The blobs that it has read or written."""
        return BlobCache(WORKER_MEMORY.size())

    @cached_property
    def place(self) -> BlobPlace:
        """Where blobs are."""
        return place_of(self.nodes)

    def shared(self, make: Callable[[], Shared]) -> Shared:
        """What ``make`` gives, made once for all works of this process."""
        if make not in self._shared:
            self._shared[make] = make()
        return cast(Shared, self._shared[make])

    def opened(self, kind: type[Opened], attempt: str) -> Opened:
        """The work of an attempt; that of the last few attempts stays open."""
        works = self._works.setdefault(kind, OrderedDict())
        if attempt not in works:
            work = kind(self.nodes, attempt)
            work.open(self)
            works[attempt] = work
            while len(works) > kind.most_open:
                works.popitem(last=False)
        works.move_to_end(attempt)
        return cast(Opened, works[attempt])

    def run(self, kind: type[Work], attempt: str, depth: int, item: int, again: bool = False) -> None:
        """Does the work of a message, and reports failures. ``again``: it was sent again."""
        if not _is_message(attempt, depth, item):
            log.warning("a message that is not from farthest was dropped")
            return
        name = f"{kind.name(depth, item)} of attempt {attempt}"
        job = attempt.partition("-")[0]
        with about(job=int(job) if job.isdecimal() else job, kind=kind.kind, depth=depth, block=item):
            metrics.add(metrics.BUSY)
            begun = time.monotonic()
            result = self._run(kind, name, attempt, depth, item, again)
            tracing.tell(result=result)
            metrics.observe(metrics.WORK_SECONDS, time.monotonic() - begun, kind=kind.kind, result=result)
            metrics.add(metrics.BUSY, -1)

    def _run(self, kind: type[Work], name: str, attempt: str, depth: int, item: int, again: bool) -> str:
        """Returns how it has ended."""
        try:
            with ended_if_stuck(name):
                self._do(self.opened(kind, attempt), depth, item, again)
        except LateStepError as late:
            log.debug("%s: %s", name, late)
            return "late"
        except BusyError:
            return "busy"
        except UnavailableError as error:
            log.warning("%s dropped: %s", name, error)
            return "dropped"
        except FarthestError as error:
            log.error("%s: %s", name, error)
            self._tell(attempt, Report(depth, item, self.holder, _error(error), str(error), kind.kind))
        except Exception as error:
            log.exception("%s failed", name)
            message = f"{type(error).__name__}: {error}"
            self._tell(attempt, Report(depth, item, self.holder, "failed", message, kind.kind))
        else:
            return "done"
        return "failed"

    def _do(self, work: Work, depth: int, named: int, again: bool) -> None:
        """Does an item, unless another process does."""
        item = work.choose(depth, named, again)
        tracing.tell(block=item)
        leases = Leases(self.nodes, work.attempt, work.kind, self._lease_seconds)
        if not leases.take(depth, item, self.holder):
            return
        try:
            with renewed(leases, depth, item, self.holder):
                work.do(depth, item)
        except BusyError as busy:  # told when the lease is free
            log.debug("%s: %s", work.name(depth, item), busy)
            self._tell(work.attempt, Report(depth, item, self.holder, "busy", str(busy), work.kind))
            raise

    def _tell(self, attempt: str, report: Report) -> None:
        keys = AttemptKeys(attempt)
        try:
            self.nodes.call(lambda: self._report([keys.meta_key, keys.done_key], [report.text()]))
        except FarthestError as error:  # it will be sent again, and fail again
            log.warning("%s", error)


Opened = TypeVar("Opened", bound=Work)


def _is_message(attempt: object, depth: object, item: object) -> bool:
    """Whether the values can be those of a message: anyone who can write to the queue can write anything."""
    named = isinstance(attempt, str) and ATTEMPT_NAME.fullmatch(attempt)
    return bool(named) and all(type(number) is int and 0 <= number < 2**63 for number in (depth, item))


def _error(error: FarthestError) -> Error:
    if isinstance(error, LostStateError):
        return "lost"
    if isinstance(error, NoBaseError):
        return "no base"
    if isinstance(error, RedisFullError):
        return "full"
    return "no room" if isinstance(error, NoRoomError) else "failed"


# A process that is stuck, whose work neither ends nor uses the processor, ends itself. A separate thread renews its
# lease, so no other process would ever take the work over. The main process starts another process, and the coordinator
# sends the work again; work that is stuck again and again ends the job (coordinator/workers.py).

CHECK_SECONDS = 10.0
CHECKS = 6
"""So many checks in a row must find that no processor time was used. No regular wait is that long: waits for servers
have their own limits. Checks are counted instead of seconds, because time also passes while the whole process is
stopped."""


@contextmanager
def ended_if_stuck(name: str) -> Iterator[None]:
    """During the block, if the calling thread is stuck, this process ends, with the stacks of its threads on standard
    error. ``name``: the name of the work in the log."""
    if not hasattr(time, "pthread_getcpuclockid"):  # macOS
        yield
        return
    thread = threading.get_ident()
    under_way = _watch(os.getpid()).under_way
    under_way[thread] = _Watched(name, time.pthread_getcpuclockid(thread))
    try:
        yield
    finally:
        del under_way[thread]


@dataclass(eq=False, slots=True)
class _Watched:
    """The work of a thread. ``clock``: of its processor time; ``used``: at the last check; ``checks``: the checks in a
    row that found no more time used."""

    name: str
    clock: int
    used: float = -1.0
    checks: int = 0


class _Watch:
    """Checks the threads of this process, from a thread of its own."""

    def __init__(self) -> None:
        self.under_way: dict[int, _Watched] = {}
        threading.Thread(target=self._run, name="farthest-stuck", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(CHECK_SECONDS)
            for work in list(self.under_way.values()):
                try:
                    before, work.used = work.used, time.clock_gettime(work.clock)
                except OSError:  # its thread has ended
                    continue
                work.checks = work.checks + 1 if work.used == before else 0
                if work.checks >= CHECKS:
                    self._end(work)

    def _end(self, work: _Watched) -> None:
        seconds = work.checks * CHECK_SECONDS
        log.critical("%s is stuck: no processor used for %g s; ending this process", work.name, seconds)
        faulthandler.dump_traceback()
        os._exit(os.EX_SOFTWARE)


@cache
def _watch(pid: int) -> _Watch:
    return _Watch()
