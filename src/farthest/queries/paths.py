"""Optimal solutions from the distances alone: one, all, and how many.

A board at distance d has a neighbour at distance d - 1, and every optimal solution goes from neighbour to neighbour in
this way. The boards that optimal solutions of one board pass through form a graph whose levels are the distances d, d -
1, ..., 0, and whose edges are moves; a solution is a way through it. Two moves that lead from one board to the same
board are two edges: solutions with different moves are counted apart.

Where a space knows the moves toward the origin, they are made, and the boards looked up. Where it does not (its moves
are one-way, and only successors are known), the whole layer before is expanded, and the moves that lead to the boards
are kept. That is exact too, but the map is read once for each move of a solution.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from farthest.errors import FarthestError, StorageError
from farthest.spaces.contract import reduced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from farthest.drawing.svg import Drawing
    from farthest.families.user_input import GivenBoard
    from farthest.puzzles.definition import Board, MoveName, NamedPath
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.stored_map import StoredMap
    from farthest.spaces.contract import Boards, Codes, Space

    Lookup = Callable[[Codes], NDArray[numpy.int32]]
    """Codes to distances, -1 for none."""

    Nearer = Callable[[Boards, int], "NearerMoves"]
    """From different boards the moves to boards at a distance that is one less than theirs."""

    _Item = tuple[MoveName, NDArray[numpy.intp], Boards, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class NearerMoves:
    """Item i leads from the board of row ``rows[i]`` to ``boards[i]`` by the move ``names[moves[i]]``.

    ``rows``, ``moves``: intp, shape (items,). ``boards``: uint8, shape (items, cells); ``marks``: see ``marks_of``.
    Items of one row are in a fixed order: that of the space's moves, or of the layer where it has to be read.
    """

    rows: NDArray[numpy.intp]
    boards: Boards
    marks: NDArray[Any]
    moves: NDArray[numpy.intp]
    names: list[MoveName]


BOARDS_AT_ONCE = 1 << 15
"""The moves of so many boards are made together: their boards take some megabytes."""


def nearer_moves(
    space: Space, lookup: Lookup, layer: Callable[[int], Iterator[Boards]], threads: int = 1
) -> Nearer:
    """How a map's nearer moves are found. ``layer``: the boards of a depth, some at a time. ``threads``: 1 unless they
    may look up side by side."""
    if space.moves_both_ways:
        return lambda boards, remaining: _by_neighbours(space, lookup, boards, remaining, threads)
    return lambda boards, remaining: _by_layer(space, layer(remaining), boards)


def _by_neighbours(space: Space, lookup: Lookup, boards: Boards, remaining: int, threads: int) -> NearerMoves:
    def nearer(at: int) -> list[_Item]:
        reached = list(space.neighbours(boards[at : at + BOARDS_AT_ONCE], toward=True))
        if not reached:
            return []
        codes = [space.encode(each) for _, _, each in reached]
        near = lookup(numpy.concatenate(codes)) == remaining
        parts = numpy.split(near, numpy.cumsum([len(each) for each in codes[:-1]]))
        found = []
        for (name, rows, after), code, wanted in zip(reached, codes, parts, strict=True):
            marks = marks_of(space, after[wanted], code[wanted])
            found.append((name, rows[wanted] + at, after[wanted], marks))
        return found

    starts = range(0, len(boards), BOARDS_AT_ONCE)
    with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        blocks = map(nearer, starts) if pool is None else pool.map(nearer, starts)
        return _joined(space, [each for block in blocks for each in block])


def _by_layer(space: Space, layer: Iterator[Boards], boards: Boards) -> NearerMoves:
    marks = marks_of(space, boards)
    order = numpy.argsort(marks)
    ascending = marks[order]
    found: list[_Item] = []
    for block in layer:
        own = marks_of(space, block)
        for name, rows, reached in space.neighbours(block, toward=False):
            arrived = marks_of(space, reached)
            places = numpy.searchsorted(ascending, arrived)
            places[places == len(ascending)] = 0
            hits = ascending[places] == arrived
            if hits.any():
                found.append((name, order[places[hits]], block[rows[hits]], own[rows[hits]]))
    return _joined(space, found)


def _joined(space: Space, found: Sequence[_Item]) -> NearerMoves:
    """All items: of each, the move, the rows from which it can be made, the boards that it leads to, their marks."""
    numbers: dict[MoveName, int] = {}
    for name, *_ in found:
        numbers.setdefault(name, len(numbers))
    none = numpy.empty((0, space.cells), dtype=numpy.uint8)
    return NearerMoves(
        numpy.concatenate([numpy.empty(0, dtype=numpy.intp), *(rows for _, rows, _, _ in found)]),
        numpy.concatenate([none, *(boards for _, _, boards, _ in found)]),
        numpy.concatenate([marks_of(space, none), *(marks for *_, marks in found)]),
        numpy.repeat([numbers[name] for name, *_ in found], [len(rows) for _, rows, _, _ in found]),
        list(numbers),
    )


def marks_of(space: Space, boards: Boards, codes: Codes | None = None) -> NDArray[Any]:
    """What is equal for equal boards alone: their bytes where codes stand for several boards, else their codes."""
    if reduced(space) is not None:
        return as_bytes(boards)
    return space.encode(boards) if codes is None else codes


def as_bytes(boards: Boards) -> NDArray[Any]:
    """What can be compared in place of boards: their bytes."""
    return numpy.ascontiguousarray(boards).view(f"S{boards.shape[1]}").ravel()


# Counts stay in int64 while a level's largest count times its largest number of edges cannot exceed this.
EXACT_IN_INT64 = 2**62


class LargeGraphError(FarthestError):
    """The optimal solutions pass through more boards than were to be looked at."""


@dataclass(frozen=True, slots=True)
class Way:
    """A solution: its boards (uint8, shape (moves + 1, cells)) and the moves between them."""

    boards: Boards
    moves: list[MoveName]

    def reversed(self) -> Way:
        """The same boards and moves in reverse order."""
        return Way(self.boards[::-1], self.moves[::-1])


@dataclass(frozen=True, slots=True)
class Level:
    """The boards of one distance that solutions pass through, and their edges to the next level.

    ``boards``: uint8, shape (boards, cells). ``first_edge``: intp, shape (boards + 1,); the edges of board i are those
    from ``first_edge[i]`` to ``first_edge[i + 1]`` exclusive. ``successors``: intp, for each edge an index into the
    next level. ``moves``: intp, for each edge an index into ``names``.
    """

    boards: Boards
    first_edge: NDArray[numpy.intp]
    successors: NDArray[numpy.intp]
    moves: NDArray[numpy.intp]
    names: list[MoveName]


class SolutionGraph:
    """All optimal solutions of one board, or of several."""

    def __init__(
        self,
        space: Space,
        nearer: Nearer,
        boards: Boards,
        distances: NDArray[numpy.integer],
        limit: int | None = None,
    ) -> None:
        """``boards``: different ones, uint8, shape (boards, cells), at ``distances``. ``nearer``: the map's nearer
        moves.

        Raises StorageError where the distances contradict each other, LargeGraphError where there are more than
        ``limit`` boards.
        """
        self.distance = int(distances.max())
        self.levels: list[Level] = []
        self.distances = distances
        self.places = numpy.empty(len(boards), dtype=numpy.intp)  # of each board in its level
        reached, here, found = 0, boards[:0], _joined(space, [])
        for remaining in range(self.distance, -1, -1):
            own = numpy.flatnonzero(distances == remaining)
            marks = numpy.concatenate([marks_of(space, boards[own]), found.marks])
            _, first, place = numpy.unique(marks, return_index=True, return_inverse=True)
            self.places[own] = place[: len(own)]
            if remaining < self.distance:
                self.levels.append(_level(here, found, remaining + 1, place[len(own) :]))
            here = numpy.concatenate([boards[own], found.boards])[first]
            if not remaining:
                break
            reached += len(here)
            if limit is not None and reached > limit:
                raise LargeGraphError(
                    f"the optimal solutions pass through more than {limit:,} boards; `farthest path` counts them"
                )
            found = nearer(here, remaining - 1)
        self.origins = here  # where the solutions end: uint8, shape (boards, cells)

    def count(self) -> int:
        """The exact number of optimal solutions of the first board."""
        return int(self.counts()[0])

    def counts(self) -> NDArray[numpy.int64] | NDArray[numpy.object_]:
        """The exact number of optimal solutions of each board: Python's integers where some are large."""
        counts: NDArray[numpy.int64] | NDArray[numpy.object_] = numpy.ones(
            len(self.origins), dtype=numpy.int64
        )
        found: NDArray[Any] = numpy.ones(len(self.places), dtype=numpy.int64)
        for depth, level in enumerate(reversed(self.levels), 1):
            if counts.dtype != object:
                most_edges = int(numpy.diff(level.first_edge).max())
                if int(counts.max()) * most_edges > EXACT_IN_INT64:
                    counts = counts.astype(object)  # Python integers from here on
                    found = found.astype(object)
            counts = numpy.add.reduceat(counts[level.successors], level.first_edge[:-1])
            own = self.distances == depth
            found[own] = counts[self.places[own]]
        return found

    def solutions(self) -> Iterator[list[int]]:
        """Each solution of a single board as the number of its edge on every level.

        Depth first, edges in their order, so the order is always the same.
        """
        way = [0] * (self.distance + 1)  # way[i]: the board on level i
        edges = [0] * self.distance  # edges[i]: the next edge to try from it
        depth = 0
        if self.distance:
            edges[0] = int(self.levels[0].first_edge[0])
        while depth >= 0:
            if depth == self.distance:
                yield [edge - 1 for edge in edges]
                depth -= 1
                continue
            level = self.levels[depth]
            edge = edges[depth]
            if edge == level.first_edge[way[depth] + 1]:
                depth -= 1
                continue
            edges[depth] = edge + 1
            depth += 1
            way[depth] = int(level.successors[edge])
            if depth < self.distance:
                edges[depth] = int(self.levels[depth].first_edge[way[depth]])

    def way(self, edges: list[int]) -> Way:
        """One of the `solutions` as boards and moves."""
        place, boards, moves = 0, [], []
        for level, edge in zip(self.levels, edges, strict=True):
            boards.append(level.boards[place])
            moves.append(level.names[level.moves[edge]])
            place = int(level.successors[edge])
        boards.append(self.origins[place])
        return Way(numpy.array(boards), moves)


