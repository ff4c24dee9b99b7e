"""`farthest submit`, `watch`, `cancel` and `resume`: jobs that coordinators run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from farthest.cli import INTERRUPTED as CTRL_C
from farthest.cli.enumeration_options import settings_options, workers_option
from farthest.cli.jobs import why_waiting
from farthest.cli.options import (
    Workers,
    database_option,
    job_argument,
    jobs_to_change,
    json_option,
    usual_options,
)
from farthest.cli.printing import given_database, print_json, stderr_is_terminal, suggesting

if TYPE_CHECKING:
    from farthest.cli.progress import QuietReporter
    from farthest.coordinator.settings import Outcome, Settings
    from farthest.models.database import Database
    from farthest.models.jobs import Jobs
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle

Answer = TypeVar("Answer")

LOOK_SECONDS = 0.5
LONELY_SECONDS = 5.0
"""After so long without an owner a job may be waiting for a coordinator that nobody has started."""

UNFINISHED = 1
"""Exit status of `watch` when the job ended without a result."""


@click.command()
@settings_options()
@usual_options
def submit(puzzle: Puzzle, settings: Settings, database: str | None, as_json: bool) -> None:
    """Queue an enumeration of PUZZLE for `farthest coordinator`.

    PUZZLE and the options are those of `farthest enumerate`. The job waits in the database until a coordinator
    takes it; this command does not wait for it.

    \b
    Examples:
      farthest submit sliding-3x4
      farthest submit 8-puzzle --from start --json
    """
    from farthest.coordinator.enumeration.submission import submit_puzzle
    from farthest.models.database import open_database

    with open_database(database, create=True) as opened:
        record, needs = submit_puzzle(puzzle, opened, settings)
        if as_json:
            print_json({**_facts(record, opened), "states_at_most": needs.states_at_most})
        else:
            click.echo(
                f"Job {record.id} ({record.name}) is queued in {opened.place}: {needs.states_text}.\n"
                f"{suggesting('A `farthest coordinator` runs it')}; follow it with:\n\n"
                f"  farthest watch {record.id}{given_database()}"
            )


@click.command()
@job_argument
@database_option
@json_option
def cancel(job: str, database: str | None, as_json: bool) -> None:
    """Take a job out of the queue, or stop the work on it.

    JOB is a job's number or a puzzle's name. A name means the newest job. What was stored of it is kept: `farthest
    resume` goes on from there, `farthest delete` removes it.

    \b
    Example:
      farthest cancel 3
    """
    from farthest.coordinator.enumeration.submission import named_job

    with jobs_to_change(database) as (jobs, opened):
        record = jobs.cancel(named_job(jobs, job).id)
        _tell(record, opened, as_json, "is cancelled")


@click.command()
@job_argument
@click.option("--here", is_flag=True, help="Run it in the foreground instead of queueing it.")
@workers_option
@usual_options
def resume(job: str, here: bool, workers: Workers | None, database: str | None, as_json: bool) -> None:
    """Go on with a job that was cancelled, interrupted, or failed.

    JOB is a job's number or a puzzle's name. A name means the newest job. It goes on from its last checkpoint: run by a
    coordinator, or with --here by this process, as `farthest enumerate` would.

    \b
    Examples:
      farthest resume 3
      farthest resume 3 --here --workers celery
    """
    if workers is not None and not here:
        raise click.UsageError("--workers needs --here: a queued job is run by the workers of coordinators.")
    with jobs_to_change(database) as (jobs, opened):
        record = _enumeration(jobs, job, "resumed")
        if here:
            _run_here(record, jobs, opened, workers or "threads", as_json)
        else:
            _tell(jobs.requeue(record.id), opened, as_json, "is queued again")


@click.command()
@job_argument
@database_option
@json_option
@click.pass_context
def watch(context: click.Context, job: str, database: str | None, as_json: bool) -> None:
    """Follow a job that runs elsewhere until it ends.

    JOB is a job's number or a puzzle's name. A name means the newest job. Only the database is asked, so that any host
    may watch. Progress goes to standard error; at the end it prints what `farthest enumerate` prints. Ctrl-C ends
    the watching, not the job. Exit status 1: the job was cancelled, interrupted, or failed.

    \b
    Examples:
      farthest watch 3
      farthest watch 3 --json
    """
    from farthest.cli.enumeration import stored_outcome
    from farthest.models.records import FINISHED

    with jobs_to_change(database) as (jobs, opened):
        record = _enumeration(jobs, job, "watched")
        reporter = _watching(record)
        try:
            record = Follower(jobs, record.id, reporter).follow()
        except KeyboardInterrupt:
            reporter.stop()
            click.echo(f"Stopped watching; job {record.id} is not affected.", err=True)
            raise click.exceptions.Exit(CTRL_C) from None
        finally:
            reporter.stop()
        if record.status == FINISHED:
            _show_result(record, stored_outcome(opened, record), opened, as_json)
            return
    if as_json:
        print_json({**_facts(record, opened), "error": record.error})
    click.echo(f"Error: {suggesting(_why_ended(record))}", err=True)
    context.exit(UNFINISHED)


def _enumeration(jobs: Jobs, job: str, verb: str) -> JobRecord:
    """The job that is named. Raises JobError where it is a search, which cannot be that."""
    from farthest.coordinator.enumeration.submission import named_job
    from farthest.models.naming import a_search
    from farthest.models.records import SEARCH

    record = named_job(jobs, job)
    if record.kind == SEARCH:
        raise a_search(record, verb)
    return record


def _run_here(record: JobRecord, jobs: Jobs, database: Database, workers: Workers, as_json: bool) -> None:
    from farthest.cli.enumeration import run_in_foreground
    from farthest.coordinator.enumeration.job import continue_job
    from farthest.coordinator.settings import Settings
    from farthest.environment import CHECKPOINT_SECONDS
    from farthest.models.leases import owner_token
    from farthest.models.naming import wrong_state

    settings = Settings(workers=workers, checkpoint_seconds=CHECKPOINT_SECONDS.number())
    owner = owner_token()
    if not jobs.claim(record.id, owner):
        now = jobs.get(record.id)
        raise wrong_state(now.id, now.status, now.owner, "run here")
    claimed = jobs.get(record.id)
    outcome = run_in_foreground(
        lambda reporter: continue_job(claimed, database, settings, reporter, owner), database, None
    )
    _show_result(jobs.get(record.id), outcome, database, as_json)


def _show_result(record: JobRecord, outcome: Outcome, database: Database, as_json: bool) -> None:
    from farthest.cli.enumeration import print_outcome
    from farthest.models.stored_job import puzzle_of

    print_outcome(puzzle_of(record), outcome, database, as_json, status=record.status)


def _watching(record: JobRecord) -> QuietReporter:
    from farthest.cli.progress import LineReporter, LiveReporter
    from farthest.models.stored_job import puzzle_of, space_of

    if not stderr_is_terminal():
        return LineReporter()
    puzzle = puzzle_of(record)
    if not puzzle.definition.ready:
        return LiveReporter()
    keys = space_of(record, puzzle).keys
    return LiveReporter(puzzle.definition.arrangements() if keys is None else keys)


def _tell(record: JobRecord, database: Database, as_json: bool, what: str) -> None:
    if as_json:
        print_json(_facts(record, database))
    else:
        from farthest.models.records import SEARCH

        kept = "its iterations up to bound" if record.kind == SEARCH else "its layers up to"
        kept = "" if record.depth is None else f", with {kept} {record.depth}"
        click.echo(f"Job {record.id} ({record.name}) {what}{kept}.")


def _facts(record: JobRecord, database: Database) -> dict[str, Any]:
    return {"job": record.id, "puzzle": record.name, "status": record.status, "database": database.place}


class Follower:
    """Reads one job repeatedly until it ends, and passes its progress to ``reporter``."""

    def __init__(self, jobs: Jobs, job: int, reporter: QuietReporter) -> None:
        from farthest.environment import DATABASE_WAIT_SECONDS

        self._jobs = jobs
        self._job = job
        self._reporter = reporter
        self._patience = DATABASE_WAIT_SECONDS.number()
        self._waiting_since: float | None = None
        self._told = ""

    def follow(self) -> JobRecord:
        """The job when it has ended. Raises JobError when it is deleted, UnavailableError when the database is gone for
        longer than FARTHEST_DATABASE_WAIT_SECONDS."""
        from farthest.models.records import INTERRUPTED, QUEUED, RUNNING, now

        last: JobRecord | None = None
        while True:
            record = self._with_retries(lambda: self._jobs.get(self._job))
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

    def _with_retries(self, question: Callable[[], Answer]) -> Answer:
        from farthest.retry import retry_while_away

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
            if one.submitted and one.status == "running" and not one.abandoned
        ]
        if others:
            running = ", ".join(map(str, others))
            self._tell(f"Job {record.id} waits in the queue; coordinators run {running} now.")
        elif record.status == "queued":
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
            click.echo(suggesting(message), err=True)


def _ended(record: JobRecord) -> bool:
    if record.status == "running":
        return record.abandoned and not record.submitted
    return record.status != "queued"


def _why_ended(record: JobRecord) -> str:
    """How a job ended without a result, and how to continue it."""
    said = f": {record.error}" if record.error else ""
    again = "farthest resume" if record.submitted else "farthest resume --here"
    return (
        f"job {record.id} ({record.name}) is {record.state_now}{said}; `{again} {record.id}` goes on with it"
    )
