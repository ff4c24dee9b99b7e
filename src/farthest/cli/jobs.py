"""`farthest jobs` and `show`: the jobs of a database. The output for a search is in ``search_job``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from farthest.cli.completion import complete_job
from farthest.cli.job_list import minute, print_jobs, verified_text
from farthest.cli.options import database_option, json_option

if TYPE_CHECKING:
    from farthest.models.records import JobRecord, LayerRecord
    from farthest.models.transactions import Database

BEYOND = "not known: --max-depth ended the enumeration after layer {}"


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
    from farthest.cli.following import why_waiting
    from farthest.cli.printing import print_json
    from farthest.documents.jobs import job_summary
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.records import QUEUED

    with open_database(database, create=False) as opened:
        records, damages = Jobs(opened).survey()
        if as_json:
            print_json({"database": opened.place, "jobs": [job_summary(record) for record in records]})
        elif not records and not damages:
            click.echo(f"No jobs in {opened.place}; `farthest enumerate PUZZLE` makes one.")
        else:
            print_jobs(records)
            for record in records:
                if record.status == QUEUED and record.error:
                    click.echo(f"Job {record.id} {why_waiting(record)}.")
        if damages:
            raise damages[0]


@click.command()
@click.argument("job", shell_complete=complete_job)
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
    from farthest.cli.printing import print_json
    from farthest.documents.jobs import enumeration_document, search_document
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.records import SEARCH
    from farthest.models.searches import Searches

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        record = repository.find(job)
        if record.kind == SEARCH:
            from farthest.cli.search_job import show_search_job

            if as_json:
                print_json({**search_document(record, Searches(opened)), "database": opened.place})
            else:
                show_search_job(record, opened)
            return
        layers = repository.layers(record.id)
        if as_json:
            print_json({**enumeration_document(record, layers), "database": opened.place})
        else:
            _show(record, layers, opened)


def _show(record: JobRecord, layers: list[LayerRecord], database: Database) -> None:
    from farthest.cli.printing import print_facts, print_table
    from farthest.documents.jobs import origin_text
    from farthest.documents.progress import progress_rows
    from farthest.models.stored_job import puzzle_of
    from farthest.wording import seconds_text

    puzzle = puzzle_of(record)
    facts = [
        ("job", f"{record.id} in {database.place}"),
        ("puzzle", f"{record.name}: {puzzle.title}"),
        ("origin", f"moves are counted {origin_text(record)}"),
        ("status", _status(record)),
        ("created", f"{minute(record.created)} UTC"),
        ("map", _map(record)),
    ]
    told = progress_rows(record)
    if told:
        facts.append(("progress", ", ".join(f"{name} {value}" for name, value in told)))
    if record.status == "finished":
        facts += [
            ("states", f"{record.states or 0:,}"),
            ("eccentricity", str(record.eccentricity) if record.complete else BEYOND.format(record.depth)),
            ("seconds", seconds_text(record.seconds or 0.0)),
            ("digest", record.digest or ""),
            ("verified", verified_text(record)),
        ]
    print_facts(facts)
    if layers:
        click.echo()
        print_table(
            ("depth", "states", "seconds"),
            [
                (
                    str(layer.depth),
                    f"{layer.states:,}",
                    "" if layer.seconds is None else f"{layer.seconds:.4f}",
                )
                for layer in layers
            ],
            right="rrr",
        )


def _status(record: JobRecord) -> str:
    from farthest.cli.following import why_waiting

    if record.status == "queued" and record.error:
        return why_waiting(record)
    return record.state_now + (f": {record.error}" if record.error else "")


def _map(record: JobRecord) -> str:
    if record.status != "finished":
        return "none yet" if record.keys is None else f"a checkpoint at depth {record.depth}"
    if not record.has_map:
        return "none (--histogram-only)"
    return f"{record.keys or 0:,} keys" + (", residues in a file" if record.keeps_residues else "")