def _level(boards: Boards, found: NearerMoves, distance: int, successors: NDArray[numpy.intp]) -> Level:
    """The level of the boards at a distance. ``successors``: where the moves lead, as places in the next level."""
    order = numpy.argsort(found.rows, kind="stable")  # keeps the order of the moves within a row
    edges = numpy.bincount(found.rows, minlength=len(boards))
    if not edges.all():
        raise _contradiction(distance)
    first_edge = numpy.zeros(len(boards) + 1, dtype=numpy.intp)
    numpy.cumsum(edges, out=first_edge[1:])
    return Level(boards, first_edge, successors[order], found.moves[order], found.names)


def walk(nearer: Nearer, board: Boards, distance: int) -> Way:
    """The first optimal solution, from ``board`` (uint8, shape (cells,), at ``distance``) to an origin.

    The same as the first of `SolutionGraph.solutions`, but no other board is read. Raises StorageError where the
    distances contradict each other.
    """
    boards, moves = [board], []
    for remaining in range(distance - 1, -1, -1):
        found = nearer(boards[-1][numpy.newaxis, :], remaining)
        if not len(found.rows):
            raise _contradiction(remaining + 1)
        boards.append(found.boards[0])
        moves.append(found.names[found.moves[0]])
    return Way(numpy.array(boards), moves)


