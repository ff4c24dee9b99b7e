"""Many sliding boards as text at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.sliding.fields import SlidingFields


@lru_cache(maxsize=16)
def formatter(definition: SlidingFields) -> BoardFormatter:
    """The formatter of a puzzle; the last few are kept."""
    return BoardFormatter(definition)


class BoardFormatter:
    """Writes boards in their canonical one-line form, that of `farthest.families.sliding.boards.format_board`.

    Each cell has a field as wide as the widest of its tokens in UTF-8, the separators and walls after it included.
    Fields are filled up with zero bytes, which are taken out at the end: no token holds one.
    """

    def __init__(self, definition: SlidingFields) -> None:
        single = all(len(token) == 1 for token in definition.tokens)
        gap, row_gap = ("", "/") if single else (" ", " / ")
        text = row_gap.join(
            gap.join("#" if cell < 0 else f"\0{cell}\0" for cell in row)
            for row in definition.rows or [range(definition.cells)]
        )
        self._before, *fields = text.split("\0")
        # Now cell numbers in reading order, each followed by what stands between it and the next.
        self._fields: list[tuple[int, NDArray[numpy.uint8]]] = []
        for cell, after in zip(fields[::2], fields[1::2], strict=True):
            end = "\n" if cell == str(definition.cells - 1) else ""
            texts = [(token + after + end).encode() for token in definition.tokens]
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
