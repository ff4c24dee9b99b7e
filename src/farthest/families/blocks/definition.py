"""The definition of a sliding block puzzle: its grid, pieces and goals, checked, and its boards as text.

Cells are numbered from 0 in reading order, walls skipped. Pieces of one *kind* are interchangeable: they have the same
shape and the same freedom. A board is a number for each cell: 0 where it is empty, else 1 + the piece's kind; the
cells of a kind are divided among its pieces in reading order, which there is only one way to do.

The canonical text of a board is one line, as of sliding puzzles: ``2113/2113/4665/4775/7007``. The pieces of a kind
have their tokens in reading order, whichever of them they were before: interchangeable pieces are not told apart. An
empty cell of an exit is written with the exit's sign, a wall ``#``.

As a board names the pieces of a kind in reading order, a piece that passes another would take over its name. A path is
therefore shown as one of a puzzle whose pieces of different names are of different kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import islice
from math import comb, prod
from typing import TYPE_CHECKING

from farthest.arrays import np
from farthest.errors import BoardError
from farthest.puzzles.definition import (
    WILDCARD,
    Board,
    GoalPuzzle,
    MoveName,
    NamedPath,
    board_place,
    check_cells,
)
from farthest.puzzles.grid import (
    MAX_CELLS,
    ROW_TOKEN,
    WALL,
    WALL_TOKEN,
    WILDCARD_TOKEN,
    board_rows,
    grid_problem,
    grid_size,
    place_of,
    token_problem,
)
from farthest.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray


ANY_WAY, COLUMNS, ROWS = 15, 3, 12
"""Sets of directions, a bit each: up, down, left, right."""

EMPTY_TOKENS = ("0", ".", "_")
"""How an empty cell is written, where no piece is written so."""
_READ_AS_EMPTY = (*EMPTY_TOKENS, "o")
_READ_AS_WALLS = (WALL_TOKEN, "x")

_BATCH = 4096
"""Lines that are read at a time."""


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
class Blocks(GoalPuzzle):
    """The board, pieces and goals of a sliding block puzzle.

    ``rows``: the cell number at each place of the grid in reading order, -1 a wall.
    ``signs``: for each cell the sign of the exit that it is part of, or an empty text.
    ``empty``: how an empty cell is written.
    ``goals``: boards, perhaps with ``WILDCARD`` in the cells where anything may be; ``start``: a board or None.
    Raises PuzzleError when these do not fit together.
    """

    rows: tuple[tuple[int, ...], ...]
    signs: tuple[str, ...]
    empty: str
    kinds: tuple[Kind, ...]
    goals: tuple[Board, ...]
    start: Board | None

    called = "block"

    def problem(self) -> str | None:
        return _grid_problem(self) or _kinds_problem(self) or _boards_problem(self)

    @property
    def cells(self) -> int:
        """The number of cells, walls not counted."""
        return len(self.signs)

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

    @property
    def single(self) -> bool:
        """Whether every token is one character, so that boards are written without spaces."""
        tokens = [self.empty, *self.signs, *(token for kind in self.kinds for token in kind.tokens)]
        return all(len(token) <= 1 for token in tokens)

    def size(self) -> str:
        return grid_size(self.rows, self.cells)

    def facts(self) -> list[tuple[str, str]]:
        pieces = sum(len(kind.tokens) for kind in self.kinds)
        listed = ", ".join(" ".join(kind.tokens) for kind in self.kinds)
        covered = sum(len(kind.tokens) * len(kind.shape) for kind in self.kinds)
        facts = [
            ("pieces", f"{pieces} of {counted(len(self.kinds), 'kind')}: {listed}"),
            ("empty cells", f"{self.cells - covered}, written {self.empty}"),
        ]
        for name, ways in (("rows only", ROWS), ("columns only", COLUMNS)):
            bound = [token for kind in self.kinds if kind.ways == ways for token in kind.tokens]
            if bound:
                facts.append((name, " ".join(bound)))
        for sign in dict.fromkeys(filter(None, self.signs)):
            users = [token for kind in self.kinds if sign in kind.exits for token in kind.tokens]
            facts.append((f"exit {sign}", f"only for {' '.join(users)}"))
        return facts

    def palette(self) -> Mapping[str, int]:
        """A colour for each kind of pieces; those that a goal alone asks for have the first ones."""
        asked = [label - 1 for goal in self.goals if WILDCARD in goal for label in goal if label > 0]
        order = dict.fromkeys([*asked, *range(len(self.kinds))])
        return {token: number for number, kind in enumerate(order) for token in self.kinds[kind].tokens}

    # Boards

    def anchors(self, board: Sequence[int]) -> list[list[int]] | None:
        """For each kind the first cells of its pieces, in reading order; None where its cells are not whole pieces."""
        found: list[list[int]] = [[] for _ in self.kinds]
        covers, left = self.covers, list(board)
        for cell, label in enumerate(board):
            if left[cell] <= 0:
                continue
            covered = covers[label - 1][cell]
            if not covered or any(left[part] != label for part in covered):
                return None
            for part in covered:
                left[part] = 0
            found[label - 1].append(cell)
        return found

    def pieces_problem(self, board: Sequence[int], *, partial: bool) -> str | None:
        """Why the numbers are no board, or None. ``partial``: pieces may be missing."""
        found = self.anchors(board)
        if found is None:
            return f"the cells of {self._broken(board)} are not whole pieces where they may be"
        for kind, cells in zip(self.kinds, found, strict=True):
            if len(cells) > len(kind.tokens) or (len(cells) < len(kind.tokens) and not partial):
                pieces = " ".join(kind.tokens)
                return f"{counted(len(cells), 'piece')} of the shape of {pieces}, expected {len(kind.tokens)}"
        return None

    def _broken(self, board: Sequence[int]) -> str:
        """The tokens of the first kind whose cells are not whole pieces."""
        for i, kind in enumerate(self.kinds, 1):
            if self.anchors([label if label == i else 0 for label in board]) is None:
                return " ".join(dict.fromkeys(kind.tokens))
        return "the pieces"

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """Rows and tokens are divided as in boards of sliding puzzles; ``0``, ``.``, ``_`` and ``o`` are empty cells,
        ``#`` and ``x`` walls, where no piece or exit is written so."""
        place = board_place(text, self, name)
        mend = f"a board is written like {self.example()!r}"
        labels = {token: i for i, kind in enumerate(self.kinds, 1) for token in kind.tokens}
        signs = set(filter(None, self.signs))
        tokens = {*labels, self.empty, *signs}
        rows = board_rows(
            text,
            self.rows,
            single=self.single,
            barred=any("|" in token for token in tokens),
            accepted=tokens | (set(_READ_AS_EMPTY) - set(labels) - signs),
            walls=set(_READ_AS_WALLS) - tokens,
            expected=[*labels, self.empty],
            fail=lambda problem: BoardError(f"{place}: {problem}; {mend}"),
        )
        cells = [token for row in rows for token in row if token != WALL_TOKEN]
        for cell, token in enumerate(cells):
            if token in signs and self.signs[cell] != token:
                row, column = place_of(self.rows, cell)
                where = f"row {row + 1}, column {column + 1}"
                raise BoardError(f"{place}: {where} is marked as exit {token}, which it is not; {mend}")
        board = tuple(labels.get(token, 0) for token in cells)
        problem = self.pieces_problem(board, partial=False)
        if problem:
            raise BoardError(f"{place}: {problem}; {mend}")
        return board

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        labels = check_cells(board, self.cells, len(self.kinds) + 1, "number", name)
        problem = self.pieces_problem(labels, partial=False)
        if problem:
            place = f"board{f' for {name}' if name else ''}"
            raise BoardError(f"{place}: {problem}; a board is written like {self.example()!r}")
        return labels

    def format_board(self, board: Sequence[int]) -> str:
        rows = self._tokens(board)
        if self.single:
            return ROW_TOKEN.join("".join(row) for row in rows)
        return f" {ROW_TOKEN} ".join(" ".join(row) for row in rows)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """Columns aligned."""
        rows = self._tokens(board)
        width = max(len(token) for row in rows for token in row)
        return [" ".join(token.rjust(width) for token in row) for row in rows]

    def _tokens(self, board: Sequence[int]) -> list[list[str]]:
        tokens = [
            WILDCARD_TOKEN if label == WILDCARD else sign or self.empty
            for label, sign in zip(board, self.signs, strict=True)
        ]
        covers = self.covers
        for i, cells in enumerate(self.anchors(board) or ()):
            for number, cell in enumerate(cells):
                for part in covers[i][cell]:
                    tokens[part] = self.kinds[i].tokens[number]
        return [[WALL_TOKEN if cell == WALL else tokens[cell] for cell in row] for row in self.rows]

    def parse_boards(self, lines: Iterable[str], *, name: str = "") -> bytes:
        boards, rest, read = bytearray(), iter(lines), 0
        while batch := list(islice(rest, _BATCH)):
            single = self.single and all(isinstance(line, str) for line in batch)
            found = _parse_canonical(self, [line.rstrip("\r\n") for line in batch]) if single else None
            if found is not None:
                boards += found.tobytes()
            else:
                for number, line in enumerate(batch, read + 1):
                    try:
                        boards += bytes(self.parse_board(line, name=name))
                    except BoardError as error:
                        raise BoardError(f"line {number}: {error}") from None
            read += len(batch)
        return bytes(boards)

    def first_wrong(self, boards: NDArray[np.integer]) -> int | None:
        left, right = boards.astype(np.int64), np.ones(len(boards), dtype=np.bool_)
        counts = np.zeros((len(boards), len(self.kinds)), dtype=np.int64)
        for kind, _, rows in _pieces(self, left):
            counts[rows, kind] += 1
        for i, kind_of in enumerate(self.kinds):
            right &= counts[:, i] == len(kind_of.tokens)
        wrong = np.flatnonzero((left != 0).any(axis=1) | ~right)
        return int(wrong[0]) if wrong.size else None

    def texts(self, boards: NDArray[np.uint8]) -> list[str]:
        if not self.single:
            return [self.format_board(board) for board in boards.tolist()]
        lines: list[str] = []
        for first in range(0, len(boards), _PIECE):
            lines += _texts(self, boards[first : first + _PIECE])
        return lines

    @property
    def names_swap(self) -> bool:
        return any(len(set(kind.tokens)) > 1 for kind in self.kinds)

    def unnamed(self, move: str) -> str:
        """The way that a piece goes."""
        words = move.split()[1:]
        return " ".join(words[2:] if words[:1] == ["at"] else words)

    def named_path(self, boards: NDArray[np.uint8], moves: Sequence[MoveName]) -> NamedPath:
        """On the first board the pieces have the names that the board alone tells."""
        if not self.names_swap:
            return NamedPath(self, boards, list(moves))
        found = [
            (kind, covered, rows)
            for kind, covered, rows in _pieces(self, boards.astype(np.int64))
            if rows.size
        ]
        kinds = np.full(boards.shape, -1, dtype=np.int64)  # of the piece whose first cell it is
        for kind, covered, rows in found:
            kinds[rows, covered[0]] = kind
        labels_of = _labels(self)
        names = np.zeros(boards.shape, dtype=np.uint8)  # its label as a piece that is told apart by its name
        for kind, labels in enumerate(labels_of):
            names[0, np.flatnonzero(kinds[0] == kind)] = labels
        steps = []
        for row in range(1, len(boards)):
            names[row] = names[row - 1]
            (before,) = np.flatnonzero((kinds[row - 1] >= 0) & (kinds[row] < 0)).tolist()
            (after,) = np.flatnonzero((kinds[row - 1] < 0) & (kinds[row] >= 0)).tolist()
            names[row, [before, after]] = 0, names[row, before]
            steps.append((int(names[row, after]) - 1, before, after))
        shown = np.zeros(boards.shape, dtype=np.uint8)
        for _, covered, rows in found:
            shown[rows[:, None], covered] = names[rows, covered[0]][:, None]
        named = _named_apart(self, tuple(shown[0].tolist()))
        return NamedPath(
            named, shown, [move_name(named, kind, before, after, 0) for kind, before, after in steps]
        )


