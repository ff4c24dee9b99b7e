"""`farthest jobs`, `show` and `delete`: the jobs of a database."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from farthest.cli.options import (
    completed,
    database_option,
    job_argument,
    jobs_to_change,
    json_option,
    number_option,
    scratch_option,
    stored_jobs,
)
from farthest.cli.printing import print_facts, print_json, print_table, suggesting, warn
from farthest.errors import FarthestError, JobError, UnavailableError
from farthest.wording import bytes_text, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from farthest.documents.jobs import Rows
    from farthest.models.database import Database
    from farthest.models.job_reader import JobReader
    from farthest.models.jobs import Jobs
    from farthest.models.records import JobRecord, LayerRecord
    from farthest.models.searches import Searches

WIDEST, NARROWEST = 100, 80
"""Columns of a line."""
PUZZLE_COLUMN, ORIGIN_COLUMN = 1, 2
MOST_STATES = 10**12
"""Numbers of states from this on are rounded."""
MOST_SECONDS = 10**4
"""Seconds from this on have no fractions; a thousand times as many are rounded."""


def print_jobs(records: Sequence[JobRecord]) -> None:
    """The table of the jobs; names and origins are cut where a line would be too wide."""
    print_table(
        ("job", "puzzle", "origin", "status", "states", "depth", "seconds", "created (UTC)"),
        [_row(record) for record in records],
        right="rlllrrrl",
        width=_width(),
        shortened=(PUZZLE_COLUMN, ORIGIN_COLUMN),
    )


def _row(record: JobRecord) -> tuple[str, ...]:
    from farthest.documents.jobs import origin_text

    return (
        str(record.id),
        record.name,
        origin_text(record),
        record.state_now,
        "" if record.states is None else _states(record.states),
        "" if (depth := record.known_depth) is None else f"{depth}{'' if record.complete else '+'}",
        "" if record.seconds is None else _seconds(record.seconds),
        _minute(record.created),
    )


def _width() -> int:
    """Columns of the list: a terminal may be narrow."""
    if sys.stdout is None or not sys.stdout.isatty():
        return WIDEST
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


def _states(states: int) -> str:
    return f"{states:,}" if states < MOST_STATES else f"{states:.4g}"


def _seconds(seconds: float) -> str:
    return (
        f"{seconds:.3f}"
        if seconds < MOST_SECONDS
        else f"{seconds:,.0f}"
        if seconds < 1000 * MOST_SECONDS
        else f"{seconds:.4g}"
    )


def _verified(record: JobRecord) -> str:
    """When `farthest verify` has proved what is stored, and which version."""
    proof = record.verified
    if proof is None:
        return "no"
    return f"{_minute(proof.made)} UTC by farthest {proof.version}, {len(proof.checks)} checks"


def _minute(moment: datetime) -> str:
    """A moment as it is listed."""
    return moment.strftime("%Y-%m-%d %H:%M")


LISTED = 20
"""Solutions that are listed for people."""


@click.command()
@database_option
@json_option
def jobs(database: str | None, as_json: bool) -> None:
    """List the jobs of the database, the newest last.

    Of a search the board is named instead of the origin, and the depth is the length of its solutions. Long names and
    boards are cut so that a line has 100 columns at most, on a narrower terminal 80: --json and `farthest show` have
    the whole. Tables of bounds, which searches make and which belong to no job, follow with their sizes.

    \b
    Example:
      farthest jobs
    """
    from farthest.documents.jobs import job_summary
    from farthest.heuristics.table_files import TableFiles

    with stored_jobs(database) as (stored, opened):
        records, damages = stored.survey()
        tables = TableFiles(opened.path, opened.place).of_bounds()
        if as_json:
            print_json(
                {
                    "database": opened.place,
                    "jobs": [job_summary(record) for record in records],
                    "tables": [{"table": name, "bytes": size} for name, size in tables.items()] or None,
                }
            )
        elif not records and not damages:
            click.echo(suggesting(f"No jobs in {opened.place}; `farthest enumerate PUZZLE` makes one."))
        else:
            print_jobs(records)
            for record in records:
                if record.status == "queued" and record.error:
                    click.echo(f"Job {record.id} {why_waiting(record)}.")
            for name, size in tables.items():
                click.echo(f"Table of bounds {name}, made by a search: {bytes_text(size)}.")
        if damages:
            raise damages[0]


@click.command()
@job_argument
@click.option(
    "--oeis", is_flag=True, help="Print the layers as a b-file of the OEIS, with how they were computed."
)
@number_option("--offset", help="With --oeis: number of the first line.  [default: 0]")
@database_option
@json_option
def show(job: str, oeis: bool, offset: int | None, database: str | None, as_json: bool) -> None:
    """Show one job: its puzzle, its state, its layers.

    Of a search it shows iterations and solutions. JOB is a job's number or a puzzle's name. A name means the newest
    finished enumeration.

    \b
    Examples:
      farthest show 1
      farthest show 8-puzzle --json
      farthest show pancake-14 --oeis > b-file.txt
    """
    if oeis and as_json:
        raise click.UsageError("--oeis prints a text, but --json asks for JSON: leave one of them out.")
    if offset is not None and not oeis:
        raise click.UsageError("--offset numbers the lines of --oeis, which is not given: add it.")
    with stored_jobs(database) as (stored, opened):
        record = stored.find(job)
        if oeis:
            _print_oeis(record, stored, offset or 0)
            return
        if record.kind == "search":
            from farthest.documents.searches import search_document
            from farthest.models.searches import Searches

            searches = Searches(opened)
            if as_json:
                print_json({**search_document(record, searches), "database": opened.place})
            else:
                _show_search(record, searches, opened)
            return
        layers = stored.layers(record.id)
        if as_json:
            from farthest.documents.jobs import enumeration_document

            print_json({**enumeration_document(record, layers), "database": opened.place})
        else:
            _show_enumeration(record, layers, opened)


def _print_oeis(record: JobRecord, stored: JobReader, first: int) -> None:
    from farthest.models.stored_job import puzzle_of
    from farthest.queries.citation import oeis_lines

    if record.kind == "search":
        raise JobError(f"job {record.id} is a search, which has no layers; name an enumeration")
    told = (record.progress or {}).get("layers", [])  # of a job whose layers are in files
    layers = [layer.states for layer in stored.layers(record.id)] or told
    for line in oeis_lines(record, puzzle_of(record), layers, first):
        click.echo(line)
    if not record.complete:
        warn(f"job {record.id} is {record.state_now}, and these are not all of its layers")


def why_waiting(record: JobRecord) -> str:
    """Why a queued job was handed back, and when it is tried again."""
    until = record.not_before
    again = "" if until is None else f"; tried again at {until:%H:%M:%S} UTC"
    return f"is queued and waits: {record.error}{again}"


def _show_enumeration(record: JobRecord, layers: list[LayerRecord], database: Database) -> None:
    from farthest.documents.jobs import LAYER, layer_rows, map_text

    _print_job(record, database, [("map", map_text(record))])
    if layers:
        click.echo()
        print_table(LAYER, layer_rows(layers), right="rrr")


def _show_search(record: JobRecord, searches: Searches, database: Database) -> None:
    from farthest.documents.searches import ITERATION, iteration_rows, search_paths

    _print_job(record, database, [])
    iterations = searches.iterations(record.id)
    if iterations:
        click.echo()
        print_table(ITERATION, iteration_rows(iterations), right="rrrrrr")
    paths = search_paths(record, searches, LISTED)
    if paths:
        from farthest.cli.solutions import list_ways
        from farthest.search.contract import way_of

        click.echo()
        list_ways(map(way_of, paths), len(paths))


def _print_job(record: JobRecord, database: Database, kept: Rows) -> None:
    """The facts of a job. ``kept``: what is kept of its distances."""
    from farthest.documents.jobs import asked_rows, progress_rows, result_rows
    from farthest.models.stored_job import puzzle_of

    waits = record.kind == "enumeration" and record.status == "queued" and record.error
    status = record.state_now + (f": {record.error}" if record.error else "")
    progress = ", ".join(f"{name} {value}" for name, value in progress_rows(record))
    result = result_rows(record)
    print_facts(
        [
            ("job", f"{record.id} in {database.place}"),
            ("puzzle", f"{record.name}: {puzzle_of(record).title}"),
            *asked_rows(record),
            ("status", why_waiting(record) if waits else status),
            ("created", f"{_minute(record.created)} UTC"),
            *kept,
            *([("progress", progress)] if progress else []),
            *result,
            *([("verified", _verified(record))] if result else []),
        ]
    )


_RANGE = re.compile(r"(\d{1,99})-(\d{1,99})", re.ASCII)


@click.command()
@click.argument("jobs", metavar="JOB...", nargs=-1, required=True, shell_complete=completed("job"))
@scratch_option
@database_option
@json_option
def delete(jobs: tuple[str, ...], scratch: Path | None, database: str | None, as_json: bool) -> None:
    """Delete jobs and all that is stored of them, without asking.

    JOB is a job's number, a range of numbers such as 60-70, a puzzle's name, which means its newest finished
    enumeration, or a table of bounds as `farthest jobs` names it. Of a range, the jobs that exist are deleted; if a job
    that is named alone does not exist, nothing is deleted. A running job is not deleted: the others are, and the exit
    status is 2. The space of the jobs in the database is free for later jobs; an SQLite file does not become smaller.

    \b
    Examples:
      farthest delete 1
      farthest delete 51 52 60-70
    """
    from farthest.environment import scratch_folder
    from farthest.heuristics.table_files import TableFiles

    with jobs_to_change(database) as (stored, opened):
        files = TableFiles(opened.path, opened.place)
        tables = sorted(files.of_bounds().keys() & set(jobs))
        wanted = _wanted(stored, [text for text in jobs if text not in tables])

        def report(gone: _Gone) -> None:
            if not as_json:
                what = "which was damaged" if gone.puzzle is None else gone.puzzle
                click.echo(f"Deleted job {gone.job} ({what}) from {opened.place}: {bytes_text(gone.bytes)}.")

        deleted, problem = _delete(stored, wanted, scratch_folder(scratch, opened.folder), report)
        size = sum(one.bytes for one in deleted)
        for name in tables:
            size += (freed := files.remove(f"{name}.table"))
            if not as_json:
                click.echo(f"Deleted table {name} from {files.folder}: {bytes_text(freed)}.")
        if as_json:
            alone = len(jobs) == len(deleted) == 1 and _RANGE.fullmatch(jobs[0].strip()) is None
            named = {"job": deleted[0].job, "puzzle": deleted[0].puzzle} if alone else {}
            print_json(
                {**named, "deleted": deleted, "tables": tables, "bytes": size, "database": opened.place}
            )
        elif len(jobs) > 1 or (not tables and len(wanted) != 1):
            click.echo(f"{counted(len(deleted), 'job')} deleted: {bytes_text(size)}.")
        if problem is not None:
            raise problem


@dataclass(frozen=True, slots=True)
class _Gone:
    """A job that is deleted; ``puzzle``: its puzzle's name, None where that was damaged."""

    job: int
    puzzle: str | None
    bytes: int


