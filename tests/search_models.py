"""Searches compared with plain breadth-first enumeration, board by board, over the successors that spaces give."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy
from numpy.typing import NDArray

from farthest.heuristics.contract import Component
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Puzzle
from farthest.search.contract import Problem
from farthest.search.expansion import forward_space

if TYPE_CHECKING:
    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards


@dataclass
class Zero:
    """No heuristic."""

    name: str = "zero"
    admissible: bool = True
    consistent: bool = True

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        return numpy.zeros(len(boards), dtype=numpy.int32)

    def terms(self) -> list[list[Component]]:
        return []


def successors(puzzle: Puzzle, board: Board) -> list[tuple[MoveName, Board]]:
    """One board's, as the space of all boards gives them."""
    space = forward_space(puzzle, board)
    row = numpy.array([board], dtype=numpy.uint8)
    return [(name, tuple(after[0].tolist())) for name, _, after in space.neighbours(row, toward=False)]


@dataclass(frozen=True)
class Reached:
    """What can be reached from a board: each board's depth, and the number of shortest ways to it."""

    depths: dict[Board, int]
    ways: dict[Board, int]


def reached(puzzle: Puzzle, board: Board) -> Reached:
    """All of it, level by level, in dictionaries."""
    space = forward_space(puzzle, board)
    depths, ways, layer = {board: 0}, Counter({board: 1}), [board]
    while layer:
        fresh: dict[Board, None] = {}
        for _, rows, after in space.neighbours(numpy.array(layer, dtype=numpy.uint8), toward=False):
            for row, other in zip(rows.tolist(), map(tuple, after.tolist()), strict=True):
                depth = depths[layer[row]] + 1
                if depths.setdefault(other, depth) == depth:
                    ways[other] += ways[layer[row]]
                    fresh[other] = None
        layer = list(fresh)
    return Reached(depths, dict(ways))


def answer(problem: Problem, found: Reached) -> tuple[int, int] | None:
    """The length of the problem's shortest solutions, and how many there are; None where there is none."""
    boards = list(found.depths)
    at_target = problem.at_target(numpy.array(boards, dtype=numpy.uint8)).tolist()
    goals = [board for board, is_goal in zip(boards, at_target, strict=True) if is_goal]
    if not goals:
        return None
    length = min(found.depths[goal] for goal in goals)
    return length, sum(found.ways[goal] for goal in goals if found.depths[goal] == length)


def play(puzzle: Puzzle, board: Board, moves: tuple[MoveName, ...]) -> Board:
    """Where the moves lead. Each must be one that can be made."""
    for move in moves:
        (board,) = (after for name, after in successors(puzzle, board) if name == move)
    return board
