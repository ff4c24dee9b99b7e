"""What reads a whole map, or a layer of it: `farthest states`, `symmetry`, `diameter`, `export`, `dataset`, `plot` and
`verify`."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.options import (
    completed,
    database_option,
    file_options,
    force_option,
    job_argument,
    json_option,
    memory_option,
    number_option,
    open_job,
    scratch_option,
    stored_jobs,
    usual_options,
)
from farthest.cli.printing import note, print_boards, print_drawings, print_json, print_table
from farthest.documents import plain
from farthest.drawing.terminal import coloured
from farthest.errors import ForbiddenCodeError, JobError
from farthest.wording import bytes_text, counted, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.models.database import Database
    from farthest.models.job_reader import JobReader
    from farthest.models.records import JobRecord
    from farthest.verify.report import Report


inverse_option = click.option(
    "--inverse",
    is_flag=True,
    help="A state and its inverse (the board after its solution, made on the goal) are one class too.",
)


@click.command()
@job_argument
@inverse_option
@usual_options
def symmetry(job: str, inverse: bool, database: str | None, as_json: bool) -> None:
    """Count the states of each layer up to symmetry.

    JOB is a job's number or a puzzle's name. A name means the newest map, a complete one if there is any. A symmetry
    takes moves to moves and leaves the origin as it is: a grid turned or mirrored, a twisty puzzle turned or mirrored
    as a whole. States that symmetries take to each other are one class. The whole map is read.

    \b
    Examples:
      farthest symmetry pyraminx
      farthest symmetry cube-2x2x2-htm --inverse
    """
    from farthest.documents.maps import map_facts
    from farthest.queries.states import symmetry_classes

    with open_job(job, database) as opened:
        found = symmetry_classes(opened, inverses=inverse)
        if as_json:
            print_json({**map_facts(opened), **plain(found), "classes": found.classes})
            return
        rows = [
            (str(layer.depth), f"{layer.states:,}", f"{layer.classes:,}", f"{layer.fixed:,}")
            for layer in found.layers
        ]
        print_table(("depth", "states", "classes", "fixed by all"), rows, right="rrrr")
        also = " and inverses" if inverse else ""
        click.echo(
            f"\n{found.symmetries} symmetries{also}: {opened.states:,} states in {found.classes:,} classes"
        )


@click.command()
@job_argument
@click.option(
    "--board", metavar="BOARD", help="A board of the component.  [default: the start, else the first origin]"
)
@number_option("--limit", default=1, help="Print N of the farthest pairs at most.")
@usual_options
def diameter(job: str, board: str | None, limit: int, database: str | None, as_json: bool) -> None:
    """Find the two boards that are farthest from each other.

    The distances between all pairs of states of a component are found: its diameter, how many pairs are so far apart,
    and how many states have each eccentricity. A component is all states that moves join to a board, 100,000 at most.
    JOB is a job's number or a puzzle's name. A name means the newest map, a complete one if there is any. Where not
    every move can be taken back, the states are those of the map, and the moves lead from the first board of a pair
    to the second.

    \b
    Examples:
      farthest diameter hakoiri-musume-step
      farthest diameter pennant --json
    """
    from farthest.documents.maps import diameter_document

    with open_job(job, database) as opened:
        found = opened.diameter(board, limit=limit)
        if as_json:
            print_json(diameter_document(opened, found))
            return
        rows = [(f"{at:,}", f"{states:,}") for at, states in enumerate(found.eccentricities) if states]
        print_table(("eccentricity", "states"), rows, right="rr")
        click.echo(
            f"\nOf {counted(found.states, 'state')} no two are more than {found.diameter:,} moves apart;"
        )
        click.echo(
            f"{counted(found.pairs, 'pair')} of them are. Radius {found.radius:,}, mean distance {found.mean:.3f}."
        )
        if found.unjoined:
            click.echo(f"No moves lead from the first to the second of {counted(found.unjoined, 'pair')}.")
        definition = opened.puzzle.definition
        for one, other in found.ends:
            click.echo("")
            print_drawings(
                [(text, coloured(definition, definition.parse_board(text))) for text in (one, other)]
            )


@click.command()
@job_argument
@number_option("--depth", help="The states at distance N.")
@click.option("--farthest", "farthest_", is_flag=True, help="The states of the last layer.")
@click.option(
    "--up-to-symmetry", is_flag=True, help="One of each class of boards that are alike by symmetry."
)
@inverse_option
@number_option("--limit", help="At most N boards.  [default: all]")
@usual_options
def states(
    job: str,
    depth: int | None,
    farthest_: bool,
    up_to_symmetry: bool,
    inverse: bool,
    limit: int | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Print the boards of one layer, one per line.

    They are in key order. JOB is a job's number or a puzzle's name. A name means the newest map, a complete one if
    there is any. Boards are printed as they are read: a layer may be larger than memory.

    \b
    Examples:
      farthest states 8-puzzle --farthest
      farthest states 8-puzzle --depth 3 --json
      farthest states sliding-3x4 --depth 20 | shuf -n 10
      farthest states cube-2x2x2-htm --farthest --up-to-symmetry
    """
    if (depth is None) != farthest_:
        raise click.UsageError("Give either --depth N or --farthest.")
    if inverse and not up_to_symmetry:
        raise click.UsageError("--inverse needs --up-to-symmetry: without it all boards are printed.")
    from farthest.documents.maps import map_facts
    from farthest.queries.states import representatives

    kept = _farthest_without_map(job, database) if farthest_ and not up_to_symmetry else None
    if kept is not None:
        facts, texts = kept
        print_boards(facts, iter(texts[:limit]), as_json=as_json)
        return
    with open_job(job, database) as opened:
        at = opened.depth if depth is None else depth
        boards = representatives(opened, at, inverses=inverse) if up_to_symmetry else opened.states_at(at)
        facts = {**map_facts(opened), "depth": at, "states": opened.layers[at]}
        print_boards(facts, islice(boards, limit), as_json=as_json)


