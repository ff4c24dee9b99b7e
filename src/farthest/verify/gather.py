"""The stored distances, put together into one array."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.errors import ResourceError
from farthest.verify.blocks import Distances

Chunks = Iterable["bytes | bytearray | memoryview | NDArray[Any]"]
"""The distances of consecutive ranges of keys, in key order."""


def gather(distances: NDArray[Any] | Chunks, keys: int, unit: str) -> tuple[Distances | None, str]:
    """All distances as one array and ""; or None and what is wrong with their number or type."""
    if isinstance(distances, np.ndarray):
        if distances.dtype.name not in ("uint8", "uint16") or distances.ndim != 1:
            return (
                None,
                f"the map is a {distances.ndim}-axis array of {distances.dtype}; expected uint8 or uint16",
            )
        if len(distances) != keys:
            return None, f"the map holds {len(distances):,} distances; expected {keys:,}"
        return distances, ""
    if unit not in ("uint8", "uint16"):
        return None, f"the map's unit is {unit!r}; expected uint8 or uint16"
    dtype = np.dtype(unit).newbyteorder("<")
    try:
        array = np.empty(keys, dtype=unit)
    except (MemoryError, ValueError):
        size = keys * dtype.itemsize / 2**30
        raise ResourceError(
            f"verifying needs the whole map in memory, {size:,.1f} GiB; use a machine with more"
        ) from None
    filled = 0
    try:
        for chunk in distances:
            part = np.frombuffer(chunk, dtype=dtype)
            if filled + len(part) > keys:
                return None, f"the map holds {filled + len(part):,} distances or more; expected {keys:,}"
            array[filled : filled + len(part)] = part
            filled += len(part)
    except ValueError as error:
        return None, f"from key {filled} the map is not whole distances: {error}"
    if filled != keys:
        return None, f"the map ends at key {filled}: it holds {filled:,} distances; expected {keys:,}"
    return array, ""
