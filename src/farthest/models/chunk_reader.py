"""Decodes chunks from the database; a row that is not what was written raises StorageError."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from farthest import frames
from farthest.errors import StorageError
from farthest.models.chunks import MOST_BYTES, WIDTHS, Chunk, ChunkRecord, Unit
from farthest.models.sparse import code_array, descent, from_planes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CODEC = re.compile(r"zstd:(?:codes([1-9][0-9]{0,3}):)?(uint8|uint16)")


def open_chunk(row: ChunkRecord) -> Chunk:
    """The chunk of a row, decoded; raises StorageError where the row is not what was written."""
    form = _CODEC.fullmatch(row.codec)
    if form is None:
        raise _damaged(
            row,
            f"its codec is {row.codec!r}, expected zstd:uint8 or zstd:uint16, or such as zstd:codes8:uint8",
        )
    width, unit = int(form[1] or 0), cast("Unit", form[2])
    states = row.last_key - row.first_key + 1
    held = _unpacked(row, states * (width + WIDTHS[unit]))
    if not width:
        return Chunk(row.job_id, row.first_key, row.last_key, row.depth, unit, held)
    codes, distances = from_planes(memoryview(held)[: states * width], width), held[states * width :]
    wrong = descent(code_array(codes, width))
    if wrong is not None:
        raise _damaged(row, f"the code of state {row.first_key + wrong} is not greater than the one before")
    if row.lead != (codes[7::-1] if width == 8 else codes[:width]):
        raise _damaged(row, "its lead is not its first code")
    return Chunk(row.job_id, row.first_key, row.last_key, row.depth, unit, distances, width, codes)


def unpack_into(row: ChunkRecord, unit: Unit, out: NDArray[np.uint8]) -> None:
    """Writes the distances of a row of a dense map, as bytes, to ``out``; raises StorageError where the row is not what
    was written."""
    if row.codec != f"zstd:{unit}":
        raise _damaged(row, f"its codec is {row.codec!r}, expected zstd:{unit}")
    _check_sum(row)
    try:
        frames.unpack_into(row.payload, out)
    except ValueError as error:
        raise _damaged(row, f"its payload: {error}") from error


def _check_sum(row: ChunkRecord) -> None:
    if hashlib.sha256(row.payload).hexdigest() != row.checksum:
        raise _damaged(row, f"its {len(row.payload)} bytes do not match their checksum")


def _unpacked(row: ChunkRecord, expected: int) -> bytes:
    if not 0 < expected <= MOST_BYTES:
        raise _damaged(row, f"its keys would have {expected} bytes, expected 1 to {MOST_BYTES}")
    _check_sum(row)
    try:
        return (_unpack_again if len(row.payload) <= _SHORT else _unpack)(row.payload, expected)
    except ValueError as error:
        raise _damaged(row, f"its payload: {error}") from error


def _unpack(payload: bytes, expected: int) -> bytes:
    return frames.unpacked(payload, expected, expected)


_SHORT = 64
"""Bytes of a payload at most that is likely to occur again: of a chunk without states, for one."""

_unpack_again = lru_cache(maxsize=2)(_unpack)


def _damaged(row: ChunkRecord, what: str) -> StorageError:
    return StorageError(
        f"job {row.job_id}: the chunk of keys {row.first_key} to {row.last_key} is damaged: {what}; restore "
        f"the database from a copy, or remove the job with `farthest delete {row.job_id}` and enumerate again"
    )
