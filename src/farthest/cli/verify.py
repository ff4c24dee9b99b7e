"""`farthest verify`: the proof of a stored map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from farthest.cli.completion import complete_job
from farthest.cli.options import (
    allow_module_option,
    byte_size,
    database_option,
    json_option,
    scratch_option,
)

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.verify.report import Report

DISPROVED = 1


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option(
    "--memory",
    metavar="SIZE",
    callback=byte_size,
    help="Memory for the proof of a large residue map, such as 4GiB.  [default: 4/5 of what is free]",
)
@scratch_option
@allow_module_option
@database_option
@json_option
@click.pass_context
def verify(
    context: click.Context,
    job: str,
    memory: int | None,
    scratch: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Prove a stored map by a separate, simple program.

    JOB is a job's number, or a puzzle's name for its newest map, complete if there is one. Every state is
    checked: the distance is 0 exactly at the origin, every other state has a neighbour one nearer and none nearer than
    that, and no reached state has an unreached successor. So are checksums, layers, digest and known answers, the job's
    figures, and the readable rows of states. SQLite checks the whole database file, and digests say whether all rows of
    the job are as they were stored. The solutions of a search are played. The job keeps the
    mark of a proof. Exit status 0: proved; 1: disproved; 2: what
    is stored is damaged or cannot be read, or it was not proved because the puzzle is a class that may not run.

    \b
    Example:
      farthest verify eight-kinds
    """
    from farthest.cli.opening import open_job
    from farthest.cli.printing import print_json
    from farthest.errors import ForbiddenCodeError

    number, report = _without_map(job, database) or (0, None)
    if report is None:
        with open_job(job, database) as opened:
            number, report = opened.job, opened.verify(memory, scratch)
    if as_json:
        print_json({"job": number, **report.to_json()})
    else:
        _show(report, number)
    if report.failures:
        context.exit(DISPROVED)
    if report.unproved:
        raise ForbiddenCodeError(
            "the distances were not proved, only that the stored bytes are whole and agree with each other: "
            f"{report.unproved}"
        )


def _without_map(job: str, database: str | None) -> tuple[int, Report] | None:
    """The report of a finished job without a map that is named by its number; None for any other job."""
    if not job.isdecimal():
        return None
    from farthest.cli.messages import note
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.records import FINISHED
    from farthest.queries.proof import prove_without_map

    with open_database(database, create=False) as opened:
        record = Jobs(opened).find(job)
        if record.status != FINISHED or record.has_map:
            return None
        return record.id, prove_without_map(opened, record, note)


def _show(report: Report, job: int) -> None:
    from farthest.cli.printing import print_table
    from farthest.wording import seconds_text

    print_table(
        ("check", "", "looked at", "wrong", "what it proves"),
        [
            (
                check.name,
                ("none" if check.note else "ok") if check.ok else "FAILED",
                f"{check.checked:,}",
                f"{check.failed:,}",
                check.proves,
            )
            for check in report.checks
        ],
        right="llrrl",
    )
    for check in report.failures:
        click.echo(f"\n{check.name}: {check.detail or 'the first wrong state:'}")
        if check.first is not None:
            click.echo(f"  {check.first}")
    for check in report.checks:
        if check.note:
            click.echo(f"\n{check.name}: {check.note}")
    done = "proved" if report.keys else "nothing wrong found"
    verdict = "DISPROVED" if report.failures else done if report.ok else "NOT PROVED"
    click.echo(f"\njob {job} ({report.puzzle}, {report.origin}): {verdict}; {report.total}")
    click.echo(f"in {seconds_text(report.seconds)}")
