"""Readable rows of states: key, distance, board in one line."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress
from typing import TYPE_CHECKING

from farthest.puzzles.boards import board_template, format_board
from farthest.worker.memory import Unit

if TYPE_CHECKING:
    from farthest.spaces.arrangement import ArrangementSpace

Row = tuple[int, int, str]


def board_texts(space: ArrangementSpace, keys: Sequence[int]) -> list[str]:
    """The boards of the keys."""
    return [format_board(space.puzzle.body, space.board(key)) for key in keys]


def state_rows(space: ArrangementSpace, chunks: Iterator[tuple[int, int, Unit, memoryview]]) -> Iterator[Row]:
    """A row for every reached state of a map's chunks, in key order.

    Iterators chained without a step of Python's for each row: a map of 100,000 states is stored while one blinks.
    """
    return chain.from_iterable(_chunk_rows(space, *chunk) for chunk in chunks)


def _chunk_rows(
    space: ArrangementSpace, first: int, last: int, unit: Unit, data: memoryview
) -> Iterable[Row]:
    distances, unreached = (data, 255) if unit == "uint8" else (data.cast("H"), 65535)
    rows = zip(range(first, last + 1), distances, _texts(space, first, last - first + 1), strict=True)
    if unreached not in distances:
        return rows
    return compress(rows, map(unreached.__ne__, distances))


def _texts(space: ArrangementSpace, first: int, count: int) -> list[str]:
    """The boards of ``count`` keys from ``first`` on: written side by side and decoded at once if tokens allow it."""
    template = board_template(space.puzzle.body)
    if template is None:
        return board_texts(space, range(first, first + count))
    row, positions, table = template
    rows = bytearray(row * count)
    space.write_boards(first, count, rows, positions)
    text, _ = codecs.charmap_decode(bytes(rows), "strict", table)
    width = len(row)
    return [text[start : start + width] for start in range(0, len(text), width)]
