"""Boards of digits in fixed ranges, with their moves: what spaces by keys and spaces of packed boards share.

A family says, of arrays of digits, where each of its moves leads (``steps``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from farthest.errors import PuzzleError
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.origin_boards import MAX_ORIGINS, origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards

    Digits = NDArray[np.int64]
    """The digits of boards: shape (boards, digits)."""
    Step = tuple[str, NDArray[np.intp], Digits]


class DigitBoards(ABC):
    """The part of ``Space`` that does not depend on codes. ``radices``: the number of values of each digit."""

    moves_both_ways = True

    def __init__(self, puzzle: Puzzle, origin: Origin, radices: Sequence[int], *, undirected: bool) -> None:
        self.puzzle = puzzle
        self.origin = origin
        self.cells = puzzle.definition.cells
        self.radices = tuple(radices)
        self.undirected = undirected
        self.origins = [self.board(digits) for digits in self._origin_digits()]

    @abstractmethod
    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
        """For each move, its name, the rows of ``digits`` that it can be made on, and the digits that it leads to. Not
        ``forward``: the digits that it leads from; a move may then be several items."""

    def pattern_digits(self, pattern: Board) -> Board:
        """The digits of a board, perhaps with ``WILDCARD``."""
        return pattern

    def board(self, digits: Board) -> Board:
        """The board of digits."""
        return digits

    def digits(self, boards: Boards) -> Digits:
        """The digits of boards."""
        import numpy as np

        return boards.astype(np.int64)

    def boards(self, digits: NDArray[np.integer[Any]]) -> Boards:
        """Inverse of ``digits``."""
        import numpy as np

        return digits.astype(np.uint8)

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        """See Space."""
        for name, rows, reached in self.steps(self.digits(boards), forward=self.forward(toward=toward)):
            if rows.size:
                yield name, rows, self.boards(reached)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space: none is known."""
        del board
        return None

    def forward(self, *, toward: bool) -> bool:
        """Whether the player's moves go that way."""
        return (self.origin.direction == "to") == toward

    @cached_property
    def keys(self) -> int:
        """How many rows of digits there are."""
        return prod(self.radices)

    def _origin_digits(self) -> list[Board]:
        """The digits of the boards at depth 0, ``WILDCARD`` filled in; sorted, none twice.

        Raises BoardError when the origin is not a board, PuzzleError when there is no start, no goal or too many.
        """
        definition, name = self.puzzle.definition, self.puzzle.name
        found: set[Board] = set()
        total = 0
        for pattern in origin_patterns(self.puzzle.definition, self.origin.where, self.puzzle.name):
            choices = [
                range(radix) if digit == WILDCARD else (digit,)
                for digit, radix in zip(self.pattern_digits(pattern), self.radices, strict=True)
            ]
            total += prod(map(len, choices))
            if total > MAX_ORIGINS:
                raise PuzzleError(
                    f"puzzle {name}: the goals stand for more than {MAX_ORIGINS:,} boards "
                    f"(goal {definition.format_board(pattern)}); use fewer wildcards"
                )
            found.update(product(*choices))
        return sorted(found)
