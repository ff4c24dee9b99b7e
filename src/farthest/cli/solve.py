"""`farthest solve`: optimal solutions without a map, of one board or of many."""

from __future__ import annotations

from contextlib import closing
from math import inf
from typing import TYPE_CHECKING

import click

from farthest.cli.options import completed, memory_option, number_option, threads_option, usual_options
from farthest.cli.printing import note, print_json
from farthest.heuristics import ALGORITHMS, AUTO, DEEPENING, GUIDED, Algorithm

if TYPE_CHECKING:
    from farthest.cli.options import Workers
    from farthest.coordinator.search.settings import SearchOutcome
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
    help="The heuristic of ida and astar.  [default: auto, which uses stored tables, or makes some]",
)
@click.option(
    "--to",
    "target",
    metavar="X",
    multiple=True,
    default=("goal",),
    shell_complete=completed("origin"),
    help="The target: goal, start, a board or moves; given several times, to the nearest of all.  [default: goal]",
)
@click.option("--all", "all_", is_flag=True, help="Count all shortest solutions, and list them as moves.")
@number_option("--limit", most=10**9, help="With --all: list at most N; 0: only count.  [default: 1000]")
@click.option(
    "--first", is_flag=True, help="Stop at the first solution found; it need not be a shortest one."
)
@click.option(
    "--within",
    type=click.FloatRange(min=1),
    metavar="X",
    help="Stop at a solution that is proven to have at most X times the moves of a shortest one.  [default: 1]",
)
@click.option(
    "--workers",
    type=click.Choice(["threads", "celery"]),
    help="Where to search: in threads of this process, or in `farthest worker` processes on any hosts, through Redis.  "
    "[default: threads]",
)
@threads_option
@memory_option(
    "With bfs, dfs and astar: memory to use at most.  [default: 4/5 of what is free]  With --heuristic auto: the size "
    "of the tables that it makes.  [default: 256MiB, and 4GiB where the search takes longer than making them; at most "
    "1/4 of what is free]"
)
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Report each iteration on standard error; for a list, how much is done.  [default: if it is a terminal]",
)
@click.option(
    "--store/--no-store",
    default=None,
    help="Keep every search as a job, or none.  [default: a search that can be continued, once it has run for 10 s]",
)
@click.option(
    "--set",
    "set_name",
    metavar="NAME",
    shell_complete=completed("set"),
    help="Solve a published set of boards, such as korf-100 or korf-100:12,30-33, and compare the lengths with the "
    "published ones.",
)
@click.option(
    "--subgroup",
    metavar="MOVES",
    help="Of several boards: solve those of one coset of a subgroup together, such as '<U,D,R2,L2,F2,B2>' of the cube.",
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
    first: bool,
    within: float | None,
    workers: Workers | None,
    threads: int | None,
    memory: int | None,
    progress: bool | None,
    store: bool | None,
    set_name: str | None,
    subgroup: str | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Find a shortest solution of BOARD, or all, by searching.

    PUZZLE is a name of the catalogue, a parametric name or a file; BOARD is written in any reasonable form, in quotes
    where it has spaces, or as moves, "moves: R U' F2" or "scramble: ...", or is goal (the first that the puzzle draws)
    or start. Without it the puzzle's start is solved. - reads boards from standard input, one per line, any number, and
    --set NAME takes those of a published set, which farthest puzzles lists; one line, or with --json one object, is
    printed for each. A line that is not a board is reported on standard error, and the exit status is 1 at the end.

    A long search also looks for any solution, says how long it is, and stops once it is proven that none is shorter.
    --first and --within stop it earlier; Ctrl-C shows the best solution so far.

    A search is kept as a job once it has run for 10 s. A job that was stopped, by Ctrl-C or otherwise, goes on where it
    was when the same command is given again. --workers celery keeps every search from its beginning; searches of bfs,
    dfs and astar are kept only with --store.

    \b
    Examples:
      farthest solve 8-puzzle 867254301 --all
      farthest solve 15-puzzle-blank-first '14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3' --heuristic @1-7+@8-15
      farthest solve 8-puzzle 867254301 --algorithm astar --json
      farthest solve 15-puzzle-blank-first '14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3' --workers celery
      farthest random 15-puzzle -n 10 | farthest solve 15-puzzle -
      farthest solve 15-puzzle --set korf-100
      farthest random 2x2x2 -n 1000 | farthest solve 2x2x2 - --subgroup '<U,R2,F2>'
      farthest solve cube "R U' F2 R2"
    """
    if limit is not None and not all_:
        raise click.UsageError("--limit needs --all: without it one solution is shown.")
    if (first or within is not None) and (
        all_ or algorithm not in DEEPENING or (first and within is not None)
    ):
        raise click.UsageError("--first or --within, not both, need --algorithm ida or iddfs, and no --all.")
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
    if set_name is not None and board is not None:
        raise click.UsageError("--set has boards of its own: leave BOARD out.")
    several = board == "-" or set_name is not None
    if subgroup is not None and (
        not several
        or all_
        or first
        or within is not None
        or workers == "celery"
        or store
        or target != ("goal",)
    ):
        raise click.UsageError(
            "--subgroup solves several boards, those of - or --set, to the goal, by threads of this process; no --all, "
            "--first, --within, --store, --workers celery or --to but goal."
        )
    from farthest.cli.bulk import perhaps_files
    from farthest.cli.search_progress import search_reporter
    from farthest.coordinator.search.settings import LISTED, SearchSettings
    from farthest.coordinator.search.solve import Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.families.user_input import target_given
    from farthest.puzzles.catalogue import load
    from farthest.search.contract import start_or

    definition = load(puzzle)
    if set_name is not None:
        from farthest.cli.batches import asked_of_set, set_of

        asked, (definition, known) = definition, set_of(definition, set_name)
        if definition != asked:
            note(f"{set_name} is a set of boards of {definition.name}, which are searched")
    chosen = AUTO if heuristic is None else heuristic
    settings = SearchSettings(
        algorithm=algorithm,
        all_solutions=all_,
        limit=LISTED if limit is None else limit,
        workers=workers or "threads",
        threads=threads,
        memory=memory,
        within=inf if first else within or 1.0,
    )
    reporter = search_reporter(progress, of_list=several)
    with closing(SearchStorage(database, store=store)) as storage:
        solver = Solver(
            definition, target_given(definition, "\n".join(target)), chosen, settings, storage, reporter
        )
        if several:
            from farthest.cli.batches import asked_lines, solve_batch

            boards, called = (asked_lines(), "line") if set_name is None else (asked_of_set(known), "board")
            solve_batch(solver, boards, storage, reporter, called=called, as_json=as_json, subgroup=subgroup)
        else:
            with perhaps_files([board]):
                given = start_or(definition, board)
            _solve_one(solver, given, storage, listed=all_, as_json=as_json)


def _solve_one(solver: Solver, board: Board, storage: SearchStorage, *, listed: bool, as_json: bool) -> None:
    from farthest.cli.search_outcome import refuse_unsolvable, tell_interrupted
    from farthest.coordinator.search.solve import SearchInterrupted

    try:
        outcome = solver.solve(board)
    except SearchInterrupted as stopped:
        if stopped.answer is not None:
            _show(solver, board, stopped.answer, storage, listed=False, as_json=as_json)
        tell_interrupted(stopped, storage)
        raise
    refuse_unsolvable(outcome)
    _show(solver, board, outcome, storage, listed=listed, as_json=as_json)


def _show(
    solver: Solver,
    board: Board,
    outcome: SearchOutcome,
    storage: SearchStorage,
    *,
    listed: bool,
    as_json: bool,
) -> None:
    from farthest.cli.search_outcome import search_document, show_search

    if as_json:
        print_json(search_document(solver.puzzle, board, outcome, storage))
    else:
        show_search(solver.puzzle, board, outcome, storage, listed=listed)
