"""`farthest enumerate`: one enumeration in the foreground, and its result; and `farthest estimate`: what one needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import click

from farthest.cli.enumeration_options import settings_options
from farthest.cli.options import number_option, progress_option, usual_options
from farthest.cli.printing import given_database, note, print_drawings, print_json, print_table, warn
from farthest.documents import plain
from farthest.errors import STOPPED_EARLY
from farthest.safe_text import safe
from farthest.wording import bytes_text, counted, seconds_text

if TYPE_CHECKING:
    from farthest.cli.progress import QuietReporter
    from farthest.coordinator.settings import Outcome, Settings, WorkersEstimate
    from farthest.models.database import Database
    from farthest.models.records import FirstGoals, JobRecord
    from farthest.puzzles.puzzle import Origin, Puzzle


@click.command("enumerate")
@settings_options(
    "workers",
    "threads",
    "memory",
    "scratch",
    memory_help="Memory to use at most, such as 4GiB; not with celery.  [default: 4/5 of what is free]",
)
@click.option(
    "--again",
    is_flag=True,
    help="Enumerate even if a finished job of the same puzzle and options is stored.",
)
@progress_option
@usual_options
def enumerate_(
    puzzle: Puzzle,
    settings: Settings,
    again: bool,
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
      farthest enumerate 8-puzzle
      farthest enumerate 8-puzzle --from start --json
      farthest enumerate sliding-3x4 --map none --memory 2GiB
      farthest enumerate sliding-3x4 --map residues
      farthest enumerate sliding-3x4 --workers celery
    """
    from farthest.coordinator.enumeration.job import enumerate_puzzle
    from farthest.environment import CHECKPOINT_SECONDS
    from farthest.models.database import open_database

    settings = replace(settings, checkpoint_seconds=CHECKPOINT_SECONDS.number())
    with open_database(database, create=True) as opened:
        known = None if again else _finished_before(puzzle, settings, opened)
        if known is None:
            outcome = run_in_foreground(
                lambda reporter: enumerate_puzzle(puzzle, opened, settings, reporter), opened, progress
            )
        else:
            outcome = stored_outcome(opened, known)
            note(f"this is job {known.id}, stored on {known.created:%Y-%m-%d}; --again enumerates once more")
        print_outcome(puzzle, outcome, opened, as_json)
    if outcome.stopped is not None:
        warn(f"stopped before the depth limit: {outcome.stopped}")
        click.get_current_context().exit(STOPPED_EARLY)


def _finished_before(puzzle: Puzzle, settings: Settings, database: Database) -> JobRecord | None:
    """The newest finished job of the puzzle that was asked for in the same way."""
    from farthest.models.jobs import Jobs

    asked = [settings.parameters(settings.origin or puzzle.origin)]
    if settings.residues is None and not settings.histogram_only:  # of whichever kind the map is
        asked.append({**asked[0], "map": "residues"})
    return next(
        (
            record
            for record in Jobs(database).finished_before(puzzle.digest, asked)
            if record.complete or record.depth == settings.max_depth  # its memory did not end it before
        ),
        None,
    )


def run_in_foreground(
    action: Callable[[QuietReporter], Outcome], database: Database, progress: bool | None
) -> Outcome:
    """The outcome of an enumeration, reported to the terminal. At Ctrl-C says what is kept and raises Interrupted."""
    from farthest.cli.progress import enumeration_reporter
    from farthest.coordinator.attempt import Interrupted

    reporter = enumeration_reporter(progress)
    try:
        return action(reporter)
    except Interrupted as stopped:
        reporter.stop()
        click.echo(_after_interrupt(stopped.depth, str(stopped.folder or database.place)), err=True)
        raise
    finally:
        reporter.stop()


def _after_interrupt(depth: int | None, place: str) -> str:
    if depth is None:
        return "Interrupted; nothing was stored. The same command starts from the beginning."
    return f"Interrupted; {place} keeps the layers up to {depth}. The same command continues from there."


PROCESSES = (1, 8, 64, 512)


