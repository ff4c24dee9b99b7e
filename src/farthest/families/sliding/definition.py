"""The definition of a sliding puzzle: its fields, and its boards as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.families.sliding import boards
from farthest.families.sliding.fields import SlidingFields
from farthest.puzzles.definition import Board

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.puzzle import Puzzle


@dataclass(frozen=True, slots=True)
class Sliding(SlidingFields):
    """A sliding puzzle; see SlidingFields."""

    def parse_board(self, text: str, *, name: str = "") -> Board:
        return boards.parse_board(self, text, name=name)

    def format_board(self, board: Sequence[int]) -> str:
        return boards.format_board(self, board)

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        return boards.check_board(self, board, name=name)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        return boards.draw_board(self, board)

    def palette(self) -> Mapping[str, int]:
        """As many colours as kinds of piece."""
        return {token: number for number, token in enumerate(self.tokens[1:])}

    def parse_boards(self, lines: Iterable[str], *, name: str = "") -> bytes:
        return boards.parse_boards(self, lines, name=name)

    def first_wrong(self, boards: NDArray[np.integer]) -> int | None:
        import numpy

        pieces = numpy.repeat(numpy.arange(len(self.tokens)), self.counts)
        wrong = numpy.flatnonzero((numpy.sort(boards, axis=1) != pieces).any(axis=1))
        return int(wrong[0]) if wrong.size else None

    def line_template(self) -> tuple[bytes, tuple[int, ...], str] | None:
        return boards.board_template(self)

    def texts(self, boards: NDArray[np.uint8]) -> list[str]:
        from farthest.families.sliding.board_arrays import formatter

        return formatter(self).texts(boards)


def sliding(puzzle: Puzzle) -> Sliding:
    """The definition of a sliding puzzle."""
    assert isinstance(puzzle.definition, Sliding), f"puzzle {puzzle.name} is of the family {puzzle.family}"
    return puzzle.definition
