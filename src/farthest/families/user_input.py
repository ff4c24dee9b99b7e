"""What people hand over for a puzzle, a board or an origin, as the definitions that the rest works with.

A board is also a word: ``goal``, the first goal that the puzzle's file draws, or ``start``; or moves that lead there,
``moves: R U' F2`` (families/written_moves.py), without that word where they cannot be a board with a mistake in it. The
words come first: where the letters of one are the pieces of a board, that board is written with spaces.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from farthest.errors import BoardError, FarthestError, PuzzleError
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.origin import MAX_NAMED, WORDS, is_moves, joined
from farthest.puzzles.puzzle import Direction, Origin, Puzzle

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from farthest.families.python.allowed import PuzzleSpace

    GivenPuzzle = str | os.PathLike[str] | Puzzle | PuzzleSpace
    """A name of the catalogue, the path of a file, a puzzle, or an object of a class of one's own."""

    GivenBoard = str | Sequence[int] | NDArray[numpy.integer]
    """Text, ``goal``, ``start``, ``moves: ...``, or the number in each cell: an array has one dimension."""

    GivenTarget = GivenBoard | Sequence[GivenBoard]
    """A board, or a set of boards; a text of several lines that is no board is a set too, a board per line."""

    GivenOrigin = Origin | GivenTarget
    """Text may be as in a puzzle's file, ``to goal``, ``from start``; boards have the puzzle's own direction."""

STICKERS = 24
"""Letters in a row that are no moves which somebody forgot to say so: the stickers of the smallest cube are as many."""
LONGEST_GUESS = 1000
"""Characters of a text that is no board, of which is found out whether it is moves."""

_PUZZLES = (
    "a name of the catalogue, the path of a file, a Puzzle or an object of a class derived from PuzzleSpace"
)
_BOARDS = "a text, 'goal', 'start', 'moves: ...', or a tuple, list or array of the number in each cell"


def puzzle_given(puzzle: GivenPuzzle) -> Puzzle:
    """The puzzle. Raises PuzzleError, and TypeError for what cannot be a puzzle."""
    given: object = puzzle
    if isinstance(given, Puzzle):
        return given
    if isinstance(given, (str, os.PathLike)):
        from farthest.puzzles import catalogue

        return catalogue.load(cast("Any", given))
    if isinstance(given, type):
        raise PuzzleError(f"{given.__name__} is a class, expected an object of it; write {given.__name__}()")
    from farthest.families.python.allowed import PuzzleSpace

    if isinstance(given, PuzzleSpace):
        from farthest.families.python.definition import puzzle_of

        return puzzle_of(given)
    raise TypeError(f"puzzle: expected {_PUZZLES}, got {type(given).__name__}")


def is_plain(board: GivenBoard) -> TypeGuard[str]:
    """Whether the board is a text that the puzzle's definition reads by itself."""
    return isinstance(board, str) and board.strip() not in WORDS and not is_moves(board)


def board_given(puzzle: Puzzle, board: GivenBoard) -> Board:
    """The board. Raises BoardError, and TypeError for what cannot be a board."""
    if isinstance(board, str):
        word = board.strip()
        if word in WORDS:
            named = _origin_board(puzzle, word)
            if WILDCARD in named:
                raise BoardError(
                    f"puzzle {puzzle.name}: its goal {puzzle.definition.format_board(named)!r} (* is any piece) stands "
                    "for many boards, expected one; write one of these boards"
                )
            return named
        if is_moves(board):
            return _board_after(puzzle, board)
        try:
            return puzzle.definition.parse_board(board, name=puzzle.name)
        except BoardError as error:
            if not _perhaps_moves(puzzle, word):
                raise
            return _after_bare_moves(puzzle, word, error)
    return puzzle.definition.check_board(_numbers(board), name=puzzle.name)


def _board_after(puzzle: Puzzle, moves: str) -> Board:
    from farthest.families.written_moves import board_after_moves

    return board_after_moves(puzzle, moves, lambda base: board_given(puzzle, base))


def _perhaps_moves(puzzle: Puzzle, text: str) -> bool:
    """Whether to find out if a text that is no board is moves."""
    definition = puzzle.definition
    if not definition.has_moves or definition.module is not None or len(text) > LONGEST_GUESS:
        return False
    return ">" in text or "→" in text or any(sign.isalpha() for sign in text)  # numbers may be a board


