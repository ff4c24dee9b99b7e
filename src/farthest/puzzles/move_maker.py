"""The contract of what makes a puzzle's moves from their written names (families/moves_given.py)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.move_text import Step


class MoveMaker(ABC):
    """Makes moves of one puzzle, one at a time.

    A move is written as `farthest path` prints it; a family may read other forms too.
    """

    @property
    def spaced(self) -> bool:
        """Whether names of moves hold spaces: then moves are separated by commas, else also by spaces."""
        return False

    def held(self, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps of a text without those that turn the puzzle as a whole, where the family knows such."""
        return steps

    @abstractmethod
    def made(self, board: Board, word: str) -> list[Board]:
        """The boards that the move may lead to; several where the word stands for several moves. Raises BoardError
        where there is none; its message says what was expected."""

    @abstractmethod
    def undone(self, board: Board, word: str) -> list[Board]:
        """The boards from which the move leads to ``board``, perhaps among others from which it does not
        (``names_swap``). Raises BoardError where there is none."""

    def naming(self, board: Board) -> tuple[MoveMaker, Board]:
        """A maker for moves in a row from ``board``, and that board as it writes it: each piece keeps the name that it
        has here."""
        return self, board

    def renamed(self, board: Board) -> Board:
        """A board of ``naming`` as a board of the puzzle."""
        return board
