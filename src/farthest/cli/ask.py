"""What a stored map answers: `farthest distance`, `path`, `states`, `symmetry`, `export`, `plot` and `verify`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.completion import complete_job
from farthest.cli.options import (
    allow_module_option,
    database_option,
    force_option,
    json_option,
    memory_option,
    open_job,
    scratch_option,
    usual_options,
)
from farthest.cli.printing import note, print_json, print_json_list, print_table
from farthest.errors import ForbiddenCodeError, JobError
from farthest.wording import counted, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.cli.bulk import Nearest
    from farthest.queries.distance_map import DistanceMap
    from farthest.verify.report import Report


inverse_option = click.option(
    "--inverse",
    is_flag=True,
    help="A state and its inverse (the board after its solution, made on the goal) are one class too.",
)


@click.command()
@click.argument("job", shell_complete=complete_job)
@inverse_option
@usual_options
def symmetry(job: str, inverse: bool, database: str | None, as_json: bool) -> None:
    """Count the states of each layer up to symmetry.

    JOB is a job's number, or a puzzle's name for its newest map, complete if there is one. A symmetry takes moves to
    moves and leaves the origin as it is: a grid turned or mirrored, a twisty puzzle turned or mirrored as a whole.
    States that symmetries take to each other are one class. The whole map is read.

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
            print_json({**map_facts(opened), **asdict(found), "classes": found.classes})
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


SOLUTIONS_LISTED = 1000
BOARDS_AT_ONCE = 4096


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.argument("boards", metavar="BOARD...", nargs=-1, required=True)
@click.option(
    "--nearest",
    is_flag=True,
    help="Print the least of the distances, and the boards that have it: the distance of a set of boards.",
)
@usual_options
def distance(job: str, boards: tuple[str, ...], nearest: bool, database: str | None, as_json: bool) -> None:
    """Print the distance of each BOARD, one a line.

    JOB is a job's number, or a puzzle's name for its newest map, complete if there is one. A BOARD is written in any
    reasonable form, in quotes where it has spaces; goal, the first that the puzzle draws, and start are boards too, and
    "moves: R U' F2" or "scramble: R U' F2" is the board that these moves make of the goal. - reads boards from standard
    input, one a line, any number; empty lines are skipped. A board without a distance gives "unreachable", or ">N"
    where the map ends at depth N; for a board of the command line the reason follows. A line that is not a board ends
    the command with exit status 2, after the boards before it are answered.

    \b
    Examples:
      farthest distance eight-kinds '┘│└/─□─/┐│┌'
      farthest distance 8-puzzle '8 6 7 / 2 5 4 / 3 0 1' 647850321
      farthest distance cube-2x2x2-htm "scramble: R U' F2 R2"
      farthest distance 8-puzzle - < boards.txt
      farthest distance 8-puzzle - --nearest < boards.txt
    """
    from farthest.cli.bulk import answers_to_lines, nearest_of, perhaps_files, standard_input

    bulk = boards == ("-",)
    if not bulk and "-" in boards:
        raise click.UsageError(
            "- reads all boards from standard input; it cannot be given with other boards."
        )
    with open_job(job, database) as opened, perhaps_files(boards):
        answers = answers_to_lines(opened, standard_input() if bulk else boards, numbered=bulk)
        if nearest:
            _print_nearest(opened, nearest_of(answers), as_json=as_json)
            return
        if as_json:
            from farthest.documents.maps import distance_answer, map_facts

            documents = (
                distance_answer(opened, line, found)
                for batch in answers
                for line, found in zip(batch.lines, batch.distances, strict=True)
            )
            print_json_list(map_facts(opened), "distances", documents)
            return
        none = "unreachable" if opened.complete else f">{opened.depth}"
        words = [*map(str, range(opened.depth + 1)), none]  # the last, words[-1], is for no distance
        for batch in answers:
            if bulk:
                click.echo("\n".join([words[each] for each in batch.distances]))
                continue
            for line, found in zip(batch.lines, batch.distances, strict=True):
                click.echo(found if found >= 0 else ": ".join(opened.why_no_distance(opened.labels(line))))


