"""What a sliding block puzzle is made of: its grid, pieces and goals.

Cells are numbered from 0 in reading order, walls skipped. Pieces of one *kind* are interchangeable: they have the same
shape and the same freedom. A board is a number for each cell: 0 where it is empty, else 1 + the piece's kind; the
cells of a kind are divided among its pieces in reading order, which there is only one way to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, prod

from farthest.puzzles.definition import Board, PuzzleDefinition
from farthest.puzzles.grid import MAX_CELLS, WALL, token_problem
from farthest.wording import counted

ANY_WAY, COLUMNS, ROWS = 15, 3, 12
"""Sets of directions, a bit each: up, down, left, right."""

EMPTY_TOKENS = ("0", ".", "_")
"""How an empty cell is written, where no piece is written so."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Interchangeable pieces.

    ``shape``: the cells of a piece as (row, column) from its first in reading order, in reading order.
    ``tokens``: how the pieces are written, in their order on the board: that of their first cells in reading order.
    ``ways``: the directions that they may go, a bit each.
    ``line``: the row, or the column, that they never leave, from 0; -1 where they may go all ways.
    ``exits``: the signs of the exits that they may enter.
    """

    shape: tuple[tuple[int, int], ...]
    tokens: tuple[str, ...]
    ways: int
    line: int
    exits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlockFields(PuzzleDefinition):
    """The board, pieces and goals of a sliding block puzzle.

    ``rows``: the cell number at each place of the grid in reading order, -1 a wall.
    ``signs``: for each cell the sign of the exit that it is part of, or an empty text.
    ``empty``: how an empty cell is written.
    ``goals``: boards, perhaps with ``WILDCARD`` in the cells where anything may be; ``start``: a board or None.
    """

    rows: tuple[tuple[int, ...], ...]
    signs: tuple[str, ...]
    empty: str
    kinds: tuple[Kind, ...]
    goals: tuple[Board, ...]
    start: Board | None

    @property
    def cells(self) -> int:
        """The number of cells, walls not counted."""
        return len(self.signs)

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        return self.goals, self.start

    @property
    def covers(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """For each kind and cell, the cells of a piece whose first cell it is; none where the piece does not fit."""
        return _covers(self)

    def arrangements(self) -> int:
        """The number of codes, among them those of pieces that overlap."""
        return prod(self.radices)

    @property
    def radices(self) -> list[int]:
        """For each kind the number of sets of places for its pieces."""
        places = [sum(map(bool, covers)) for covers in self.covers]
        return [comb(n, len(kind.tokens)) for n, kind in zip(places, self.kinds, strict=True)]

    def size(self) -> str:
        places = len(self.rows) * len(self.rows[0])
        size = f"{len(self.rows)}×{len(self.rows[0])}"
        return f"{size}, {places - self.cells} of them walls" if places > self.cells else size

    def facts(self) -> list[tuple[str, str]]:
        pieces = sum(len(kind.tokens) for kind in self.kinds)
        listed = ", ".join(" ".join(kind.tokens) for kind in self.kinds)
        covered = sum(len(kind.tokens) * len(kind.shape) for kind in self.kinds)
        facts = [
            ("pieces", f"{pieces} of {counted(len(self.kinds), 'kind')}: {listed}"),
            ("empty cells", f"{self.cells - covered}, written {self.empty}"),
        ]
        for name, ways in (("in rows only", ROWS), ("in columns only", COLUMNS)):
            bound = [token for kind in self.kinds if kind.ways == ways for token in kind.tokens]
            if bound:
                facts.append((name, " ".join(bound)))
        for sign in dict.fromkeys(filter(None, self.signs)):
            users = [token for kind in self.kinds if sign in kind.exits for token in kind.tokens]
            facts.append((f"exit {sign}", f"only for {' '.join(users)}"))
        return facts


@lru_cache(maxsize=16)
def _covers(definition: BlockFields) -> tuple[tuple[tuple[int, ...], ...], ...]:
    places = [(r, c) for r, row in enumerate(definition.rows) for c, cell in enumerate(row) if cell != WALL]
    return tuple(tuple(_covered(definition, kind, r, c) for r, c in places) for kind in definition.kinds)


def _covered(definition: BlockFields, kind: Kind, row: int, column: int) -> tuple[int, ...]:
    if kind.ways != ANY_WAY and kind.line != (row if kind.ways == ROWS else column):
        return ()
    covered = []
    for down, right in kind.shape:
        r, c = row + down, column + right
        cell = (
            definition.rows[r][c] if r < len(definition.rows) and 0 <= c < len(definition.rows[0]) else WALL
        )
        if cell == WALL or not (definition.signs[cell] == "" or definition.signs[cell] in kind.exits):
            return ()
        covered.append(cell)
    return tuple(covered)


def grid_problem(definition: BlockFields) -> str | None:
    if not 2 <= definition.cells <= MAX_CELLS:
        return f"{definition.cells} cells; expected 2 to {MAX_CELLS}"
    if not definition.rows or not definition.rows[0] or len({len(row) for row in definition.rows}) != 1:
        return "the rows of the grid differ in length"
    if [cell for row in definition.rows for cell in row if cell != WALL] != list(range(definition.cells)):
        return f"the cells of the grid are not numbered 0 to {definition.cells - 1} in reading order"
    return None


def kinds_problem(definition: BlockFields) -> str | None:
    if not 1 <= len(definition.kinds) <= MAX_CELLS:
        return f"{len(definition.kinds)} kinds of piece; expected 1 to {MAX_CELLS}"
    kind_of: dict[str, int] = {}
    for i, kind in enumerate(definition.kinds):
        if not kind.tokens or not kind.shape or kind.ways not in (ANY_WAY, COLUMNS, ROWS):
            return "a kind has no pieces, no cells, or directions that are none, rows or columns"
        if (kind.line < 0) != (kind.ways == ANY_WAY):
            return f"{kind.tokens[0]} is bound to a line, but not to its directions, or the other way round"
        if kind.shape[0] != (0, 0) or list(kind.shape) != sorted(set(kind.shape)):
            return f"the shape of {kind.tokens[0]} is not in reading order from its first cell"
        for token in kind.tokens:
            if kind_of.setdefault(token, i) != i:
                return f"pieces of two kinds are written {token!r}"
    for token in [*kind_of, definition.empty, *filter(None, definition.signs)]:
        problem = token_problem(token)
        if problem:
            return f"token {token!r} {problem}"
    signs = {definition.empty, *filter(None, definition.signs)}
    if signs & set(kind_of) or definition.empty in definition.signs:
        return "a piece, an exit and an empty cell must not be written alike"
    for kind in definition.kinds:
        if not set(kind.exits) <= set(definition.signs):
            return f"{kind.tokens[0]} may enter an exit that is not there"
    return None
