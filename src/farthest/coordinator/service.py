"""The loop of `farthest coordinator`: takes submitted jobs from the database, one after another, and runs them.

Any number of coordinators may share a database: the one that has claimed a job runs it, and another one as soon as that
one is dead or silent for longer than its lease.
"""

from __future__ import annotations

import logging
import time

from farthest import metrics, tracing
from farthest.coordinator.attempt import StopRequest, attempt_of, stop_requests
from farthest.coordinator.enumeration.job import continue_job
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Estimate, Outcome, Settings
from farthest.environment import (
    BLOCK_SIZE,
    CHECKPOINT_SECONDS,
    DATABASE_WAIT_SECONDS,
    LEASE_SECONDS,
    REDIS_WAIT_SECONDS,
    SMALL_LAYER_STATES,
    WORKER_MEMORY,
)
from farthest.errors import (
    FarthestError,
    JobError,
    NoRoomError,
    RedisFullError,
    RedisTooSmallError,
    SettingError,
    StorageError,
    UnavailableError,
)
from farthest.families.python.allowed import allowed_modules
from farthest.logs import about, say
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.leases import SERVICE_LEASE_SECONDS, Silence, owner_token
from farthest.models.records import CANCELLED, INTERRUPTED, QUEUED, RUNNING, JobRecord, Setbacks, Takeovers
from farthest.retry import retry_while_away
from farthest.stores.blobs.place import BlobPlace
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.places import place_of

log = logging.getLogger(__name__)

LOOK_SECONDS = 60.0


