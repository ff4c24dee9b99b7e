"""What a stored map answers: `farthest distance`, `path`, `states` and `symmetry`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.options import (
    completed,
    file_options,
    open_job,
    usual_options,
)
from farthest.cli.printing import print_json, print_json_list, print_table
from farthest.documents import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.cli.bulk import Nearest
    from farthest.queries.distance_map import DistanceMap


inverse_option = click.option(
    "--inverse",
    is_flag=True,
    help="A state and its inverse (the board after its solution, made on the goal) are one class too.",
)


@click.command()
@click.argument("job", shell_complete=completed("job"))
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


SOLUTIONS_LISTED = 1000
BOARDS_AT_ONCE = 4096


@click.command()
@click.argument("job", shell_complete=completed("job"))
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
    from farthest.cli.bulk import answers_to_boards, nearest_of, numbered_boards, perhaps_files

    bulk = boards == ("-",)
    if not bulk and "-" in boards:
        raise click.UsageError(
            "- reads all boards from standard input; it cannot be given with other boards."
        )
    with open_job(job, database) as opened, perhaps_files(boards):
        numbered = numbered_boards() if bulk else enumerate(boards, 1)
        answers = answers_to_boards(opened, numbered, of_lines=bulk)
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

        print_json({**map_facts(opened), **plain(found)})
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
@click.argument("job", shell_complete=completed("job"))
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
@file_options
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
@click.argument("job", shell_complete=completed("job"))
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
