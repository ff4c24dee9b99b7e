"""Iterative deepening of one board in one process, one piece after the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from farthest.heuristics.contract import UNREACHABLE
from farthest.search.contract import Node, PieceResult
from farthest.search.expansion import least

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board, MoveName
    from farthest.search.contract import Engine


@dataclass(frozen=True, slots=True)
class Iteration:
    """A bound, and how many nodes were searched with it."""

    bound: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Deepened:
    """What was found. ``length``: None where it is proven that no goal can be reached.

    ``solutions``: how many there are within the last bound, or 1 where the first was enough; ``listed``: the first of
    them. ``nodes``: of all iterations.
    """

    length: int | None
    solutions: int
    listed: tuple[tuple[MoveName, ...], ...]
    nodes: int
    iterations: tuple[Iteration, ...]


def deepen(engine: Engine, board: Board, *, first: bool, limit: int) -> Deepened:
    """Searches with one bound after the other until there is a solution. ``first``: stops at the first; else all within
    the last bound are counted. ``limit``: most that are listed."""
    bound: int | None = engine.lower_bound(board)
    iterations: list[Iteration] = []
    while bound is not None and bound < UNREACHABLE:
        split = max((before.nodes for before in iterations), default=0) >= engine.split_from
        found = _iteration(engine, board, bound, split=split, first=first, limit=limit)
        iterations.append(Iteration(bound, found.nodes))
        if found.solutions:
            length = len(found.listed[0]) if found.listed else bound
            nodes = sum(iteration.nodes for iteration in iterations)
            return Deepened(length, found.solutions, found.listed[:limit], nodes, tuple(iterations))
        bound = found.next_bound
    return Deepened(None, 0, (), sum(iteration.nodes for iteration in iterations), tuple(iterations))


def _iteration(
    engine: Engine, board: Board, bound: int, *, split: bool, first: bool, limit: int
) -> PieceResult:
    """The totals of a whole iteration, as of one piece."""
    most = 1 if first else limit
    if not split:
        return _searched(engine, Node(board, 0), bound, first=first, limit=most)
    begun = engine.split(board, bound)
    nodes, solutions, next_bound = begun.nodes, begun.solutions, begun.next_bound
    listed = list(islice(begun.listed(), most))
    if not (first and solutions):
        for root, ways in enumerate(begun.ways):
            below = _searched(engine, begun.roots[root], bound, first=first, limit=most)
            nodes += below.nodes
            solutions += ways * below.solutions
            next_bound = least(next_bound, below.next_bound)
            if below.solutions and len(listed) < most:
                ways_through = ((*way, *rest) for way in begun.ways_to(root) for rest in below.listed)
                listed += islice(ways_through, most - len(listed))
            if first and solutions:
                break
    return PieceResult(nodes, 1 if first and solutions else solutions, tuple(listed), next_bound, ())


def _searched(engine: Engine, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
    """The totals of all pieces below a node."""
    nodes, solutions, next_bound = 0, 0, None
    listed: list[tuple[MoveName, ...]] = []
    waiting = [node]
    while waiting and not (first and solutions):
        piece = engine.run(waiting.pop(), bound, first=first, limit=limit - len(listed))
        nodes += piece.nodes
        solutions += piece.solutions
        listed += piece.listed
        next_bound = least(next_bound, piece.next_bound)
        waiting += reversed(piece.rest)
    return PieceResult(nodes, solutions, tuple(listed), next_bound, ())