def _after_bare_moves(puzzle: Puzzle, text: str, error: BoardError) -> Board:
    """The board after the moves that the text is. Raises BoardError where it is none; ``error``: why it is no board."""
    from farthest.families.written_moves import first_is_a_move, only_moves

    try:
        board = _board_after(puzzle, f"moves: {text}")
        clear = only_moves(puzzle, text)
    except FarthestError as wrong:
        if not first_is_a_move(puzzle, text):
            raise error from None
        # A number may as well be a piece of a board.
        raise BoardError(str(wrong) if text[0].isalpha() else f"{error}; as moves, {wrong}") from None
    letters = "".join(text.split())
    if not clear and letters.isalpha() and len(letters) >= STICKERS:
        raise error
    if not clear:
        mend = f'if these are moves, write "moves: {text}" for the board that they lead to'
        raise BoardError(f"{error}; {mend}")
    return board


def drawn_board(puzzle: Puzzle, board: str) -> Board:
    """As ``board_given``, for a picture: a goal may have ``WILDCARD``."""
    return _origin_board(puzzle, word) if (word := board.strip()) in WORDS else board_given(puzzle, board)


def target_given(puzzle: Puzzle, target: GivenTarget) -> str:
    """``goal`` (any of the goals), ``start``, or the canonical text of a board; or of a set of these
    (puzzles/origin.py). Raises as ``board_given`` does."""
    boards = _set_given(puzzle, target)
    if boards is None:
        return _one_target(puzzle, cast("GivenBoard", target))
    if not 1 <= len(boards) <= MAX_NAMED:
        raise BoardError(
            f"a set of {len(boards):,} boards; expected 1 to {MAX_NAMED:,}, or a goal with * in the puzzle's file"
        )
    return joined(_one_target(puzzle, board) for board in boards)


def _one_target(puzzle: Puzzle, target: GivenBoard) -> str:
    if isinstance(target, str) and target.strip() in WORDS:
        return target.strip()
    return puzzle.definition.format_board(board_given(puzzle, target))


def _set_given(puzzle: Puzzle, target: GivenTarget) -> Sequence[GivenBoard] | None:
    """The boards of a set; None for what is one board."""
    if isinstance(target, str):
        lines = [line for line in target.splitlines() if line.strip()]
        return lines if len(lines) > 1 and not _is_board(puzzle, target) else None
    if isinstance(target, Sequence) and not isinstance(target, (bytes, bytearray)):
        nested = all(isinstance(each, (str, Sequence)) or hasattr(each, "tolist") for each in target)
        return cast("Sequence[GivenBoard]", target) if target and nested else None
    return None


def _is_board(puzzle: Puzzle, text: str) -> bool:
    """Whether several lines are one board; moves without ``moves:`` are a board each line."""
    try:
        if is_moves(text):
            _board_after(puzzle, text)
        else:
            puzzle.definition.parse_board(text)
    except BoardError:
        return False
    return True


def origin_given(puzzle: Puzzle, origin: GivenOrigin | None) -> Origin | None:
    """The origin; None where none was given. Raises BoardError, PuzzleError, and TypeError for what cannot be one."""
    if origin is None:
        return None
    direction: str = puzzle.origin.direction
    where: GivenTarget
    if isinstance(origin, Origin):
        direction, where = origin.direction, origin.where
    else:
        where = origin
    if isinstance(origin, str):
        first, _, rest = origin.strip().partition(" ")
        if first in ("to", "from") and rest.strip():
            direction, where = first, rest
    if direction not in ("to", "from"):
        raise PuzzleError(f"origin: direction {direction!r}; expected 'to' or 'from'")
    return Origin(cast(Direction, direction), target_given(puzzle, where))


def _origin_board(puzzle: Puzzle, word: str) -> Board:
    goals, start = puzzle.definition.origin_boards
    found = start if word == "start" else next(iter(goals), None)
    if found is None:
        raise BoardError(
            f"puzzle {puzzle.name}: it has no {word}; name a board, such as {puzzle.definition.example()!r}"
        )
    return found


def _numbers(board: object) -> Sequence[int]:
    """The elements of a tuple, a list, or an array of one dimension."""
    listed: object = board.tolist() if hasattr(board, "tolist") else board
    if isinstance(listed, (bytes, bytearray)):
        listed = list(listed)
    if not isinstance(listed, Sequence):
        raise TypeError(f"board: expected {_BOARDS}, got {type(board).__name__}")
    if any(isinstance(each, (Sequence, str)) for each in listed):
        raise TypeError(
            f"board: expected {_BOARDS}, got {type(board).__name__} of {type(listed[0]).__name__}"
        )
    return cast("Sequence[int]", listed)
