"""`farthest export` and `plot`: a map or its layers in a file."""

from __future__ import annotations

import sys

import click

from farthest.cli.completion import complete_job
from farthest.cli.options import allow_module_option, database_option, force_option, json_option


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.argument("file", type=click.Path())
@click.option(
    "--format",
    "format_",
    type=click.Choice(("parquet", "csv", "npz", "graphml")),
    help="What to write, whatever the ending of FILE; needed for -.",
)
@allow_module_option
@force_option
@database_option
@json_option
def export(
    job: str, file: str, format_: str | None, force: bool, database: str | None, as_json: bool
) -> None:
    """Write every state to FILE: .parquet, .csv, .npz or .graphml.

    JOB is a job's number, or a puzzle's name for its newest map, complete if there is one. Key, board and distance of
    each state are written in key order, a block at a time. An .npz file has the arrays keys, distances, labels (a label
    for each cell) and tokens (the text of each label). A .parquet file needs pyarrow: pip install 'farthest[parquet]'.
    A .graphml file has the states and moves of at most 100,000 states, and needs networkx: farthest[graph].
    - writes to standard output, in the form that --format names.

    \b
    Examples:
      farthest export eight-kinds eight-kinds.csv
      farthest export 8-puzzle 8-puzzle.parquet --force
      farthest export 8-puzzle --format csv - | gzip > 8-puzzle.csv.gz
    """
    to_stream = file == "-"
    if to_stream and format_ is None:
        raise click.UsageError(
            "- has no ending that says what to write: add --format csv, parquet, npz or graphml."
        )
    if to_stream and as_json:
        raise click.UsageError("--json and FILE - would both write to standard output.")
    from farthest.cli.opening import open_job
    from farthest.cli.printing import counted, print_json
    from farthest.queries.output_file import OutputError

    if to_stream and sys.stdout is None:
        raise OutputError("standard output is closed; expected a file or a pipe")
    if to_stream and format_ != "csv" and sys.stdout.isatty():
        raise OutputError(f"{format_} is not text, and standard output is a terminal; add > FILE")

    with open_job(job, database) as opened:
        target = sys.stdout.buffer if to_stream else file
        states = opened.export(target, format=format_, force=force)
        if as_json:
            print_json({"job": opened.job, "puzzle": opened.record.name, "file": file, "states": states})
        else:
            where = "standard output" if to_stream else file
            click.echo(f"Wrote {counted(states, 'state')} to {where}.", err=to_stream)


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.argument("file", type=click.Path())
@click.option("--log", is_flag=True, help="A logarithmic scale for the number of states.")
@force_option
@database_option
@json_option
def plot(job: str, file: str, log: bool, force: bool, database: str | None, as_json: bool) -> None:
    """Draw the states per depth to FILE: .png or .svg.

    JOB is a job's number, or a puzzle's name for its newest finished job, complete if there is one; a job of
    --histogram-only will do. Needs matplotlib: pip install 'farthest[plot]'.

    \b
    Examples:
      farthest plot eight-kinds layers.png
      farthest plot sliding-3x4 layers.svg --log
    """
    from farthest.cli.printing import print_json
    from farthest.errors import JobError
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import no_map
    from farthest.models.records import SEARCH
    from farthest.models.stored_job import puzzle_of
    from farthest.queries.plot import plot_layers

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        record = repository.find(job, complete=True)
        if record.kind == SEARCH:
            raise no_map(record)
        layers = [layer.states for layer in repository.layers(record.id)]
    if not layers:
        raise JobError(f"job {record.id} ({record.name}) has no layers yet; it is {record.status}")
    plot_layers(layers, file, title=puzzle_of(record).title, log=log, force=force)
    if as_json:
        print_json({"job": record.id, "puzzle": record.name, "file": file, "layers": layers})
    else:
        click.echo(f"Drew {len(layers):,} layers to {file}.")
