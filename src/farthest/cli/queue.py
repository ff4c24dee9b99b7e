"""`farthest submit`, `watch`, `cancel` and `resume`: jobs that coordinators run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.completion import complete_job
from farthest.cli.enumeration import Workers
from farthest.cli.options import (
    allow_module_option,
    database_option,
    json_option,
    kind_of_map,
    named_origin,
    puzzle_argument,
    result_options,
    workers_option,
)

if TYPE_CHECKING:
    from farthest.cli.progress import QuietReporter
    from farthest.coordinator.settings import Outcome
    from farthest.models.database import Database
    from farthest.models.records import JobRecord

UNFINISHED = 1
"""Exit status of `watch` when the job ended without a result."""


@click.command()
@puzzle_argument
@result_options
@allow_module_option
@database_option
@json_option
def submit(
    puzzle: str,
    from_: tuple[str, ...],
    to: tuple[str, ...],
    max_depth: int | None,
    map_: str | None,
    histogram_only: bool,
    database: str | None,
    as_json: bool,
) -> None:
    """Queue an enumeration of PUZZLE for `farthest coordinator`.

    PUZZLE and the options are those of `farthest enumerate`. The job waits in the database until a coordinator
    takes it; this command does not wait for it.

    \b
    Examples:
      farthest submit sliding-3x4
      farthest submit 8-puzzle --from start --json
    """
    named = named_origin(from_, to)
    histogram_only, residues = kind_of_map(map_, histogram_only)
    from farthest.cli.printing import counted, print_json
    from farthest.coordinator.enumeration.queue import submit_puzzle
    from farthest.coordinator.settings import Settings
    from farthest.families.user_input import origin_given
    from farthest.models.database import open_database
    from farthest.puzzles.catalogue import load

    definition = load(puzzle)
    settings = Settings(
        origin=origin_given(definition, named),
        max_depth=max_depth,
        histogram_only=histogram_only,
        residues=residues,
    )
    with open_database(database, create=True) as opened:
        record, at_most = submit_puzzle(definition, opened, settings)
        if as_json:
            print_json({**_facts(record, opened), "states_at_most": at_most})
        else:
            click.echo(
                f"Job {record.id} ({record.name}) is queued in {opened.place}: at most {counted(at_most, 'state')}.\n"
                f"A `farthest coordinator` runs it; follow it with:\n\n  farthest watch {record.id}"
            )


@click.command()
@click.argument("job", shell_complete=complete_job)
@database_option
@json_option
def cancel(job: str, database: str | None, as_json: bool) -> None:
    """Take a job out of the queue, or stop the coordinator's work on it.

    JOB is a job's number, or a puzzle's name for its newest job. What was stored of it is kept: `farthest
    resume` goes on from there, `farthest delete` removes it.

    \b
    Example:
      farthest cancel 3
    """
    from farthest.coordinator.enumeration.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        jobs = Jobs(opened)
        record = jobs.cancel(named_job(jobs, job).id)
        _tell(record, opened, as_json, "is cancelled")


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option("--here", is_flag=True, help="Run it in the foreground instead of queueing it.")
@workers_option
@allow_module_option
@database_option
@json_option
def resume(job: str, here: bool, workers: Workers | None, database: str | None, as_json: bool) -> None:
    """Go on with a job that was cancelled, interrupted, or failed.

    JOB is a job's number, or a puzzle's name for its newest job. It goes on from its last checkpoint: run by a
    coordinator, or with --here by this process, as `farthest enumerate` would.

    \b
    Examples:
      farthest resume 3
      farthest resume 3 --here --workers celery
    """
    if workers is not None and not here:
        raise click.UsageError("--workers needs --here: a queued job is run by the workers of coordinators.")
    from farthest.coordinator.enumeration.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import a_search
    from farthest.models.records import SEARCH

    with open_database(database, create=False) as opened:
        jobs = Jobs(opened)
        record = named_job(jobs, job)
        if record.kind == SEARCH:
            raise a_search(record, "resumed")
        if here:
            _run_here(record, opened, workers or "threads", as_json)
        else:
            _tell(jobs.requeue(record.id), opened, as_json, "is queued again")


@click.command()
@click.argument("job", shell_complete=complete_job)
@database_option
@json_option
@click.pass_context
def watch(context: click.Context, job: str, database: str | None, as_json: bool) -> None:
    """Follow a job that runs elsewhere until it ends.

    JOB is a job's number, or a puzzle's name for its newest job. Only the database is asked, so that any host
    may watch. Progress goes to standard error; at the end it prints what `farthest enumerate` prints. Ctrl-C ends
    the watching, not the job. Exit status 1: the job was cancelled, interrupted, or failed.

    \b
    Examples:
      farthest watch 3
      farthest watch 3 --json
    """
    from farthest.cli.enumeration import stored_outcome
    from farthest.cli.following import Follower, why_ended
    from farthest.cli.printing import print_json
    from farthest.coordinator.enumeration.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import a_search
    from farthest.models.records import FINISHED, SEARCH

    with open_database(database, create=False) as opened:
        record = named_job(Jobs(opened), job)
        if record.kind == SEARCH:
            raise a_search(record, "watched")
        reporter = _watching(record)
        try:
            record = Follower(opened, record.id, reporter).follow()
        except KeyboardInterrupt:
            reporter.stop()
            click.echo(f"Stopped watching; job {record.id} is not affected.", err=True)
            raise
        finally:
            reporter.stop()
        if record.status == FINISHED:
            _show_result(record, stored_outcome(opened, record), opened, as_json)
            return
    if as_json:
        print_json({**_facts(record, opened), "error": record.error})
    click.echo(f"Error: {why_ended(record)}", err=True)
    context.exit(UNFINISHED)


def _run_here(record: JobRecord, database: Database, workers: Workers, as_json: bool) -> None:
    from farthest.cli.enumeration import run_in_foreground
    from farthest.coordinator.enumeration.job import continue_job
    from farthest.coordinator.settings import Settings
    from farthest.environment import CHECKPOINT_SECONDS
    from farthest.models.jobs import Jobs
    from farthest.models.leases import owner_token
    from farthest.models.naming import wrong_state

    settings = Settings(workers=workers, checkpoint_seconds=CHECKPOINT_SECONDS.number())
    jobs, owner = Jobs(database), owner_token()
    if not jobs.claim(record.id, owner):
        now = jobs.get(record.id)
        raise wrong_state(now.id, now.status, now.owner, "run here")
    claimed = jobs.get(record.id)
    outcome = run_in_foreground(
        lambda reporter: continue_job(claimed, database, settings, reporter, owner), database, None
    )
    _show_result(jobs.get(record.id), outcome, database, as_json)


def _show_result(record: JobRecord, outcome: Outcome, database: Database, as_json: bool) -> None:
    from farthest.cli.enumeration import goals_met, outcome_document, show_outcome, warn_of_difference
    from farthest.cli.printing import print_json
    from farthest.models.stored_job import origin_of, puzzle_of

    puzzle, origin = puzzle_of(record), origin_of(record)
    warn_of_difference(puzzle, outcome, origin)
    met = goals_met(puzzle, outcome, database, origin, has_map=record.has_map)
    if as_json:
        print_json(outcome_document(outcome, database, met) | {"status": record.status})
    else:
        show_outcome(puzzle, outcome, database, origin, has_map=record.has_map, met=met)


def _watching(record: JobRecord) -> QuietReporter:
    from farthest.cli.progress import LineReporter, LiveReporter
    from farthest.models.stored_job import puzzle_of, space_of

    if sys.stderr is None or not sys.stderr.isatty():
        return LineReporter()
    puzzle = puzzle_of(record)
    if not puzzle.definition.ready:
        return LiveReporter()
    keys = space_of(record, puzzle).keys
    return LiveReporter(puzzle.definition.arrangements() if keys is None else keys)


def _tell(record: JobRecord, database: Database, as_json: bool, what: str) -> None:
    from farthest.cli.printing import print_json

    if as_json:
        print_json(_facts(record, database))
    else:
        from farthest.models.records import SEARCH

        kept = "its iterations up to bound" if record.kind == SEARCH else "its layers up to"
        kept = "" if record.depth is None else f", with {kept} {record.depth}"
        click.echo(f"Job {record.id} ({record.name}) {what}{kept}.")


def _facts(record: JobRecord, database: Database) -> dict[str, Any]:
    return {"job": record.id, "puzzle": record.name, "status": record.status, "database": database.place}
