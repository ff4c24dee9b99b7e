"""Boards given as moves: ``moves: R U' F2``, ``scramble: R U' F2``, ``moves from start: 6 down, 1 right``.

The moves are made one after the other on the board that the puzzle counts from, its goal or its start; on its start
too where its goal stands for many boards; or on the board after ``from``. ``(...)'`` is undone: it is the board from
which the moves in parentheses lead to the board at hand. So the moves that `farthest path` prints for a board give that
board again as ``moves: (MOVES)'``, where they end at that goal.

Where several pieces are alike, a name is that of the board on which a row of moves begins, as in a path.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from farthest.errors import BoardError
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.family import family
from farthest.puzzles.move_text import read_moves
from farthest.wording import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.move_text import MoveMaker, Step
    from farthest.puzzles.puzzle import Puzzle


MOST_BOARDS = 100
"""Boards from which undone moves may lead to one, that are gone after at a time."""
MOST_UNDONE = 100_000
"""Moves of all these boards together."""

_FORM = re.compile(r"\s*(moves|scramble)(?:\s+from\s+([^:]+?))?\s*:(.*)", re.DOTALL | re.IGNORECASE)


def board_after_moves(puzzle: Puzzle, text: str, read_board: Callable[[str], Board]) -> Board:
    """The board that the text gives. ``read_board``: reads the board after ``from``.

    Raises BoardError with the number of the wrong move and what was expected, ResourceError or PuzzleError where the
    puzzle is too large for its moves to be made.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise BoardError(
            f"puzzle {puzzle.name}: {shown(text)}: expected a colon between the word and the moves; "
            "write moves: MOVES, or moves from BOARD: MOVES"
        )
    word, base, moves = found[1].lower(), found[2], found[3].strip()
    place = f"puzzle {puzzle.name}: {word} {shown(moves)}"
    if not puzzle.definition.has_moves:
        raise BoardError(f"{place}: the puzzle has no moves, expected a board; write its pieces")
    board = read_board(base) if base is not None else _base(puzzle, word)
    # A user's class may be another the next time.
    maker = _maker(puzzle, board) if puzzle.definition.module is None else _new_maker(puzzle, board)
    try:
        steps = maker.held(read_moves(moves, spaced=maker.spaced))
        for undone, run in groupby(steps, key=lambda step: step.undone):
            board = (_undo if undone else _make)(maker, board, list(run))
    except BoardError as error:
        raise BoardError(f"{place}: {error}") from None
    return board


def _base(puzzle: Puzzle, word: str) -> Board:
    """The board that moves begin at, where none is named."""
    goals, start = puzzle.definition.origin_boards
    where = puzzle.origin.where
    if where not in ("goal", "start"):
        return puzzle.definition.parse_board(where, name=puzzle.name)
    goal = next((goal for goal in goals[:1] if WILDCARD not in goal), None)
    board = start if where == "start" or goal is None else goal
    if board is None:
        raise BoardError(
            f"puzzle {puzzle.name}: its goal stands for many boards, expected one that the moves begin at; "
            f"write {word} from BOARD: MOVES"
        )
    return board


def _new_maker(puzzle: Puzzle, board: Board) -> MoveMaker:
    from farthest.families.named_moves import NamedMoves

    return family(puzzle.family).move_maker(puzzle) or NamedMoves(puzzle, board)


_maker = lru_cache(maxsize=16)(_new_maker)


def _make(maker: MoveMaker, board: Board, steps: Sequence[Step]) -> Board:
    """The board after the moves."""
    naming, board = maker.naming(board)
    for step in steps:
        try:
            reached = set(naming.made(board, step.word))
        except BoardError as error:
            raise _wrong(step, error) from None
        if len(reached) > 1:
            raise _wrong(
                step,
                f"it stands for {len(reached)} moves that can be made on this board, expected one; "
                "write it as `farthest path` does",
            )
        (board,) = reached
    return naming.renamed(board)


def _undo(maker: MoveMaker, board: Board, steps: Sequence[Step]) -> Board:
    """The board from which the moves, the last of them first in ``steps``, lead to ``board``."""
    before = {board}
    undone = 0
    for step in steps:
        undone += len(before)
        found: set[Board] = set()
        problem: BoardError | None = None
        for each in before:
            try:
                found.update(maker.undone(each, step.word))
            except BoardError as error:
                problem = error
        if not found:
            raise _wrong(step, problem or "it does not lead to this board")
        if len(found) > MOST_BOARDS or undone > MOST_UNDONE:
            raise _wrong(
                step, "too many boards may be those before it; write fewer moves, or the board itself"
            )
        before = found
    right = [each for each in before if _leads(maker, each, steps[::-1], board)]
    if len(right) != 1:
        many = f"from {len(right)} boards" if right else "from no board"
        raise BoardError(f"the moves that are undone lead there {many}, expected one; write the board itself")
    return right[0]


def _wrong(step: Step, problem: BoardError | str) -> BoardError:
    return BoardError(f"move {step.number}, {shown(step.word)}: {problem}")


def _leads(maker: MoveMaker, board: Board, steps: Sequence[Step], end: Board) -> bool:
    try:
        return _make(maker, board, steps) == end
    except BoardError:
        return False
