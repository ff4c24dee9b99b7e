"""The stored distances, put together into one array."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.errors import ResourceError
from farthest.verify.models import Codes
from farthest.verify.ranking import Distances

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


# --- The stored codes and distances of a sparse map as two arrays; its digest, computed again.

HASHED_AT_ONCE = 1 << 18


def gather_sparse(
    pieces: Iterable[tuple[Codes | None, NDArray[Any]]], states: int, unit: str, code_bytes: int
) -> tuple[Codes | None, Distances | None, str]:
    """All codes and all distances as two arrays and ""; or None, None and what is wrong with them."""
    if unit not in ("uint8", "uint16"):
        return None, None, f"the map's unit is {unit!r}; expected uint8 or uint16"
    kind = np.dtype(np.uint64) if code_bytes == 8 else np.dtype(f"S{code_bytes}")
    try:
        codes, distances = np.empty(states, dtype=kind), np.empty(states, dtype=unit)
    except (MemoryError, ValueError):
        size = states * (kind.itemsize + 2) / 2**30
        raise ResourceError(
            f"verifying needs the whole map in memory, {size:,.1f} GiB; use a machine with more"
        ) from None
    filled = 0
    for some, part in pieces:
        if some is None or some.dtype != kind:
            found = "no codes" if some is None else f"codes of {some.dtype.itemsize} bytes"
            return None, None, f"from state {filled} the map has {found}; expected {code_bytes} bytes each"
        end = filled + len(part)
        if len(some) != len(part) or end > states:
            return None, None, f"the map holds {end:,} states or more; expected {states:,}"
        codes[filled:end], distances[filled:end] = some, part
        filled = end
    if filled != states:
        return None, None, f"the map ends at state {filled}; expected {states:,} states"
    wrong = np.flatnonzero(codes[1:] <= codes[:-1])
    if wrong.size:
        return None, None, f"the code of state {int(wrong[0]) + 1} is not greater than the one before"
    if (distances == np.iinfo(distances.dtype).max).any():
        return None, None, "a state of the map has no distance"
    return codes, distances, ""


def sparse_digest(layers: Sequence[int], codes: Codes, distances: Distances) -> str:
    """SHA-256 (hex) over a sparse map's layer counts, unit, width, codes and distances (docs/chunk-format.md)."""
    of_codes, of_distances = hashlib.sha256(), hashlib.sha256()
    little = distances.dtype.newbyteorder("<")
    for first in range(0, len(codes), HASHED_AT_ONCE):
        some = codes[first : first + HASHED_AT_ONCE]
        of_codes.update((some.astype(">u8") if some.dtype.kind == "u" else some).tobytes())
        of_distances.update(distances[first : first + HASHED_AT_ONCE].astype(little).tobytes())
    counts, width = " ".join(map(str, layers)), codes.dtype.itemsize
    text = f"farthest sparse map 1\n{counts}\n{distances.dtype.name}\n{width}\n"
    text += f"{of_codes.hexdigest()}\n{of_distances.hexdigest()}\n"
    return hashlib.sha256(text.encode("ascii")).hexdigest()
