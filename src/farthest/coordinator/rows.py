"""Readable rows of states: key, distance, board in one line."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress
from typing import TYPE_CHECKING, cast

from farthest.models.chunks import UNREACHED, Unit

if TYPE_CHECKING:
    from farthest.spaces.arrangement import ArrangementSpace
    from farthest.spaces.contract import Space

Row = tuple[int, int, str]


def board_texts(space: Space, keys: Sequence[int]) -> list[str]:
    """The boards of the keys: written side by side and decoded at once if the puzzle's tokens allow it."""
    if not keys:
        return []
    template = space.puzzle.body.line_template()
    if template is None:
        import numpy

        dtype = numpy.uint64 if space.code_bytes == 8 else f"S{space.code_bytes}"
        return space.puzzle.body.texts(space.decode(numpy.array(keys, dtype=dtype)))
    row, positions, table = template
    rows = bytearray(row * len(keys))
    cast("ArrangementSpace", space).write_boards(keys, rows, positions)
    text, _ = codecs.charmap_decode(bytes(rows), "strict", table)
    width = len(row)
    return [text[start : start + width] for start in range(0, len(text), width)]


def state_rows(space: Space, chunks: Iterator[tuple[int, int, Unit, memoryview]]) -> Iterator[Row]:
    """A row for every reached state of a map's chunks, in key order.

    Iterators chained without a step of Python's for each row: a map of 100,000 states is stored while one blinks.
    """
    return chain.from_iterable(_chunk_rows(space, *chunk) for chunk in chunks)


def _chunk_rows(space: Space, first: int, last: int, unit: Unit, data: memoryview) -> Iterable[Row]:
    keys, unreached = range(first, last + 1), UNREACHED[unit]
    if bytes(data) == b"\xff" * len(data):  # no state of a large key range was reached
        return ()
    distances = data if unit == "uint8" else data.cast("H")
    if unreached not in distances:
        return zip(keys, distances, board_texts(space, keys), strict=True)
    reached = list(compress(keys, map(unreached.__ne__, distances)))
    found = filter(unreached.__ne__, distances)
    return zip(reached, found, board_texts(space, reached), strict=True)