def _delete(
    jobs: Jobs, wanted: dict[int, str | None], scratch: Path, report: Callable[[_Gone], None]
) -> tuple[list[_Gone], FarthestError | None]:
    """Deletes jobs one after the other: those that are deleted, each reported, and why others are not."""
    from farthest.stores.folder.journal import remove_layers

    deleted: list[_Gone] = []
    refused: list[str] = []
    for number, name in wanted.items():
        try:
            layers = _layers(jobs, number, scratch)
            size = jobs.delete(number)
            size += 0 if layers is None else remove_layers(layers)
        except JobError as error:
            refused.append(str(error))
            continue
        except FarthestError as error:  # of the database: the next would fail as well
            return deleted, error
        deleted.append(_Gone(number, name, size))
        report(deleted[-1])
    return deleted, JobError("; ".join(refused)) if refused else None


def _layers(jobs: Jobs, number: int, scratch: Path) -> Path | None:
    """The folder of the job's layers, where it was stopped and they were in files."""
    from farthest.coordinator.attempt import attempt_of, layers_folder

    try:
        return layers_folder(scratch, attempt_of(jobs.get(number)))
    except UnavailableError:
        raise
    except FarthestError:  # a damaged job must be removable
        return None


def _wanted(jobs: Jobs, texts: Sequence[str]) -> dict[int, str | None]:
    """The jobs that are meant, none twice, and their puzzles' names. Raises JobError where one that is named alone does
    not exist."""
    found: dict[int, str | None] = {}
    for text in texts:
        limits = _RANGE.fullmatch(text.strip())
        if limits is None:
            try:
                number, name = jobs.find_to_delete(text)
            except JobError as error:
                raise error if len(texts) == 1 else JobError(f"{error}; nothing was deleted") from None
            found[number] = name
            continue
        first, last = map(int, limits.groups())
        if first > last:
            raise JobError(f"range {text}: it ends before it begins; expected {last}-{first}")
        for number in jobs.between(first, last):
            found[number] = jobs.find_to_delete(str(number))[1]
    return found
