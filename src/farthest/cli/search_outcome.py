"""The result of a search: for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from farthest.errors import UnreachableError
from farthest.heuristics.algorithms import GUIDED
from farthest.puzzles.origin_names import WORDS, names_of, where_text

if TYPE_CHECKING:
    from farthest.coordinator.search.settings import SearchOutcome
    from farthest.coordinator.search.solve import SearchInterrupted
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle

PATTERNS_TOLD = 6


def why_unsolvable(outcome: SearchOutcome) -> str | None:
    """Why there is no solution, where the search has proven that."""
    if outcome.length is not None:
        return None
    return (
        f"the search visited all that can be reached from it ({outcome.nodes:,} nodes), and not "
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
        "nothing of this search was stored. The same command begins it again."
        if stopped.bound is None
        else f"{storage.place} keeps what was found up to then, at bound {stopped.bound}. The same command goes on "
        "from there."
    )
    click.echo(f"Interrupted{where}; {kept}", err=True)


def tell_patterns(puzzle: Puzzle, heuristic: str, storage: SearchStorage) -> None:
    """Reports on standard error, of a search that was stopped and had a heuristic that nobody chose, which patterns may
    be better."""
    from farthest.queries.pattern_maps import stored_patterns

    if puzzle.family not in ("permutation", "sliding") or not puzzle.definition.has_moves:
        return
    database = storage.existing()
    stored = stored_patterns(database, puzzle) if database is not None else []
    if stored:
        names = " ".join(stored[:PATTERNS_TOLD]) + (" ..." if len(stored) > PATTERNS_TOLD else "")
        mend = f"{storage.place} has maps of {names}: give one, or several with commas, with --heuristic"
    else:
        mend = f"run `farthest enumerate '{puzzle.name}@PIECES'`, and give --heuristic @PIECES"
    click.echo(f"Note: a pattern's map is mostly a stronger heuristic than {heuristic}; {mend}.", err=True)


def search_document(
    puzzle: Puzzle, board: Board, outcome: SearchOutcome, storage: SearchStorage
) -> dict[str, Any]:
    """What `--json` prints."""
    from farthest.search.replay import named_moves

    paths = list(named_moves(puzzle, board, outcome.paths))
    return {
        "job": outcome.job,
        "puzzle": outcome.puzzle,
        "board": outcome.board,
        "target": outcome.target,
        "algorithm": outcome.algorithm,
        "heuristic": outcome.heuristic,
        "length": outcome.length,
        "solutions": outcome.solutions,
        "moves": paths[0] if paths else None,
        "paths": paths,
        "optimal": outcome.optimal,
        "nodes": outcome.nodes,
        "expanded": outcome.expanded,
        "iterations": [asdict(one) for one in outcome.iterations],
        "seconds": outcome.seconds,
        "digest": outcome.digest,
        "resumed": outcome.resumed,
        "database": None if outcome.job is None else storage.place,
    }


def show_search(
    puzzle: Puzzle, board: Board, outcome: SearchOutcome, storage: SearchStorage, *, listed: bool
) -> None:
    """The solutions, drawn or ``listed``, and the cost of finding them."""
    from farthest.cli.printing import counted
    from farthest.cli.solutions import draw_path, list_ways
    from farthest.search.replay import boards_along, named_moves
    from farthest.wording import seconds_text

    assert outcome.length is not None, "unsolvable boards are refused"
    length = counted(outcome.length, "move")
    if outcome.length == 0:
        there = _named(outcome.target) if outcome.target in WORDS else "the target"
        click.echo(f"{length}: the board is {there} already\n")
    elif listed:
        click.echo(f"{length}, {counted(outcome.solutions, 'optimal solution')}\n")
    elif outcome.optimal:
        click.echo(f"{length}, an optimal solution\n")
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
        draw_path(puzzle.definition.named_path(boards_along(puzzle, board, moves), moves))
        click.echo()
    bounds = [one.bound for one in outcome.iterations]
    how = f" in {counted(len(bounds), 'iteration')}" if bounds else ""
    if bounds:
        how += f", bound {bounds[0]}" if len(bounds) == 1 else f", bounds {bounds[0]} to {bounds[-1]}"
    expanded = "" if outcome.expanded is None else f", {counted(outcome.expanded, 'board')} expanded"
    took = seconds_text(outcome.seconds)
    kept = "" if outcome.job is None else f"; kept as job {outcome.job} in {storage.place}"
    click.echo(f"{outcome.puzzle}: {counted(outcome.nodes, 'node')}{how}{expanded}, {took}{kept}")


def _named(target: str) -> str:
    named = {"goal": "a goal", "start": "the start"}
    several = len(names_of(target)) > 1
    return f"any of {where_text(target)}" if several else named.get(target, f"the board {target}")
