"""The result of an enumeration: for people, for programs, and read again from the database."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.messages import warn

if TYPE_CHECKING:
    from farthest.coordinator.settings import Outcome
    from farthest.models.records import JobRecord
    from farthest.models.transactions import Database
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.queries.goals import FirstGoals

BOARDS_DRAWN = 24

GOALS_LISTED = 4

STATES_SEARCHED = 5_000_000
"""In larger maps goals are not searched for."""


@dataclass(frozen=True, slots=True)
class GoalsMet:
    """The goals that a map reaches. ``first``: None where no goal is reached."""

    first: FirstGoals | None


def stored_outcome(database: Database, record: JobRecord) -> Outcome:
    """The outcome of a finished job, as it was at its end, without the depth where it was resumed."""
    from farthest.coordinator.enumeration.run import FARTHEST_BOARDS
    from farthest.coordinator.settings import Outcome
    from farthest.models.jobs import Jobs
    from farthest.models.maps import Maps

    layers = tuple(layer.states for layer in Jobs(database).layers(record.id))
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
    )


def outcome_document(outcome: Outcome, database: Database, met: GoalsMet | None) -> dict[str, Any]:
    """What `--json` prints."""
    goal = {} if met is None else {"goal": None if met.first is None else asdict(met.first)}
    figures = [layer.document() for layer in outcome.figures]
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
        "stopped": outcome.stopped,
        "database": database.place,
        **({"figures": figures} if figures else {}),
        **goal,
    }


def show_outcome(
    puzzle: Puzzle,
    outcome: Outcome,
    database: Database,
    origin: Origin,
    *,
    has_map: bool,
    met: GoalsMet | None,
) -> None:
    """Prints layers, farthest boards, the nearest goals, and commands for the map."""
    from farthest.cli.printing import counted, print_drawings, print_table
    from farthest.drawing.terminal import coloured
    from farthest.safe_text import safe
    from farthest.wording import seconds_text

    print_table(
        ("depth", "states"),
        [(str(depth), f"{states:,}") for depth, states in enumerate(outcome.layers)],
        right="rr",
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
    known = f"eccentricity {depth}" if outcome.complete else f"layers 0 to {depth}"
    click.echo(
        f"\n{outcome.puzzle}: {counted(outcome.states, 'state')}, {known}, in {seconds_text(outcome.seconds)}"
    )
    uncertainty = definition.uncertainty(outcome.states)
    if uncertainty:
        click.echo(uncertainty)
    if met is not None:
        _show_goals(met, outcome)
    if not outcome.complete and outcome.stopped is None:
        click.echo("There may be states beyond the last layer: --max-depth ended the enumeration there.")
    if outcome.resumed_from == 0:
        click.echo(
            "Begun anew: reading its checkpoint would have taken longer than finding the layers again."
        )
    elif outcome.resumed_from is not None:
        click.echo(f"Resumed from the checkpoint at depth {outcome.resumed_from}.")
    if not has_map:
        click.echo(f"Layers kept as job {outcome.job} in {database.place}, without a map.")
        return
    click.echo(f"Map kept as job {outcome.job} in {database.place}. Ask it, for example:\n")
    allowed = f" --allow-module {definition.module}" if definition.module else ""
    click.echo(f"  farthest distance {outcome.job} '{shown[0]}'{allowed}")
    if definition.has_moves:
        click.echo(f"  farthest path {outcome.job} '{shown[0]}'{allowed}")
    click.echo(f"  farthest states {outcome.job} --farthest{allowed}")


def goals_met(
    puzzle: Puzzle, outcome: Outcome, database: Database, origin: Origin, *, has_map: bool
) -> GoalsMet | None:
    """The nearest goals of a puzzle that is counted from its start; None where they are not searched for.

    Warns where a known answer differs.
    """
    counted_from_start = (origin.direction, origin.where) == ("from", "start") and origin == puzzle.origin
    if not (counted_from_start and puzzle.definition.has_origin("goal") and has_map):
        return None
    if outcome.states > STATES_SEARCHED:
        return None
    from farthest.models.jobs import Jobs
    from farthest.queries.distance_map import DistanceMap
    from farthest.queries.goals import first_goals

    assert outcome.job is not None
    found = first_goals(DistanceMap(database, Jobs(database).get(outcome.job)))
    for known in puzzle.known:
        if known.goal is not None and outcome.complete and known.goal != (found and found.depth):
            warn(
                f"{puzzle.name}: the nearest goal is {known.goal} moves away by {known.source!r}; check the puzzle's "
                "file, or its source"
            )
    return GoalsMet(found)


def _show_goals(met: GoalsMet, outcome: Outcome) -> None:
    from farthest.cli.printing import counted

    if met.first is None:
        limit = "" if outcome.complete else f" within {len(outcome.layers) - 1} moves"
        click.echo(f"No goal is reached{limit}.")
        return
    click.echo(f"goal first reached at depth {met.first.depth}, in {counted(met.first.states, 'board')}:")
    for board in met.first.boards[:GOALS_LISTED]:
        click.echo(f"  {board}")
    if met.first.states > GOALS_LISTED:
        click.echo(f"  ... and {met.first.states - GOALS_LISTED:,} more")


def warn_of_difference(puzzle: Puzzle, outcome: Outcome, origin: Origin | None) -> None:
    """Warns where the result differs from the known answers of the puzzle's file: one of the two is wrong."""
    if origin not in (None, puzzle.origin):
        return
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
