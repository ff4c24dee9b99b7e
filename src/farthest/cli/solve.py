"""`farthest solve`: optimal solutions of one board, without a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from farthest.cli.options import allow_module_option, byte_size, database_option, json_option

if TYPE_CHECKING:
    from farthest.cli.enumeration import Workers
    from farthest.coordinator.search.settings import SearchOutcome, SearchReporter, SearchSettings
    from farthest.heuristics.contract import Algorithm
    from farthest.models.transactions import Database
    from farthest.search.problem import Problem

GUIDED = ("ida", "astar")
"""The algorithms that ask a heuristic."""


@click.command()
@click.argument("puzzle")
@click.argument("board", required=False)
@click.option(
    "--algorithm",
    type=click.Choice(["ida", "iddfs", "bfs", "dfs", "astar"]),
    default="ida",
    help="IDA*, plain deepening, or one search with all boards in memory.  [default: ida]",
)
@click.option("--heuristic", metavar="NAME", help="Of ida and astar.  [default: the best that needs no map]")
@click.option(
    "--to", "target", metavar="X", default="goal", help="Where to: goal, start or a board.  [default: goal]"
)
@click.option("--all", "all_", is_flag=True, help="Count all shortest solutions, and list them as moves.")
@click.option(
    "--limit",
    type=click.IntRange(min=0, max=10**9),
    metavar="N",
    help="With --all: list at most N; 0: only count.  [default: 1000]",
)
@click.option(
    "--workers",
    type=click.Choice(["threads", "celery"]),
    help="Who searches: threads of this process, or `farthest worker` processes on any hosts, through Redis.  "
    "[default: threads]",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1, max=4096),
    metavar="N",
    help="Threads of this process.  [default: one a processor]",
)
@click.option(
    "--memory",
    metavar="SIZE",
    callback=byte_size,
    help="Of bfs, dfs and astar: memory to use at most.  [default: 4/5 of what is free]",
)
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Report each iteration on standard error.  [default: if it is a terminal]",
)
@allow_module_option
@database_option
@json_option
def solve(
    puzzle: str,
    board: str | None,
    algorithm: Algorithm,
    heuristic: str | None,
    target: str,
    all_: bool,
    limit: int | None,
    workers: Workers | None,
    threads: int | None,
    memory: int | None,
    progress: bool | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Find a shortest solution of BOARD, or all, by searching.

    PUZZLE is a name of the catalogue, a parametric name or a file; BOARD is written in any reasonable form, in quotes
    where it has spaces. Without it the puzzle's start is solved. The search is kept as a job; one that was stopped, by
    Ctrl-C or otherwise, goes on where it was when the same command is given again.

    \b
    Examples:
      farthest solve eight-kinds --all
      farthest solve 15-puzzle-blank-first '14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3' --heuristic @1-7+@8-15
      farthest solve 8-puzzle 867254301 --algorithm astar --json
      farthest solve 15-puzzle-blank-first '14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3' --workers celery
    """
    if limit is not None and not all_:
        raise click.UsageError("--limit needs --all: without it one solution is shown.")
    if heuristic is not None and algorithm not in GUIDED:
        raise click.UsageError(f"--heuristic needs --algorithm ida or astar: {algorithm} asks none.")
    if memory is not None and algorithm in ("ida", "iddfs"):
        raise click.UsageError(f"--memory needs --algorithm bfs, dfs or astar: {algorithm} keeps no boards.")
    from farthest.coordinator.search.settings import LISTED, SearchSettings
    from farthest.heuristics.registry import default_heuristic
    from farthest.models.database import open_database
    from farthest.puzzles.catalogue import load
    from farthest.search.problem import Problem, start_or

    definition = load(puzzle)
    chosen = default_heuristic(definition, algorithm) if heuristic is None else heuristic
    problem = Problem(definition, start_or(definition, board), target, chosen)
    settings = SearchSettings(
        algorithm=algorithm,
        all_solutions=all_,
        limit=LISTED if limit is None else limit,
        workers=workers or "threads",
        threads=threads,
        memory=memory,
    )
    with open_database(database, create=True) as opened:
        outcome = _search(problem, settings, opened, progress)
        from farthest.cli.search_outcome import refuse_unsolvable, search_document, show_search

        refuse_unsolvable(problem, outcome)
        if as_json:
            from farthest.cli.printing import print_json

            print_json(search_document(outcome, opened))
        else:
            show_search(problem, outcome, opened, listed=all_)


def _search(
    problem: Problem, settings: SearchSettings, database: Database, progress: bool | None
) -> SearchOutcome:
    from farthest.coordinator.search.solve import SearchInterrupted, solve_problem
    from farthest.queries.pattern_maps import PatternMaps

    try:
        return solve_problem(problem, settings, PatternMaps(database), database, _reporter(progress))
    except SearchInterrupted as stopped:
        kept = (
            "nothing was stored. The same command begins again."
            if stopped.bound is None
            else f"{database.place} keeps what was found up to then, at bound {stopped.bound}. The same command goes "
            "on from there."
        )
        click.echo(f"Interrupted; {kept}", err=True)
        raise


def _reporter(progress: bool | None) -> SearchReporter:
    import sys

    from farthest.cli.search_progress import LineSearchReporter, QuietSearchReporter, TerminalSearchReporter

    terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (terminal if progress is None else progress):
        return QuietSearchReporter()
    return TerminalSearchReporter() if terminal else LineSearchReporter()
