"""What a search is made of: the problem, the nodes of its tree, and engines that search below a node.

Iterative deepening in pieces: an iteration searches the tree for solutions of at most ``bound`` moves. It begins with
one node, the board, or with the nodes of a breadth-first split; an engine searches below a node for ``budget`` nodes at
most, and gives back as nodes what is left. All of that depends on the problem alone. So every search for it, by any
number of threads or workers, with losses or without, searches the same pieces, counts the same nodes and finds the same
first solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.puzzles.definition import Board, MoveName


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the search tree: a board, the moves made so far, and the last of them.

    ``way``: the moves from the node where the search of this piece began (the board, or a node of the split). ``last``:
    what the engine needs to leave out the move that takes the last one back (in sliding puzzles the cell that was blank
    before); -1: nothing is left out. ``depth``: moves from the board that is to be solved.

    A node of ``PieceResult.rest`` may stand for several boards of one depth: then ``board`` holds them, and ``way``
    their ways, one after the other. Only the engine that made it can read it.
    """

    board: Board
    depth: int
    last: int = -1
    way: tuple[MoveName, ...] = ()


@dataclass(frozen=True, slots=True)
class PieceResult:
    """What the search of one piece found, below a node.

    ``nodes``: how many were generated: each child of an expanded node, also where it is pruned at once; the node itself
    was counted when it was generated. ``solutions``: ways below the node to a goal; ``listed``: the first of them, in
    the order of the search, as moves from where the node's own ``way`` begins. ``next_bound``: the least depth +
    heuristic above the bound; None: nothing was pruned. ``rest``: what is left to be searched, in the order of the
    search; their children are not counted yet.
    """

    nodes: int
    solutions: int
    listed: tuple[tuple[MoveName, ...], ...]
    next_bound: int | None
    rest: tuple[Node, ...]


class Split(Protocol):
    """The first levels of an iteration's tree, searched breadth first: boards that were found before are left out, and
    different ways to one board of the same depth are one node with the number of ways.

    ``nodes``, ``next_bound``: as in PieceResult. ``roots``: the boards where it ended, in order; ``ways[i]``: how many
    ways lead to ``roots[i]``. ``solutions``, ``listed``: goals found before the roots, as in PieceResult.
    """

    nodes: int
    next_bound: int | None
    roots: list[Node]
    ways: list[int]
    solutions: int

    def ways_to(self, root: int) -> Iterator[tuple[MoveName, ...]]:
        """The different ways from the board to ``roots[root]``, in a fixed order."""

    def listed(self) -> Iterator[tuple[MoveName, ...]]:
        """The solutions found before the roots, in a fixed order."""


class Engine(Protocol):
    """Searches the tree of one problem. Its methods may be called by several threads at once."""

    split_from: int
    """An iteration is split if an earlier one had at least so many nodes."""
    parts: int
    """A split ends at the first level with so many nodes."""
    budget: int
    """Nodes that a piece may generate before it gives back the rest."""

    def lower_bound(self, board: Board) -> int:
        """The heuristic's value: the first bound."""

    def split(self, board: Board, bound: int) -> Split:
        """The first levels, as far as the bound allows."""

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
        """Searches below the node. ``first``: ends at the first solution, with ``solutions`` 1. ``limit``: most
        solutions in ``listed``. Nothing is searched below a goal."""