def _print_nearest(opened: DistanceMap, found: Nearest, *, as_json: bool) -> None:
    if as_json:
        from farthest.documents.maps import map_facts

        print_json({**map_facts(opened), **asdict(found)})
        return
    if found.distance is None:
        none = "unreachable" if opened.complete else f">{opened.depth}"
        click.echo(f"{none}: no board of {found.asked:,} has a distance")
        return
    click.echo(f"{found.distance}\n")
    for line in found.boards:
        click.echo(line)
    if found.number > len(found.boards):
        click.echo(f"... and {found.number - len(found.boards):,} more")


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.argument("board")
@click.option("--all", "all_", is_flag=True, help="List all optimal solutions as moves.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"With --all: list at most N.  [default: {SOLUTIONS_LISTED}]",
)
@click.option(
    "--svg",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write one solution as an SVG file.",
)
@allow_module_option
@force_option
@database_option
@json_option
def path(
    job: str,
    board: str,
    all_: bool,
    limit: int | None,
    file: Path | None,
    force: bool,
    database: str | None,
    as_json: bool,
) -> None:
    """Show one optimal solution of BOARD, or list all.

    JOB is a job's number, or a puzzle's name for its newest map, complete if there is one. BOARD may be goal, start or
    moves, as for distance, and "moves: (MOVES)'", with the moves of a path to the goal, is the board again. Moves have
    the names that the puzzle's family gives them; of sliding puzzles they are written from-to: the piece in cell `from`
    moves, and cell `to`, empty before, is filled; cells are numbered from 0 in reading order, walls left out. The
    number of solutions is exact, however many are listed; solutions are different when a move is.

    \b
    Examples:
      farthest path eight-kinds '┘│└/─□─/┐│┌'
      farthest path 8-puzzle '8 6 7 / 2 5 4 / 3 0 1' --all
      farthest path 8-puzzle 867254301 --all --limit 5 --json
      farthest path 8-puzzle 867254301 --svg solution.svg
    """
    if limit is not None and not all_:
        raise click.UsageError("--limit needs --all: without it one solution is shown.")
    if file is not None and (all_ or as_json):
        raise click.UsageError("--svg writes one solution: leave out --all and --json.")
    from farthest.cli.solutions import save_one, show_all, show_one
    from farthest.documents.maps import path_document

    with open_job(job, database) as opened:
        graph = opened.solution_graph(board)
        count = graph.count()
        ways = opened.solutions_of(graph, (limit or SOLUTIONS_LISTED) if all_ else 1)
        if as_json:
            print_json(path_document(opened, board, graph, ways))
        elif file is not None:
            save_one(opened, next(ways), file, force=force)
        elif all_:
            show_all(opened, graph.distance, count, ways)
        else:
            show_one(opened, graph.distance, count, next(ways))


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="The states at distance N.")
@click.option("--farthest", "farthest_", is_flag=True, help="The states of the last layer.")
@click.option(
    "--up-to-symmetry", is_flag=True, help="One of each class of boards that are alike by symmetry."
)
@inverse_option
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most N boards.  [default: all]")
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
    """Print the boards of one layer, one a line, in key order.

    JOB is a job's number, or a puzzle's name for its newest map, complete if there is one. Boards are printed as they
    are read: a layer may be larger than memory.

    \b
    Examples:
      farthest states eight-kinds --farthest
      farthest states eight-kinds --depth 3 --json
      farthest states sliding-3x4 --depth 20 | shuf -n 10
      farthest states cube-2x2x2-htm --farthest --up-to-symmetry
    """
    if (depth is None) != farthest_:
        raise click.UsageError("Give one of --depth N and --farthest.")
    if inverse and not up_to_symmetry:
        raise click.UsageError("--inverse needs --up-to-symmetry: without it all boards are printed.")
    from farthest.documents.maps import map_facts
    from farthest.queries.states import representatives

    kept = _farthest_without_map(job, database) if farthest_ and not up_to_symmetry else None
    if kept is not None:
        facts, texts = kept
        _print_states(facts, iter(texts[:limit]), as_json)
        return
    with open_job(job, database) as opened:
        at = opened.depth if depth is None else depth
        boards = representatives(opened, at, inverses=inverse) if up_to_symmetry else opened.states_at(at)
        facts = {**map_facts(opened), "depth": at, "states": opened.layers[at]}
        _print_states(facts, islice(boards, limit), as_json)


def _farthest_without_map(job: str, database: str | None) -> tuple[dict[str, Any], list[str]] | None:
    """The farthest boards that a job of --histogram-only keeps; None where the job has a map."""
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.maps import Maps
    from farthest.models.naming import no_map
    from farthest.models.records import SEARCH

    with open_database(database, create=False) as opened:
        record = Jobs(opened).find(job, complete=True)
        if record.kind == SEARCH:
            raise no_map(record)
        if record.status != "finished" or record.has_map:
            return None
        layers = Jobs(opened).layers(record.id)
        boards = [state.board for state in Maps(opened).states(record.id)]
        if len(boards) < layers[-1].states:
            click.echo(f"Of {layers[-1].states:,} boards {len(boards):,} are kept.", err=True)
        facts = {"job": record.id, "puzzle": record.name, "depth": record.depth, "states": layers[-1].states}
        return facts, boards


def _print_states(facts: dict[str, Any], boards: Iterator[str], as_json: bool) -> None:
    if as_json:
        print_json_list(facts, "boards", boards)
        return
    while some := list(islice(boards, BOARDS_AT_ONCE)):
        click.echo("\n".join(some))


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
    from farthest.queries.output_files import OutputError

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
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import no_map
    from farthest.models.records import SEARCH
    from farthest.models.stored_job import puzzle_of
    from farthest.queries.output_files import plot_layers

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


DISPROVED = 1


@click.command()
@click.argument("job", shell_complete=complete_job)
@memory_option("Memory for the proof of a large residue map, such as 4GiB.  [default: 4/5 of what is free]")
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