class Leftovers:
    """Removes the keys of attempts at jobs of this database that nobody runs: their coordinators could not remove them,
    because Redis was away. ``place``: of their blobs, where they are elsewhere."""

    def __init__(self, jobs: Jobs, nodes: RedisNodes, place: BlobPlace | None = None) -> None:
        self._jobs = jobs
        self._nodes = nodes
        self._place = place
        self._due = 0.0

    def remove(self) -> None:
        """Removes them, at most once in LOOK_SECONDS. Raises StorageError."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + LOOK_SECONDS
        with self._nodes.errors():
            for attempt in attempts.drop_ended(self._nodes, self._ended, self._place):
                log.info(
                    "attempt %s has ended; its leftovers in Redis and among the blobs were removed", attempt
                )

    def _ended(self) -> set[str]:
        return {attempt_of(record) for record in self._jobs.list() if record.status != RUNNING}


POLL_SECONDS = 1.0
LONGEST_PAUSE = 30.0
"""The longest pause between two tries to reach a server that is away: pauses double from POLL_SECONDS to this."""

SETBACKS_ALONE = 5
"""How often in a row a job that is alone in Redis may be handed back because Redis is full."""

TAKEOVERS_ALLOWED = 5
"""How often in a row a job may be taken over without a deeper checkpoint in between."""

SLICE_SECONDS = 0.1
"""How soon a signal ends a pause."""

LAYER_LINE_SECONDS = 1.0


class Service:
    """One coordinator. Making it connects to both servers, and raises FarthestError where that fails."""

    def __init__(self, database: Database, nodes: RedisNodes) -> None:
        self._jobs = Jobs(database)
        self._database = database
        self._nodes = nodes
        self._owner = owner_token()
        self._failures = 0
        self._place = place_of(nodes)
        self._leftovers = Leftovers(self._jobs, nodes, self._place)
        self._silence = Silence()
        self._owed: tuple[JobRecord, NoRoomError] | None = None
        self._pause = POLL_SECONDS
        self._settings = Settings(
            workers="celery",
            checkpoint_seconds=CHECKPOINT_SECONDS.number(),
            lease_seconds=SERVICE_LEASE_SECONDS,
            hand_back=True,
        )
        _check_settings()
        retry_while_away(nodes.check)
        retry_while_away(self._place.check)

    def run(self, *, once: bool = False) -> int:
        """Runs jobs until a signal asks it to stop, or with ``once`` until no job is left that can be run now. Returns
        how many failed, or wait because there was no room for them.

        A job that is under way at the signal stores a checkpoint and is handed back to the queue.
        """
        log.info("coordinator %s: waiting for jobs in %s", self._owner, self._database.place)
        if allowed_modules():
            log.info("puzzle classes of these modules may run: %s", ", ".join(sorted(allowed_modules())))
        with stop_requests(lambda: say("stopping")) as stop:
            while not stop.wanted:
                try:
                    if self._owed is not None:
                        self._set_back(*self._owed)
                    record = self._jobs.claim_next(self._owner, SERVICE_LEASE_SECONDS, self._silence)
                    self._pause = POLL_SECONDS
                    if record is not None:
                        number, name = record.id, record.name
                        with about(job=number, puzzle=name), tracing.span("job", job=number, puzzle=name):
                            self._run_job(record, stop)
                    elif once:
                        self._failures += self._waiting()
                        break
                    else:
                        self._leftovers.remove()
                        _pause(POLL_SECONDS, stop)
                except StorageError as error:
                    if once:
                        raise
                    log.warning("%s", error)
                    self._wait_for_servers(stop)
                except KeyboardInterrupt:
                    break
        log.info("stopped")
        return self._failures

    def _waiting(self) -> int:
        waiting = [job for job in self._jobs.list() if job.submitted and job.not_before is not None]
        for job in waiting:
            log.warning("job %d waits: %s", job.id, job.error)
        return len(waiting)

    def _run_job(self, record: JobRecord, stop: StopRequest) -> None:
        """Runs a claimed job to its end, or hands it back if there is no room. Raises UnavailableError or
        KeyboardInterrupt after handing it back."""
        log.info("job %d (%s): claimed", record.id, record.name)
        takeovers = Takeovers.of(record.progress).times
        if takeovers > TAKEOVERS_ALLOWED:
            self._settle(record, _taken_over_again(record, takeovers))
            return
        reporter = LogReporter(record.id, stop)
        try:
            continue_job(record, self._database, self._settings, reporter, self._owner)
        except (KeyboardInterrupt, UnavailableError) as error:
            self._hand_back(record, error)
            raise
        except SettingError as error:  # they were right at the start: the place of blobs is not what it was
            away = UnavailableError(str(error))
            self._hand_back(record, away)
            raise away from error
        except NoRoomError as error:
            self._set_back(record, error)
        except RedisTooSmallError as error:
            if _has_run(record):  # Redis has less memory than before, and may have more again
                self._set_back(record, RedisFullError(str(error)))
            else:
                self._settle(record, error)
        except Exception as error:
            self._settle(record, error)
        finally:
            stop.wanted |= reporter.stop_heard

    def _hand_back(self, record: JobRecord, error: BaseException) -> None:
        """Puts a job back into the queue, unless the attempt has done so; if the database is away, its lease runs
        out."""
        try:
            reason = str(error) if isinstance(error, FarthestError) else None
            released = self._jobs.release(record.id, self._owner, reason)
            if not released and self._jobs.get(record.id).status != QUEUED:
                return  # cancelled, taken over, or finished
        except FarthestError as problem:
            log.warning("job %d: not handed back: %s", record.id, problem)
            return
        depth = getattr(error, "depth", None)
        checkpoint = "" if depth is None else f", with a checkpoint at depth {depth}"
        log.info("job %d: handed back to the queue%s", record.id, checkpoint)

    def _set_back(self, record: JobRecord, error: NoRoomError) -> None:
        """Puts a job that there is no room for back into the queue, to be tried again later. If Redis was full
        repeatedly without another job in it, the job has failed. Raises as ``Jobs.set_back``."""
        self._owed = record, error  # until it is stored, which may itself fail for lack of room
        try:
            now = self._jobs.get(record.id)
        except JobError as gone:  # deleted
            log.warning("%s", gone)
            self._owed = None
            return
        if isinstance(error, RedisFullError) and self._alone(record):
            setbacks = Setbacks.of(now.progress).one_more(now.depth)
            if setbacks.times > SETBACKS_ALONE:
                reason = f"{error}; that happened {setbacks.times} times with no other job in Redis, so it does not fit"
                self._settle(record, RedisFullError(reason))
                self._owed = None
                return
        until = self._jobs.set_back(record.id, self._owner, str(error))
        self._owed = None
        if until is None:
            log.warning("job %d: %s", record.id, error)  # cancelled, or taken over
            return
        log.warning("job %d: handed back until %s: %s", record.id, until.strftime("%H:%M:%S UTC"), error)

    def _alone(self, record: JobRecord) -> bool:
        """Whether Redis has no attempt at another job. Raises UnavailableError."""
        with self._nodes.errors():
            return not attempts.others(self._nodes, attempt_of(record))

    def _settle(self, record: JobRecord, error: Exception) -> None:
        """Stores why a job ended without a result, unless it was cancelled or has another owner by now."""
        try:
            now = self._jobs.get(record.id)
            if now.status == CANCELLED:
                log.info("job %d: cancelled", record.id)
                return
            if now.status not in (RUNNING, INTERRUPTED) or now.owner not in (self._owner, None):
                log.warning("job %d: %s", record.id, error)
                return
            reason = str(error) if isinstance(error, FarthestError) else f"{type(error).__name__}: {error}"
            self._jobs.fail(record.id, reason, owner=now.owner)
        except JobError as gone:  # deleted
            log.warning("%s", gone)
            return
        except StorageError:  # its lease runs out, and it is run again
            log.error("job %d: %s", record.id, error)
            raise
        self._failures += 1
        log.error(
            "job %d: failed: %s",
            record.id,
            reason,
            exc_info=None if isinstance(error, FarthestError) else error,
        )

    def _wait_for_servers(self, stop: StopRequest) -> None:
        while not stop.wanted:
            _pause(self._pause, stop)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            try:
                self._nodes.ask()
                self._place.check()
                self._jobs.list()
            except (StorageError, SettingError) as error:
                log.debug("%s", error)
            else:
                log.info("the servers answer again")
                return


class LogReporter(Reporter):
    """Reports one job in the log. A signal that came before the attempt caught signals ends it here; one that came when
    the attempt was nearly over is kept in ``stop_heard``."""

    def __init__(self, job: int, stop: StopRequest) -> None:
        self._job = job
        self._stop = stop
        self._logged = time.monotonic()
        self.stop_heard = False

    def estimate(self, estimate: Estimate) -> None:
        log.info("job %d: %s", self._job, estimate.states_text)

    def resuming(self, job: int, depth: int, share: float) -> None:
        if self._stop.wanted:
            raise KeyboardInterrupt
        if share == 0:
            log.info("job %d: reading the checkpoint at depth %d", job, depth)

    def begun_anew(self, job: int, depth: int, seconds: float) -> None:
        reason = "and reading their checkpoint would take longer"
        log.info(
            "job %d: starts over: its layers up to depth %d took %.1f s, %s", job, depth, seconds, reason
        )

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        log.info("job %d: continues after depth %d", job, depth)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if self._stop.wanted:
            raise KeyboardInterrupt
        if time.monotonic() - self._logged >= LAYER_LINE_SECONDS:
            self._logged = time.monotonic()
            log.info("job %d: depth %d: %s new, %s states", self._job, depth, f"{states:,}", f"{total:,}")

    def checkpoint(self, depth: int, seconds: float) -> None:
        metrics.observe(metrics.CHECKPOINT_SECONDS, seconds)
        log.info("job %d: checkpoint at depth %d, in %.2f s", self._job, depth, seconds)

    def notice(self, text: str) -> None:
        log.warning("job %d: %s", self._job, text)

    def stopping(self) -> None:
        self.stop_heard = True
        say(f"job {self._job}: stopping with a checkpoint; the same signal again stops without one")

    def finished(self, outcome: Outcome) -> None:
        log.info(
            "job %d: finished: %s states, depth %d, in %.2f s, digest %s",
            self._job,
            f"{outcome.states:,}",
            len(outcome.layers) - 1,
            outcome.seconds,
            outcome.digest,
        )


def _has_run(record: JobRecord) -> bool:
    """Whether Redis was once large enough for a job: it has a checkpoint, or was handed back because there was no
    room."""
    return record.depth is not None or Setbacks.of(record.progress).times > 0


def _check_settings() -> None:
    """Raises SettingError for settings that would otherwise end every job."""
    for number in (DATABASE_WAIT_SECONDS, REDIS_WAIT_SECONDS, LEASE_SECONDS, SMALL_LAYER_STATES):
        number.number()
    for size in (BLOCK_SIZE, WORKER_MEMORY):
        size.size()
    allowed_modules()


def _pause(seconds: float, stop: StopRequest) -> None:
    until = time.monotonic() + seconds
    while not stop.wanted and (left := until - time.monotonic()) > 0:
        time.sleep(min(SLICE_SECONDS, left))


def _taken_over_again(record: JobRecord, takeovers: int) -> JobError:
    """The error of a job that seems to kill its coordinators."""
    stored = "nothing" if record.depth is None else f"nothing beyond depth {record.depth}"
    return JobError(
        f"the coordinators that ran it ended {takeovers} times in a row without an error message, and stored "
        f"{stored} meanwhile: "
        "it may need more memory than they have, or be killed by its puzzle; see their logs and those of the "
        f"system, then `farthest resume {record.id}` continues it"
    )
