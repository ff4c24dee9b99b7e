"""`farthest enumerate`: one enumeration in the foreground."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from farthest.cli.completion import complete_puzzle
from farthest.cli.options import (
    allow_module_option,
    byte_size,
    database_option,
    json_option,
    kind_of_map,
    named_origin,
    result_options,
    scratch_option,
    workers_option,
)
from farthest.errors import STOPPED_EARLY

if TYPE_CHECKING:
    from farthest.cli.progress import QuietReporter
    from farthest.coordinator.settings import Outcome
    from farthest.models.transactions import Database

Workers = Literal["threads", "celery"]


@click.command("enumerate")
@click.argument("puzzle", shell_complete=complete_puzzle)
@result_options
@workers_option
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
    help="Memory to use at most, such as 4GiB; not with celery.  [default: 4/5 of what is free]",
)
@scratch_option
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Report progress on standard error.  [default: if it is a terminal]",
)
@allow_module_option
@database_option
@json_option
def enumerate_(
    puzzle: str,
    from_: tuple[str, ...],
    to: tuple[str, ...],
    max_depth: int | None,
    map_: str | None,
    histogram_only: bool,
    workers: Workers | None,
    threads: int | None,
    memory: int | None,
    scratch: Path | None,
    progress: bool | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Enumerate all states of PUZZLE and keep their distances.

    PUZZLE is a name of the catalogue (`farthest puzzles`), a parametric name such as sliding-3x4, or a TOML
    file. Distances are numbers of moves to X (--to) or from X (--from); they differ where moves are one-way.
    An enumeration that was stopped, by Ctrl-C or otherwise, goes on from its last checkpoint when the same
    command is given again.

    \b
    Examples:
      farthest enumerate eight-kinds
      farthest enumerate 8-puzzle --from start --json
      farthest enumerate sliding-3x4 --map none --memory 2GiB
      farthest enumerate sliding-3x4 --map residues
      farthest enumerate sliding-3x4 --workers celery
    """
    named = named_origin(from_, to)
    histogram_only, residues = kind_of_map(map_, histogram_only)
    if memory is not None and workers == "celery":
        raise click.UsageError(
            "--memory is for the threads of this process, and --workers celery keeps the states in Redis: limit that "
            "with its own setting maxmemory, and what each process of a worker keeps with FARTHEST_WORKER_MEMORY."
        )
    from farthest.coordinator.enumeration.job import enumerate_puzzle
    from farthest.coordinator.settings import Settings
    from farthest.environment import CHECKPOINT_SECONDS
    from farthest.families.given import origin_given
    from farthest.models.database import open_database
    from farthest.puzzles.catalogue import load

    definition = load(puzzle)
    origin = origin_given(definition, named)
    settings = Settings(
        origin=origin,
        max_depth=max_depth,
        threads=threads,
        memory=memory,
        scratch=scratch,
        histogram_only=histogram_only,
        residues=residues,
        checkpoint_seconds=CHECKPOINT_SECONDS.number(),
        workers=workers or "threads",
    )
    with open_database(database, create=True) as opened:
        outcome = run_in_foreground(
            lambda reporter: enumerate_puzzle(definition, opened, settings, reporter), opened, progress
        )
        from farthest.cli.outcome import goals_met, outcome_document, show_outcome, warn_of_difference

        counted, has_map = origin or definition.origin, not histogram_only
        warn_of_difference(definition, outcome, origin)
        met = goals_met(definition, outcome, opened, counted, has_map=has_map)
    if as_json:
        from farthest.cli.printing import print_json

        print_json(outcome_document(outcome, opened, met))
    else:
        show_outcome(definition, outcome, opened, counted, has_map=has_map, met=met)
    if outcome.stopped is not None:
        from farthest.cli.messages import warn

        warn(f"stopped before the depth limit: {outcome.stopped}")
        click.get_current_context().exit(STOPPED_EARLY)


def run_in_foreground(
    action: Callable[[QuietReporter], Outcome], database: Database, progress: bool | None
) -> Outcome:
    """The outcome of an enumeration, reported to the terminal. At Ctrl-C says what is kept and raises Interrupted."""
    from farthest.coordinator.interrupts import Interrupted

    reporter = chosen_reporter(progress)
    try:
        return action(reporter)
    except Interrupted as stopped:
        reporter.stop()
        click.echo(_after_interrupt(stopped.depth, str(stopped.folder or database.place)), err=True)
        raise
    finally:
        reporter.stop()


def chosen_reporter(progress: bool | None) -> QuietReporter:
    """The reporter of progress: a live display on a terminal, lines with --progress, else only notices."""
    from farthest.cli.progress import LineReporter, LiveReporter, QuietReporter

    terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (terminal if progress is None else progress):
        return QuietReporter()
    return LiveReporter() if terminal else LineReporter()


def _after_interrupt(depth: int | None, place: str) -> str:
    if depth is None:
        return "Interrupted; nothing was stored. The same command begins again."
    return f"Interrupted; {place} keeps the layers up to {depth}. The same command goes on from there."