@dataclass(frozen=True, slots=True)
class _NamedApart(Blocks):
    """``colours``: those of the puzzle whose pieces these are."""

    colours: tuple[tuple[str, int], ...]

    def palette(self) -> Mapping[str, int]:
        return dict(self.colours)


@lru_cache(maxsize=16)
def _covers(definition: Blocks) -> tuple[tuple[tuple[int, ...], ...], ...]:
    places = [(r, c) for r, row in enumerate(definition.rows) for c, cell in enumerate(row) if cell != WALL]
    return tuple(tuple(_covered(definition, kind, r, c) for r, c in places) for kind in definition.kinds)


def _covered(definition: Blocks, kind: Kind, row: int, column: int) -> tuple[int, ...]:
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


def _grid_problem(definition: Blocks) -> str | None:
    if not 2 <= definition.cells <= MAX_CELLS:
        return f"{definition.cells} cells; expected 2 to {MAX_CELLS}"
    return grid_problem(definition.rows, definition.cells)


def _kinds_problem(definition: Blocks) -> str | None:
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


def _boards_problem(definition: Blocks) -> str | None:
    if definition.start is None and not definition.goals:
        return "expected a start or a goal"
    if len(set(definition.goals)) != len(definition.goals):
        return "a goal appears twice"
    for name, board in definition.named_boards:
        whole = name == "start" or WILDCARD not in board
        if len(board) != definition.cells or not all(
            WILDCARD <= label <= len(definition.kinds) for label in board
        ):
            return f"{name} is not {definition.cells} numbers from 0 to {len(definition.kinds)}"
        if not whole and 0 in board:
            return f"{name} holds both empty cells and cells where anything may be"
        problem = definition.pieces_problem(board, partial=not whole)
        if problem:
            return f"{name}: {problem}"
    return None


