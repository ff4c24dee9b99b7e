"""One move from many boards at a time, for searches over boards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy

from farthest.heuristics.contract import UNREACHABLE, Heuristic
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from farthest.puzzles.definition import Board, MoveName
    from farthest.search.contract import Problem
    from farthest.spaces.contract import Boards


class MoveSource(Protocol):
    """The part of a ``Space`` that searches need: its neighbours farther from the origin are the boards that the player
    reaches."""

    puzzle: Puzzle
    cells: int

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[numpy.intp], Boards]]:
        """See Space."""


def forward_space(puzzle: Puzzle, board: Board) -> MoveSource:
    """The space with distances counted from a board; without codes for a permutation puzzle, which may be too large for
    them. Raises PuzzleError, BoardError or ResourceError as `compile_space` does."""
    origin = Origin("from", puzzle.definition.format_board(board))
    if puzzle.family == "permutation":
        from farthest.families.permutation.gather_space import PermutationBoards

        return PermutationBoards(puzzle, origin, [board])
    return compile_space(puzzle, origin)


class MoveNumbers:
    """Names of moves and small numbers for them, in the order in which the names came."""

    def __init__(self) -> None:
        self.names: list[MoveName] = []
        self._numbers: dict[MoveName, int] = {}

    def number(self, name: MoveName) -> int:
        """The number of a name."""
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number


@dataclass(frozen=True, slots=True)
class Children:
    """The boards one move away: of ``rows[i]`` by ``moves[i]``, rows ascending, moves of a row in the space's order.

    ``boards``: uint8 (N, cells); ``rows``, ``moves``: intp (N,).
    """

    boards: Boards
    rows: NDArray[numpy.intp]
    moves: NDArray[numpy.intp]

    def only(self, chosen: NDArray[numpy.bool_]) -> Children:
        """The items that are chosen."""
        return Children(self.boards[chosen], self.rows[chosen], self.moves[chosen])


def children(space: MoveSource, boards: Boards, numbers: MoveNumbers) -> Children:
    """All boards one move of the player away; ``space``: a `forward_space`."""
    reached = [numpy.empty((0, space.cells), dtype=numpy.uint8)]
    rows = [numpy.empty(0, dtype=numpy.intp)]
    moves = [numpy.empty(0, dtype=numpy.intp)]
    for name, made, after in space.neighbours(boards, toward=False):
        reached.append(after)
        rows.append(made)
        moves.append(numpy.full(len(made), numbers.number(name), dtype=numpy.intp))
    row = numpy.concatenate(rows)
    order = numpy.argsort(row, kind="stable")
    return Children(numpy.concatenate(reached)[order], row[order], numpy.concatenate(moves)[order])


@dataclass(frozen=True, slots=True)
class BoundTest:
    """Boards at some depth under a bound: ``goals``, and those that are ``open``, to be searched below; bool (N,).

    ``next_bound``: the least depth + heuristic of the others from which a goal may be reached, or None.
    """

    goals: NDArray[numpy.bool_]
    open: NDArray[numpy.bool_]
    next_bound: int | None


def judged(problem: Problem, heuristic: Heuristic, boards: Boards, depth: int, bound: int) -> BoundTest:
    """Tests boards (N, cells) at ``depth`` against the bound. A board that is not a goal is at least one move away from
    one."""
    goals = problem.at_target(boards)
    values = numpy.maximum(heuristic.values(boards), 1)
    values[goals] = 0
    within = values <= bound - depth
    cut = values[~within & (values < UNREACHABLE)]
    return BoundTest(goals & within, ~goals & within, depth + int(cut.min()) if len(cut) else None)


def least(*bounds: int | None) -> int | None:
    """The least of the bounds that are not None."""
    return min((bound for bound in bounds if bound is not None), default=None)
