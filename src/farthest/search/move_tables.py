"""The moves of one board at a time: for sliding and permutation puzzles by the cells that change, for others from the
space's ``neighbours``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from farthest.families.permutation.definition import permutation
from farthest.families.sliding.definition import sliding
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board, MoveName
    from farthest.spaces.contract import Space


class MoveTable(Protocol):
    """Moves of the player; only the table knows how a *move* is represented."""

    def possible(self, cells: Sequence[int]) -> Sequence[Any]:
        """The moves that can be made on a board, in the order of ``Space.neighbours``."""

    def name(self, move: Any) -> MoveName:
        """The move's name."""

    def changed(self, move: Any) -> Sequence[int]:
        """The cells that may change."""

    def after(self, move: Any, cells: Sequence[int]) -> Sequence[int]:
        """What the changed cells of a board hold after the move."""

    def copies(self, board: Board) -> list[tuple[MoveName, Board]]:
        """All moves that can be made, each with the board after it."""


def move_table(puzzle: Puzzle, space: Space | None) -> MoveTable:
    """The table of a puzzle; ``space``: its space, if it is compiled already."""
    if (
        puzzle.family == "sliding" and not sliding(puzzle).blanks
    ):  # a pattern's boards do not show where the blank is
        return SlidingMoves(puzzle)
    if puzzle.family == "permutation" and not any(permutation(puzzle).ignore):
        return PermutationMoves(puzzle)
    return AskedMoves(puzzle, space)


class SlidingMoves:
    """Moves by number: each needs one cell to be blank and others not to be."""

    def __init__(self, puzzle: Puzzle) -> None:
        from farthest.families.sliding.space import moves_of

        moves = list(moves_of(sliding(puzzle), puzzle.metric))
        cells = range(puzzle.definition.cells)
        self._names = [move.name for move in moves]
        self._changed = [tuple(cell for cell in cells if move.to[cell] != cell) for move in moves]
        self._sources = [
            tuple(move.to.index(cell) for cell in changed)
            for move, changed in zip(moves, self._changed, strict=True)
        ]
        self._filled = [tuple(cell for cell in cells if move.forbid >> cell & 1) for move in moves]
        self._into = [[i for i, move in enumerate(moves) if move.require >> cell & 1] for cell in cells]

    def possible(self, cells: Sequence[int]) -> list[int]:
        """See MoveTable."""
        into = [self._into[cell] for cell, label in enumerate(cells) if label == 0]
        if len(into) == 1:
            return into[0]  # nothing else is blank
        moves = sorted(move for some in into for move in some)
        return [move for move in moves if all(cells[cell] for cell in self._filled[move])]

    def name(self, move: int) -> MoveName:
        """See MoveTable."""
        return self._names[move]

    def changed(self, move: int) -> tuple[int, ...]:
        """See MoveTable."""
        return self._changed[move]

    def after(self, move: int, cells: Sequence[int]) -> list[int]:
        """See MoveTable."""
        return [cells[cell] for cell in self._sources[move]]

    def copies(self, board: Board) -> list[tuple[MoveName, Board]]:
        """See MoveTable."""
        found: list[tuple[MoveName, Board]] = []
        for move in self.possible(board):
            copy = list(board)
            for cell, source in zip(self._changed[move], self._sources[move], strict=True):
                copy[cell] = board[source]
            found.append((self._names[move], tuple(copy)))
        return found


class PermutationMoves:
    """Moves by number, all always possible: contents go from slot to slot, and orientations are added to."""

    def __init__(self, puzzle: Puzzle) -> None:
        definition = permutation(puzzle)
        slots = definition.slots
        self._names = [move.name for move in definition.generators]
        self._all = range(len(self._names))
        self._sources: list[tuple[int, ...]] = []
        self._turns: list[tuple[tuple[int, int, int], ...]] = []  # cell, what is added, modulus
        for move in definition.generators:
            sources = [move.to.index(slot) for slot in range(slots)]
            turns: list[tuple[int, int, int]] = []
            if definition.oriented:
                turns = [
                    (slots + slot, move.delta[source], definition.slot_moduli[source])
                    for slot, source in enumerate(sources)
                    if move.delta[source]
                ]
                sources += [slots + source for source in sources]
            self._sources.append(tuple(sources))
            self._turns.append(tuple(turns))
        turned = [{cell for cell, _, _ in turns} for turns in self._turns]
        self._changed = [
            tuple(cell for cell, source in enumerate(sources) if cell != source or cell in cells)
            for sources, cells in zip(self._sources, turned, strict=True)
        ]

    def possible(self, cells: Sequence[int]) -> range:
        """See MoveTable."""
        del cells
        return self._all

    def name(self, move: int) -> MoveName:
        """See MoveTable."""
        return self._names[move]

    def changed(self, move: int) -> tuple[int, ...]:
        """See MoveTable."""
        return self._changed[move]

    def after(self, move: int, cells: Sequence[int]) -> list[int]:
        """See MoveTable."""
        return [self._board(move, cells)[cell] for cell in self._changed[move]]

    def copies(self, board: Board) -> list[tuple[MoveName, Board]]:
        """See MoveTable."""
        return [(self._names[move], tuple(self._board(move, board))) for move in self._all]

    def _board(self, move: int, cells: Sequence[int]) -> list[int]:
        board = [cells[source] for source in self._sources[move]]
        for cell, added, modulus in self._turns[move]:
            board[cell] = (board[cell] + added) % modulus
        return board


class AskedMoves:
    """A move is its name and the board that it leads to, from the space's ``neighbours``."""

    def __init__(self, puzzle: Puzzle, space: Space | None) -> None:
        self._puzzle = puzzle
        self._space = space

    def possible(self, cells: Sequence[int]) -> list[tuple[MoveName, Board]]:
        """See MoveTable."""
        return self.copies(tuple(cells))

    def name(self, move: tuple[MoveName, Board]) -> MoveName:
        """See MoveTable."""
        return move[0]

    def changed(self, move: tuple[MoveName, Board]) -> range:
        """See MoveTable."""
        return range(len(move[1]))

    def after(self, move: tuple[MoveName, Board], cells: Sequence[int]) -> Board:
        """See MoveTable."""
        del cells
        return move[1]

    def copies(self, board: Board) -> list[tuple[MoveName, Board]]:
        """See MoveTable."""
        import numpy

        if self._space is None:
            self._space = compile_space(
                self._puzzle, Origin("from", self._puzzle.definition.format_board(board))
            )
        row = numpy.array([board], dtype=numpy.uint8)
        forward = self._space.origin.direction == "to"  # the player moves toward the origin
        found = self._space.neighbours(row, toward=forward)
        return [(name, tuple(each)) for name, _, after in found for each in after.tolist()]
