"""The boards that moves lead through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.search.expansion import forward_space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import Boards, MoveName


def boards_along(puzzle: Puzzle, board: Board, moves: Sequence[MoveName]) -> Boards:
    """The board, and the board after each of the player's moves: uint8 (moves + 1, cells). Raises ValueError for a move
    that cannot be made. Of several moves of the same name the first is made, as a search does."""
    space = forward_space(puzzle, board)
    boards = [numpy.array([board], dtype=numpy.uint8)]
    for move in moves:
        reached = (
            after
            for name, rows, after in space.neighbours(boards[-1], toward=False)
            if name == move and len(rows)
        )
        found = next(reached, None)
        if found is None:
            raise ValueError(
                f"move {move} cannot be made on {puzzle.definition.format_board(boards[-1][0].tolist())}"
            )
        boards.append(found)
    return numpy.concatenate(boards)