@click.command()
@settings_options(
    "threads",
    "memory",
    "scratch",
    memory_help="Memory to use at most, such as 4GiB.  [default: 4/5 of what is free]",
)
@number_option(
    "--processes",
    least=1,
    most=100_000,
    default=PROCESSES,
    multiple=True,
    help="Estimate the time for N worker processes; may be repeated.  [default: 1, 8, 64, 512]",
)
@usual_options
def estimate(
    puzzle: Puzzle, settings: Settings, processes: tuple[int, ...], database: str | None, as_json: bool
) -> None:
    """Say what an enumeration of PUZZLE will need.

    That is states, memory, disk and time; nothing is stored. Where nobody knows how many states there are, they are
    counted for a second, or sampled by random walks. The options are those of `farthest enumerate`, which decides by
    the same figures. Where it does not fit, the nearest choice that does is named.

    \b
    Examples:
      farthest estimate sliding-3x4
      farthest estimate sliding-3x5 --histogram-only --memory 4GiB --scratch /mnt/large
      farthest estimate pancake-14 --histogram-only --processes 16 --processes 32
    """
    from farthest.coordinator.enumeration.plan import estimated
    from farthest.models.database import database_folder

    needs = estimated(puzzle, settings, database_folder(database), processes, guessing=True)
    from farthest.documents.puzzles import estimate_document, estimate_rows

    if as_json:
        print_json(estimate_document(puzzle, needs))
        return
    for name, text in estimate_rows(needs):
        click.echo(f"{name.capitalize() + ':':<18}{text}")
    if needs.workers:
        click.echo()
        _show_workers(needs.workers)


def _show_workers(workers: tuple[WorkersEstimate, ...]) -> None:
    rows = [
        (
            f"{each.processes:,}",
            seconds_text(each.seconds),
            bytes_text(each.memory),
            bytes_text(each.coordinator_memory),
            bytes_text(each.redis),
            bytes_text(each.blobs),
            f"{each.messages:,}",
            each.waits_for,
        )
        for each in workers
    ]
    columns = ("workers", "time", "each", "coordinator", "Redis", "blobs", "messages", "waits for")
    click.echo("By processes of workers: memory of each and of the coordinator, messages of a layer:")
    print_table(columns, rows, right="rrrrrrrl")


BOARDS_DRAWN = 24


def stored_outcome(database: Database, record: JobRecord) -> Outcome:
    """The outcome of a finished job, as it was at its end, without the depth where it was resumed."""
    from farthest.coordinator.settings import FARTHEST_BOARDS, Outcome
    from farthest.models.jobs import Jobs
    from farthest.models.maps import Maps

    stored = Jobs(database).layers(record.id)
    layers = tuple(layer.states for layer in stored)
    classes = [layer.classes for layer in stored if layer.classes is not None]
    last = Maps(database).states(record.id, len(layers) - 1)
    return Outcome(
        job=record.id,
        puzzle=record.name,
        states=record.states or 0,
        eccentricity=record.eccentricity,
        layers=layers,
        farthest=[state.board for state in islice(last, FARTHEST_BOARDS)],
        digest=record.digest or "",
        seconds=record.seconds or 0.0,
        complete=record.complete,
        resumed_from=None,
        classes=tuple(classes) if classes and len(classes) == len(layers) else None,
    )


def print_outcome(
    puzzle: Puzzle, outcome: Outcome, database: Database, as_json: bool, *, status: str | None = None
) -> None:
    """The result for people, or as JSON, there with the ``status`` of its job. Warns where it differs from known
    answers."""
    from farthest.documents.jobs import answer_rows
    from farthest.models.jobs import Jobs
    from farthest.models.stored_job import origin_of, stored_answers

    assert outcome.job is not None, "it is stored"
    record = Jobs(database).get(outcome.job)
    origin, answers = origin_of(record), stored_answers(record)
    if origin == puzzle.origin:
        _warn_of_difference(puzzle, outcome)
        if "goal" in answers and outcome.complete:
            _warn_of_goal(puzzle, answers["goal"])
    if not as_json:
        _print_outcome(puzzle, outcome, origin)
        for name, text in answer_rows(record, "\n  "):
            click.echo(f"{name} {text}")
        _print_end(puzzle, outcome, database, has_map=record.has_map)
        return
    document = plain(outcome)
    figures = [layer.document() for layer in document.pop("figures")]
    print_json(
        {
            **document,
            "database": database.place,
            **({"figures": figures} if figures else {}),
            **answers,
            **({} if status is None else {"status": status}),
        }
    )


