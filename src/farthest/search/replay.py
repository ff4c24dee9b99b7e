"""The boards that moves lead through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.search.expansion import forward_space

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from farthest.puzzles.definition import Board, MoveName
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import Boards


def boards_along(puzzle: Puzzle, board: Board, moves: Sequence[MoveName]) -> Boards:
    """The board, and the board after each of the player's moves: uint8 (moves + 1, cells). Raises ValueError for a move
    that cannot be made. Of several moves with the same name the first is made, as in a search."""
    return _Replay(puzzle, board).along(moves)


def named_moves(
    puzzle: Puzzle, board: Board, ways: Iterable[Sequence[MoveName]]
) -> Iterator[Sequence[MoveName]]:
    """The moves of ways from one board as they are shown: each piece keeps its name. Raises as ``boards_along``."""
    if not puzzle.definition.names_swap:
        yield from ways
        return
    replay = _Replay(puzzle, board)
    for moves in ways:
        yield puzzle.definition.named_path(replay.along(moves), moves).moves


class _Replay:
    """Makes moves from one board; moves that several ways share are made once."""

    def __init__(self, puzzle: Puzzle, board: Board) -> None:
        self._puzzle = puzzle
        self._space = forward_space(puzzle, board)
        self._first = numpy.array([board], dtype=numpy.uint8)
        self._after: dict[tuple[bytes, MoveName], Boards] = {}

    def along(self, moves: Sequence[MoveName]) -> Boards:
        boards = [self._first]
        for move in moves:
            made = boards[-1].tobytes(), move
            if made not in self._after:
                self._after[made] = self._make(boards[-1], move)
            boards.append(self._after[made])
        return numpy.concatenate(boards)

    def _make(self, board: Boards, move: MoveName) -> Boards:
        for name, rows, after in self._space.neighbours(board, toward=False):
            if name == move and len(rows):
                return after
        raise ValueError(
            f"move {move} cannot be made on {self._puzzle.definition.format_board(board[0].tolist())}"
        )
