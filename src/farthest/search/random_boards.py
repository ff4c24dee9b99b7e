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
    """``count`` boards from which moves lead to ``target`` (``goal``, ``start`` or a board's text): each is any of them
    with the same chance, whatever the others are, so that one may come twice.

    The same for the same puzzle, target and ``seed`` (0 or more), always and everywhere; the first of more are the
    fewer. Raises PuzzleError where it is not known which boards can be solved: a map tells (queries/random_states.py).
    """
    return list(islice(random_stream(puzzle, RandomSource(seed), target), count))


def random_stream(puzzle: Puzzle, rng: RandomSource, target: str = "goal") -> Iterator[Board]:
    """Boards as of `random_boards`, without end. Raises as it does, before the first."""
    draw = draw_solvable(puzzle, target)
    return (draw(rng) for _ in repeat(None))
