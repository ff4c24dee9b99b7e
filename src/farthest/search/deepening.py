"""Iterative deepening of one board in one process, one piece after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING

from farthest.heuristics.contract import UNREACHABLE
from farthest.search.contract import Node, PieceResult
from farthest.search.expansion import least

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board, MoveName
    from farthest.search.contract import Engine, Split, Way


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


# --- The pieces of an iteration in the order of the search: which are next, and the totals of those that are done.
#
# A piece's *place* is a list of numbers, its root's in the split and then one for each time that a piece gave back
# a rest: (3, 0, 12) is a part of what (3, 0) has left over. Places are ordered as tuples are, which is the order of
# the search: a piece comes before what it has left over, and that before the next root. Totals are those of the
# first pieces in order; the results of later pieces are kept apart until all pieces before them are done. So the
# totals, whenever they are read, are those of one search that goes from the first piece to the last.

Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of the first ``pieces`` in order: nodes, solutions, the next bound, the number of listed solutions."""

    nodes: int = 0
    solutions: int = 0
    pieces: int = 0
    next_bound: int | None = None
    listed: int = 0


class Frontier:
    """The pieces of the iteration of one ``bound``. ``first``: the iteration ends at the first solution in order;
    ``limit``: most solutions to be listed. Not to be used by several threads at once.

    ``waiting``: pieces that nobody has taken; ``running``: those that were taken; ``beyond``: those that are done, with
    pieces before them that are not. ``new_solutions``: those listed since the list was last emptied, as moves from the
    board.
    """

    def __init__(self, bound: int, split: Split | None, board_node: Node, *, first: bool, limit: int) -> None:
        self.bound = bound
        self.first = first
        self.limit = limit
        self.totals = Totals()
        self.waiting: dict[Place, Node] = {}
        self.running: dict[Place, Node] = {}
        self.beyond: dict[Place, PieceResult] = {}
        self.new_solutions: list[Way] = []
        self._split = split
        self._order: list[Place] = []  # heaps; entries that are not in waiting or beyond any more are skipped
        self._order_beyond: list[Place] = []
        self._ended: Place | None = None  # the first piece known to have a solution, where that is enough
        roots = [board_node] if split is None else split.roots
        self._wait({(number,): node for number, node in enumerate(roots)})

    # From the beginning, or from where it was

    def begin(self) -> None:
        """Counts the split."""
        split = self._split
        if split is None:
            return
        solutions = min(split.solutions, 1) if self.first else split.solutions
        self.totals = Totals(split.nodes, 0, 0, split.next_bound)
        self._add_solutions(solutions, split.listed())
        if self.first and solutions:
            self._end(())

    def restore(self, totals: Totals, waiting: dict[Place, Node], beyond: dict[Place, PieceResult]) -> None:
        """Continues from totals and the pieces that they do not include."""
        self.totals = totals
        self.waiting.clear()
        self._wait(waiting)
        for place, piece in beyond.items():
            self._keep(place, piece)
        self._fold()

    # The search

    def take(self) -> tuple[Place, Node] | None:
        """The first waiting piece, which is then running; None where none waits."""
        while self._order:
            place = heappop(self._order)
            node = self.waiting.pop(place, None)
            if node is not None:
                self.running[place] = node
                return place, node
        return None

    def done(self, place: Place, piece: PieceResult) -> None:
        """Adds the result of a piece that was taken. A second result, or one of a piece that is not needed any more, is
        ignored."""
        if self.running.pop(place, None) is None:
            return
        self._wait({(*place, number): node for number, node in enumerate(piece.rest)})
        self._keep(place, replace(piece, rest=()))
        self._fold()

    def give_back(self, place: Place) -> None:
        """Lets a piece that was taken wait again."""
        node = self.running.pop(place, None)
        if node is not None:
            self._wait({place: node})

    @property
    def complete(self) -> bool:
        """Whether the totals are those of the whole iteration."""
        return not self.waiting and not self.running

    @property
    def nodes_known(self) -> int:
        """Nodes of all pieces that are done, for those who watch."""
        return self.totals.nodes + sum(piece.nodes for piece in self.beyond.values())

    def _wait(self, nodes: dict[Place, Node]) -> None:
        for place, node in nodes.items():
            if not self._past_end(place):
                self.waiting[place] = node
                heappush(self._order, place)

    def _keep(self, place: Place, piece: PieceResult) -> None:
        if self._past_end(place):
            return
        self.beyond[place] = piece
        heappush(self._order_beyond, place)
        if self.first and piece.solutions:
            self._end(place)

    def _past_end(self, place: Place) -> bool:
        return self._ended is not None and place > self._ended

    def _end(self, place: Place) -> None:
        """Drops all pieces after one that has a solution."""
        self._ended = place
        self.waiting = {one: node for one, node in self.waiting.items() if one < place}
        self.running = {one: node for one, node in self.running.items() if one < place}
        self.beyond = {one: piece for one, piece in self.beyond.items() if one <= place}

    def _fold(self) -> None:
        """Adds results to the totals up to the first piece that is not done."""
        first_open = self._first_open()
        while self._order_beyond and (first_open is None or self._order_beyond[0] < first_open):
            place = heappop(self._order_beyond)
            piece = self.beyond.pop(place, None)
            if piece is not None:
                self._add(place, piece)

    def _first_open(self) -> Place | None:
        while self._order and self._order[0] not in self.waiting:
            heappop(self._order)
        found = [*self._order[:1], *([min(self.running)] if self.running else [])]
        return min(found) if found else None

    def _add(self, place: Place, piece: PieceResult) -> None:
        bounds = [one for one in (self.totals.next_bound, piece.next_bound) if one is not None]
        self.totals = replace(
            self.totals,
            nodes=self.totals.nodes + piece.nodes,
            pieces=self.totals.pieces + 1,
            next_bound=min(bounds, default=None),
        )
        if piece.solutions:
            ways = 1 if self.first or self._split is None else self._split.ways[place[0]]
            self._add_solutions(ways * piece.solutions, self._from_board(place[0], piece))

    def _from_board(self, root: int, piece: PieceResult) -> Iterator[Way]:
        if self._split is None:
            yield from piece.listed
            return
        for way in self._split.ways_to(root):
            for rest in piece.listed:
                yield (*way, *rest)

    def _add_solutions(self, solutions: int, listed: Iterator[Way]) -> None:
        room = (1 if self.first else self.limit) - self.totals.listed
        new = list(islice(listed, min(room, solutions)))
        self.new_solutions += new
        self.totals = replace(
            self.totals, solutions=self.totals.solutions + solutions, listed=self.totals.listed + len(new)
        )
