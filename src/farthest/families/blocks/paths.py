"""Paths of sliding block puzzles as they are shown: each piece keeps its name.

The pieces of a kind are interchangeable, so a board names them in reading order, and a piece that passes another would
take over its name. A path is therefore shown as one of a puzzle whose pieces of different names are of different kinds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from farthest.families.blocks.board_arrays import pieces
from farthest.puzzles.definition import NamedPath

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.blocks.fields import BlockFields
    from farthest.puzzles.definition import Board


def move_name(definition: BlockFields, kind: int, before: int, after: int, number: int) -> str:
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


def named_path(definition: BlockFields, boards: NDArray[np.uint8]) -> NamedPath:
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


def _labels(definition: BlockFields) -> list[list[int]]:
    """For the pieces of each kind, in reading order, the labels of the kinds that names make of it."""
    found: list[list[int]] = []
    last = 0
    for kind in definition.kinds:
        of_token = {token: last + number for number, token in enumerate(dict.fromkeys(kind.tokens), 1)}
        found.append([of_token[token] for token in kind.tokens])
        last += len(of_token)
    return found


@lru_cache(maxsize=16)
def _told_apart(definition: BlockFields, start: Board) -> BlockFields:
    """The puzzle in which pieces of different names are of different kinds."""
    kinds = [
        replace(kind, tokens=(token,) * kind.tokens.count(token))
        for kind in definition.kinds
        for token in dict.fromkeys(kind.tokens)
    ]
    return replace(definition, kinds=tuple(kinds), goals=(), start=start)


def _place(definition: BlockFields, cell: int) -> tuple[int, int]:
    return next((r, row.index(cell)) for r, row in enumerate(definition.rows) if cell in row)
