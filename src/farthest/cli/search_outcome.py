"""The result of a search: for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from farthest.errors import UnreachableError

if TYPE_CHECKING:
    from farthest.coordinator.search.settings import SearchOutcome
    from farthest.models.transactions import Database
    from farthest.search.problem import Problem


def refuse_unsolvable(problem: Problem, outcome: SearchOutcome) -> None:
    """Raises UnreachableError where the search has proven that there is no solution."""
    if outcome.length is None:
        raise UnreachableError(
            f"puzzle {outcome.puzzle}: board {outcome.board}: it cannot be solved: all that can be reached from it was "
            f"searched ({outcome.nodes:,} nodes), and {_named(problem.target)} is not there"
        )


def search_document(outcome: SearchOutcome, database: Database) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "job": outcome.job,
        "puzzle": outcome.puzzle,
        "board": outcome.board,
        "target": outcome.target,
        "algorithm": outcome.algorithm,
        "heuristic": outcome.heuristic,
        "length": outcome.length,
        "solutions": outcome.solutions,
        "moves": outcome.moves,
        "paths": outcome.paths,
        "optimal": outcome.optimal,
        "nodes": outcome.nodes,
        "expanded": outcome.expanded,
        "iterations": [asdict(one) for one in outcome.iterations],
        "seconds": outcome.seconds,
        "digest": outcome.digest,
        "resumed": outcome.resumed,
        "database": database.place,
    }


def show_search(problem: Problem, outcome: SearchOutcome, database: Database, *, listed: bool) -> None:
    """The solutions, drawn or ``listed``, and what finding them took."""
    from farthest.cli.printing import counted, seconds_text
    from farthest.cli.solutions import draw_way, list_ways
    from farthest.queries.paths import Way
    from farthest.search.replay import boards_along

    assert outcome.length is not None, "unsolvable boards are refused"
    length = counted(outcome.length, "move")
    if outcome.length == 0:
        there = _named(problem.target) if problem.target in ("goal", "start") else "the target"
        click.echo(f"{length}: the board is {there} already\n")
    elif listed:
        click.echo(f"{length}, {counted(outcome.solutions, 'optimal solution')}\n")
    elif outcome.optimal:
        click.echo(f"{length}, an optimal solution\n")
    else:
        reason = (
            f"{outcome.heuristic} may be more than the distance"
            if outcome.algorithm in ("ida", "astar")
            else f"{outcome.algorithm} takes the first way that it finds"
        )
        click.echo(f"{length}, not proven shortest: {reason}\n")
    if listed and outcome.paths:
        list_ways(outcome.paths, outcome.solutions)
        click.echo()
    elif not listed:
        moves = list(outcome.paths[0])
        draw_way(problem.puzzle, Way(boards_along(problem.puzzle, problem.board, moves), moves))
        click.echo()
    bounds = [one.bound for one in outcome.iterations]
    how = f" in {counted(len(bounds), 'iteration')}" if bounds else ""
    if bounds:
        how += f", bound {bounds[0]}" if len(bounds) == 1 else f", bounds {bounds[0]} to {bounds[-1]}"
    expanded = "" if outcome.expanded is None else f", {counted(outcome.expanded, 'board')} expanded"
    took = seconds_text(outcome.seconds)
    click.echo(
        f"{outcome.puzzle}: {counted(outcome.nodes, 'node')}{how}{expanded}, {took}; kept as job {outcome.job} in "
        f"{database.place}"
    )


def _named(target: str) -> str:
    return {"goal": "a goal", "start": "the start"}.get(target, f"the board {target}")
