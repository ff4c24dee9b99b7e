"""Successors one board at a time, in two styles: copies of the board, or the board changed in place and taken back.

Both give the same boards by the same moves in the same order, that of ``Space.neighbours``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from farthest.families.given import board_given, puzzle_given
from farthest.families.python.puzzle_space import PuzzleSpace
from farthest.puzzles.puzzle import Puzzle
from farthest.search.move_tables import MoveTable, move_table

if TYPE_CHECKING:
    from farthest.families.given import GivenBoard, GivenPuzzle
    from farthest.puzzles.definition import Board, MoveName
    from farthest.spaces.contract import Space

Successors = Callable[["Board"], "list[tuple[MoveName, Board]]"]
"""Gives all moves that the player can make on a board, each with the board that it leads to."""


def successors_of(puzzle: GivenPuzzle | Space) -> Successors:
    """The first style as a function, for many boards. Raises what `compile_space` raises."""
    return _opened(puzzle)[1].copies


def copies(puzzle: GivenPuzzle | Space, board: GivenBoard) -> list[tuple[MoveName, Board]]:
    """The first style: all moves that can be made on a board, each with a copy of the board after it.

    ``puzzle``: as for `load_puzzle`, or a space. ``board``: as for `distance` of a map. Raises BoardError, or what
    `compile_space` raises.
    """
    definition, table = _opened(puzzle)
    return table.copies(board_given(definition, board))


class Walker:
    """The second style: one board that is changed in place by moves, which can be taken back.

    A search that goes down and comes back:

        for number, name in enumerate(walker.moves()):
            walker.make(number)
            ...
            walker.undo()
    """

    def __init__(self, puzzle: GivenPuzzle | Space, board: GivenBoard) -> None:
        """``puzzle``, ``board``: as for `copies`. Raises BoardError, or what `compile_space` raises."""
        definition, self._table = _opened(puzzle)
        self._cells = list(board_given(definition, board))
        self._possible: Sequence[Any] = self._table.possible(self._cells)
        self._made: list[
            tuple[Any, Sequence[Any], list[int]]
        ] = []  # move, the possible ones, contents before

    @property
    def board(self) -> Board:
        """The board as it is now."""
        return tuple(self._cells)

    @property
    def way(self) -> tuple[MoveName, ...]:
        """The moves made and not taken back."""
        return tuple(self._table.name(move) for move, _, _ in self._made)

    def moves(self) -> list[MoveName]:
        """The names of the moves that can be made now."""
        return [self._table.name(move) for move in self._possible]

    def make(self, number: int) -> MoveName:
        """Makes the move at this index in `moves`; returns its name. Raises IndexError where there is no such index."""
        if not 0 <= number < len(self._possible):
            raise IndexError(
                f"move {number}: expected an index in a list of {len(self._possible)} moves, from 0"
            )
        move = self._possible[number]
        changed = self._table.changed(move)
        self._made.append((move, self._possible, [self._cells[cell] for cell in changed]))
        self._put(move, self._table.after(move, self._cells))
        self._possible = self._table.possible(self._cells)
        return self._table.name(move)

    def undo(self) -> MoveName:
        """Takes the last move back; returns its name. Raises IndexError where none was made."""
        if not self._made:
            raise IndexError("there is no move to take back")
        move, self._possible, before = self._made.pop()
        self._put(move, before)
        return self._table.name(move)

    def _put(self, move: Any, contents: Sequence[int]) -> None:
        for cell, content in zip(self._table.changed(move), contents, strict=True):
            self._cells[cell] = content


def boards_along(
    puzzle: Puzzle, board: Board, moves: Sequence[MoveName], is_end: Callable[[Board], bool]
) -> list[Board]:
    """The boards that moves lead through, from the board to one that ``is_end``; where several moves of one board have
    the same name, one of the possible ways. Raises ValueError where there is none."""
    successors = successors_of(puzzle)
    levels: list[dict[Board, Board]] = [{board: board}]
    for move in moves:
        levels.append(
            {after: before for before in levels[-1] for name, after in successors(before) if name == move}
        )
    way = [next((each for each in levels[-1] if is_end(each)), None)]
    for level in reversed(levels[1:]):
        way.append(None if way[-1] is None else level[way[-1]])
    found = [each for each in way if each is not None]
    if len(found) != len(levels):
        raise ValueError("the moves do not lead there")
    return found[::-1]


def _opened(puzzle: GivenPuzzle | Space) -> tuple[Puzzle, MoveTable]:
    if hasattr(puzzle, "origins") and not isinstance(puzzle, PuzzleSpace):
        space = cast("Space", puzzle)
        return space.puzzle, move_table(space.puzzle, space)
    definition = puzzle_given(puzzle)
    return definition, move_table(definition, None)
