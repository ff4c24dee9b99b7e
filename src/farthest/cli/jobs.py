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
    jobs_to_change,
    json_option,
    scratch_option,
    stored_jobs,
)
from farthest.cli.printing import print_facts, print_json, print_table
from farthest.errors import FarthestError, JobError, UnavailableError
from farthest.wording import bytes_text, counted, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from farthest.models.database import Database
    from farthest.models.jobs import Jobs
    from farthest.models.records import JobRecord, LayerRecord, SearchResult
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
        "" if record.depth is None else f"{record.depth}{'' if record.complete else '+'}",
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


BEYOND = "not known: --max-depth ended the enumeration after layer {}"
LISTED = 20
"""Solutions that are listed for people."""

Facts = list[tuple[str, str]]


@click.command()
@database_option
@json_option
def jobs(database: str | None, as_json: bool) -> None:
    """List the jobs of the database, the newest last.

    Of a search the board is named instead of the origin, and the depth is the length of its solutions. Long names and
    boards are cut so that a line has 100 columns at most, on a narrower terminal 80: --json and `farthest show` have
    the whole.

    \b
    Example:
      farthest jobs
    """
    from farthest.documents.jobs import job_summary

    with stored_jobs(database) as (stored, opened):
        records, damages = stored.survey()
        if as_json:
            print_json({"database": opened.place, "jobs": [job_summary(record) for record in records]})
        elif not records and not damages:
            click.echo(f"No jobs in {opened.place}; `farthest enumerate PUZZLE` makes one.")
        else:
            print_jobs(records)
            for record in records:
                if record.status == "queued" and record.error:
                    click.echo(f"Job {record.id} {why_waiting(record)}.")
        if damages:
            raise damages[0]


@click.command()
@click.argument("job", shell_complete=completed("job"))
@database_option
@json_option
def show(job: str, database: str | None, as_json: bool) -> None:
    """Show one job: its puzzle, its state, its layers; of a search its iterations and solutions.

    JOB is a job's number, or a puzzle's name for its newest finished enumeration.

    \b
    Examples:
      farthest show 1
      farthest show eight-kinds --json
    """
    with stored_jobs(database) as (stored, opened):
        record = stored.find(job)
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


def why_waiting(record: JobRecord) -> str:
    """Why a queued job was handed back, and when it is tried again."""
    until = record.not_before
    again = "" if until is None else f"; tried again at {until:%H:%M:%S} UTC"
    return f"is queued and waits: {record.error}{again}"


def _show_enumeration(record: JobRecord, layers: list[LayerRecord], database: Database) -> None:
    from farthest.documents.jobs import origin_text

    waits = record.status == "queued" and record.error
    about = [("origin", f"moves are counted {origin_text(record)}")]
    kept = [("map", _map(record))]
    found: Facts = []
    if record.status == "finished":
        eccentricity = str(record.eccentricity) if record.complete else BEYOND.format(record.depth)
        found = [("states", f"{record.states or 0:,}"), ("eccentricity", eccentricity)]
    _print_job(record, database, about, why_waiting(record) if waits else None, kept, found)
    if layers:
        click.echo()
        print_table(
            ("depth", "states", "seconds"),
            [
                (str(each.depth), f"{each.states:,}", "" if each.seconds is None else f"{each.seconds:.4f}")
                for each in layers
            ],
            right="rrr",
        )


def _show_search(record: JobRecord, searches: Searches, database: Database) -> None:
    from farthest.documents.searches import search_paths
    from farthest.models.stored_job import search_parameters, search_result

    asked, result = search_parameters(record), search_result(record)
    wanted = f"all solutions, {asked.limit:,} listed at most" if asked.all else "one solution"
    about = [
        ("search", f"{asked.algorithm}, heuristic {asked.heuristic}, {wanted}"),
        ("board", f"{asked.board} to {asked.target}"),
    ]
    found: Facts = []
    if result is not None:
        found = [
            ("length", _length(result)),
            ("solutions", f"{result.solutions:,}"),
            ("nodes", f"{result.nodes:,}"),
            *([] if result.expanded is None else [("expanded", f"{result.expanded:,} boards")]),
        ]
    _print_job(record, database, about, None, [], found)
    iterations = searches.iterations(record.id)
    if iterations:
        click.echo()
        print_table(
            ("bound", "nodes", "solutions", "pieces", "seconds"),
            [
                (
                    f"{one.bound}{'' if one.complete else '+'}",
                    f"{one.nodes:,}",
                    f"{one.solutions:,}",
                    f"{one.pieces:,}",
                    f"{one.seconds:.4f}",
                )
                for one in iterations
            ],
            right="rrrrr",
        )
    paths = search_paths(record, searches, LISTED)
    if paths:
        from farthest.cli.solutions import list_ways
        from farthest.search.contract import way_of

        click.echo()
        list_ways(map(way_of, paths), len(paths))


