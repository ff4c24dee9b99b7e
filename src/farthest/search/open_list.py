"""What plain searches share: the boards that were found and how, the memory for them, the test for the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.errors import ResourceError
from farthest.puzzles.definition import WILDCARD
from farthest.sizes import bytes_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.puzzles.definition import Board, MoveName
    from farthest.search.problem import Problem

    Came = dict[Board, tuple[MoveName, Board] | None]
    """For each board that was found, the move that led there and the board before; None: the board to be solved."""

BOARD_BYTES = 320
"""Memory for a board that was found, besides its cells: tuples, and entries of dictionaries and lists."""
CELL_BYTES = 8


def most_boards(problem: Problem, memory: int) -> int:
    """How many boards may be kept in so many bytes."""
    return max(1, memory // (BOARD_BYTES + CELL_BYTES * len(problem.board)))


def too_many(problem: Problem, memory: int, boards: int) -> ResourceError:
    """The error of a search that found more boards than it may keep."""
    return ResourceError(
        f"puzzle {problem.puzzle.name}: no target among the first {boards:,} boards, which take the "
        f"{bytes_text(memory)} of memory allowed; allow more with --memory, or choose ida or iddfs, which keep few"
    )


def way_to(board: Board, came: Came) -> tuple[MoveName, ...]:
    """The moves that led to a board."""
    moves = []
    step = came[board]
    while step is not None:
        moves.append(step[0])
        step = came[step[1]]
    return tuple(reversed(moves))


def target_test(problem: Problem) -> Callable[[Board], bool]:
    """A function that tests whether a board is a target. Raises PuzzleError or BoardError where there are none."""
    targets = problem.targets()
    whole = frozenset(target for target in targets if WILDCARD not in target)
    patterns = [
        [(cell, content) for cell, content in enumerate(target) if content != WILDCARD]
        for target in targets
        if WILDCARD in target
    ]
    if not patterns:
        return whole.__contains__
    return lambda board: (
        board in whole
        or any(all(board[cell] == content for cell, content in pattern) for pattern in patterns)
    )
