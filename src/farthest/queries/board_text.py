"""Many boards at a time: from text to labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.errors import BoardError
from farthest.families.given import board_given, is_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from farthest.families.given import GivenBoard
    from farthest.puzzles.puzzle import Puzzle


def label_rows(puzzle: Puzzle, boards: Iterable[GivenBoard] | NDArray[numpy.integer]) -> NDArray[numpy.uint8]:
    """Boards as uint8, shape (boards, cells); given one by one or as an integer array of the same shape.

    Raises BoardError for the first that is malformed, with its number from 1; TypeError for a single text.
    """
    definition = puzzle.definition
    if isinstance(boards, str):
        raise TypeError("boards: expected a list of boards or an array, got a text; write [board]")
    if not isinstance(boards, numpy.ndarray):
        labels = definition.parse_boards(_texts(puzzle, boards), name=puzzle.name)
        return numpy.frombuffer(labels, dtype=numpy.uint8).reshape(-1, definition.cells)
    if boards.ndim != 2 or boards.shape[1] != definition.cells or boards.dtype.kind not in "iu":
        raise BoardError(
            f"boards: expected an array of integers of shape (boards, {definition.cells}), "
            f"got {boards.dtype} of shape {boards.shape}"
        )
    wrong = definition.first_wrong(boards)
    if wrong is not None:
        definition.check_board(boards[wrong].tolist(), name=f"{puzzle.name}, board number {wrong + 1}")
    return numpy.ascontiguousarray(boards, dtype=numpy.uint8)


def _texts(puzzle: Puzzle, boards: Iterable[GivenBoard]) -> Iterator[str]:
    """The boards as texts; words and numbers stay as they are written."""
    for number, board in enumerate(boards, 1):
        if is_plain(board):
            yield board
            continue
        try:
            yield puzzle.definition.format_board(board_given(puzzle, board))
        except BoardError as error:
            raise BoardError(f"line {number}: {error}") from None
