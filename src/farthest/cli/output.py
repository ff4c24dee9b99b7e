"""`farthest export` and `plot`: a map or its layers in a file."""

from __future__ import annotations

import click

from farthest.cli.options import allow_module_option, database_option, force_option, json_option


@click.command()
@click.argument("job")
@click.argument("file", type=click.Path())
@allow_module_option
@force_option
@database_option
@json_option
def export(job: str, file: str, force: bool, database: str | None, as_json: bool) -> None:
    """Write every state to FILE: .parquet, .csv or .npz.

    JOB is a job's number, or a puzzle's name for its newest finished job. Key, board and distance of each
    state are written in key order, a block at a time. An .npz file has the arrays keys, distances, labels (a
    label for each cell) and tokens (the text of each label). A .parquet file needs pyarrow: pip install
    'farthest[parquet]'.

    \b
    Examples:
      farthest export eight-kinds eight-kinds.csv
      farthest export 8-puzzle 8-puzzle.parquet --force
    """
    from farthest.cli.opening import open_job
    from farthest.cli.printing import counted, print_json

    with open_job(job, database) as opened:
        states = opened.export(file, force=force)
        if as_json:
            print_json({"job": opened.job, "puzzle": opened.record.name, "file": file, "states": states})
        else:
            click.echo(f"Wrote {counted(states, 'state')} to {file}.")


@click.command()
@click.argument("job")
@click.argument("file", type=click.Path())
@click.option("--log", is_flag=True, help="A logarithmic scale for the number of states.")
@force_option
@database_option
@json_option
def plot(job: str, file: str, log: bool, force: bool, database: str | None, as_json: bool) -> None:
    """Draw the states per depth to FILE: .png or .svg.

    JOB is a job's number, or a puzzle's name for its newest finished job; a job of --histogram-only will do.
    Needs matplotlib: pip install 'farthest[plot]'.

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
    from farthest.puzzles.definition import Puzzle
    from farthest.queries.plot import plot_layers

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        record = repository.find(job)
        if record.kind == SEARCH:
            raise no_map(record)
        layers = [layer.states for layer in repository.layers(record.id)]
    if not layers:
        raise JobError(f"job {record.id} ({record.name}) has no layers yet; it is {record.status}")
    plot_layers(layers, file, title=Puzzle.from_json(record.puzzle_json).title, log=log, force=force)
    if as_json:
        print_json({"job": record.id, "puzzle": record.name, "file": file, "layers": layers})
    else:
        click.echo(f"Drew {len(layers):,} layers to {file}.")
