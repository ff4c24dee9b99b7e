"""`farthest heuristic`: heuristics compared with a stored map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from farthest.cli.completion import complete_heuristic, complete_job
from farthest.cli.options import allow_module_option, database_option, json_option

if TYPE_CHECKING:
    from farthest.queries.distance_map import DistanceMap
    from farthest.queries.heuristic_report import Drop, Findings, TooLarge

REFUTED = 1
SHOWN = 3


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option(
    "--heuristic",
    "texts",
    metavar="TEXT",
    multiple=True,
    shell_complete=complete_heuristic,
    help="Only this one; may be repeated.  [default: all that are for the puzzle]",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=SHOWN,
    show_default=True,
    help="Most counterexamples of each kind, besides the worst.",
)
@allow_module_option
@database_option
@json_option
@click.pass_context
def heuristic(
    context: click.Context,
    job: str,
    texts: tuple[str, ...],
    limit: int,
    database: str | None,
    as_json: bool,
) -> None:
    """Compare heuristics with the true distances of a stored map.

    JOB is a job's number, or a puzzle's name for its newest map, complete if there is one. It says of each
    heuristic whether it is admissible (no value is more than the distance) and consistent (no move takes away more
    than 1), its mean, the mean of value divided by distance, and boards that prove where it is not. Exit status 1: the
    map refutes what a heuristic claims of itself; one that claims nothing, such as misplaced+manhattan, may be wrong.

    \b
    Examples:
      farthest heuristic 8-puzzle
      farthest heuristic 8-puzzle --heuristic misplaced+manhattan --limit 10
      farthest heuristic 8-puzzle --heuristic @1-4+@5-8 --json
    """
    from farthest.cli.printing import print_json

    with _open(job, database) as opened:
        findings = opened.heuristics(texts, limit=limit)
        if as_json:
            print_json({**_facts(opened), "heuristics": [_fields(found) for found in findings]})
        else:
            _show(opened, findings)
    if any(found.refuted for found in findings):
        context.exit(REFUTED)


def _open(job: str, database: str | None) -> DistanceMap:
    from farthest.cli.opening import open_job
    from farthest.errors import JobError

    try:
        return open_job(job, database)
    except JobError as error:
        if job.isdecimal():
            raise
        raise JobError(f"{error}; a map is made by `farthest enumerate {job}`") from None


def _facts(opened: DistanceMap) -> dict[str, Any]:
    return {
        "job": opened.job,
        "puzzle": opened.record.name,
        "origin": {"direction": opened.origin.direction, "where": opened.origin.where},
        "states": opened.states,
        "complete": opened.complete,
        "depth": opened.depth,
    }


def _fields(found: Findings) -> dict[str, Any]:
    return {
        "heuristic": found.heuristic.name,
        "claims": {"admissible": found.heuristic.admissible, "consistent": found.heuristic.consistent},
        "admissible": found.admissible,
        "consistent": found.consistent,
        "mean": found.mean,
        "ratio": found.ratio,
        "largest": found.largest,
        "exact": found.exact,
        "too_large": found.too_large,
        "moves": found.moves,
        "drops": found.drops,
        "counterexamples": [_too_large_fields(each) for each in found.too_large_first],
        "worst": found.too_large_worst and _too_large_fields(found.too_large_worst),
        "drop_counterexamples": [_drop_fields(each) for each in found.drops_first],
        "worst_drop": found.drop_worst and _drop_fields(found.drop_worst),
    }


def _too_large_fields(proof: TooLarge) -> dict[str, Any]:
    return {"board": proof.board, "value": proof.value, "distance": proof.distance}


def _drop_fields(proof: Drop) -> dict[str, Any]:
    return {
        "board": proof.board,
        "value": proof.value,
        "move": proof.move,
        "next_board": proof.next_board,
        "next_value": proof.next_value,
    }


def _show(opened: DistanceMap, findings: list[Findings]) -> None:
    from farthest.cli.printing import counted, print_table

    print_table(
        ("heuristic", "admissible", "consistent", "mean", "mean h/d", "largest", "exact"),
        [
            (
                found.heuristic.name,
                _verdict(found.admissible, found.heuristic.admissible),
                _verdict(found.consistent, found.heuristic.consistent),
                f"{found.mean:.3f}",
                f"{found.ratio:.3f}",
                str(found.largest),
                f"{found.exact / found.states:.2%}",
            )
            for found in findings
        ],
        right="lllrrrr",
    )
    for found in findings:
        _show_counterexamples(found)
    click.echo(
        f"\nover {counted(opened.states, 'state')} and {counted(findings[0].moves, 'move')} of job {opened.job} "
        f"({opened.record.name}, {opened.origin})"
    )
    if not opened.complete:
        click.echo(f"The map ends at depth {opened.depth}: states that are farther were not checked.")


def _verdict(holds: bool, claimed: bool) -> str:
    if holds:
        return "yes"
    return "NO, though claimed" if claimed else "no"


def _show_counterexamples(found: Findings) -> None:
    from farthest.puzzles.moves_shown import move_text

    if found.too_large_worst is not None:
        click.echo(f"\n{found.heuristic.name} is more than the distance of {found.too_large:,} states:")
        _show_list(
            [_too_large_text(each) for each in found.too_large_first], _too_large_text(found.too_large_worst)
        )
    if found.drop_worst is not None:

        def text(drop: Drop) -> str:
            move = move_text(drop.move)
            return f"{drop.board}: {drop.value}; after {move} {drop.next_board}: {drop.next_value}"

        click.echo(f"\n{found.heuristic.name} falls by more than 1 with {found.drops:,} moves:")
        _show_list([text(each) for each in found.drops_first], text(found.drop_worst))


def _too_large_text(proof: TooLarge) -> str:
    return f"{proof.board}: {proof.value}, distance {proof.distance}"


def _show_list(first: list[str], worst: str) -> None:
    for line in first:
        click.echo(f"  {line}")
    click.echo(f"  the worst: {worst}")