@contextmanager
def _enumeration(job: str, database: str | None) -> Iterator[tuple[JobRecord, JobReader, Database]]:
    """A job with or without a map: a name means the newest that is finished. Raises JobError for a search."""
    from farthest.models.naming import no_map
    from farthest.models.records import SEARCH

    with stored_jobs(database) as (stored, opened):
        record = stored.find(job, complete=True)
        if record.kind == SEARCH:
            raise no_map(record)
        yield record, stored, opened


def _farthest_without_map(job: str, database: str | None) -> tuple[dict[str, Any], list[str]] | None:
    """The farthest boards that a job of --histogram-only keeps; None where the job has a map."""
    from farthest.models.map_reader import MapReader

    with _enumeration(job, database) as (record, stored, opened):
        if record.status != "finished" or record.has_map:
            return None
        states = stored.layers(record.id)[-1].states
        boards = [state.board for state in MapReader(opened).states(record.id)]
        if len(boards) < states:
            click.echo(f"Only {len(boards):,} of these {states:,} boards are kept.", err=True)
        return {"job": record.id, "puzzle": record.name, "depth": record.depth, "states": states}, boards


@click.command()
@job_argument
@click.argument("file", type=click.Path())
@click.option(
    "--format",
    "format_",
    type=click.Choice(("parquet", "csv", "npz", "graphml")),
    help="The format, whatever the ending of FILE is; needed for -.",
)
@click.option(
    "--cells", is_flag=True, help="With csv and parquet: a column for each cell in place of the board."
)
@file_options
def export(
    job: str,
    file: str,
    format_: str | None,
    cells: bool,
    force: bool,
    database: str | None,
    as_json: bool,
) -> None:
    """Write every state to FILE: .parquet, .csv, .npz or .graphml.

    JOB is a job's number or a puzzle's name. A name means the newest map, a complete one if there is any. Key, board
    and distance of each state are written in key order, a block at a time. An .npz file has the arrays keys,
    distances, labels (a label for each cell) and tokens (the text of each label). A .parquet file needs pyarrow: pip
    install 'farthest[parquet]'. A .graphml file has the states and moves of at most 100,000 states, and needs
    networkx: farthest[graph]. - writes to standard output, in the form that --format names.

    \b
    Examples:
      farthest export 8-puzzle 8-puzzle.csv
      farthest export 8-puzzle 8-puzzle.parquet --cells --force
      farthest export 8-puzzle --format csv - | gzip > 8-puzzle.csv.gz
    """
    to_stream = file == "-"
    if to_stream and format_ is None:
        raise click.UsageError(
            "- has no ending that says what to write: add --format csv, parquet, npz or graphml."
        )
    if to_stream and as_json:
        raise click.UsageError("--json and FILE - would both write to standard output.")
    from farthest.queries.output_files import OutputError

    if to_stream and sys.stdout is None:
        raise OutputError("standard output is closed; expected a file or a pipe")
    if to_stream and format_ != "csv" and sys.stdout.isatty():
        raise OutputError(f"{format_} is not text, and standard output is a terminal; add > FILE")

    with open_job(job, database) as opened:
        target = sys.stdout.buffer if to_stream else file
        states = opened.export(target, format=format_, force=force, cells=cells)
        if as_json:
            print_json({"job": opened.job, "puzzle": opened.record.name, "file": file, "states": states})
        else:
            where = "standard output" if to_stream else file
            click.echo(f"Wrote {counted(states, 'state')} to {where}.", err=to_stream)


