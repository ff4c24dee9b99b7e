"""Boards of sliding block puzzles as people write them: reading every reasonable form, writing the canonical one.

The canonical text is one line, as of sliding puzzles: ``2113/2113/4665/4775/7007``. The pieces of a kind have their
tokens in reading order, whichever of them they were before: interchangeable pieces are not told apart. An empty cell of
an exit is written with the exit's sign, a wall ``#``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farthest.errors import BoardError
from farthest.puzzles.definition import WILDCARD, Board, board_place
from farthest.puzzles.grid import ROW_TOKEN, WALL, WALL_TOKEN, WILDCARD_TOKEN, rows_problem, split_rows
from farthest.wording import counted, shown

if TYPE_CHECKING:
    from farthest.families.blocks.fields import BlockFields

_EMPTY_TOKENS = ("0", ".", "_", "o")
_WALL_TOKENS = (WALL_TOKEN, "x")


def anchors(definition: BlockFields, board: Sequence[int]) -> list[list[int]] | None:
    """For each kind the first cells of its pieces, in reading order; None where its cells are not whole pieces."""
    found: list[list[int]] = [[] for _ in definition.kinds]
    covers, left = definition.covers, list(board)
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


def pieces_problem(definition: BlockFields, board: Sequence[int], *, partial: bool) -> str | None:
    """Why the numbers are no board, or None. ``partial``: pieces may be missing."""
    found = anchors(definition, board)
    if found is None:
        return f"the cells of {_broken(definition, board)} are not whole pieces where they may be"
    for kind, cells in zip(definition.kinds, found, strict=True):
        if len(cells) > len(kind.tokens) or (len(cells) < len(kind.tokens) and not partial):
            pieces = " ".join(kind.tokens)
            return f"{counted(len(cells), 'piece')} of the shape of {pieces}, expected {len(kind.tokens)}"
    return None


def _broken(definition: BlockFields, board: Sequence[int]) -> str:
    """The tokens of the first kind whose cells are not whole pieces."""
    for i, kind in enumerate(definition.kinds, 1):
        if anchors(definition, [label if label == i else 0 for label in board]) is None:
            return " ".join(dict.fromkeys(kind.tokens))
    return "the pieces"


def parse_board(definition: BlockFields, text: str, *, name: str = "") -> Board:
    """See PuzzleDefinition. Rows and tokens are divided as in boards of sliding puzzles; ``0``, ``.``, ``_`` and ``o``
    are empty cells, ``#`` and ``x`` walls, where no piece or exit is written so."""
    place = board_place(text, definition, name)
    mend = f"a board is written like {definition.example()!r}"
    labels = {token: i for i, kind in enumerate(definition.kinds, 1) for token in kind.tokens}
    tokens = {*labels, definition.empty, *filter(None, definition.signs)}
    walls = [token for token in _WALL_TOKENS if token not in tokens]
    spaces = {definition.empty, *_EMPTY_TOKENS} - set(labels) - set(definition.signs)
    barred = any("|" in token for token in tokens)
    rows, divided = split_rows(
        text, definition.rows, "/;\n\r" if barred else "/;\n\r|", single=single(definition)
    )
    if not rows:
        raise BoardError(f"{place}: no pieces; {mend}")
    signs = set(filter(None, definition.signs))
    for i, row in enumerate(rows, 1):
        for j, token in enumerate(row, 1):
            if token in walls:
                row[j - 1] = WALL_TOKEN
            elif token not in labels and token not in spaces and token not in signs:
                where = f"row {i}, column {j}" if divided else f"place {j}"
                expected = " ".join([*labels, definition.empty])
                hint = "" if single(definition) else "; separate the pieces with spaces"
                raise BoardError(
                    f"{place}: {where} holds {shown(token)}, expected one of {expected}{hint}; {mend}"
                )
    problem = rows_problem(rows, definition.rows, divided=divided)
    if problem:
        raise BoardError(f"{place}: {problem}; {mend}")
    cells = [token for row in rows for token in row if token != WALL_TOKEN]
    for cell, token in enumerate(cells):
        if token in signs and definition.signs[cell] != token:
            where = f"row {_row(definition, cell) + 1}, column {_column(definition, cell) + 1}"
            raise BoardError(f"{place}: {where} is marked as exit {token}, which it is not; {mend}")
    board = tuple(labels.get(token, 0) for token in cells)
    problem = pieces_problem(definition, board, partial=False)
    if problem:
        raise BoardError(f"{place}: {problem}; {mend}")
    return board


def check_board(definition: BlockFields, board: Sequence[int], *, name: str = "") -> Board:
    place = f"board{f' for {name}' if name else ''}"
    if not hasattr(board, "__len__"):
        raise BoardError(
            f"{place}: expected the numbers of {definition.cells} cells, got {type(board).__name__}"
        )
    if len(board) != definition.cells:
        raise BoardError(f"{place}: {counted(len(board), 'number')}, expected {definition.cells}, one a cell")
    for cell, label in enumerate(board):
        if not hasattr(label, "__index__") or not 0 <= label <= len(definition.kinds):
            raise BoardError(
                f"{place}: cell {cell} holds {label!r}, expected a number from 0 to {len(definition.kinds)}"
            )
    labels = tuple(int(label) for label in board)
    problem = pieces_problem(definition, labels, partial=False)
    if problem:
        raise BoardError(f"{place}: {problem}; a board is written like {definition.example()!r}")
    return labels


def format_board(definition: BlockFields, board: Sequence[int]) -> str:
    rows = _tokens(definition, board)
    if single(definition):
        return ROW_TOKEN.join("".join(row) for row in rows)
    return f" {ROW_TOKEN} ".join(" ".join(row) for row in rows)


def draw_board(definition: BlockFields, board: Sequence[int]) -> list[str]:
    """Columns aligned."""
    rows = _tokens(definition, board)
    width = max(len(token) for row in rows for token in row)
    return [" ".join(token.rjust(width) for token in row) for row in rows]


def single(definition: BlockFields) -> bool:
    """Whether every token is one character, so that boards are written without spaces."""
    tokens = [
        definition.empty,
        *definition.signs,
        *(token for kind in definition.kinds for token in kind.tokens),
    ]
    return all(len(token) <= 1 for token in tokens)


def _tokens(definition: BlockFields, board: Sequence[int]) -> list[list[str]]:
    tokens = [
        WILDCARD_TOKEN if label == WILDCARD else sign or definition.empty
        for label, sign in zip(board, definition.signs, strict=True)
    ]
    covers = definition.covers
    for i, cells in enumerate(anchors(definition, board) or ()):
        for number, cell in enumerate(cells):
            for part in covers[i][cell]:
                tokens[part] = definition.kinds[i].tokens[number]
    return [[WALL_TOKEN if cell == WALL else tokens[cell] for cell in row] for row in definition.rows]


def _row(definition: BlockFields, cell: int) -> int:
    return next(r for r, row in enumerate(definition.rows) if cell in row)


def _column(definition: BlockFields, cell: int) -> int:
    return definition.rows[_row(definition, cell)].index(cell)
