"""The work of surveys: their parts.

In Redis, with the prefix of the attempt's keys (worker/work.py):

    meta        hash: the set of starts, and into how many parts the survey is divided
    wanted:0    hash: the parts that were sent and are not stored; messages of others are dropped
    found:0     hash, the records: what a part has found, and its seconds, until the coordinator has stored it
    told:0      hash: how far a long part is, for people
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from errno import EPERM
from fcntl import LOCK_EX, LOCK_NB, flock
from math import inf
from tempfile import gettempdir
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import msgspec

from farthest.cosets import CosetSet
from farthest.environment import REDIS_WAIT_SECONDS
from farthest.errors import (
    BusyError,
    LateStepError,
    ResourceError,
    SettingError,
    StorageError,
)
from farthest.machine import cores
from farthest.starts import TABLES, Found, Starts, needs_of, starts_of, surveyed
from farthest.stores.blobs.coset_bits import CosetCheckpoint
from farthest.stores.blobs.folder import scratch_place
from farthest.stores.redis.attempts import SEEN_SECONDS, prefix, seen, unbelieved
from farthest.stores.redis.places import place_outside
from farthest.stores.redis.records import numbers
from farthest.untrusted_json import read_json_object
from farthest.worker.work import ENDING, WAIT_SECONDS, Work, WorkerProcess

if TYPE_CHECKING:
    from farthest.stores.redis.connections import RedisNodes


log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
"""After so long a process that is at a part tells how far it is, and asks whether anybody waits for it. One that was
told to end gives a part back that takes longer."""
TOLD_SECONDS = 60
MOST_TOLD = 100
BUSY_SECONDS = 1.0
"""A process that cannot do a part waits so long before it says so: the part is sent again at once."""


class Done(msgspec.Struct, frozen=True):
    """What a part has found, and the seconds that it took (``surveyed``)."""

    found: Found
    seconds: float


class SurveyWork(Work):
    """The parts of an attempt at a survey, which has one depth, 0."""

    kind = "survey"
    item_name = "part {item} of a survey"
    whole_name = "the parts of a survey"
    under_way = "survey"

    def __init__(self, nodes: RedisNodes, attempt: str) -> None:
        super().__init__(nodes, attempt)
        self._holder = ""
        self._starts: Starts
        self._parts = 0

    def records_key(self, depth: int) -> str:
        return f"{prefix(self.attempt)}found:{depth}"

    # For coordinators

    def create(self, starts: Starts, parts: int) -> None:
        """Makes the attempt known."""
        self.make_known({"starts": json.dumps(starts.fields()), "parts": str(parts), self.under_way: "0"})

    def want(self, parts: Iterable[int]) -> None:
        """Says that parts are to be done."""
        wanted: Any = dict.fromkeys(map(str, parts), "")
        if wanted:
            self.nodes.call(lambda: self.nodes.main.hset(self._wanted_key, mapping=wanted))

    def forget(self, parts: Iterable[int]) -> None:
        """Removes what parts have found: it is stored."""
        pipe = self.nodes.main.pipeline()
        for key in (self._wanted_key, self.records_key(0)):
            pipe.hdel(key, *map(str, parts))
        self.nodes.call(pipe.execute)

    def wanted(self) -> set[int]:
        """The parts that were sent and are not stored."""
        parts: Any = self.nodes.call(lambda: self.nodes.main.hkeys(self._wanted_key))
        return {*numbers(parts, self._wanted_key)}

    def left(self) -> dict[int, Done]:
        """What parts have found that was not removed yet. Raises LostStateError where it is damaged."""
        key = self.records_key(0)
        parts: Any = self.nodes.call(lambda: self.nodes.main.hkeys(key))
        return self.records(0, numbers(parts, key), Done)

    def under_way_now(self, parts: Container[int]) -> dict[int, str]:
        """How far those of the parts are that take long."""
        told: Any = self.nodes.call(lambda: self.nodes.main.hgetall(self._told_key))
        return {
            int(part): text.decode(errors="replace")[:MOST_TOLD]
            for part, text in told.items()
            if part.isdigit() and int(part) in parts
        }

    @property
    def _wanted_key(self) -> str:
        return f"{prefix(self.attempt)}wanted:0"

    @property
    def _told_key(self) -> str:
        return f"{prefix(self.attempt)}told:0"

    # For workers

    def open(self, process: WorkerProcess) -> None:
        fields = self.known("starts")
        with unbelieved(self.attempt):
            self._starts = starts_of(read_json_object(fields["starts"]))
            self._parts = int(fields["parts"])
        self._holder = process.holder

    def do(self, depth: int, item: int) -> None:
        nobody_waits = LateStepError(f"attempt {self.attempt}: nobody waits for {self.name(depth, item)}")
        if not self._waiting(item):  # a message that waited for long was sent again
            raise nobody_waits
        looked, silent = perf_counter(), False

        def heed(told: str) -> None:
            nonlocal looked, silent
            if told == TABLES or perf_counter() - looked > LOOK_SECONDS:
                before = silent
                waiting, silent = self._look(item, told)
                looked = perf_counter()
                if not (waiting or silent):  # another process has done it
                    raise nobody_waits
                if ENDING.is_set() or (silent and (before or not waiting)):
                    raise BusyError("")  # a checkpoint is left

        found, seconds, kept = self._survey(item, heed)
        with self.nodes.waiting(max(WAIT_SECONDS, min(seconds, REDIS_WAIT_SECONDS.number()))):
            if not self.set_found(depth, item, Done(found, seconds), self._holder, self._wanted_key):
                raise nobody_waits
        if kept is not None:
            kept.drop()

    def _checkpoint(self, part: int) -> CosetCheckpoint | None:
        """That of a coset that takes all threads."""
        assert isinstance(self._starts, CosetSet)
        try:
            place = place_outside(lasting=True) or scratch_place(None)
            return CosetCheckpoint(place, self._starts, part, log.warning)
        except SettingError as error:
            log.warning("cosets leave no checkpoints: %s", error)
            return None

    def _waiting(self, part: int) -> bool:
        """Whether the result of a part is waited for, and not found yet."""

        def read() -> bool:
            pipe = self.nodes.main.pipeline()
            pipe.hexists(self._wanted_key, str(part))
            pipe.hexists(self.records_key(0), str(part))
            return pipe.execute() == [True, False]

        return self.nodes.call(read)

    def _look(self, part: int, told: str) -> tuple[bool, bool]:
        """Tells how far a part is. Whether it is waited for; and whether its coordinator is silent: it has ended, or
        was killed, or Redis was away and it has not been seen again yet."""
        waiting, silence = True, 0.0

        def write() -> None:
            pipe = self.nodes.main.pipeline()
            pipe.hset(self._told_key, str(part), told)
            pipe.expire(self._told_key, TOLD_SECONDS)
            pipe.execute()

        with suppress(StorageError), self.nodes.waiting(0):
            self.nodes.call(write)
            waiting = self._waiting(part)
            silence = self.nodes.call(lambda: seen(self.nodes)).get(self.attempt, inf)
        return waiting, silence > SEEN_SECONDS

    def _survey(self, part: int, heed: Callable[[str], None]) -> tuple[Found, float, CosetCheckpoint | None]:
        """As ``surveyed``, and the checkpoint. A part that takes all threads is done where no other process of this
        user is at such a one. Raises BusyError, which says what memory is too scarce for."""
        needs, kept = needs_of(self._starts), None
        if needs is None:
            return *surveyed(self._starts, part, self._parts, 1, heed), kept
        if needs.all_threads and ENDING.is_set():
            raise BusyError("")
        try:
            with _alone() if needs.all_threads else nullcontext():
                if needs.all_threads:
                    kept = self._checkpoint(part)
                return *surveyed(self._starts, part, self._parts, cores(), heed, kept), kept
        except BlockingIOError:
            problem = ""
        except (ResourceError, MemoryError) as error:
            problem = str(error) or "the system gives this process no more memory"
        sleep(BUSY_SECONDS)
        raise BusyError(problem)


@contextmanager
def _alone() -> Iterator[None]:
    """Raises BlockingIOError where another process of this user is in such a block, on this machine; ResourceError
    where that cannot be known. The folder is among temporary files, since machines may share a home."""
    name = os.path.join(gettempdir(), f"farthest-{os.getuid()}")
    try:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700)
        if os.lstat(name).st_uid != os.getuid():
            raise PermissionError(EPERM, "it is another user's")
        file = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise ResourceError(
            f"{name}: {error.strerror}; expected a folder of this user, by which one coset is done at a time; remove "
            "it, or set TMPDIR"
        ) from None
    try:
        flock(file, LOCK_EX | LOCK_NB)
        yield
    finally:
        os.close(file)
