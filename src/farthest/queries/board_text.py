"""Many boards at a time: from text to labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.errors import BoardError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from farthest.puzzles.puzzle import Puzzle


def label_rows(puzzle: Puzzle, boards: Iterable[str] | NDArray[numpy.integer]) -> NDArray[numpy.uint8]:
    """Boards as uint8, shape (boards, cells); given as texts or as an integer array of the same shape.

    Raises BoardError for the first that is malformed, with its number from 1.
    """
    definition = puzzle.definition
    if not isinstance(boards, numpy.ndarray):
        labels = definition.parse_boards(boards, name=puzzle.name)
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
