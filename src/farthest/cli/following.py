"""Following a job that runs elsewhere, through the database only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from farthest.environment import DATABASE_WAIT_SECONDS
from farthest.models.jobs import Jobs
from farthest.models.records import INTERRUPTED, QUEUED, RUNNING, now
from farthest.retry import retry_while_away

if TYPE_CHECKING:
    from farthest.cli.progress import QuietReporter
    from farthest.models.database import Database
    from farthest.models.records import JobRecord

Answer = TypeVar("Answer")

LOOK_SECONDS = 0.5
LONELY_SECONDS = 5.0
"""After so long without an owner a job may be waiting for a coordinator that nobody has started."""


class Follower:
    """Reads one job repeatedly until it ends, and passes its progress to ``reporter``."""

    def __init__(self, database: Database, job: int, reporter: QuietReporter) -> None:
        self._jobs = Jobs(database)
        self._job = job
        self._reporter = reporter
        self._patience = DATABASE_WAIT_SECONDS.number()
        self._waiting_since: float | None = None
        self._told = ""

    def follow(self) -> JobRecord:
        """The job when it has ended. Raises JobError when it is deleted, UnavailableError when the database is gone for
        longer than FARTHEST_DATABASE_WAIT_SECONDS."""
        last: JobRecord | None = None
        while True:
            record = self._look()
            # An attempt that ends with an error marks its job as interrupted; its coordinator as failed right after.
            if _ended(record) and (record.status != INTERRUPTED or last == record):
                return record
            if record.status == RUNNING and not record.abandoned:
                self._waiting_since = None
                if record.progress and (last is None or record.progress != last.progress):
                    begun = record.started or record.created
                    self._reporter.followed(record.progress, (now() - begun).total_seconds())
                    if record.progress.get("workers") == 0:
                        self._tell(
                            f"Job {record.id} needs workers, but none is alive: start `farthest worker`."
                        )
            elif record.status == QUEUED and record.error:
                self._tell(f"Job {record.id} {why_waiting(record)}.")
            else:
                self._wait(record)
            last = record
            time.sleep(LOOK_SECONDS)

    def _look(self) -> JobRecord:
        return self._with_retries(lambda: self._jobs.get(self._job))

    def _with_retries(self, question: Callable[[], Answer]) -> Answer:
        return retry_while_away(question, lambda: self._patience, told=lambda text: self._tell(f"{text}."))

    def _wait(self, record: JobRecord) -> None:
        """Reports that nobody runs the job yet."""
        if self._waiting_since is None:
            self._waiting_since = time.monotonic()
        if time.monotonic() - self._waiting_since < LONELY_SECONDS:
            return
        others = [
            one.id
            for one in self._with_retries(self._jobs.list)
            if one.submitted and one.status == RUNNING and not one.abandoned
        ]
        if others:
            running = ", ".join(map(str, others))
            self._tell(f"Job {record.id} waits in the queue; coordinators run {running} now.")
        elif record.status == QUEUED:
            self._tell(
                f"Job {record.id} waits in the queue, but no coordinator is running: start `farthest coordinator`."
            )
        else:
            self._tell(
                f"Job {record.id} waits for another coordinator, because its coordinator has ended: "
                "start `farthest coordinator`."
            )

    def _tell(self, message: str) -> None:
        if message != self._told:
            self._told = message
            click.echo(message, err=True)


def _ended(record: JobRecord) -> bool:
    if record.status == RUNNING:
        return record.abandoned and not record.submitted
    return record.status != QUEUED


def why_waiting(record: JobRecord) -> str:
    """Why a queued job was handed back, and when it is tried again."""
    until = record.not_before
    again = "" if until is None else f"; tried again at {until:%H:%M:%S} UTC"
    return f"is queued and waits: {record.error}{again}"


def why_ended(record: JobRecord) -> str:
    """How a job ended without a result, and how to continue it."""
    said = f": {record.error}" if record.error else ""
    again = "farthest resume" if record.submitted else "farthest resume --here"
    return (
        f"job {record.id} ({record.name}) is {record.state_now}{said}; `{again} {record.id}` goes on with it"
    )