def _contradiction(distance: int) -> StorageError:
    return StorageError(
        f"the stored map contradicts itself: a board at distance {distance} has no neighbour one nearer; "
        "`farthest verify` says where, and enumerating the puzzle again mends it"
    )


# The moves that the player can make on a board, with the distance after each.


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A move, the board that it leads to (its canonical text and its labels), and the distance of that board: -1 where
    it has none."""

    move: MoveName
    board: str
    labels: Board
    distance: int


def neighbours(distance_map: StoredMap, board: GivenBoard) -> list[Neighbour]:
    """The player's moves on a board, least distance first, boards without a distance last; equal ones in the order of
    the space's moves. Empty for an additive pattern, which has no moves. Raises BoardError where the board is
    malformed."""
    definition = distance_map.puzzle.definition
    if not definition.has_moves:
        return []
    here = numpy.array([distance_map.labels(board)], dtype=numpy.uint8)
    # The player moves toward the origin where distances are to it, and away from it where they are from it.
    toward = distance_map.origin.direction == "to"
    made = [
        (name, after)
        for name, _, boards in distance_map.space.neighbours(here, toward=toward)
        for after in boards
    ]
    if not made:
        return []
    after = numpy.array([boards for _, boards in made], dtype=numpy.uint8)
    distances = distance_map.lookup(distance_map.space.encode(after)).tolist()
    texts = definition.texts(after)
    found = []
    for number, (name, _) in enumerate(made):
        move = name
        if definition.names_swap:
            step = numpy.concatenate([here, after[number : number + 1]])
            move = definition.named_path(step, [name]).moves[0]
        found.append(Neighbour(move, texts[number], tuple(after[number].tolist()), distances[number]))
    return sorted(found, key=lambda each: (each.distance < 0, each.distance))


# A path, as Python users get it.


class BoardPath(list[str]):
    """The boards of a solution, as texts, in the order in which the moves are made; notebooks draw them.

    ``moves``: the moves between them, one fewer: names, of sliding puzzles the cells (from, to).
    """

    def __init__(self, puzzle: Puzzle, path: NamedPath) -> None:
        super().__init__(path.texts)
        self.moves: list[MoveName] = path.moves
        self.named = path
        self._puzzle = puzzle

    def draw(self, file: str | Path | None = None, *, animated: bool = False, force: bool = False) -> Drawing:
        """Draw all boards, each with the move that leads to it, for a notebook; and to an .svg file where one is given.

        ``animated``: one board, which moves, over and over; else a strip of boards. Raises OutputError where the file
        cannot be written, or exists and ``force`` is not given.
        """
        from farthest.drawing.path import path_svg
        from farthest.drawing.svg import Drawing
        from farthest.queries.output_files import form_of, written_file

        drawing = Drawing(path_svg(self._puzzle, self.named, animated=animated))
        if file is not None:
            form_of(Path(file), (".svg",))
            with written_file(Path(file), force=force) as part:
                part.write_text(drawing.svg, encoding="utf-8")
        return drawing

    def _repr_svg_(self) -> str:
        from farthest.drawing.path import BOARDS_SHOWN, path_svg

        return path_svg(self._puzzle, self.named, most=BOARDS_SHOWN)
