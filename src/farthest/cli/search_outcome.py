"""The result of a search, of one board or of each line of standard input: for people and for programs."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import click

from farthest.coordinator.search.settings import SearchOutcome, named_moves
from farthest.coordinator.search.solve import SearchInterrupted
from farthest.errors import UnreachableError
from farthest.heuristics import GUIDED
from farthest.puzzles.origin import WORDS, names_of, where_text
from farthest.wording import counted, seconds_text

if TYPE_CHECKING:
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.documents.searches import SolvedDocument
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle


def why_unsolvable(outcome: SearchOutcome) -> str | None:
    """Why there is no solution, where the search has proven that."""
    if outcome.length is not None:
        return None
    return (
        f"the search visited all boards that can be reached from it ({outcome.nodes:,} nodes), but not "
        f"{_named(outcome.target)}"
    )


def refuse_unsolvable(outcome: SearchOutcome) -> None:
    """Raises UnreachableError where the search has proven that there is no solution."""
    reason = why_unsolvable(outcome)
    if reason is not None:
        raise UnreachableError(
            f"puzzle {outcome.puzzle}: board {outcome.board}: it cannot be solved: {reason}"
        )


def tell_interrupted(stopped: SearchInterrupted, storage: SearchStorage, where: str = "") -> None:
    """Reports on standard error what is kept of a search that was stopped."""
    kept = (
        "this search was not stored. The same command starts it again."
        if stopped.bound is None
        else f"{storage.place} keeps what was found so far, at bound {stopped.bound}. The same command "
        "continues from there."
    )
    if stopped.answer is not None:
        found = f"a solution of {counted(stopped.answer.length or 0, 'move')} was found, "
    else:
        found = "no solution was found, "
    proven = f"and {stopped.needed} or more are needed; " if stopped.needed else ""
    click.echo(f"Interrupted{where}; {found}{proven}{kept}", err=True)


def search_document(
    puzzle: Puzzle, board: Board, outcome: SearchOutcome, storage: SearchStorage
) -> SolvedDocument:
    """What `--json` prints."""
    from farthest.documents.searches import solved_document

    paths = list(named_moves(puzzle, board, outcome.paths))
    return solved_document(outcome, paths, None if outcome.job is None else storage.place)


def show_search(
    puzzle: Puzzle, board: Board, outcome: SearchOutcome, storage: SearchStorage, *, listed: bool
) -> None:
    """The solutions, drawn or ``listed``, and the cost of finding them."""
    from farthest.cli.solutions import draw_path, list_ways
    from farthest.search.walking import boards_along

    assert outcome.length is not None, "unsolvable boards are refused"
    length = counted(outcome.length, "move")
    if outcome.length == 0:
        there = _named(outcome.target) if outcome.target in WORDS else "the target"
        click.echo(f"{length}: the board is {there} already\n")
    elif listed:
        click.echo(f"{length}, {counted(outcome.solutions, 'optimal solution')}\n")
    elif outcome.optimal:
        click.echo(f"{length}, an optimal solution\n")
    elif outcome.bound:
        most = ceil(100 * outcome.length / outcome.bound) / 100
        click.echo(f"{length}, at most {most:g} times the fewest: {outcome.bound} or more are needed\n")
    else:
        reason = (
            f"{outcome.heuristic} may be more than the distance"
            if outcome.algorithm in GUIDED
            else f"{outcome.algorithm} takes the first solution that it finds"
        )
        click.echo(f"{length}, not proven shortest: {reason}\n")
    if listed and outcome.paths:
        list_ways(named_moves(puzzle, board, outcome.paths), outcome.solutions)
        click.echo()
    elif not listed:
        moves = list(outcome.paths[0])
        draw_path(puzzle, puzzle.definition.named_path(boards_along(puzzle, board, moves), moves))
        click.echo()
    bounds = [one.bound for one in outcome.iterations]
    how = f" in {counted(len(bounds), 'iteration')}" if bounds else ""
    if bounds:
        how += f", bound {bounds[0]}" if len(bounds) == 1 else f", bounds {bounds[0]} to {bounds[-1]}"
    expanded = "" if outcome.expanded is None else f", {counted(outcome.expanded, 'board')} expanded"
    took = seconds_text(outcome.seconds)
    kept = "" if outcome.job is None else f"; kept as job {outcome.job} in {storage.place}"
    by = f", by {outcome.heuristic}" if outcome.algorithm in GUIDED else ""
    click.echo(f"{outcome.puzzle}: {counted(outcome.nodes, 'node')}{how}{expanded}, {took}{by}{kept}")


def _named(target: str) -> str:
    named = {"goal": "a goal", "start": "the start"}
    several = len(names_of(target)) > 1
    return f"any of {where_text(target)}" if several else named.get(target, f"the board {target}")
