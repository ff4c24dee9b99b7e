"""What a search is made of: the problem, the nodes of its tree, engines that search below a node; and all of it as
JSON, for databases and messages between processes.

Iterative deepening in pieces: an iteration searches the tree for solutions of at most ``bound`` moves. It begins with
one node, the board, or with the nodes of a breadth-first split; an engine searches below a node for ``budget`` nodes at
most, and gives back as nodes what is left. All of that depends on the problem alone. So every search for it, by any
number of threads or workers, with losses or without, searches the same pieces, counts the same nodes and finds the same
first solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import msgspec

from farthest.families.user_input import board_given
from farthest.heuristics.contract import check_text
from farthest.puzzles.definition import Board, MoveName, matching
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Puzzle
from farthest.typed import convert
from farthest.untrusted_json import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from farthest.families.user_input import GivenBoard
    from farthest.spaces.contract import Boards


Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

Way = tuple[MoveName, ...]


class Node(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A node of the search tree: a board, the moves made so far, and the last of them.

    ``way``: the moves from the node where the search of this piece began (the board, or a node of the split). ``last``:
    what the engine needs to leave out the move that takes the last one back (in sliding puzzles the cell that was blank
    before); -1: nothing is left out. ``depth``: moves from the board that is to be solved.

    A node of ``PieceResult.rest`` may stand for several boards of one depth: then ``board`` holds them, and ``way``
    their ways, one after the other. Only the engine that made it can read it.
    """

    board: tuple[Count, ...]
    depth: Count
    last: int = -1
    way: Way = ()


class PieceResult(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What the search of one piece found, below a node.

    ``nodes``: how many were generated: each child of an expanded node, also where it is pruned at once; the node itself
    was counted when it was generated. ``solutions``: ways below the node to a goal; ``listed``: the first of them, in
    the order of the search, as moves from where the node's own ``way`` begins. ``next_bound``: the least depth +
    heuristic above the bound; None: nothing was pruned. ``rest``: what is left to be searched, in the order of the
    search; their children are not counted yet.
    """

    nodes: Count
    solutions: Count
    listed: tuple[Way, ...]
    next_bound: Count | None
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

    def ways_to(self, root: int) -> Iterator[Way]:
        """The different ways from the board to ``roots[root]``, in a fixed order."""

    def listed(self) -> Iterator[Way]:
        """The solutions found before the roots, in a fixed order."""


class Engine(Protocol):
    """Searches the tree of one problem. Its methods may be called by several threads at once."""

    split_from: int
    """An iteration is split if an earlier one had at least so many nodes."""
    parts: int
    """A split ends at the first level with so many nodes."""
    budget: int
    """Nodes that a piece may generate before it gives back the rest."""
    in_a_second: int
    """About so many nodes are searched in a second by a thread: half to twice as many."""

    def lower_bound(self, board: Board) -> int:
        """The heuristic's value: the first bound."""

    def split(self, board: Board, bound: int) -> Split:
        """The first levels, as far as the bound allows."""

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
        """Searches below the node. ``first``: ends at the first solution, with ``solutions`` 1. ``limit``: most
        solutions in ``listed``. Nothing is searched below a goal."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Find the fewest moves of the player, as the puzzle's metric counts them, from ``board`` to a target.

    ``target``: ``goal``, ``start``, a board's text, or a set of these (puzzles/origin.py). ``heuristic``: as
    written on the command line (heuristics/registry.py); SettingError where it is not a text.
    """

    puzzle: Puzzle
    board: Board
    target: str
    heuristic: str

    def __post_init__(self) -> None:
        check_text(self.heuristic)

    def targets(self) -> tuple[Board, ...]:
        """The boards that end the search, perhaps with ``WILDCARD``. Raises PuzzleError, BoardError."""
        return targets(self.puzzle, self.target)

    def at_target(self, boards: Boards) -> NDArray[np.bool_]:
        """Which of the boards, uint8 (N, cells), are targets."""
        return matching(boards, self.targets())

    @property
    def solved(self) -> bool:
        """Whether the board is a target already."""
        import numpy as np

        return bool(self.at_target(np.array([self.board], dtype=np.uint8))[0])

    def fields(self) -> dict[str, Any]:
        """What decides the search, for JSON, without the puzzle."""
        return {"board": list(self.board), "target": self.target, "heuristic": self.heuristic}

    @classmethod
    def from_fields(cls, puzzle: Puzzle, fields: dict[str, Any]) -> Problem:
        """The problem whose ``fields`` these were."""
        board = convert(fields["board"], tuple[int, ...])
        return cls(puzzle, board, text(fields["target"]), text(fields["heuristic"]))


def targets(puzzle: Puzzle, target: str) -> tuple[Board, ...]:
    """The boards that ``target`` means, perhaps with ``WILDCARD``. Raises PuzzleError, BoardError."""
    return origin_patterns(puzzle.definition, target, puzzle.name)


def start_or(puzzle: Puzzle, board: GivenBoard | None) -> Board:
    """The board to be solved, or where it is None the puzzle's start. Raises BoardError."""
    return board_given(puzzle, "start" if board is None else board)


def engine_fields(engine: Engine) -> dict[str, Any]:
    """The engine and how it cuts a search into pieces, for JSON: the same for all processes of a search, also after it
    is resumed."""
    cut = {"split_from": engine.split_from, "parts": engine.parts, "budget": engine.budget}
    return {"version": 3, "engine": type(engine).__name__, **cut}


def way_of(fields: Any) -> Way:
    """A way that came through JSON, where a pair of cells is a list. Raises ValueError."""
    return convert(fields, Way)
