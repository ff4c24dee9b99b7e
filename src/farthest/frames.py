"""zstd frames: bytes compressed, and frames that others wrote decompressed. The one place where either is done.

Whoever reads a frame says how many bytes there may be, from what is expected, never from what the frame or the row
beside it claims. More than that is not decompressed, and nothing may follow the frame: of two frames one after the
other, as zstd's own tools would read them, the second could hold anything.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

LEVEL = 1

PIECE = 2**16
"""Bytes that are decompressed at once where they are copied on: so many stay in the processor's caches."""

_LEAST_WINDOW, _LARGEST_WINDOW = 10, 27


def frame_of(data: Buffer, *, checksum: bool = False) -> bytes:
    """One frame that holds the bytes, with a checksum of them or without."""
    options = {
        int(zstd.CompressionParameter.compression_level): LEVEL,
        int(zstd.CompressionParameter.checksum_flag): int(checksum),
    }
    return zstd.compress(data, options=options)


def longest(size: int) -> int:
    """No frame of so many bytes, made by ``frame_of``, is longer."""
    return size + size // 128 + 1024


def unpacked(frame: Buffer, most: int, least: int = 0) -> bytes:
    """The bytes in a frame, ``least`` to ``most``. Raises ValueError for anything but one whole frame of so many."""
    decoder, size = _opened(frame, most, least)
    try:
        held = decoder.decompress(frame, max_length=size + 1)
    except zstd.ZstdError as error:
        raise _wrong(error) from None
    _check_end(decoder, len(held), size)
    return held


def unpack_into(frame: Buffer, out: NDArray[np.uint8]) -> None:
    """Writes the bytes in a frame to ``out``, which they fill. Raises ValueError as ``unpacked`` does; what was written
    by then stays.

    In small pieces, which stay in memory that is in the processor's caches: three times as fast as in one. numpy copies
    them without the interpreter's lock, under which the system would else make the pages of ``out``.
    """
    from numpy import frombuffer, uint8

    decoder, size = _opened(frame, len(out), len(out))
    data, filled = frame, 0
    try:
        while not decoder.eof:
            piece = decoder.decompress(data, max_length=PIECE)
            data = b""
            end = filled + len(piece)
            if end > size or not (piece or decoder.eof):
                filled = end
                break
            out[filled:end] = frombuffer(piece, dtype=uint8)
            filled = end
    except zstd.ZstdError as error:
        raise _wrong(error) from None
    _check_end(decoder, filled, size)


def _opened(frame: Buffer, most: int, least: int) -> tuple[zstd.ZstdDecompressor, int]:
    """A decoder, whose own memory is bounded too (a frame says how large a window it needs), and the size that the
    frame says."""
    try:
        size = cast("int | None", zstd.get_frame_info(frame).decompressed_size)
    except zstd.ZstdError as error:
        raise _wrong(error) from None
    if size is None or not least <= size <= most:
        found = "an unknown number of" if size is None else size
        raise ValueError(
            f"it holds {found} bytes, expected {most if least == most else f'{least} to {most}'}"
        )
    window = max(_LEAST_WINDOW, min(_LARGEST_WINDOW, most.bit_length()))
    return zstd.ZstdDecompressor(options={int(zstd.DecompressionParameter.window_log_max): window}), size


def _check_end(decoder: zstd.ZstdDecompressor, filled: int, size: int) -> None:
    if filled != size or not decoder.eof:
        raise ValueError(f"its zstd frame does not hold the {size} bytes that it says")
    if decoder.unused_data:
        raise ValueError(f"{len(decoder.unused_data)} bytes follow its zstd frame")


def _wrong(error: zstd.ZstdError) -> ValueError:
    return ValueError(f"it is not one whole zstd frame ({error})")
