"""The result of a search, of one board or of each line of standard input: for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.bulk import numbered_boards
from farthest.cli.printing import print_json
from farthest.coordinator.search.settings import named_moves
from farthest.coordinator.search.solve import SearchInterrupted, UnsolvableError
from farthest.errors import BoardError, ResourceError, UnreachableError
from farthest.families.user_input import board_given
from farthest.heuristics import GUIDED
from farthest.puzzles.move_text import moves_text
from farthest.puzzles.origin import WORDS, names_of, where_text
from farthest.wording import counted, seconds_text

if TYPE_CHECKING:
    from farthest.cli.search_progress import QuietSearchReporter
    from farthest.coordinator.search.settings import SearchOutcome
    from farthest.coordinator.search.solve import Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.documents.searches import SolvedDocument
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle


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
    by = f", by {outcome.heuristic}" if outcome.algorithm in GUIDED else ""
    click.echo(f"{outcome.puzzle}: {counted(outcome.nodes, 'node')}{how}{expanded}, {took}{by}{kept}")


def _named(target: str) -> str:
    named = {"goal": "a goal", "start": "the start"}
    several = len(names_of(target)) > 1
    return f"any of {where_text(target)}" if several else named.get(target, f"the board {target}")


def solve_lines(
    solver: Solver, storage: SearchStorage, reporter: QuietSearchReporter, *, as_json: bool
) -> None:
    """Prints the result for each board before the next is read. That a board cannot be solved is a result too.

    Raises BoardError or ResourceError with the number of the line that is not a board, or whose search needs too much
    memory, and SearchInterrupted.
    """
    solver.check()
    for number, line in numbered_boards():
        reporter.board(number)
        try:
            found = _solve(solver, line)
        except SearchInterrupted as stopped:
            tell_interrupted(stopped, storage, f" in line {number}")
            raise
        except BoardError as error:
            raise BoardError(f"line {number}: {error}") from None
        except ResourceError as error:
            raise ResourceError(f"line {number}: {error}") from None
        if found.outcome is None:
            reporter.answered(None, 0)
        else:
            reporter.answered(found.outcome.length, found.outcome.nodes)
        if as_json:
            print_json(_document(solver, found, storage))
        else:
            click.echo(_text(solver, found))
    reporter.ended()


@dataclass(frozen=True, slots=True)
class _Found:
    """``outcome``: None where it was known without a search that the board cannot be solved; ``reason``: why it cannot,
    None where it can."""

    board: Board
    outcome: SearchOutcome | None
    reason: str | None


def _solve(solver: Solver, line: str) -> _Found:
    board = board_given(solver.puzzle, line)
    try:
        outcome = solver.solve(board)
    except UnsolvableError as error:
        return _Found(board, None, error.reason)
    return _Found(board, outcome, why_unsolvable(outcome))


def _document(solver: Solver, found: _Found, storage: SearchStorage) -> dict[str, Any]:
    if found.outcome is not None:
        return {**search_document(solver.puzzle, found.board, found.outcome, storage), "reason": found.reason}
    return {
        "puzzle": solver.puzzle.name,
        "board": solver.puzzle.definition.format_board(found.board),
        "target": solver.target,
        "length": None,
        "reason": found.reason,
    }


def _text(solver: Solver, found: _Found) -> str:
    outcome = found.outcome
    if outcome is None or outcome.length is None:
        return f"unsolvable: {found.reason}"
    said = counted(outcome.length, "move")
    if solver.settings.all_solutions:
        said += f", {counted(outcome.solutions, 'optimal solution')}"
    elif not outcome.optimal:
        said += ", not proven shortest"
    ways = named_moves(solver.puzzle, found.board, outcome.paths[:1])
    moves = next(map(moves_text, ways), "")
    return f"{said}: {moves}" if moves else said
