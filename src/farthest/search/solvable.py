"""Which boards can be solved, and why a board cannot: decided exactly wherever that is possible. Random boards that can
be solved.

For small puzzles of which nothing better is known, the boards that moves join are found one by one.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice, repeat
from typing import TYPE_CHECKING

import numpy

from farthest.errors import FarthestError
from farthest.puzzles.definition import Board, matching
from farthest.puzzles.family import Solvable, UndecidedError, family, undecided
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.search.contract import targets as targets_of
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from farthest.random_source import RandomSource
    from farthest.spaces.contract import Boards, Space


def why_unsolvable(puzzle: Puzzle, board: Board, targets: Sequence[Board]) -> str | None:
    """Why no moves lead from ``board`` to any of ``targets``, in one sentence; None: moves lead there, or it is not
    known.

    ``board``: a board of the puzzle. ``targets``: one or more, perhaps with ``WILDCARD``.
    """
    try:
        return why_unsolvable_at_once(puzzle, board, targets)
    except UndecidedError:
        return why_not_reached(puzzle, board, tuple(targets))


def why_unsolvable_at_once(puzzle: Puzzle, board: Board, targets: Sequence[Board]) -> str | None:
    """The same without visiting boards; None: moves lead there. Raises UndecidedError."""
    wanted = tuple(targets)
    if matching(numpy.array([board], dtype=numpy.uint8), wanted).any():
        return None
    return _of_family(puzzle, wanted).why_not(board)


def draw_solvable(puzzle: Puzzle, target: str = "goal") -> Callable[[RandomSource], Board]:
    """A function that draws one of the boards from which moves lead to the target (``goal``, ``start`` or a board's
    text), each with the same chance.

    Raises PuzzleError or BoardError for the target, UndecidedError where it is not known which boards these are.
    """
    from farthest.random_source import RandomSource

    wanted = targets_of(puzzle, target)
    try:
        found = _of_family(puzzle, wanted)
        found.draw(RandomSource(0))  # raises now what it would raise later
        return found.draw
    except UndecidedError:
        boards = component_of(puzzle, target)
        return lambda rng: tuple(boards[rng.below(len(boards))].tolist())


@lru_cache(maxsize=16)
def _of_family(puzzle: Puzzle, targets: tuple[Board, ...]) -> Solvable:
    return family(puzzle.family).solvable(puzzle, targets)


MOST_DRAWN = 1 << 17
"""States from which boards are drawn: found in a second or two."""
MOST_LOOKED_AT = 1 << 15
"""States that are visited before a search."""
MOST_OF_PYTHON = 1 << 13
"""Either number for a user's class, which may be slow."""


def component_of(puzzle: Puzzle, target: str) -> Boards:
    """The boards from which moves lead to ``target`` (a Problem's), in a fixed order. Raises UndecidedError where there
    are too many, or the puzzle cannot be played backward."""
    found: list[Boards] = []
    try:
        for layer in layers_of_boards(compile_space(puzzle, Origin("to", target))):
            found.append(layer)
            if sum(map(len, found)) > _most(puzzle, MOST_DRAWN):
                raise undecided(puzzle)
    except FarthestError:
        raise undecided(puzzle) from None
    return numpy.concatenate(found)


def why_not_reached(puzzle: Puzzle, board: Board, targets: tuple[Board, ...]) -> str | None:
    """Why no moves lead from the board to a target; None where moves lead there, or where it is not known."""
    count = 0
    origin = Origin("from", puzzle.definition.format_board(board))
    try:
        for layer in layers_of_boards(compile_space(puzzle, origin)):
            if matching(layer, targets).any():
                return None
            count += len(layer)
            if count > _most(puzzle, MOST_LOOKED_AT):
                return None
    except FarthestError:  # the puzzle is too large to be numbered
        return None
    return f"no moves lead to a target: all {count:,} boards that can be reached from it were visited"


def layers_of_boards(space: Space) -> Iterator[Boards]:
    """The boards at each depth from 0 on, in a fixed order; at last none."""
    layer = numpy.array(space.origins, dtype=numpy.uint8).reshape(-1, space.cells)
    seen = set(space.encode(layer).tolist())
    yield layer
    while len(layer):
        fresh: list[Boards] = [layer[:0]]
        for _, _, reached in space.neighbours(layer, toward=False):
            new = []
            for row, code in enumerate(space.encode(reached).tolist()):
                if code not in seen:
                    seen.add(code)
                    new.append(row)
            fresh.append(reached[new])
        layer = numpy.concatenate(fresh)
        yield layer


def _most(puzzle: Puzzle, states: int) -> int:
    return MOST_OF_PYTHON if puzzle.definition.module else states


def random_boards(puzzle: Puzzle, count: int, seed: int, target: str = "goal") -> list[Board]:
    """``count`` boards from which moves lead to ``target`` (``goal``, ``start`` or a board's text): each is drawn with
    the same chance and independently of the others, so a board may occur twice.

    The same puzzle, target and ``seed`` (0 or more) give the same boards, on every machine; a larger ``count`` begins
    with the same boards. Raises PuzzleError where it is not known which boards can be solved: then they can be drawn
    from a map (queries/states.py).
    """
    from farthest.random_source import RandomSource

    return list(islice(random_stream(puzzle, RandomSource(seed), target), count))


def random_stream(puzzle: Puzzle, rng: RandomSource, target: str = "goal") -> Iterator[Board]:
    """Boards as in `random_boards`, without end. Raises as it does, before the first."""
    draw = draw_solvable(puzzle, target)
    return (draw(rng) for _ in repeat(None))
