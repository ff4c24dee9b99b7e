"""Surveys: the parts that are not done are done side by side, by threads or by workers, and stored as they end."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from farthest.cosets import CosetSet
from farthest.environment import DATABASE_WAIT_SECONDS
from farthest.errors import BusyError, JobError, LostStateError, StorageError
from farthest.models.surveys import Done, StoredSurvey, Surveys
from farthest.retry import retry_while_away
from farthest.starts import TABLES, Part, needs_of, surveyed
from farthest.stores.blobs.coset_bits import CosetCheckpoint
from farthest.stores.blobs.folder import scratch_place
from farthest.version import __version__
from farthest.wording import bytes_text, counted

if TYPE_CHECKING:
    from farthest.coordinator.workers import Workers
    from farthest.models.database import Database
    from farthest.starts import Starts
    from farthest.stores.redis.connections import RedisNodes

log = logging.getLogger(__name__)

Result = TypeVar("Result")

AHEAD, MOST_AHEAD = 2, 32
"""Parts that are begun or wait for each process of a worker: of those that take less time than a transaction many are
stored in one. For each thread it is the most."""
AHEAD_SECONDS = 0.2
"""The parts that wait for a process take so long, as far as these numbers allow."""
LEAST_AHEAD = 4
TELL_SECONDS = 1.0
"""After so long it is told how far parts are that take longer."""
TOLD = 3
"""So many of them."""
SILENT_SECONDS = 10.0
"""What another coordinator has sent is left to it unless it was not seen for so long; each is seen every second."""
LOSSES_ALLOWED = 5
"""How often in a row Redis may lose an attempt of which no part was stored."""


@dataclass(frozen=True, slots=True)
class SurveyProgress:
    """Of so many ``parts`` so many are ``done``; ``components``: that these have kept now; ``workers`` that live.
    ``under_way``: how far long parts are, by their numbers."""

    parts: int
    done: int
    components: int
    workers: int | None = None
    under_way: Mapping[int, str] = field(default_factory=dict)

    def __str__(self) -> str:
        kept = f", {self.components:,} components kept" if self.components else ""
        by = "" if self.workers is None else f", {counted(self.workers, 'worker')}"
        far = list(dict.fromkeys(self.under_way.values()))[:TOLD]
        at = f"; at {', at '.join(far)}" if far else ""
        return f"{self.done:,} of {counted(self.parts, 'part')}{kept}{by}{at}"


Watch = Callable[[SurveyProgress], None]


class _Survey:
    """A survey that is under way. ``job`` stands for it in the names of attempts (stores/redis/attempts.py): the same
    for coordinators of this version that divide these starts into as many parts, whatever their database."""

    def __init__(
        self,
        starts: Starts,
        database: Database,
        parts: int | None,
        watch: Watch,
        notice: Callable[[str], None],
    ) -> None:
        self.starts = starts
        self._notice = notice
        self.while_waiting: Callable[[], None] = lambda: None  # called while the database is away
        self.storing = False  # parts are being stored, or could not be
        self._interrupted = False
        self._surveys = Surveys(database)
        begun = self._surveys.begin(starts, parts)
        self._number = begun.id
        self.parts = begun.record.parts
        self._done, self._components = begun.done, begun.components
        same = hashlib.sha256(f"{__version__} {self.parts} {begun.record.starts_of}".encode())
        self.job = f"survey-{same.hexdigest()[:16]}"
        self._watch = watch
        self.workers: int | None = None
        self.able = False  # a worker has had the memory for a part
        self.under_way: dict[int, str] = {}

    def interrupt(self) -> None:
        """Raises KeyboardInterrupt, once parts are stored that are being stored."""
        self._interrupted = True
        if not self.storing:
            self._heed()

    def _heed(self) -> None:
        if self._interrupted:
            raise KeyboardInterrupt

    def missing(self) -> list[int]:
        """The parts that are not stored."""
        found = self._asked(lambda: self._surveys.missing(self._number))
        self._done = self.parts - len(found)
        return found

    def store(self, done: list[Done]) -> None:
        """Stores parts, each unless another process has, and tells the progress."""
        self.storing = True
        fresh = self._asked(lambda: self._surveys.store(self._number, done)) if done else set()
        self._components += sum(
            len(found.components) for part, found, _ in done if part in fresh and isinstance(found, Part)
        )
        self._done += len(fresh)
        self.tell()
        self.storing = False
        self._heed()

    def tell(self) -> None:
        """Tells the progress."""
        under_way = dict(sorted(self.under_way.items()))
        self._watch(SurveyProgress(self.parts, self._done, self._components, self.workers, under_way))

    def ended(self) -> StoredSurvey:
        """The survey as it is stored."""
        return self._asked(lambda: self._surveys.get(self._number))

    def _asked(self, transaction: Callable[[], Result]) -> Result:
        """What a transaction gives, which is tried again while the database is away."""

        def while_waiting() -> None:
            self._heed()
            self.while_waiting()

        wait = DATABASE_WAIT_SECONDS.number
        return retry_while_away(transaction, wait, told=self._notice, while_waiting=while_waiting)


def survey_by_threads(
    starts: Starts,
    database: Database,
    *,
    threads: int,
    parts: int | None = None,
    watch: Watch,
    notice: Callable[[str], None] = log.warning,
) -> StoredSurvey:
    """Does the parts of a survey that are not stored; ``parts``: into how many a new one is divided. Of a part that is
    under way nothing is kept at an interrupt but the checkpoint of a long coset, of which ``notice`` hears. Raises
    JobError where the survey is deleted meanwhile, ResourceError where memory is too scarce for a part."""
    from farthest.coordinator.attempt import stop_requests

    survey = _Survey(starts, database, parts, watch, notice)
    at_a_time, each, place = threads, 1, None
    if isinstance(starts, CosetSet):
        at_a_time, each = starts.shares(threads)
        place = scratch_place(database.folder) if starts.of.needs.all_threads else None
    ended, kept = Event(), dict[int, CosetCheckpoint]()

    def do(part: int) -> Done:
        began = perf_counter()
        if place is not None and isinstance(starts, CosetSet):
            kept[part] = CosetCheckpoint(place, starts, part, notice)

        def heed(told: str) -> None:
            if stop.wanted:
                raise BusyError("stopped")
            if ended.is_set():
                raise JobError("ended")
            if told == TABLES or perf_counter() - began > TELL_SECONDS:
                survey.under_way[part] = told

        try:
            return part, *surveyed(starts, part, survey.parts, each, heed, kept.get(part))
        finally:
            survey.under_way.pop(part, None)

    missing = iter(survey.missing())
    survey.tell()
    pool = ThreadPoolExecutor(at_a_time)
    with stop_requests(lambda: None) as stop:
        try:
            waiting: set[Future[Done]] = set()
            while True:
                while len(waiting) < MOST_AHEAD * at_a_time and (part := next(missing, None)) is not None:
                    waiting.add(pool.submit(do, part))
                if not waiting:
                    return survey.ended()
                some, waiting = wait(waiting, TELL_SECONDS, return_when=FIRST_COMPLETED)
                done = [one.result() for one in some if one.exception() is None]
                survey.store(done)
                for part, *_ in done:
                    if part in kept:
                        kept.pop(part).drop()
                if stop.wanted:
                    for each_kept in [*kept.values()]:
                        each_kept.stop()
                    pool.shutdown(cancel_futures=True)  # a second signal ends it
                    raise KeyboardInterrupt
                for one in some:
                    one.result()
        finally:
            ended.set()
            for each_kept in kept.values():
                each_kept.given_up = True
            pool.shutdown(wait=False, cancel_futures=True)


def survey_by_workers(
    starts: Starts,
    database: Database,
    *,
    parts: int | None = None,
    watch: Watch,
    notice: Callable[[str], None],
    nodes: RedisNodes | None = None,
) -> StoredSurvey:
    """The same, by `farthest worker` processes on any hosts, through Redis. ``notice`` hears that no worker is alive,
    or that Redis is away. SIGTERM and SIGHUP interrupt it as SIGINT does: workers leave its parts. Raises
    UnavailableError where Redis stays away, JobError where workers cannot do a part, or none has the memory for one.
    """
    from farthest.coordinator.attempt import stop_requests
    from farthest.coordinator.workers import Workers
    from farthest.environment import REDIS_WAIT_SECONDS
    from farthest.stores.redis.attempts import drop_dead
    from farthest.stores.redis.connections import RedisNodes

    survey = _Survey(starts, database, parts, watch, notice)
    nodes = nodes or RedisNodes.from_environment(REDIS_WAIT_SECONDS.number(), notice)
    nodes.check()
    workers = Workers(nodes)
    losses = 0
    try:
        with stop_requests(survey.interrupt):
            _others(survey, nodes)
            # Others may be at the same survey: only what coordinators that were lost long ago left is removed.
            nodes.call(lambda: drop_dead(nodes, ""))
            while missing := survey.missing():
                survey.tell()
                try:
                    _attempt(survey, missing, nodes, workers, notice)
                except LostStateError as error:
                    losses = losses + 1 if len(survey.missing()) == len(missing) else 0
                    if losses == LOSSES_ALLOWED:
                        raise
                    notice(f"{error}; the parts that are not stored are sent again")
        return survey.ended()
    finally:
        workers.close()
        nodes.close()


def _others(survey: _Survey, nodes: RedisNodes, own: str = "") -> tuple[set[int], set[int]]:
    """Stores what workers have found for coordinators of the same survey that were killed, and removes their attempts.
    Returns these parts, and those that living coordinators have sent, except of the attempt ``own``."""
    from farthest.stores.redis.attempts import SEEN_SECONDS, job_of, seen
    from farthest.worker.survey import SurveyWork

    taken, theirs = set[int](), set[int]()
    for attempt, silence in nodes.call(lambda: seen(nodes)).items():
        if job_of(attempt) != survey.job or attempt == own:
            continue
        work = SurveyWork(nodes, attempt)
        with suppress(LostStateError):
            if silence <= SEEN_SECONDS:
                theirs |= work.wanted() if silence <= SILENT_SECONDS else set()
                continue
            left, missing = work.left(), set(survey.missing())
            found = [(part, done.found, done.seconds) for part, done in left.items() if part in missing]
            survey.store(found)
            taken.update(left)
        work.drop()
    return taken, theirs


def _attempt(
    survey: _Survey, missing: list[int], nodes: RedisNodes, workers: Workers, notice: Callable[[str], None]
) -> None:
    """Lets workers do the parts. Raises LostStateError where Redis has lost what they found."""
    from farthest.coordinator.workers import Outstanding
    from farthest.stores.redis.attempts import new_attempt, touch
    from farthest.worker.survey import Done as DonePart
    from farthest.worker.survey import SurveyWork

    work = SurveyWork(nodes, new_attempt(survey.job))
    work.create(survey.starts, survey.parts)
    survey.while_waiting = lambda: nodes.call(lambda: touch(nodes, work.attempt))
    outstanding = Outstanding(work, 0, workers.publisher, renew=work.want)
    needs = needs_of(survey.starts)
    taken = set[int]()
    waiting: Iterator[int] = (part for part in missing if part not in taken)
    theirs = set[int]()
    at_a_time, each, noted = 1, AHEAD, False
    workers.count_soon()
    try:
        while True:
            alive = workers.count()
            if alive is not None:
                fresh, theirs = _others(survey, nodes, work.attempt)
                if theirs:
                    left = survey.missing()
                    fresh |= {part for part in missing if part in outstanding} - {*left}
                    waiting = iter([part for part in left if part not in outstanding and part not in theirs])
                if fresh:
                    taken |= fresh
                    outstanding.forget(fresh)
                    work.forget(fresh)
                outstanding.alive = alive.workers > 0
                at_a_time = alive.workers if needs and needs.all_threads else alive.processes
                if alive.certain:
                    survey.workers = alive.workers
                    survey.under_way = work.under_way_now(outstanding)
                    survey.able |= any(told != TABLES for told in survey.under_way.values())
                    survey.tell()
                    least = needs.table_bytes + needs.coset_bytes if needs else 0
                    if needs and not survey.able and alive.memory is not None and alive.memory < least:
                        raise JobError(
                            f"{survey.starts.name}: a coset needs {bytes_text(needs.coset_bytes)} of memory beside "
                            f"{bytes_text(needs.table_bytes)} of tables; the largest worker had "
                            f"{bytes_text(alive.memory)} free when it began"
                        )
                if alive.note:
                    notice(alive.note)
            ahead = max(LEAST_AHEAD, each * at_a_time)
            more = list(islice(waiting, max(0, ahead - len(outstanding))))
            work.want(more)
            outstanding.send(more)
            if not (outstanding or theirs):
                return
            parts = sorted(outstanding.wait())
            if outstanding.busy and not noted:
                noted = True
                notice(f"a worker waits: {outstanding.busy}")
            if parts:
                survey.able = True
                found = work.records(0, parts, DonePart)
                survey.store([(part, done.found, done.seconds) for part, done in found.items()])
                work.forget(parts)
                seconds = sum(done.seconds for done in found.values()) / len(found)
                each = min(MOST_AHEAD, max(AHEAD, int(AHEAD_SECONDS / max(seconds, 0.001))))
    finally:
        if not survey.storing:  # else the same command stores later what has been found
            with suppress(StorageError), nodes.waiting(0):  # a later coordinator removes what is left
                work.drop()
