"""`farthest verify`: the proof of a stored map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from farthest.cli.options import allow_module_option, database_option, json_option

if TYPE_CHECKING:
    from farthest.verify.report import Report

DISPROVED = 1


@click.command()
@click.argument("job")
@allow_module_option
@database_option
@json_option
@click.pass_context
def verify(context: click.Context, job: str, database: str | None, as_json: bool) -> None:
    """Prove a stored map by a separate, simple program.

    JOB is a job's number, or a puzzle's name for its newest finished job. Every state is looked at: distance
    0 exactly at the origin, every other state with a neighbour one nearer and none nearer than that, no
    reached state with an unreached successor; and checksums, layers, digest and known answers; and the job's
    figures and the readable rows of states. Exit status 0: proved; 1: disproved; 2: not proved, as the puzzle
    is a class that may not run.

    \b
    Example:
      farthest verify eight-kinds
    """
    from farthest.cli.opening import open_job
    from farthest.cli.printing import print_json
    from farthest.errors import ForbiddenCodeError

    with open_job(job, database) as opened:
        report = opened.verify()
        if as_json:
            print_json({"job": opened.job, **report.to_json()})
        else:
            _show(report, opened.job)
    if report.failures:
        context.exit(DISPROVED)
    if report.unproved:
        raise ForbiddenCodeError(
            "the distances were not proved, only that the stored bytes are whole and agree with each other: "
            f"{report.unproved}"
        )


def _show(report: Report, job: int) -> None:
    from farthest.cli.printing import print_table, seconds_text

    print_table(
        ("check", "", "looked at", "wrong", "what it proves"),
        [
            (
                check.name,
                "ok" if check.ok else "FAILED",
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
    verdict = "DISPROVED" if report.failures else "proved" if report.ok else "NOT PROVED"
    click.echo(f"\njob {job} ({report.puzzle}, {report.origin}): {verdict}; {report.total}")
    click.echo(f"in {seconds_text(report.seconds)}")
