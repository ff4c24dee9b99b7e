"""A job that this process runs: its lease is renewed while it runs, and it is marked as interrupted where it stops."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from farthest.environment import DATABASE_WAIT_SECONDS
from farthest.errors import (
    FarthestError,
    JobError,
    LostStateError,
    NoRoomError,
    RedisFullError,
    StorageError,
    UnavailableError,
)
from farthest.map_files.place import job_token
from farthest.models.jobs import Jobs
from farthest.models.records import Setbacks, Takeovers
from farthest.retry import retry_while_away
from farthest.stores.redis.connections import MEMORY_VARIABLES
from farthest.wording import times

if TYPE_CHECKING:
    from farthest.models.database import Database
    from farthest.models.records import JobRecord


Result = TypeVar("Result")

PROGRESS_SECONDS = 1.0
"""How often the lease is renewed at least, and the progress stored with it."""


def attempt_of(record: JobRecord) -> str:
    """The beginning of the names of all attempts at a job."""
    return job_token(record.id, record.created, record.puzzle_digest)


class OwnedJob:
    """A job that ``owner`` has claimed. ``job``: its id; ``name``: the beginning of the names of its attempts.

    ``notice`` is called when the database is away; a write waits for it for FARTHEST_DATABASE_WAIT_SECONDS.
    ``hand_back``: an attempt that is told to stop puts the job back into the queue of coordinators.
    """

    def __init__(
        self,
        database: Database,
        record: JobRecord,
        owner: str,
        notice: Callable[[str], None],
        *,
        lease_seconds: float,
        hand_back: bool = False,
    ) -> None:
        self._database = database
        self._jobs = Jobs(database)
        self._owner = owner
        self._notice = notice
        self._lease_seconds = lease_seconds
        self._hand_back = hand_back
        self._progress: dict[str, Any] = {
            **Setbacks.of(record.progress).progress(),
            **Takeovers.of(record.progress).progress(),
        }
        self._lost = False
        self.while_waiting: Callable[[], None] = lambda: None  # called while the database is away
        self.job = record.id
        self.name = attempt_of(record)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Renews the job's lease during the block. The reason for a stop is stored with the job, which can be
        continued."""
        done = threading.Event()
        heart = threading.Thread(target=self._renew_until, args=(done,), name="farthest-lease", daemon=True)
        try:
            heart.start()
            yield
        except BaseException as error:
            self._interrupt(error)
            raise
        finally:
            done.set()
            if heart.ident is not None:
                heart.join()

    def _renew_until(self, done: threading.Event) -> None:
        while not done.wait(min(PROGRESS_SECONDS, self._lease_seconds / 3)):
            try:
                self._lost = not self._renew()
            except StorageError:
                # Busy with a checkpoint, which keeps others out too; any other failure shows at the next write.
                continue

    def _renew(self) -> bool:
        return self._jobs.renew(self.job, self._owner, self._lease_seconds, self._progress or None)

    def progress(self, **known: Any) -> None:
        """Adds to the job's progress, for those who watch the job; what is None is not known any more."""
        told = {**self._progress, **known}
        self._progress = {name: value for name, value in told.items() if value is not None}

    def check(self) -> None:
        """Raises JobError when this process no longer owns the job."""
        if self._lost:
            raise JobError(f"job {self.job} was cancelled, or another process has taken it over")

    def confirm(self) -> None:
        """Asks the database whether this process, which may have been stopped, still owns the job. Raises JobError."""
        self._lost = not self._with_retries(self._renew)
        self.check()

    def _interrupt(self, error: BaseException) -> None:
        reason = str(error) if isinstance(error, FarthestError) else type(error).__name__
        told_to = isinstance(error, KeyboardInterrupt)
        try:
            if self._hand_back and isinstance(error, NoRoomError):
                return  # the coordinator decides what happens to the job
            if self._hand_back and (told_to or isinstance(error, UnavailableError)):
                self._jobs.release(self.job, self._owner, None if told_to else reason)
            else:
                self._jobs.interrupt(self.job, None if told_to else reason, owner=self._owner)
        except FarthestError:  # the database is what failed: the lease will run out
            return

    def _with_retries(self, write: Callable[[], Result]) -> Result:
        """The result of ``write``, a transaction that is tried again while the database is away."""
        wait = DATABASE_WAIT_SECONDS.number
        return retry_while_away(write, wait, told=self._notice, while_waiting=self.while_waiting)


# --- Ctrl-C, SIGTERM and SIGHUP during an attempt: they are noted, and it stops after the layer, with a checkpoint.

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """An attempt was stopped. ``depth``: of the checkpoint that its job can go on from, None if there is none;
    ``folder``: where that is, None for the database."""

    def __init__(self, depth: int | None, folder: Path | None = None) -> None:
        super().__init__()
        self.depth = depth
        self.folder = folder


class LayerGivenUp(Exception):
    """The layer under way was given up because a signal asked the attempt to stop."""


class StopRequest:
    """Whether a signal has asked the attempt to stop."""

    def __init__(self, notice: Callable[[], None]) -> None:
        self.wanted = False
        self._notice = notice

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """The signal handler: the first signal is noted; a second one gives up the checkpoint that was to be taken."""
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        self._notice()


@contextmanager
def stop_requests(notice: Callable[[], None]) -> Iterator[StopRequest]:
    """Catches SIGINT, SIGTERM and SIGHUP during the block, and calls ``notice`` at the first. Leaves those alone that
    the process was told to ignore (``nohup``, a shell's background job). Does nothing outside the main thread, where no
    signals arrive.
    """
    request = StopRequest(notice)
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, request) for number in heeded}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


# --- The errors of jobs that are given up because their working state, or their coordinators, were lost too often.


def lost_again(error: LostStateError, since: str, losses: int, restarts: int) -> StorageError:
    """The error that ends the job. ``restarts``: how many of the losses came with a restart of Redis."""
    told = f"{error}; this is the {losses}th loss {since}"
    if not restarts:
        return LostStateError(
            f"{told}: look for what damages or evicts data in Redis, or take checkpoints more often"
        )
    return RedisFullError(
        f"{told}, and Redis was restarted {times(restarts)}: see its log. A Redis that uses more memory than its "
        "container or machine has is killed and starts empty: lower its maxmemory or raise that limit; "
        f"{MEMORY_VARIABLES}"
    )


def taken_over_again(record: JobRecord, takeovers: int) -> JobError:
    """The error of a job that seems to kill its coordinators."""
    kept = "nothing" if record.depth is None else f"nothing beyond depth {record.depth}"
    return JobError(
        f"the coordinators that ran it ended {takeovers} times in a row without a word, and stored {kept} meanwhile: "
        "it may need more memory than they have, or be killed by its puzzle; see their logs and those of the "
        f"system, then `farthest resume {record.id}` lets it go on"
    )
