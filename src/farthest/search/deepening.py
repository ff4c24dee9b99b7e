"""Iterative deepening: which iterations a search has, which pieces of an iteration are next, and the totals of those
that are done.

Who searches the pieces is left to others: threads, workers, or ``deepen``, which does it in the caller's thread.

A piece's *place* is a list of numbers, its root's in the split and then one for each time that a piece gave back a
rest: (3, 0, 12) is a part of what (3, 0) has left over. Places are ordered as tuples are, which is the order of the
search: a piece comes before what it has left over, and that before the next root. Totals are those of the first pieces
in order; the results of later pieces are kept apart until all pieces before them are done. So the totals, whenever they
are read, are those of one search that goes from the first piece to the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import structs

from farthest.heuristics.contract import UNREACHABLE
from farthest.search.contract import Engine, Node, PieceResult, Split, Way
from farthest.search.expansion import least

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board

Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration of a search: its bound, the nodes and pieces it took, the solutions it found."""

    bound: int
    nodes: int
    solutions: int
    pieces: int
    seconds: float


class Deepening:
    """The search for solutions of one board with one bound after the other. ``first``: the first solution ends it, else
    all within the last bound are counted; ``limit``: most that are listed.

    ``iterations``: those that are over; ``next_bound``: the bound of the next one; None: it is proven that there is no
    solution.
    """

    def __init__(self, engine: Engine, board: Board, *, first: bool, limit: int) -> None:
        self.iterations: list[Iteration] = []
        self.next_bound: int | None = engine.lower_bound(board)
        self._engine = engine
        self._board = board
        self._first = first
        self._limit = limit

    def go_on(self, iterations: Sequence[Iteration], next_bound: int | None) -> None:
        """Continues after these iterations; ``next_bound``: that which followed from them."""
        self.iterations = list(iterations)
        self.next_bound = next_bound if iterations else self._engine.lower_bound(self._board)

    @property
    def solutions(self) -> int:
        """Solutions of the last iteration."""
        return self.iterations[-1].solutions if self.iterations else 0

    @property
    def nodes(self) -> int:
        """Nodes of all iterations."""
        return sum(one.nodes for one in self.iterations)

    @property
    def over(self) -> bool:
        """Whether the last iteration was the last of all."""
        return self.solutions > 0 or self.next_bound is None or self.next_bound >= UNREACHABLE

    def length(self, listed: Sequence[Way]) -> int | None:
        """The length of the solutions, of which these are listed; None where there is none. Where the heuristic is more
        than the distance, a solution may be shorter than the bound; then one is listed."""
        return len(listed[0]) if listed else self.iterations[-1].bound if self.solutions else None

    def frontier(self) -> Frontier:
        """The pieces of the next iteration, which is still to be begun or restored."""
        assert self.next_bound is not None, "the search is not over"
        # Not only the last: an iteration that was split may have few nodes because of that.
        is_split = max((before.nodes for before in self.iterations), default=0) >= self._engine.split_from
        split = self._engine.split(self._board, self.next_bound) if is_split else None
        return Frontier(self.next_bound, split, Node(self._board, 0), first=self._first, limit=self._limit)

    def add(self, frontier: Frontier, seconds: float) -> None:
        """Adds an iteration that is over."""
        totals = frontier.totals
        self.iterations.append(
            Iteration(frontier.bound, totals.nodes, totals.solutions, totals.pieces, seconds)
        )
        self.next_bound = totals.next_bound


@dataclass(frozen=True, slots=True)
class Deepened:
    """What was found. ``length``: None where it is proven that no goal can be reached. ``solutions``: how many there
    are within the last bound, or 1 where the first was enough; ``listed``: the first of them. ``nodes``: of all
    iterations."""

    length: int | None
    solutions: int
    listed: tuple[Way, ...]
    nodes: int
    iterations: tuple[Iteration, ...] = field(compare=False)  # their pieces depend on how the engine cuts


def deepen(engine: Engine, board: Board, *, first: bool, limit: int) -> Deepened:
    """The whole search in the caller's thread, one piece after the other; the time of iterations is not measured."""
    search = Deepening(engine, board, first=first, limit=limit)
    listed: list[Way] = []
    while not search.over:
        frontier = search.frontier()
        frontier.begin()
        while not frontier.complete:
            search_next(engine, frontier)
        search.add(frontier, 0.0)
        listed += frontier.new_solutions
    return Deepened(
        search.length(listed), search.solutions, tuple(listed), search.nodes, tuple(search.iterations)
    )


def search_piece(engine: Engine, frontier: Frontier, node: Node) -> PieceResult:
    """Searches one piece of the frontier's iteration, below a node."""
    return engine.run(node, frontier.bound, first=frontier.first, limit=frontier.limit)


def search_next(engine: Engine, frontier: Frontier) -> None:
    """Searches the first piece that waits, in the caller's thread."""
    taken = frontier.take()
    assert taken is not None, "a piece waits"
    place, node = taken
    frontier.done(place, search_piece(engine, frontier, node))


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
        self.limit = 1 if first else limit
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
            self._set_aside(place, piece)
        self._advance()

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
        self._set_aside(place, structs.replace(piece, rest=()))
        self._advance()

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
    def nodes_done(self) -> int:
        """Nodes of all pieces that are done, for those who watch."""
        return self.totals.nodes + sum(piece.nodes for piece in self.beyond.values())

    def _wait(self, nodes: dict[Place, Node]) -> None:
        for place, node in nodes.items():
            if not self._past_end(place):
                self.waiting[place] = node
                heappush(self._order, place)

    def _set_aside(self, place: Place, piece: PieceResult) -> None:
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

    def _advance(self) -> None:
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
        self.totals = replace(
            self.totals,
            nodes=self.totals.nodes + piece.nodes,
            pieces=self.totals.pieces + 1,
            next_bound=least(self.totals.next_bound, piece.next_bound),
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
        room = self.limit - self.totals.listed
        new = list(islice(listed, min(room, solutions)))
        self.new_solutions += new
        self.totals = replace(
            self.totals, solutions=self.totals.solutions + solutions, listed=self.totals.listed + len(new)
        )
