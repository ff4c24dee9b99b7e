"""What a stored map says of single boards: `farthest distance` and `path`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from farthest.cli.options import (
    file_options,
    job_argument,
    number_option,
    open_job,
    path_option,
    usual_options,
)
from farthest.cli.printing import print_json, print_json_list
from farthest.documents import plain
from farthest.wording import counted

if TYPE_CHECKING:
    from farthest.cli.bulk import Nearest
    from farthest.queries.distance_map import DistanceMap


SOLUTIONS_LISTED = 1000


@click.command()
@job_argument
@click.argument("boards", metavar="BOARD...", nargs=-1, required=True)
@click.option(
    "--nearest",
    is_flag=True,
    help="Print the least of the distances, and the boards that have it: the distance of a set of boards.",
)
@usual_options
def distance(job: str, boards: tuple[str, ...], nearest: bool, database: str | None, as_json: bool) -> None:
    """Print the distance of each BOARD, one per line.

    JOB is a job's number or a puzzle's name. A name means the newest map, a complete one if there is any. A BOARD is
    written in any reasonable form, in quotes where it has spaces; goal and start are boards too (in a map that is
    counted from elsewhere, goal is the nearest one), and "moves: R U' F2" or "scramble: R U' F2" is the board that
    these moves make of the goal. - reads boards from standard input, one per line, any number; empty lines are
    skipped. A board without a distance gives "unreachable", or ">N" where the map ends at depth N; for a board of the
    command line the reason follows. A line that is not a board ends the command with exit status 2, after the boards
    before it are answered.

    \b
    Examples:
      farthest distance 8-puzzle '8 6 7 / 2 5 4 / 3 0 1' 647850321
      farthest distance eight-kinds '┘│└/─□─/┐│┌'
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
    word = boards[0].strip() if len(boards) == 1 else None
    with open_job(job, database, told_of=word) as opened, perhaps_files(boards):
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
            print_json_list({**map_facts(opened), "origin": opened.origin}, "distances", documents)
            return
        none = "unreachable" if opened.complete else f">{opened.depth}"
        words = [*map(str, range(opened.depth + 1)), none]  # the last, words[-1], is for no distance
        # A program reads numbers; a person reads what they count too.
        for_people = sys.stdout is not None and sys.stdout.isatty()
        for batch in answers:
            if bulk:
                click.echo("\n".join([words[each] for each in batch.distances]))
                continue
            for line, found in zip(batch.lines, batch.distances, strict=True):
                if found >= 0:
                    click.echo(f"{counted(found, 'move')} {opened.origin}" if for_people else found)
                else:
                    click.echo(": ".join(opened.why_no_distance(opened.labels(line))))


def _print_nearest(opened: DistanceMap, found: Nearest, *, as_json: bool) -> None:
    if as_json:
        from farthest.documents.maps import map_facts

        print_json({**map_facts(opened), "origin": opened.origin, **plain(found)})
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
@job_argument
@click.argument("board")
@click.option("--all", "all_", is_flag=True, help="List all optimal solutions as moves.")
@number_option("--limit", least=1, help=f"With --all: list at most N.  [default: {SOLUTIONS_LISTED}]")
@path_option("--svg", "file", help="Write one solution as an SVG file.")
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
    """Show a shortest solution of BOARD, or list all.

    JOB is a job's number or a puzzle's name. A name means the newest map, a complete one if there is any. BOARD may
    be goal, start or moves, as for distance, and "moves: (MOVES)'", with the moves of its solution, is the board
    again. Moves have the names that the puzzle's family gives them; of sliding puzzles they are written
    from-to: the piece in cell `from` moves, and cell `to`, empty before, is filled; cells are numbered from 0 in
    reading order, walls left out. Above the boards they are in words. The number of solutions is exact, however many
    are listed; two solutions are different where a move is.

    \b
    Examples:
      farthest path 8-puzzle 867254301
      farthest path 8-puzzle '8 6 7 / 2 5 4 / 3 0 1' --all
      farthest path 8-puzzle 867254301 --all --limit 5 --json
      farthest path 8-puzzle 867254301 --svg solution.svg
    """
    if limit is not None and not all_:
        raise click.UsageError("--limit needs --all: without it one solution is shown.")
    if file is not None and (all_ or as_json):
        raise click.UsageError("--svg writes one solution: leave out --all and --json.")
    from farthest.cli.solutions import draw_path, list_ways, save_path
    from farthest.documents.maps import path_document
    from farthest.queries.paths import BoardPath

    with open_job(job, database, told_of=board.strip()) as opened:
        graph = opened.solution_graph(board)
        count = graph.count()
        ways = opened.solutions_of(graph, (limit or SOLUTIONS_LISTED) if all_ else 1)
        if as_json:
            print_json(path_document(opened, board, graph, ways))
            return
        named = map(opened.named, ways)
        if file is not None:
            save_path(BoardPath(opened.puzzle, next(named)), file, force=force)
            return
        click.echo(f"{counted(graph.distance, 'move')}, {counted(count, 'optimal solution')}\n")
        if all_:
            list_ways((each.moves for each in named), count)
        else:
            draw_path(opened.puzzle, next(named))
