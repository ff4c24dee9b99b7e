"""Many boards at a time: from text to labels, from labels to text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.errors import BoardError
from farthest.puzzles.boards import check_board, parse_boards

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from farthest.puzzles.definition import Puzzle, Sliding


def label_rows(puzzle: Puzzle, boards: Iterable[str] | NDArray[numpy.integer]) -> NDArray[numpy.uint8]:
    """Boards as labels, uint8, shape (boards, cells); given as texts or as an integer array of the same shape.

    Raises BoardError for the first that is malformed, with its number from 1.
    """
    body = puzzle.body
    if not isinstance(boards, numpy.ndarray):
        labels = parse_boards(body, boards, name=puzzle.name)
        return numpy.frombuffer(labels, dtype=numpy.uint8).reshape(-1, body.cells)
    if boards.ndim != 2 or boards.shape[1] != body.cells or boards.dtype.kind not in "iu":
        raise BoardError(
            f"boards: expected an array of integers of shape (boards, {body.cells}), "
            f"got {boards.dtype} of shape {boards.shape}"
        )
    pieces = numpy.repeat(numpy.arange(len(body.tokens)), body.counts)
    wrong = numpy.flatnonzero((numpy.sort(boards, axis=1) != pieces).any(axis=1))
    if wrong.size:
        check_board(body, boards[wrong[0]].tolist(), name=f"{puzzle.name}, board number {wrong[0] + 1}")
    return numpy.ascontiguousarray(boards, dtype=numpy.uint8)


class BoardFormatter:
    """Writes boards in their canonical one-line form, that of `farthest.puzzles.boards.format_board`.

    Each cell has a field as wide as the widest of its tokens in UTF-8, the separators and walls after it included.
    Fields are filled up with zero bytes, which are taken out at the end: no token holds one.
    """

    def __init__(self, body: Sliding) -> None:
        single = all(len(token) == 1 for token in body.tokens)
        gap, row_gap = ("", "/") if single else (" ", " / ")
        text = row_gap.join(
            gap.join("#" if cell < 0 else f"\0{cell}\0" for cell in row)
            for row in body.rows or [range(body.cells)]
        )
        self._before, *fields = text.split("\0")
        # Now cell numbers in reading order, each followed by what stands between it and the next.
        self._fields: list[tuple[int, NDArray[numpy.uint8]]] = []
        for cell, after in zip(fields[::2], fields[1::2], strict=True):
            end = "\n" if cell == str(body.cells - 1) else ""
            texts = [(token + after + end).encode() for token in body.tokens]
            width = max(map(len, texts))
            padded = b"".join(text.ljust(width, b"\0") for text in texts)
            self._fields.append((int(cell), numpy.frombuffer(padded, dtype=numpy.uint8).reshape(-1, width)))

    def texts(self, labels: NDArray[numpy.uint8]) -> list[str]:
        """The text of each board; ``labels`` is uint8, shape (boards, cells), a label for each cell."""
        before = self._before.encode()
        width = len(before) + sum(field.shape[1] for _, field in self._fields)
        rows = numpy.empty((len(labels), width), dtype=numpy.uint8)
        at = len(before)
        rows[:, :at] = numpy.frombuffer(before, dtype=numpy.uint8)
        for cell, field in self._fields:
            rows[:, at : at + field.shape[1]] = field[labels[:, cell]]
            at += field.shape[1]
        return rows.tobytes().translate(None, b"\0").decode().split("\n")[:-1]
