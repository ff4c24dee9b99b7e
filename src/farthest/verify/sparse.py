"""The stored codes and distances of a sparse map as two arrays; its digest, computed again."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.errors import ResourceError
from farthest.verify.blocks import Distances
from farthest.verify.models import Codes

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
