"""`farthest solve`: optimal solutions without a map, of one board or of many."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from farthest.cli.options import (
    completed,
    memory_option,
    threads_option,
    usual_options,
)
from farthest.cli.printing import print_json
from farthest.heuristics import ALGORITHMS, AUTO, GUIDED, Algorithm

if TYPE_CHECKING:
    from farthest.cli.options import Workers
    from farthest.coordinator.search.solve import Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.puzzles.definition import Board


@click.command()
@click.argument("puzzle", shell_complete=completed("puzzle"))
@click.argument("board", required=False)
@click.option(
    "--algorithm",
    type=click.Choice(ALGORITHMS),
    default="ida",
    help="IDA*, plain deepening, or one search with all boards in memory.  [default: ida]",
)
@click.option(
    "--heuristic",
    metavar="NAME",
    shell_complete=completed("heuristic"),
    help="Of ida and astar.  [default: auto, which takes stored tables, or makes some]",
)
@click.option(
    "--to",
    "target",
    metavar="X",
    multiple=True,
    default=("goal",),
    shell_complete=completed("origin"),
    help="Where to: goal, start, a board or moves; given several times, to the nearest of all.  [default: goal]",
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
@threads_option
@memory_option(
    "Of bfs, dfs and astar: memory to use at most.  [default: 4/5 of what is free]  Of --heuristic auto: of the tables "
    "that it makes.  [default: 1/8 of what is free, at most 256MiB]"
)
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Report each iteration on standard error, and of a list how much is done.  [default: if it is a terminal]",
)
@click.option(
    "--store/--no-store",
    default=None,
    help="Keep each search as a job, or none.  [default: one that can be continued, once it has run for 10 s]",
)
@usual_options
def solve(
    puzzle: str,
    board: str | None,
    algorithm: Algorithm,
    heuristic: str | None,
    target: tuple[str, ...],
    all_: bool,
    limit: int | None,
    workers: Workers | None,
    threads: int | None,
    memory: int | None,
    progress: bool | None,
    store: bool | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Find a shortest solution of BOARD, or all, by searching.

    PUZZLE is a name of the catalogue, a parametric name or a file; BOARD is written in any reasonable form, in quotes
    where it has spaces, or as moves, "moves: R U' F2" or "scramble: ...", or is goal (the first that the puzzle draws)
    or start. Without it the puzzle's start is solved. - reads boards from standard input, one a line, any number; one
    line, or with --json one object, is printed for each. A line that is not a board ends the command with exit status
    2, after those before it are solved.

    A search is kept as a job once it has run for 10 s. A job that was stopped, by Ctrl-C or otherwise, goes on where it
    was when the same command is given again. --workers celery keeps every search from its beginning; searches of bfs,
    dfs and astar are kept only with --store.

    \b
    Examples:
      farthest solve eight-kinds --all
      farthest solve 15-puzzle-blank-first '14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3' --heuristic @1-7+@8-15
      farthest solve 8-puzzle 867254301 --algorithm astar --json
      farthest solve 15-puzzle-blank-first '14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3' --workers celery
      farthest random 15-puzzle -n 10 | farthest solve 15-puzzle -
      farthest solve cube-3x3x3 "scramble: R U' F2 R2"
    """
    if limit is not None and not all_:
        raise click.UsageError("--limit needs --all: without it one solution is shown.")
    if heuristic is not None and algorithm not in GUIDED:
        raise click.UsageError(f"--heuristic needs --algorithm ida or astar: {algorithm} uses none.")
    if memory is not None and algorithm == "iddfs":
        raise click.UsageError(
            "--memory needs another --algorithm: iddfs keeps no boards, and has no tables."
        )
    if memory is not None and algorithm == "ida" and heuristic not in (None, AUTO):
        raise click.UsageError(
            f"--memory needs --heuristic auto, or --algorithm bfs, dfs or astar: ida keeps no boards, and {heuristic} "
            "says which tables it has."
        )
    from farthest.cli.bulk import perhaps_files
    from farthest.cli.search_progress import search_reporter
    from farthest.coordinator.search.settings import LISTED, SearchSettings
    from farthest.coordinator.search.solve import Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.families.user_input import target_given
    from farthest.puzzles.catalogue import load
    from farthest.search.contract import start_or

    lines = board == "-"
    definition = load(puzzle)
    chosen = AUTO if heuristic is None else heuristic
    settings = SearchSettings(
        algorithm=algorithm,
        all_solutions=all_,
        limit=LISTED if limit is None else limit,
        workers=workers or "threads",
        threads=threads,
        memory=memory,
    )
    reporter = search_reporter(progress, of_list=lines)
    with closing(SearchStorage(database, store=store)) as storage:
        solver = Solver(
            definition, target_given(definition, "\n".join(target)), chosen, settings, storage, reporter
        )
        if lines:
            from farthest.cli.search_outcome import solve_lines

            solve_lines(solver, storage, reporter, as_json=as_json)
        else:
            with perhaps_files([board]):
                given = start_or(definition, board)
            _solve_one(solver, given, storage, listed=all_, as_json=as_json)


def _solve_one(solver: Solver, board: Board, storage: SearchStorage, *, listed: bool, as_json: bool) -> None:
    from farthest.cli.search_outcome import refuse_unsolvable, search_document, show_search, tell_interrupted
    from farthest.coordinator.search.solve import SearchInterrupted

    try:
        outcome = solver.solve(board)
    except SearchInterrupted as stopped:
        tell_interrupted(stopped, storage)
        raise
    refuse_unsolvable(outcome)
    if as_json:
        print_json(search_document(solver.puzzle, board, outcome, storage))
    else:
        show_search(solver.puzzle, board, outcome, storage, listed=listed)
