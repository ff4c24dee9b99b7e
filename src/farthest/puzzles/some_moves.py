"""Puzzles with some moves of another alone, ``cube-3x3x3<U,R>``: the part of it that these moves reach.

Each move in ``<>`` is one of the puzzle's, a power of one, or a sequence of them with a name; its inverse or its powers
are moves too, as the puzzle's metric has it. The family says how they are written (``Family.with_moves``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.puzzles.family import family
from farthest.puzzles.puzzle import MAX_TOKENS
from farthest.wording import shown

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle

OPENS = "<"
CLOSES = ">"
_MOST_SHOWN = 80


def split_moves(name: str) -> tuple[str, str] | None:
    """The puzzle's name or path, and the text of the moves; None: the name has none. Raises PuzzleError where one of
    them is missing."""
    parent, opened, moves = name.partition(OPENS)
    if not opened:
        return None
    problem = (
        f"no puzzle before {OPENS}"
        if not parent
        else f"no {CLOSES} at the end"
        if not moves.endswith(CLOSES)
        else f"no moves between {OPENS} and {CLOSES}"
        if not moves[:-1].strip()
        else f"more than {MAX_TOKENS} characters of moves"
        if len(moves) > MAX_TOKENS
        else None
    )
    if problem:
        raise PuzzleError(
            f"{shown(name)}: {problem}; expected PUZZLE<MOVES> such as 'cube-3x3x3<U,R>', in quotes on a command line"
        )
    return parent, moves[:-1]


def with_moves(parent: Puzzle, moves: str) -> Puzzle:
    """The puzzle with these moves alone. Raises PuzzleError naming the wrong part."""
    written = moves if len(moves) <= _MOST_SHOWN else moves[:_MOST_SHOWN] + "..."
    place = f"{parent.name}{OPENS}{written}{CLOSES}"

    def fail(problem: str) -> PuzzleError:
        return PuzzleError(f"{place}: {problem}")

    if OPENS in parent.name:
        raise fail("the moves of a puzzle are chosen once; name them all in one <>")
    return family(parent.family).with_moves(parent, moves, fail)