_PIECE = 1 << 14
"""Boards at a time: some megabytes of characters."""


def _parse_canonical(definition: Blocks, lines: Sequence[str]) -> NDArray[np.uint8] | None:
    """The boards of lines as ``format_board`` writes them, tokens of one character each; None where any is another
    text."""
    template, positions = _template(definition)
    if any(len(line) != len(template) for line in lines):
        return None
    signs = np.array(lines, dtype=f"<U{len(template)}").view("<u4").reshape(len(lines), len(template))
    fixed = np.ones(len(template), dtype=np.bool_)
    fixed[positions] = False
    if (signs[:, fixed] != np.array([ord(sign) for sign in template], dtype=np.uint32)[fixed]).any():
        return None
    own = signs[:, positions]
    boards = np.zeros(own.shape, dtype=np.uint8)
    fits = own == np.array([ord(template[position]) for position in positions], dtype=np.uint32)
    for i, kind in enumerate(definition.kinds, 1):
        of_kind = np.isin(own, [ord(token) for token in kind.tokens])
        boards[of_kind] = i
        fits |= of_kind
    return boards if fits.all() and definition.first_wrong(boards) is None else None


def _texts(definition: Blocks, boards: NDArray[np.uint8]) -> list[str]:
    template, positions = _template(definition)
    line = np.array([ord(token) for token in template], dtype=np.uint32)
    signs = np.tile(line, (len(boards), 1))
    numbers = np.zeros((len(boards), len(definition.kinds)), dtype=np.intp)
    tokens = [np.array([ord(token) for token in kind.tokens], dtype=np.uint32) for kind in definition.kinds]
    for kind, covered, rows in _pieces(definition, boards.astype(np.int64)):
        own = tokens[kind][numbers[rows, kind]]
        signs[rows[:, None], [positions[cell] for cell in covered]] = own[:, None]
        numbers[rows, kind] += 1
    found: list[str] = signs.view(f"<U{len(line)}").reshape(-1).tolist()
    return found


