"""Successors one board at a time, in two styles: all of them as copies, or a walk that goes back by the way it came.

Both give the same boards by the same moves in the same order, that of ``Space.neighbours``. For sliding and permutation
puzzles the moves are known by the cells that change, for others the space's ``neighbours`` are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from farthest.families.user_input import board_given, puzzle_given
from farthest.puzzles.puzzle import Puzzle
from farthest.search.expansion import MoveSource, forward_space

if TYPE_CHECKING:
    from farthest.families.permutation.definition import Permutation
    from farthest.families.sliding.definition import Sliding
    from farthest.families.user_input import GivenBoard, GivenPuzzle
    from farthest.puzzles.definition import Board, MoveName
    from farthest.spaces.contract import Boards, Space


Successors = Callable[["Board"], "list[tuple[MoveName, Board]]"]
"""Gives all moves that the player can make on a board, each with the board that it leads to."""


def _of_sliding(definition: Sliding, metric: str) -> Successors:
    """Each move needs one cell to be blank and others not to be."""
    from farthest.families.sliding.space import moves_of

    cells = range(definition.cells)
    moves, into = [], [list[int]() for _ in cells]
    for number, move in enumerate(moves_of(definition, metric)):
        changed = [(cell, move.to.index(cell)) for cell in cells if move.to[cell] != cell]
        moves.append((move.name, changed, [cell for cell in cells if move.forbid >> cell & 1]))
        for cell in cells:
            if move.require >> cell & 1:
                into[cell].append(number)

    def successors(board: Board) -> list[tuple[MoveName, Board]]:
        blanks = [cell for cell, label in enumerate(board) if label == 0]
        found: list[tuple[MoveName, Board]] = []
        for number in sorted(number for cell in blanks for number in into[cell]):
            name, changed, filled = moves[number]
            if len(blanks) == 1 or all(board[cell] for cell in filled):
                after = list(board)
                for cell, source in changed:
                    after[cell] = board[source]
                found.append((name, tuple(after)))
        return found

    return successors


def _of_permutation(definition: Permutation) -> Successors:
    """All moves are always possible: contents go from slot to slot, and orientations are added to."""
    slots, moduli = definition.slots, definition.slot_moduli
    moves = []
    for move in definition.generators:
        sources = [move.to.index(slot) for slot in range(slots)]
        turns: list[tuple[int, int, int]] = []  # cell, what is added, modulus
        if definition.oriented:
            turns = [
                (slots + slot, move.delta[source], moduli[source])
                for slot, source in enumerate(sources)
                if move.delta[source]
            ]
            sources += [slots + source for source in sources]
        moves.append((move.name, sources, turns))

    def successors(board: Board) -> list[tuple[MoveName, Board]]:
        found: list[tuple[MoveName, Board]] = []
        for name, sources, turns in moves:
            after = [board[source] for source in sources]
            for cell, added, modulus in turns:
                after[cell] = (after[cell] + added) % modulus
            found.append((name, tuple(after)))
        return found

    return successors


def _asked(puzzle: Puzzle, space: Space | None) -> Successors:
    """The space's ``neighbours``; None: the first board tells the space."""
    made: MoveSource | None = space
    # The player moves toward the origin of some spaces.
    toward = space is not None and space.origin.direction == "to"

    def successors(board: Board) -> list[tuple[MoveName, Board]]:
        import numpy

        nonlocal made
        made = made or forward_space(puzzle, board)
        found = made.neighbours(numpy.array([board], dtype=numpy.uint8), toward=toward)
        return [(name, tuple(each)) for name, _, after in found for each in after.tolist()]

    return successors


def successors_of(puzzle: GivenPuzzle | Space) -> Successors:
    """The first style as a function, for many boards. Raises what `compile_space` raises."""
    return _opened(puzzle)[1]


def copies(puzzle: GivenPuzzle | Space, board: GivenBoard) -> list[tuple[MoveName, Board]]:
    """The first style: all moves that can be made on a board, each with a copy of the board after it.

    ``puzzle``: as for `load_puzzle`, or a space. ``board``: as for `distance` of a map. Raises BoardError, or what
    `compile_space` raises.
    """
    definition, successors = _opened(puzzle)
    return successors(board_given(definition, board))


class Walker:
    """The second style: a board that moves change, and its way: moves can be taken back.

    A search that goes down and comes back:

        for number, name in enumerate(walker.moves()):
            walker.make(number)
            ...
            walker.undo()
    """

    def __init__(self, puzzle: GivenPuzzle | Space, board: GivenBoard) -> None:
        """``puzzle``, ``board``: as for `copies`. Raises BoardError, or what `compile_space` raises."""
        definition, self._successors = _opened(puzzle)
        self._board = board_given(definition, board)
        self._after: list[tuple[MoveName, Board]] | None = self._successors(self._board)
        self._made: list[tuple[MoveName, Board, list[tuple[MoveName, Board]]]] = []

    @property
    def board(self) -> Board:
        """The number in each cell of the board as it is now."""
        return self._board

    @property
    def way(self) -> tuple[MoveName, ...]:
        """The moves made and not taken back."""
        return tuple(name for name, _, _ in self._made)

    def moves(self) -> list[MoveName]:
        """The names of the moves that can be made now."""
        return [name for name, _ in self._possible()]

    def make(self, number: int) -> MoveName:
        """Makes the move at this index in `moves`; returns its name. Raises IndexError where there is no such index."""
        possible = self._possible()
        if not 0 <= number < len(possible):
            raise IndexError(f"move {number}: expected an index in a list of {len(possible)} moves, from 0")
        name, after = possible[number]
        self._made.append((name, self._board, possible))
        self._board, self._after = after, None
        return name

    def undo(self) -> MoveName:
        """Takes the last move back; returns its name. Raises IndexError where none was made."""
        if not self._made:
            raise IndexError("there is no move to take back")
        name, self._board, self._after = self._made.pop()
        return name

    def _possible(self) -> list[tuple[MoveName, Board]]:
        if self._after is None:
            self._after = self._successors(self._board)
        return self._after


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


def _opened(puzzle: GivenPuzzle | Space) -> tuple[Puzzle, Successors]:
    """The puzzle and its successors, by those of its space where that is given."""
    space = None
    if hasattr(puzzle, "origins"):
        from farthest.families.python.allowed import PuzzleSpace

        if not isinstance(puzzle, PuzzleSpace):
            space = cast("Space", puzzle)
    loaded = puzzle_given(cast("GivenPuzzle", puzzle)) if space is None else space.puzzle
    if loaded.family == "sliding":
        from farthest.families.sliding.definition import sliding

        if not sliding(loaded).blanks:  # a pattern's boards do not show where the blank is
            return loaded, _of_sliding(sliding(loaded), loaded.metric)
    elif loaded.family == "permutation":
        from farthest.families.permutation.definition import permutation

        definition = permutation(loaded)
        if not any(definition.ignore) and not definition.guards:
            return loaded, _of_permutation(definition)
    return loaded, _asked(loaded, space)
