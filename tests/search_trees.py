"""Search trees made of nothing but numbers, and an engine for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from zlib import crc32

from farthest.puzzles.definition import Board
from farthest.search.contract import Node, PieceResult, Way


@dataclass
class TreeSplit:
    """The first level of a tree, where several ways lead to a root."""

    nodes: int
    next_bound: int | None
    roots: list[Node]
    ways: list[int]
    solutions: int
    found: list[Way] = field(default_factory=list)

    def ways_to(self, root: int) -> Iterator[Way]:
        for number in range(self.ways[root]):
            yield (f"way{number}", *(str(cell) for cell in self.roots[root].board))

    def listed(self) -> Iterator[Way]:
        yield from self.found


class TreeEngine:
    """Searches a tree in which ``seed`` decides what is below a node; a board is the numbers of the children on the way
    to it. An ``Engine``, but that its boards are of no puzzle."""

    def __init__(self, seed: int, *, budget: int = 3, parts: int = 2, split_from: int = 4) -> None:
        self.seed, self.budget, self.parts, self.split_from = seed, budget, parts, split_from

    def rng(self, board: Board, of: int) -> int:
        return crc32(f"{self.seed} {board}".encode()) % of

    def lower_bound(self, board: Board) -> int:
        return 1

    def children(self, node: Node) -> list[Node]:
        return [
            Node((*node.board, number), node.depth + 1, -1, (*node.way, str(number)))
            for number in range(1 + self.rng(node.board, 3))
        ]

    def is_goal(self, node: Node) -> bool:
        return node.depth >= 3 and self.rng(node.board, 11) == 0

    def split(self, board: Board, bound: int) -> TreeSplit:
        split = TreeSplit(0, None, [], [], 0)
        for child in self.children(Node(board, 0)):
            split.nodes += 1
            split.roots.append(Node(child.board, child.depth))
            split.ways.append(1 + self.rng(child.board, 2))
        return split

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
        stack, nodes, solutions, next_bound = [node], 0, 0, None
        listed: list[Way] = []
        while stack and nodes < self.budget:
            opened = []
            for child in self.children(stack.pop()):
                nodes += 1
                if child.depth > bound:
                    next_bound = bound + 1
                elif self.is_goal(child):
                    solutions += 1
                    listed.append(child.way)
                    if first:
                        return PieceResult(nodes, 1, tuple(listed), next_bound, ())
                else:
                    opened.append(child)
            stack += reversed(opened)
        return PieceResult(nodes, solutions, tuple(listed[:limit]), next_bound, tuple(reversed(stack)))