def _template(definition: Blocks) -> tuple[str, list[int]]:
    """The canonical text of the board without pieces, and the position of each cell in it."""
    template: list[str] = []
    positions = [0] * definition.cells
    for row in definition.rows:
        for cell in row:
            if cell != WALL:
                positions[cell] = len(template)
            template.append(WALL_TOKEN if cell == WALL else definition.signs[cell] or definition.empty)
        template.append(ROW_TOKEN)
    return "".join(template[:-1]), positions


def _pieces(
    definition: Blocks, left: NDArray[np.int64]
) -> list[tuple[int, tuple[int, ...], NDArray[np.intp]]]:
    """For each kind and place, in reading order: the cells, and the boards with a piece there, which is taken away from
    ``left``; what is left in the end belongs to no whole piece."""
    found = []
    for cell in range(definition.cells):
        for kind, covers in enumerate(definition.covers):
            if covers[cell]:
                rows = np.flatnonzero((left[:, covers[cell]] == kind + 1).all(axis=1))
                left[rows[:, None], covers[cell]] = 0
                found.append((kind, covers[cell], rows))
    return found


def move_name(definition: Blocks, kind: int, before: int, after: int, number: int) -> str:
    """The name of the move that takes the first cell of a piece from ``before`` to ``after``: ``6 down``,
    ``1 right 2``, ``7 at 5,1 up``. ``number``: of the piece among those of its kind, in reading order, before it."""
    tokens = definition.kinds[kind].tokens
    token = tokens[number]
    row, column = place_of(definition.rows, before)
    to_row, to_column = place_of(definition.rows, after)
    parts = [token if tokens.count(token) == 1 else f"{token} at {row + 1},{column + 1}"]
    for distance, back, forth in ((to_row - row, "up", "down"), (to_column - column, "left", "right")):
        if distance:
            parts.append(back if distance < 0 else forth)
        if abs(distance) > 1:
            parts.append(str(abs(distance)))
    return " ".join(parts)


def _labels(definition: Blocks) -> list[list[int]]:
    """For the pieces of each kind, in reading order, the labels of the kinds that names make of it."""
    found: list[list[int]] = []
    last = 0
    for kind in definition.kinds:
        of_token = {token: last + number for number, token in enumerate(dict.fromkeys(kind.tokens), 1)}
        found.append([of_token[token] for token in kind.tokens])
        last += len(of_token)
    return found


@lru_cache(maxsize=16)
def _named_apart(definition: Blocks, start: Board) -> Blocks:
    """The puzzle in which pieces of different names are of different kinds."""
    kinds = [
        replace(kind, tokens=(token,) * kind.tokens.count(token))
        for kind in definition.kinds
        for token in dict.fromkeys(kind.tokens)
    ]
    same = {each.name: getattr(definition, each.name) for each in fields(definition)}
    return _NamedApart(
        **{**same, "kinds": tuple(kinds), "goals": (), "start": start},
        colours=tuple(definition.palette().items()),
    )
