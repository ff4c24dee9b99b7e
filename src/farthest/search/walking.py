"""Successors one board at a time, in two styles: copies of the board, or the board changed in place and taken back.

Both give the same boards by the same moves in the same order, that of ``Space.neighbours``. For sliding and permutation
puzzles the moves are known by the cells that change, for others the space's ``neighbours`` are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from farthest.families.user_input import board_given, puzzle_given
from farthest.puzzles.puzzle import Puzzle
from farthest.search.expansion import forward_space

if TYPE_CHECKING:
    from farthest.families.user_input import GivenBoard, GivenPuzzle
    from farthest.puzzles.definition import Board, MoveName
    from farthest.search.expansion import MoveSource
    from farthest.spaces.contract import Boards, Space


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
    if puzzle.family == "sliding":
        from farthest.families.sliding.definition import sliding

        if not sliding(puzzle).blanks:  # a pattern's boards do not show where the blank is
            return SlidingMoves(puzzle)
    elif puzzle.family == "permutation":
        from farthest.families.permutation.definition import permutation

        definition = permutation(puzzle)
        if not any(definition.ignore) and not definition.guards:
            return PermutationMoves(puzzle)
    return AskedMoves(puzzle, space)


class SlidingMoves:
    """Moves by number: each needs one cell to be blank and others not to be."""

    def __init__(self, puzzle: Puzzle) -> None:
        from farthest.families.sliding.definition import sliding
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
        into = [self._into[cell] for cell, label in enumerate(cells) if label == 0]
        if len(into) == 1:
            return into[0]  # nothing else is blank
        moves = sorted(move for some in into for move in some)
        return [move for move in moves if all(cells[cell] for cell in self._filled[move])]

    def name(self, move: int) -> MoveName:
        return self._names[move]

    def changed(self, move: int) -> tuple[int, ...]:
        return self._changed[move]

    def after(self, move: int, cells: Sequence[int]) -> list[int]:
        return [cells[cell] for cell in self._sources[move]]

    def copies(self, board: Board) -> list[tuple[MoveName, Board]]:
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
        from farthest.families.permutation.definition import permutation

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
        del cells
        return self._all

    def name(self, move: int) -> MoveName:
        return self._names[move]

    def changed(self, move: int) -> tuple[int, ...]:
        return self._changed[move]

    def after(self, move: int, cells: Sequence[int]) -> list[int]:
        return [self._board(move, cells)[cell] for cell in self._changed[move]]

    def copies(self, board: Board) -> list[tuple[MoveName, Board]]:
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
        self._space: MoveSource | None = space
        # The player moves toward the origin of some spaces.
        self._toward = space is not None and space.origin.direction == "to"

    def possible(self, cells: Sequence[int]) -> list[tuple[MoveName, Board]]:
        return self.copies(tuple(cells))

    def name(self, move: tuple[MoveName, Board]) -> MoveName:
        return move[0]

    def changed(self, move: tuple[MoveName, Board]) -> range:
        return range(len(move[1]))

    def after(self, move: tuple[MoveName, Board], cells: Sequence[int]) -> Board:
        del cells
        return move[1]

    def copies(self, board: Board) -> list[tuple[MoveName, Board]]:
        import numpy

        if self._space is None:
            self._space = forward_space(self._puzzle, board)
        found = self._space.neighbours(numpy.array([board], dtype=numpy.uint8), toward=self._toward)
        return [(name, tuple(each)) for name, _, after in found for each in after.tolist()]


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
        """The number in each cell of the board as it is now."""
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
    puzzle: Puzzle,
    board: Board,
    moves: Sequence[MoveName],
    is_end: Callable[[Board], bool] = lambda board: True,
    successors: Successors | None = None,
) -> Boards:
    """The boards that moves lead through, from the board to one that ``is_end``: uint8 (moves + 1, cells); where
    several moves of one board have the same name, one of the possible ways. ``successors``: of the puzzle, where many
    ways are asked for. Raises ValueError where there is no such way."""
    import numpy

    successors = successors or successors_of(puzzle)
    levels: list[dict[Board, Board]] = [{board: board}]
    for move in moves:
        reached = {
            after: before for before in levels[-1] for name, after in successors(before) if name == move
        }
        if not reached:
            text = puzzle.definition.format_board(next(iter(levels[-1])))
            raise ValueError(f"move {move} cannot be made on {text}")
        levels.append(reached)
    end = next((each for each in levels[-1] if is_end(each)), None)
    if end is None:
        raise ValueError("the moves do not lead there")
    way = [end]
    for level in reversed(levels[1:]):
        way.append(level[way[-1]])
    return numpy.array(way[::-1], dtype=numpy.uint8)


def _opened(puzzle: GivenPuzzle | Space) -> tuple[Puzzle, MoveTable]:
    if hasattr(puzzle, "origins"):
        from farthest.families.python.allowed import PuzzleSpace

        if not isinstance(puzzle, PuzzleSpace):
            space = cast("Space", puzzle)
            return space.puzzle, move_table(space.puzzle, space)
    definition = puzzle_given(puzzle)
    return definition, move_table(definition, None)
