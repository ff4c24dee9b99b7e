"""Random boards that can be solved, each with the same chance."""

from __future__ import annotations

from itertools import islice, repeat
from typing import TYPE_CHECKING

from farthest.random_source import RandomSource
from farthest.search.solvable import draw_solvable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle


def random_boards(puzzle: Puzzle, count: int, seed: int, target: str = "goal") -> list[Board]:
    """``count`` boards from which moves lead to ``target`` (``goal``, ``start`` or a board's text): each is drawn with
    the same chance and independently of the others, so a board may occur twice.

    The same puzzle, target and ``seed`` (0 or more) give the same boards, on every machine; a larger ``count`` begins
    with the same boards. Raises PuzzleError where it is not known which boards can be solved: then they can be drawn
    from a map (queries/random_states.py).
    """
    return list(islice(random_stream(puzzle, RandomSource(seed), target), count))


def random_stream(puzzle: Puzzle, rng: RandomSource, target: str = "goal") -> Iterator[Board]:
    """Boards as in `random_boards`, without end. Raises as it does, before the first."""
    draw = draw_solvable(puzzle, target)
    return (draw(rng) for _ in repeat(None))
