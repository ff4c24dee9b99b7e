"""How the boards of one puzzle are written: what each token means, which shapes of text hold all cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.grid import ROW_TOKEN, WALL, WALL_TOKEN, WILDCARD_TOKEN

if TYPE_CHECKING:
    from farthest.families.sliding.fields import SlidingFields

# Bytes beside the labels 0..63 in the byte form of a line.
END_BYTE = 252
WALL_BYTE = 253
ROW_BYTE = 254
WILDCARD_BYTE = 255

_BLANKS = "0_."


class Notation:
    """Tables for reading and writing the boards of one puzzle.

    ``single``: every token is one character, so tokens need no spaces between them.
    ``labels``: token -> label; holds other ways to write the blank where they mean nothing else.
    ``places``: for each row, cell number or ``WALL``; a graph puzzle has one row.
    ``row_marks``: characters that end a row.
    ``byte_of``: token, wall or row mark -> byte, for reading lines fast.
    ``shapes``: labels replaced by 0, the byte forms that hold every cell in order, and walls where they
    belong.
    ``pieces``: the labels of a complete board, sorted.
    """

    __slots__ = ("byte_of", "labels", "pieces", "places", "row_marks", "shapes", "single", "tokens")

    def __init__(self, definition: SlidingFields) -> None:
        self.tokens = definition.tokens
        self.single = all(len(token) == 1 for token in definition.tokens)
        self.labels = dict.fromkeys(_BLANKS, 0)
        self.labels.update((token, label) for label, token in enumerate(definition.tokens))
        self.places: Sequence[Sequence[int]] = definition.rows or (range(definition.cells),)
        barred = any("|" in token for token in definition.tokens)
        self.row_marks = "/;\n\r" if barred else "/;\n\r|"
        self.byte_of = {**self.labels, WALL_TOKEN: WALL_BYTE, ROW_TOKEN: ROW_BYTE}
        self.pieces = bytes(label for label, count in enumerate(definition.counts) for _ in range(count))
        self.shapes = frozenset(
            {
                self._shape(walls=True, mark=bytes([ROW_BYTE])),
                self._shape(walls=False, mark=bytes([ROW_BYTE])),
                self._shape(walls=True, mark=b""),
                self._shape(walls=False, mark=b""),
            }
        )

    def _shape(self, *, walls: bool, mark: bytes) -> bytes:
        rows = (bytes(0 if cell != WALL else WALL_BYTE for cell in row) for row in self.places)
        if not walls:
            rows = (row for row in (row.replace(bytes([WALL_BYTE]), b"") for row in rows) if row)
        return mark.join(rows)

    def rows_of(self, labels: Sequence[int]) -> list[list[str]]:
        """The tokens of a board, row by row, walls and wildcards included."""
        return [
            [WALL_TOKEN if cell == WALL else self.token(labels[cell]) for cell in row] for row in self.places
        ]

    def token(self, label: int) -> str:
        """The token of a label, or of ``WILDCARD``."""
        return WILDCARD_TOKEN if label == WILDCARD else self.tokens[label]


@lru_cache(maxsize=16)
def notation(definition: SlidingFields) -> Notation:
    """The notation of a puzzle; the last few are kept."""
    return Notation(definition)
