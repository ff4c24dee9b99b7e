"""Paths of sliding block puzzles as they are shown: each piece keeps its name.

The pieces of a kind are interchangeable, so a board names them in reading order, and a piece that passes another would
take over its name. A path is therefore shown as one of a puzzle whose pieces of different names are of different kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.definition import NamedPath
from farthest.puzzles.grid import ROW_TOKEN, WALL, WALL_TOKEN

if TYPE_CHECKING:
    from farthest.families.blocks.definition import Blocks
    from farthest.puzzles.definition import Board


# --- Many boards of a sliding block puzzle at once, in numpy: their pieces, and their canonical texts.

_PIECE = 1 << 14
"""Boards at a time: some megabytes of characters."""


def first_wrong(definition: Blocks, boards: NDArray[np.integer]) -> int | None:
    """The first of the rows that is no board, or None."""
    left, right = boards.astype(np.int64), np.ones(len(boards), dtype=np.bool_)
    counts = np.zeros((len(boards), len(definition.kinds)), dtype=np.int64)
    for kind, _, rows in pieces(definition, left):
        counts[rows, kind] += 1
    for i, kind_of in enumerate(definition.kinds):
        right &= counts[:, i] == len(kind_of.tokens)
    wrong = np.flatnonzero((left != 0).any(axis=1) | ~right)
    return int(wrong[0]) if wrong.size else None


def parse_canonical(definition: Blocks, lines: Sequence[str]) -> NDArray[np.uint8] | None:
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
    known = own == np.array([ord(template[position]) for position in positions], dtype=np.uint32)
    for i, kind in enumerate(definition.kinds, 1):
        of_kind = np.isin(own, [ord(token) for token in kind.tokens])
        boards[of_kind] = i
        known |= of_kind
    return boards if known.all() and first_wrong(definition, boards) is None else None


def texts(definition: Blocks, boards: NDArray[np.uint8]) -> list[str]:
    """The canonical texts of boards whose tokens are one character each."""
    lines: list[str] = []
    for first in range(0, len(boards), _PIECE):
        lines += _texts(definition, boards[first : first + _PIECE])
    return lines


def _texts(definition: Blocks, boards: NDArray[np.uint8]) -> list[str]:
    template, positions = _template(definition)
    line = np.array([ord(token) for token in template], dtype=np.uint32)
    signs = np.tile(line, (len(boards), 1))
    numbers = np.zeros((len(boards), len(definition.kinds)), dtype=np.intp)
    tokens = [np.array([ord(token) for token in kind.tokens], dtype=np.uint32) for kind in definition.kinds]
    for kind, covered, rows in pieces(definition, boards.astype(np.int64)):
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


def pieces(
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
    row, column = _place(definition, before)
    to_row, to_column = _place(definition, after)
    parts = [token if tokens.count(token) == 1 else f"{token} at {row + 1},{column + 1}"]
    for distance, back, forth in ((to_row - row, "up", "down"), (to_column - column, "left", "right")):
        if distance:
            parts.append(back if distance < 0 else forth)
        if abs(distance) > 1:
            parts.append(str(abs(distance)))
    return " ".join(parts)


def unnamed(move: str) -> str:
    """The way that a piece goes, of a ``move_name``."""
    words = move.split()[1:]
    return " ".join(words[2:] if words[:1] == ["at"] else words)


def named_path(definition: Blocks, boards: NDArray[np.uint8]) -> NamedPath:
    """See PuzzleDefinition, where ``names_swap``. On the first board the pieces have the names that the board alone
    tells."""
    found = [
        (kind, covered, rows)
        for kind, covered, rows in pieces(definition, boards.astype(np.int64))
        if rows.size
    ]
    kinds = np.full(boards.shape, -1, dtype=np.int64)  # of the piece whose first cell it is
    for kind, covered, rows in found:
        kinds[rows, covered[0]] = kind
    labels_of = _labels(definition)
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
    named = _told_apart(definition, tuple(shown[0].tolist()))
    return NamedPath(
        named, shown, [move_name(named, kind, before, after, 0) for kind, before, after in steps]
    )


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
def _told_apart(definition: Blocks, start: Board) -> Blocks:
    """The puzzle in which pieces of different names are of different kinds."""
    kinds = [
        replace(kind, tokens=(token,) * kind.tokens.count(token))
        for kind in definition.kinds
        for token in dict.fromkeys(kind.tokens)
    ]
    return replace(definition, kinds=tuple(kinds), goals=(), start=start)


def _place(definition: Blocks, cell: int) -> tuple[int, int]:
    return next((r, row.index(cell)) for r, row in enumerate(definition.rows) if cell in row)
