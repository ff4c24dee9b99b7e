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
    from typing_extensions import Buffer

LEVEL = 1

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
    try:
        size = cast("int | None", zstd.get_frame_info(frame).decompressed_size)
        if size is None or not least <= size <= most:
            found = "an unknown number of" if size is None else size
            raise ValueError(
                f"it holds {found} bytes, expected {most if least == most else f'{least} to {most}'}"
            )
        # The decoder's own memory is bounded too: a frame says how large a window it needs.
        window = max(_LEAST_WINDOW, min(_LARGEST_WINDOW, most.bit_length()))
        decoder = zstd.ZstdDecompressor(options={int(zstd.DecompressionParameter.window_log_max): window})
        held = decoder.decompress(frame, max_length=size + 1)
    except zstd.ZstdError as error:
        raise ValueError(f"it is not one whole zstd frame ({error})") from None
    if len(held) != size or not decoder.eof:
        raise ValueError(f"its zstd frame does not hold the {size} bytes that it says")
    if decoder.unused_data:
        raise ValueError(f"{len(decoder.unused_data)} bytes follow its zstd frame")
    return held
