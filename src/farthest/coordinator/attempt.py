"""What attempts at enumerations and at searches have in common: the job that this process owns, signals that ask it
to stop, losses of its working state, memory that runs out.

An attempt makes an ``OwnedJob`` of a job that it has ``claimed`` or ``added``, works within ``running()`` and
``stop_requests()``, calls ``check()`` now and then, and counts what it loses with ``Losses``.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from farthest.environment import DATABASE_WAIT_SECONDS
from farthest.errors import (
    FarthestError,
    JobError,
    LostStateError,
    MemoryUsedUpError,
    NoRoomError,
    RedisFullError,
    ResourceError,
    StorageError,
    UnavailableError,
)
from farthest.machine import available_memory
from farthest.models.jobs import Jobs
from farthest.models.leases import LEASE_SECONDS, owner_token
from farthest.models.records import ENUMERATION, JobRecord, Setbacks, Takeovers, job_token
from farthest.retry import retry_while_away
from farthest.wording import bytes_text, times

if TYPE_CHECKING:
    from farthest.models.database import Database
    from farthest.puzzles.puzzle import Puzzle


Result = TypeVar("Result")

PROGRESS_SECONDS = 1.0
"""How often the lease is renewed at least, and the progress stored with it."""

WATCH_SECONDS = 1.0
LEAST_FREE = 20
"""An enumeration by the default of ``--memory`` stops, or goes over to files, where less than one part in so many of
what was free at its start is left."""


def attempt_of(record: JobRecord) -> str:
    """The beginning of the names of all attempts at a job."""
    return job_token(record.id, record.created, record.puzzle_digest)


def attempt_name(job: OwnedJob | None) -> str:
    """The beginning of the names of a runner's attempts, where it has no job, too."""
    return f"0-{token_hex(4)}" if job is None else job.name


def layers_folder(scratch: Path, name: str) -> Path:
    """The folder of the layers in files of the job whose attempts are called ``name``."""
    return scratch / f"farthest-{name}"


def claimed(
    database: Database,
    puzzle: Puzzle,
    parameters: dict[str, Any],
    *,
    lease_seconds: float = LEASE_SECONDS,
    layout: dict[str, Any] | None = None,
) -> tuple[JobRecord, str] | None:
    """The unfinished job of the same puzzle and parameters which nobody runs, claimed by this process, with its owner's
    token; None where there is none. ``layout``: another one's job is left alone."""
    jobs, owner = Jobs(database), owner_token()
    begun = jobs.find_interrupted(puzzle.digest, parameters)
    if begun is None or (layout is not None and begun.layout != layout):
        return None
    return (begun, owner) if jobs.claim(begun.id, owner, lease_seconds) else None


def added(
    database: Database,
    puzzle: Puzzle,
    parameters: dict[str, Any],
    layout: dict[str, Any],
    *,
    kind: str = ENUMERATION,
    lease_seconds: float = LEASE_SECONDS,
) -> tuple[JobRecord, str]:
    """A new job, with the token of its owner, this process."""
    jobs, owner = Jobs(database), owner_token()
    number = jobs.add(
        puzzle.to_json(),
        puzzle.digest,
        puzzle.name,
        parameters,
        layout,
        owner,
        kind=kind,
        lease_seconds=lease_seconds,
    )
    return jobs.get(number), owner


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
        lease_seconds: float = LEASE_SECONDS,
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
        self._file = _identity(database.path)
        self.while_waiting: Callable[[], None] = lambda: None  # called while the database is away
        self.job = record.id
        self.name = attempt_of(record)

    @property
    def owner(self) -> str:
        """Who runs the job: this process."""
        return self._owner

    @property
    def database(self) -> Database:
        """Where the job is."""
        return self._database

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
                self._lost = self._is_other_file() or not self._renew()
            except StorageError:
                # Busy with a checkpoint, which keeps others out too; any other failure shows at the next write.
                continue

    def _is_other_file(self) -> bool:
        """Whether the database's file was deleted, or another is in its place."""
        try:
            return _identity(self._database.path) != self._file
        except OSError:  # its disk is away: the next write tells
            return False

    def _renew(self) -> bool:
        return self._jobs.renew(self.job, self._owner, self._lease_seconds, self._progress or None)

    def progress(self, **facts: Any) -> None:
        """Adds to the job's progress, for those who watch the job; what is None is not known any more."""
        merged = {**self._progress, **facts}
        self._progress = {name: value for name, value in merged.items() if value is not None}

    def check(self) -> None:
        """Raises JobError when this process no longer owns the job, and as ``check_file``: what the last renewal of the
        lease has shown."""
        if self._lost:
            self.check_file()
            raise JobError(f"job {self.job} was cancelled, or another process has taken it over")

    def check_file(self) -> None:
        """Raises StorageError where the database's file was deleted, or another is in its place: what is written now
        goes into a file that nobody can open again."""
        if self._is_other_file():
            raise StorageError(
                f"{self._database.place}: the file was deleted or replaced while job {self.job} ran: what the job has "
                "stored is lost; enumerate or search again"
            )

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
                kept = {name: one for name, one in self._progress.items() if name == "files_depth"}
                self._jobs.interrupt(self.job, None if told_to else reason, owner=self._owner, progress=kept)
        except FarthestError:  # the database is what failed: the lease will run out
            return

    def _with_retries(self, write: Callable[[], Result]) -> Result:
        """The result of ``write``, a transaction that is tried again while the database is away."""
        wait = DATABASE_WAIT_SECONDS.number
        return retry_while_away(write, wait, told=self._notice, while_waiting=self.while_waiting)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _identity(path: Path | None) -> tuple[int, int] | None:
    """What tells a database's file from another of the same name; None where there is no file. Raises OSError where it
    cannot be seen now."""
    try:
        found = None if path is None else path.stat()
    except FileNotFoundError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


