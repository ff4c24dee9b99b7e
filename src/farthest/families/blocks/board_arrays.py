"""Many boards of a sliding block puzzle at once, in numpy: their pieces, and their canonical texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.grid import WALL
from farthest.puzzles.notation import ROW_TOKEN, WALL_TOKEN

if TYPE_CHECKING:
    from farthest.families.blocks.fields import BlockFields

_PIECE = 1 << 14
"""Boards at a time: some megabytes of characters."""


def first_wrong(definition: BlockFields, boards: NDArray[np.integer]) -> int | None:
    """The first of the rows that is no board, or None."""
    left, right = boards.astype(np.int64), np.ones(len(boards), dtype=np.bool_)
    counts = np.zeros((len(boards), len(definition.kinds)), dtype=np.int64)
    for kind, _, rows in pieces(definition, left):
        counts[rows, kind] += 1
    for i, kind_of in enumerate(definition.kinds):
        right &= counts[:, i] == len(kind_of.tokens)
    wrong = np.flatnonzero((left != 0).any(axis=1) | ~right)
    return int(wrong[0]) if wrong.size else None


def parse_canonical(definition: BlockFields, lines: Sequence[str]) -> NDArray[np.uint8] | None:
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


def texts(definition: BlockFields, boards: NDArray[np.uint8]) -> list[str]:
    """The canonical texts of boards whose tokens are one character each."""
    lines: list[str] = []
    for first in range(0, len(boards), _PIECE):
        lines += _texts(definition, boards[first : first + _PIECE])
    return lines


def _texts(definition: BlockFields, boards: NDArray[np.uint8]) -> list[str]:
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


def _template(definition: BlockFields) -> tuple[str, list[int]]:
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
    definition: BlockFields, left: NDArray[np.int64]
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