def _print_job(
    record: JobRecord, database: Database, about: Facts, status: str | None, kept: Facts, found: Facts
) -> None:
    """The facts of a job. ``status``: where it is not that of the record; ``found``: empty before there is a result."""
    from farthest.documents.progress import progress_rows
    from farthest.models.stored_job import puzzle_of

    told = progress_rows(record)
    result = [
        *found,
        ("seconds", seconds_text(record.seconds or 0.0)),
        ("digest", record.digest or ""),
        ("verified", _verified(record)),
    ]
    print_facts(
        [
            ("job", f"{record.id} in {database.place}"),
            ("puzzle", f"{record.name}: {puzzle_of(record).title}"),
            *about,
            ("status", status or record.state_now + (f": {record.error}" if record.error else "")),
            ("created", f"{_minute(record.created)} UTC"),
            *kept,
            *([("progress", ", ".join(f"{name} {value}" for name, value in told))] if told else []),
            *(result if found else []),
        ]
    )


def _map(record: JobRecord) -> str:
    if record.status != "finished":
        return "none yet" if record.keys is None else f"a checkpoint at depth {record.depth}"
    if not record.has_map:
        return "none (--histogram-only)"
    return f"{record.keys or 0:,} keys" + (", residues in a file" if record.keeps_residues else "")


def _length(result: SearchResult) -> str:
    if result.length is None:
        return "none: it is proven that the board cannot be solved"
    return f"{result.length}{'' if result.optimal else ', not proven shortest'}"


_RANGE = re.compile(r"(\d{1,99})-(\d{1,99})", re.ASCII)


@click.command()
@click.argument("jobs", metavar="JOB...", nargs=-1, required=True, shell_complete=completed("job"))
@scratch_option
@database_option
@json_option
def delete(jobs: tuple[str, ...], scratch: Path | None, database: str | None, as_json: bool) -> None:
    """Delete jobs and all that is stored of them, without asking.

    JOB is a job's number, a range of numbers such as 60-70, or a puzzle's name for its newest finished enumeration.
    Of a range, the jobs that exist are deleted; if a job that is named alone does not exist, nothing is deleted. A
    running job is not deleted: the others are, and the exit status is 2. The space of the jobs in the database is free
    for later jobs; an SQLite file does not become smaller.

    \b
    Examples:
      farthest delete 1
      farthest delete 51 52 60-70
    """
    from farthest.environment import scratch_folder

    with jobs_to_change(database) as (stored, opened):
        wanted = _wanted(stored, jobs)
        deletion = _Deletion(stored, wanted, scratch_folder(scratch, opened.folder))
        for gone in deletion.deleted():
            if not as_json:
                what = "which was damaged" if gone.puzzle is None else gone.puzzle
                click.echo(f"Deleted job {gone.job} ({what}) from {opened.place}: {bytes_text(gone.bytes)}.")
        size = sum(one.bytes for one in deletion.gone)
        if as_json:
            alone = len(jobs) == len(deletion.gone) == 1 and _RANGE.fullmatch(jobs[0].strip()) is None
            named = {"job": deletion.gone[0].job, "puzzle": deletion.gone[0].puzzle} if alone else {}
            print_json({**named, "deleted": deletion.gone, "bytes": size, "database": opened.place})
        elif len(jobs) > 1 or len(wanted) != 1:
            click.echo(f"{counted(len(deletion.gone), 'job')} deleted: {bytes_text(size)}.")
        if deletion.problem is not None:
            raise deletion.problem


@dataclass(frozen=True, slots=True)
class _Gone:
    """A job that is deleted; ``puzzle``: its puzzle's name, None where that was damaged."""

    job: int
    puzzle: str | None
    bytes: int


class _Deletion:
    """Deletes jobs one after the other. ``gone``: those that are deleted; ``problem``: why others are not."""

    def __init__(self, jobs: Jobs, wanted: dict[int, str | None], scratch: Path) -> None:
        self._jobs = jobs
        self._scratch = scratch
        self._wanted = wanted
        self.gone: list[_Gone] = []
        self.problem: FarthestError | None = None

    def deleted(self) -> Iterator[_Gone]:
        from farthest.stores.folder.journal import remove_layers

        refused: list[str] = []
        for number, name in self._wanted.items():
            try:
                layers = self._layers(number)
                size = self._jobs.delete(number)
                found = _Gone(number, name, size if layers is None else size + remove_layers(layers))
            except JobError as error:
                refused.append(str(error))
                continue
            except FarthestError as error:  # of the database: the next would fail as well
                self.problem = error
                return
            self.gone.append(found)
            yield found
        if refused:
            self.problem = JobError("; ".join(refused))

    def _layers(self, number: int) -> Path | None:
        """The folder of the job's layers, where it was stopped and they were in files."""
        from farthest.coordinator.runner import attempt_of, layers_folder

        try:
            return layers_folder(self._scratch, attempt_of(self._jobs.get(number)))
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
