"""`farthest solve PUZZLE -`: boards of standard input, solved one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.bulk import numbered_boards
from farthest.cli.printing import counted, print_json
from farthest.cli.search_outcome import search_document, tell_interrupted, why_unsolvable
from farthest.coordinator.search.solve import SearchInterrupted, UnsolvableError
from farthest.errors import BoardError, ResourceError
from farthest.families.given import board_given
from farthest.puzzles.moves_shown import moves_text
from farthest.search.replay import named_moves

if TYPE_CHECKING:
    from farthest.cli.search_progress import QuietSearchReporter
    from farthest.coordinator.search.settings import SearchOutcome
    from farthest.coordinator.search.solve import Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.puzzles.definition import Board


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