def _print_outcome(puzzle: Puzzle, outcome: Outcome, origin: Origin) -> None:
    """Layers and farthest boards."""
    from farthest.drawing.terminal import coloured

    columns = [range(len(outcome.layers)), outcome.layers, *([outcome.classes] if outcome.classes else [])]
    print_table(
        ("depth", "states", "classes")[: len(columns)],
        [tuple(f"{number:,}" for number in row) for row in zip(*columns, strict=True)],
        right="r" * len(columns),
    )
    number, depth = outcome.layers[-1], len(outcome.layers) - 1
    which = "farthest" if outcome.complete else "in the last layer that was found"
    click.echo(f"\n{counted(number, 'board')} {which}, {counted(depth, 'move')} {origin}:\n")
    shown = outcome.farthest[:BOARDS_DRAWN]
    definition = puzzle.definition
    print_drawings(
        [
            ("", coloured(definition, definition.parse_board(text)) if definition.ready else [safe(text)])
            for text in shown
        ]
    )
    if number > len(shown):
        click.echo(f"\n... and {number - len(shown):,} more")
    known = f"eccentricity {depth:,}" if outcome.complete else f"layers 0 to {depth}"
    click.echo(
        f"\n{outcome.puzzle}: {counted(outcome.states, 'state')}, {known}, in {seconds_text(outcome.seconds)}"
    )
    uncertainty = definition.uncertainty(outcome.states)
    if uncertainty:
        click.echo(uncertainty)


def _print_end(puzzle: Puzzle, outcome: Outcome, database: Database, *, has_map: bool) -> None:
    """Where the result is kept, and commands for its map."""
    definition, board = puzzle.definition, outcome.farthest[0]
    if not outcome.complete and outcome.stopped is None:
        click.echo("There may be more states: --max-depth ended the enumeration at this layer.")
    if outcome.resumed_from == 0:
        click.echo(
            "Started over: reading the checkpoint would have taken longer than finding its layers again."
        )
    elif outcome.resumed_from is not None:
        click.echo(f"Resumed from the checkpoint at depth {outcome.resumed_from}.")
    if not has_map:
        click.echo(f"Layers kept as job {outcome.job} in {database.place}, without a map.")
        return
    click.echo(f"Map kept as job {outcome.job} in {database.place}. Ask it, for example:\n")
    options = given_database() + (f" --allow-module {definition.module}" if definition.module else "")
    click.echo(f"  farthest distance {outcome.job} '{board}'{options}")
    if definition.has_moves:
        click.echo(f"  farthest path {outcome.job} '{board}'{options}")
    click.echo(f"  farthest states {outcome.job} --farthest{options}")


def _warn_of_goal(puzzle: Puzzle, found: FirstGoals | None) -> None:
    """Warns where the depth of the nearest goals differs from a known answer."""
    for known in puzzle.known:
        if known.goal not in (None, found and found.depth):
            warn(
                f"{puzzle.name}: the nearest goal is {known.goal} moves away by {known.source!r}; check the puzzle's "
                "file, or its source"
            )


def _warn_of_difference(puzzle: Puzzle, outcome: Outcome) -> None:
    """Warns where the result differs from the known answers of the puzzle's file: one of the two is wrong."""
    for known in puzzle.known:
        first, shortest = known.layers or known.first_layers or (), len(outcome.layers)
        if first[:shortest] != outcome.layers[: len(first)] and not (outcome.complete and known.layers):
            warn(
                f"{puzzle.name}: the first layers known from {known.source!r} are others; check the puzzle's file, or "
                "its source"
            )
        if not outcome.complete:
            continue
        for what, expected, found in (
            ("states", known.states, outcome.states),
            ("eccentricity", known.eccentricity, outcome.eccentricity),
            ("layers", known.layers, outcome.layers),
        ):
            if expected not in (None, found):
                shown = "others" if what == "layers" else f"{expected:,}"
                warn(
                    f"{puzzle.name}: {what} known from {known.source!r}: {shown}, found: "
                    f"{'see above' if what == 'layers' else f'{found:,}'}; check the puzzle's file, or its source"
                )
