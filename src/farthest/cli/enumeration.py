"""`farthest enumerate`: run one enumeration in the foreground."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.options import byte_size, database_option, json_option

if TYPE_CHECKING:
    from farthest.cli.progress import QuietReporter
    from farthest.coordinator.enumeration import Outcome
    from farthest.models.database import Database
    from farthest.puzzles.definition import Origin, Puzzle

BOARDS_DRAWN = 24


@click.command("enumerate")
@click.argument("puzzle")
@click.option("--from", "from_", metavar="X", help="Count moves from X: goal, start or a board.")
@click.option(
    "--to", metavar="X", help="Count moves to X: goal, start or a board.  [default: what the puzzle says]"
)
@click.option("--max-depth", type=click.IntRange(min=0), metavar="N", help="Stop after layer N.")
@click.option(
    "--threads",
    type=click.IntRange(min=1, max=4096),
    metavar="N",
    help="Threads.  [default: one a processor]",
)
@click.option(
    "--memory",
    metavar="SIZE",
    callback=byte_size,
    help="Memory to use at most, such as 4GiB.  [default: 4/5 of what is free]",
)
@click.option("--histogram-only", is_flag=True, help="Find the layers and farthest boards only; keep no map.")
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Report progress on standard error.  [default: if it is a terminal]",
)
@database_option
@json_option
def enumerate_(
    puzzle: str,
    from_: str | None,
    to: str | None,
    max_depth: int | None,
    threads: int | None,
    memory: int | None,
    histogram_only: bool,
    progress: bool | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Enumerate all states of PUZZLE and keep their distances.

    PUZZLE is a name of the catalogue (`farthest puzzles`), a parametric name such as sliding-3x4, or a TOML
    file. Distances are numbers of moves to X (--to) or from X (--from); they differ where moves are one-way.
    A run that was stopped, by Ctrl-C or otherwise, goes on where it was when the same command is given again.

    \b
    Examples:
      farthest enumerate eight-kinds
      farthest enumerate 8-puzzle --from start --json
      farthest enumerate sliding-3x4 --histogram-only --memory 2GiB
    """
    if from_ is not None and to is not None:
        raise click.UsageError("--from and --to exclude each other: distances are counted from X or to X.")
    from farthest.coordinator.enumeration import Settings, enumerate_puzzle
    from farthest.coordinator.interrupts import Interrupted
    from farthest.models.database import open_database
    from farthest.puzzles.catalogue import load

    definition = load(puzzle)
    settings = Settings(
        origin=_origin(from_, to),
        max_depth=max_depth,
        threads=threads,
        memory=memory,
        histogram_only=histogram_only,
    )
    reporter = _reporter(progress)
    with open_database(database, create=True) as opened:
        try:
            outcome = enumerate_puzzle(definition, opened, settings, reporter)
        except Interrupted as stopped:
            reporter.stop()
            click.echo(_after_interrupt(stopped.depth, opened.place), err=True)
            raise
        finally:
            reporter.stop()
    _warn_of_difference(definition, outcome, settings.origin)
    if as_json:
        from farthest.cli.printing import print_json

        print_json(_document(outcome, opened))
    else:
        _show(definition, outcome, opened, settings.origin or definition.origin, has_map=not histogram_only)


def _after_interrupt(depth: int | None, place: str) -> str:
    if depth is None:
        return "Interrupted; nothing was stored. The same command begins again."
    return f"Interrupted; {place} keeps the layers up to {depth}. The same command goes on from there."


def _warn_of_difference(puzzle: Puzzle, outcome: Outcome, origin: Origin | None) -> None:
    """Says where the result is not what the puzzle's file calls known: one of the two is wrong."""
    if not outcome.complete or origin not in (None, puzzle.origin):
        return
    for known in puzzle.known:
        for what, expected, found in (
            ("states", known.states, outcome.states),
            ("eccentricity", known.eccentricity, outcome.eccentricity),
            ("layers", known.layers, outcome.layers),
        ):
            if expected not in (None, found):
                shown = "others" if what == "layers" else f"{expected:,}"
                click.echo(
                    f"Warning: {puzzle.name}: {what} known from {known.source!r}: {shown}, found: "
                    f"{'see above' if what == 'layers' else f'{found:,}'}; check the puzzle's file, or its source",
                    err=True,
                )


def _origin(from_: str | None, to: str | None) -> Origin | None:
    from farthest.puzzles.definition import Origin

    if from_ is not None:
        return Origin("from", from_)
    return Origin("to", to) if to is not None else None


def _reporter(progress: bool | None) -> QuietReporter:
    """What reports the run: a live display on a terminal, lines where they are asked for, else nearly nothing."""
    from farthest.cli.progress import LineReporter, LiveReporter, QuietReporter

    terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (terminal if progress is None else progress):
        return QuietReporter()
    return LiveReporter() if terminal else LineReporter()


def _document(outcome: Outcome, database: Database) -> dict[str, Any]:
    return {
        "job": outcome.job,
        "puzzle": outcome.puzzle,
        "states": outcome.states,
        "eccentricity": outcome.eccentricity,
        "layers": list(outcome.layers),
        "farthest": list(outcome.farthest),
        "digest": outcome.digest,
        "seconds": outcome.seconds,
        "complete": outcome.complete,
        "resumed_from": outcome.resumed_from,
        "database": database.place,
    }


def _show(puzzle: Puzzle, outcome: Outcome, database: Database, origin: Origin, *, has_map: bool) -> None:
    from farthest.cli.printing import counted, print_table, seconds_text, side_by_side
    from farthest.puzzles.boards import draw_board, parse_board

    print_table(
        ("depth", "states"),
        [(str(depth), f"{states:,}") for depth, states in enumerate(outcome.layers)],
        right="rr",
    )
    number, depth = outcome.layers[-1], len(outcome.layers) - 1
    which = "farthest" if outcome.complete else "in the last layer that was found"
    click.echo(
        f"\n{counted(number, 'board')} {which}, {counted(depth, 'move')} {origin.direction} {origin.where}:\n"
    )
    shown = outcome.farthest[:BOARDS_DRAWN]
    click.echo(
        "\n".join(side_by_side([draw_board(puzzle.body, parse_board(puzzle.body, text)) for text in shown]))
    )
    if number > len(shown):
        click.echo(f"\n... and {number - len(shown):,} more")
    known = f"eccentricity {depth}" if outcome.complete else f"layers 0 to {depth}"
    click.echo(
        f"\n{outcome.puzzle}: {counted(outcome.states, 'state')}, {known}, in {seconds_text(outcome.seconds)}"
    )
    if not outcome.complete:
        click.echo("There may be states beyond the last layer: --max-depth ended the enumeration there.")
    if outcome.resumed_from is not None:
        click.echo(f"Resumed from the checkpoint at depth {outcome.resumed_from}.")
    if not has_map:
        click.echo(f"Layers kept as job {outcome.job} in {database.place}, without a map.")
        return
    click.echo(f"Map kept as job {outcome.job} in {database.place}. Ask it, for example:\n")
    click.echo(f"  farthest distance {outcome.job} '{shown[0]}'")
    click.echo(f"  farthest path {outcome.job} '{shown[0]}'")
    click.echo(f"  farthest states {outcome.job} --farthest")