class Interrupted(KeyboardInterrupt):
    """An attempt was stopped. ``depth``: of the checkpoint that its job can go on from, None if there is none;
    ``folder``: where that is, None for the database."""

    def __init__(self, depth: int | None, folder: Path | None = None) -> None:
        super().__init__()
        self.depth = depth
        self.folder = folder


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


class Losses:
    """How often the working state was lost since anything was stored: ``since``, in words. After ``allowed`` losses the
    job is given up."""

    def __init__(self, allowed: int, since: str) -> None:
        self.number = 0
        self._allowed = allowed
        self._since = since
        self._restarts = 0  # of servers, among the losses

    def forget(self) -> None:
        """Something was stored."""
        self.number = self._restarts = 0

    def add(self, error: LostStateError, *, restarted: bool) -> None:
        """Counts a loss; ``restarted``: a server was, too. Raises StorageError where there were too many."""
        self.number += 1
        self._restarts += restarted
        if self.number > self._allowed:
            raise self._given_up(error) from error

    def _given_up(self, error: LostStateError) -> StorageError:
        text = f"{error}; lost {times(self.number)} {self._since}"
        if not self._restarts:
            return LostStateError(
                f"{text}: look for what damages or evicts data in Redis, or take checkpoints more often"
            )
        from farthest.stores.redis.connections import MEMORY_VARIABLES

        return RedisFullError(
            f"{text}, and Redis was restarted {times(self._restarts)}: see its log. A Redis that uses more memory than "
            "its container or machine has is killed and starts empty: lower its maxmemory or raise that limit; "
            f"{MEMORY_VARIABLES}"
        )


class SqueezedError(MemoryUsedUpError):
    """Other programs use the memory that a run counts on."""


class MemoryWatch:
    """Whether the memory that a run counts on is free while it runs: the default of what it may use goes by what is
    free at its start, and other programs may take that. ``wanted``: nobody has said how much it may use."""

    def __init__(self, *, wanted: bool) -> None:
        self._least = available_memory() // LEAST_FREE if wanted else 0
        self._due = monotonic() + WATCH_SECONDS

    def check(self) -> None:
        """Raises SqueezedError where hardly any memory is left. Looks about once a second."""
        if not self._least or monotonic() < self._due:
            return
        self._due = monotonic() + WATCH_SECONDS
        free = available_memory()
        if free < self._least:
            raise SqueezedError(
                f"only {bytes_text(free)} of memory is left, because other programs use it too; free some, or say with "
                "--memory how much this one may use"
            )


@contextmanager
def memory_errors(puzzle: Puzzle) -> Iterator[None]:
    """Raises ResourceError where the system gives this process no more memory."""
    try:
        yield
    except MemoryError as error:
        raise ResourceError(
            f"puzzle {puzzle.name}: the system gives this process no more memory; free some, or see ulimit -v"
        ) from error
