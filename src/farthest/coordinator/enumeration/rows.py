"""Readable rows of states: key, distance, board in one line."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, islice
from typing import TYPE_CHECKING, cast

from farthest.models.chunks import UNREACHED, Unit
from farthest.models.sparse import SparsePiece, code_array

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.models.pieces import Piece
    from farthest.spaces.arrangement import ArrangementSpace
    from farthest.spaces.contract import Space

Row = tuple[int, int, str]


def board_texts(space: Space, keys: Sequence[int] | Sequence[bytes]) -> list[str]:
    """The boards of the codes: written line by line and decoded at once if the puzzle's tokens allow it."""
    if not keys:
        return []
    template = space.puzzle.definition.line_template()
    if template is None:
        import numpy

        dtype = numpy.uint64 if space.code_bytes == 8 else f"S{space.code_bytes}"
        return space.puzzle.definition.texts(space.decode(numpy.array(keys, dtype=dtype)))
    row, positions, table = template
    rows = bytearray(row * len(keys))
    cast("ArrangementSpace", space).write_boards(cast("Sequence[int]", keys), rows, positions)
    text, _ = codecs.charmap_decode(bytes(rows), "strict", table)
    return text.split("\n")[:-1]


def state_rows(space: Space, chunks: Iterator[Piece]) -> Iterator[Row]:
    """A row for every reached state of a map's chunks, in key order.

    Chained iterators, without Python code for each row: a map of 100,000 states is stored in some tenths of a second.
    """
    return chain.from_iterable(
        _sparse_rows(space, chunk) if isinstance(chunk, SparsePiece) else _chunk_rows(space, *chunk)
        for chunk in chunks
    )


def layer_rows(space: Space, pieces: Iterator[Piece], depth: int, limit: int) -> Iterator[Row]:
    """Rows of the first ``limit`` states of a sparse map, or as many as there are, at one depth."""
    rows = chain.from_iterable(
        _sparse_rows(space, piece, depth) for piece in pieces if isinstance(piece, SparsePiece)
    )
    return islice(rows, limit)


def _sparse_rows(space: Space, piece: SparsePiece, depth: int | None = None) -> Iterable[Row]:
    import numpy

    codes = code_array(piece.codes, piece.width)
    distances = numpy.frombuffer(memoryview(piece.distances), dtype=numpy.dtype(piece.unit).newbyteorder("<"))
    numbers = numpy.arange(piece.first, piece.last + 1)
    if depth is not None:
        wanted = distances == depth
        codes, distances, numbers = codes[wanted], distances[wanted], numbers[wanted]
    texts = space.puzzle.definition.texts(space.decode(codes))
    return zip(numbers.tolist(), distances.tolist(), texts, strict=True)


def _chunk_rows(space: Space, first: int, last: int, unit: Unit, buffer: Buffer) -> Iterable[Row]:
    data = bytes(memoryview(buffer))  # bytes: searched and iterated faster than a memoryview
    keys, unreached = range(first, last + 1), UNREACHED[unit]
    if data == b"\xff" * len(data):  # no state of a large key range was reached
        return ()
    distances: Sequence[int] = data if unit == "uint8" else memoryview(data).cast("H")
    if unreached not in distances:
        return zip(keys, distances, board_texts(space, keys), strict=True)
    reached = list(compress(keys, map(unreached.__ne__, distances)))
    found = filter(unreached.__ne__, distances)
    return zip(reached, found, board_texts(space, reached), strict=True)
