"""The definition of a sliding block puzzle: its fields, and its boards as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from farthest.errors import BoardError, PuzzleError
from farthest.families.blocks import boards as blocks_boards
from farthest.families.blocks.fields import BlockFields, grid_problem, kinds_problem
from farthest.puzzles.definition import WILDCARD, Board, MoveName, NamedPath

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.puzzle import Puzzle

_BATCH = 4096
"""Lines that are read at a time."""


@dataclass(frozen=True, slots=True)
class Blocks(BlockFields):
    """A sliding block puzzle; see BlockFields. Raises PuzzleError when the fields do not fit together."""

    def __post_init__(self) -> None:
        problem = grid_problem(self) or kinds_problem(self) or _boards_problem(self)
        if problem:
            raise PuzzleError(f"block puzzle: {problem}")

    def parse_board(self, text: str, *, name: str = "") -> Board:
        return blocks_boards.parse_board(self, text, name=name)

    def format_board(self, board: Sequence[int]) -> str:
        return blocks_boards.format_board(self, board)

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        return blocks_boards.check_board(self, board, name=name)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        return blocks_boards.draw_board(self, board)

    def parse_boards(self, lines: Iterable[str], *, name: str = "") -> bytes:
        from farthest.families.blocks import paths as board_arrays

        boards, rest, read = bytearray(), iter(lines), 0
        while batch := list(islice(rest, _BATCH)):
            single = blocks_boards.single(self) and all(isinstance(line, str) for line in batch)
            found = (
                board_arrays.parse_canonical(self, [line.rstrip("\r\n") for line in batch])
                if single
                else None
            )
            if found is not None:
                boards += found.tobytes()
            else:
                for number, line in enumerate(batch, read + 1):
                    try:
                        boards += bytes(self.parse_board(line, name=name))
                    except BoardError as error:
                        raise BoardError(f"line {number}: {error}") from None
            read += len(batch)
        return bytes(boards)

    def first_wrong(self, boards: NDArray[np.integer]) -> int | None:
        from farthest.families.blocks import paths as board_arrays

        return board_arrays.first_wrong(self, boards)

    def texts(self, boards: NDArray[np.uint8]) -> list[str]:
        from farthest.families.blocks import paths as board_arrays

        if blocks_boards.single(self):
            return board_arrays.texts(self, boards)
        return [self.format_board(board) for board in boards.tolist()]

    @property
    def names_swap(self) -> bool:
        return any(len(set(kind.tokens)) > 1 for kind in self.kinds)

    def unnamed(self, move: str) -> str:
        from farthest.families.blocks.paths import unnamed

        return unnamed(move)

    def named_path(self, boards: NDArray[np.uint8], moves: Sequence[MoveName]) -> NamedPath:
        from farthest.families.blocks.paths import named_path

        return named_path(self, boards) if self.names_swap else NamedPath(self, boards, list(moves))

    def palette(self) -> Mapping[str, int]:
        """A colour for each way to write a piece."""
        tokens = dict.fromkeys(token for kind in self.kinds for token in kind.tokens)
        return {token: number for number, token in enumerate(tokens)}


def blocks(puzzle: Puzzle) -> Blocks:
    """The definition of a sliding block puzzle."""
    assert isinstance(puzzle.definition, Blocks), f"puzzle {puzzle.name} is of the family {puzzle.family}"
    return puzzle.definition


def _boards_problem(definition: Blocks) -> str | None:
    if definition.start is None and not definition.goals:
        return "expected a start or a goal"
    if len(set(definition.goals)) != len(definition.goals):
        return "a goal is there twice"
    boards = [(f"goal {i}", goal) for i, goal in enumerate(definition.goals, 1)]
    for name, board in boards + ([("start", definition.start)] if definition.start is not None else []):
        whole = name == "start" or WILDCARD not in board
        if len(board) != definition.cells or not all(
            WILDCARD <= label <= len(definition.kinds) for label in board
        ):
            return f"{name} is not {definition.cells} numbers from 0 to {len(definition.kinds)}"
        if not whole and 0 in board:
            return f"{name} holds both empty cells and cells where anything may be"
        problem = blocks_boards.pieces_problem(definition, board, partial=not whole)
        if problem:
            return f"{name}: {problem}"
    return None