@click.command()
@job_argument
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path), shell_complete=completed("folder"))
@number_option("--sample", least=1, help="N states, each with the same chance.")
@number_option("--per-layer", least=1, help="N states of each layer, all of smaller ones.")
@number_option("--seed", metavar="S", default=1, help="The same seed gives the same states.")
@usual_options
def dataset(
    job: str,
    folder: Path,
    sample: int | None,
    per_layer: int | None,
    seed: int,
    database: str | None,
    as_json: bool,
) -> None:
    """Write states as data for learning.

    DIR, a new folder, gets .parquet files whose columns are integers: what is in each cell, the distance, the moves
    that come nearer as bits, the number of optimal solutions, and the class up to symmetry. They are divided into
    train, validation and test: all states of a class are in the same part. README.md tells what is in them. Without
    --sample and --per-layer all states are written. JOB is a job's number or a puzzle's name. A name means the newest
    map, a complete one if there is any. Needs pyarrow: pip install 'farthest[parquet]'.

    \b
    Examples:
      farthest dataset 2x2x2 data-2x2x2
      farthest dataset 8-puzzle data-8-puzzle --per-layer 1000 --seed 7
    """
    if sample is not None and per_layer is not None:
        raise click.UsageError("Give one of --sample N and --per-layer N.")
    from farthest.documents.maps import map_facts

    with open_job(job, database) as opened:
        written = opened.dataset(folder, sample=sample, per_layer=per_layer, seed=seed)
        if as_json:
            print_json({**map_facts(opened), "folder": folder, **plain(written)})
            return
    rows = [(part, f"{count:,}") for part, count in written.rows.items()]
    print_table(("part", "states"), rows, right="lr")
    alike = f"by {written.symmetries} symmetries"
    if written.unknown is not None:
        alike = f"each state is one, as symmetries are not known ({written.unknown})"
    click.echo(f"\n{written.classes:,} classes: {alike}")
    click.echo(f"Wrote {counted(written.files, 'file')}, {bytes_text(written.bytes)}, to {folder}.")


@click.command()
@job_argument
@click.argument("file", type=click.Path())
@click.option("--log", is_flag=True, help="A logarithmic scale for the number of states.")
@force_option
@database_option
@json_option
def plot(job: str, file: str, log: bool, force: bool, database: str | None, as_json: bool) -> None:
    """Draw the states per depth to FILE: .png or .svg.

    JOB is a job's number or a puzzle's name. A name means the newest finished job, a complete one if there is any; a
    job of --histogram-only will do. Needs matplotlib: pip install 'farthest[plot]'.

    \b
    Examples:
      farthest plot 8-puzzle layers.png
      farthest plot sliding-3x4 layers.svg --log
    """
    from farthest.models.stored_job import puzzle_of
    from farthest.queries.output_files import plot_layers

    with _enumeration(job, database) as (record, stored, _):
        layers = [layer.states for layer in stored.layers(record.id)]
    if not layers:
        raise JobError(f"job {record.id} ({record.name}) has no layers yet; it is {record.status}")
    plot_layers(layers, file, title=puzzle_of(record).title, log=log, force=force)
    if as_json:
        print_json({"job": record.id, "puzzle": record.name, "file": file, "layers": layers})
    else:
        click.echo(f"Drew {len(layers):,} layers to {file}.")


DISPROVED = 1


@click.command()
@job_argument
@memory_option("Memory for the proof of a large map, such as 4GiB.  [default: 4/5 of what is free]")
@scratch_option
@usual_options
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

    JOB is a job's number or a puzzle's name. A name means the newest map, a complete one if there is any. Every state
    is checked, or of a large map of representatives a sample, as the report says: the distance is 0 exactly at the
    origin, every other state has a neighbour one nearer and none nearer than that, and no reached state has an
    unreached successor. So are checksums, layers, digest and known answers, the job's figures, and the readable rows
    of states. SQLite checks the whole database file, and digests say whether all rows of the job are as they were
    stored. The solutions of a search are played. The job keeps the mark of a proof. Exit status 0: proved; 1:
    disproved; 2: what is stored is damaged or cannot be read, or it was not proved because the puzzle is a class that
    may not run.

    \b
    Example:
      farthest verify 8-puzzle
    """

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
    from farthest.models.records import FINISHED
    from farthest.queries.proof import prove_without_map

    with stored_jobs(database) as (stored, opened):
        record = stored.find(job)
        if record.status != FINISHED or record.has_map:
            return None
        return record.id, prove_without_map(opened, record, note)


def _show(report: Report, job: int) -> None:
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
