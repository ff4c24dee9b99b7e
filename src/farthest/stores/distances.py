"""Distances as bytes: their type for a map up to a depth, and what an array of them holds."""

from __future__ import annotations

from functools import lru_cache

from farthest.errors import ResourceError
from farthest.models.chunks import UNREACHED, Unit

MAX_DEPTH = UNREACHED["uint16"] - 1


def check_depth(depth: int) -> None:
    """Raises ResourceError when distances cannot hold the depth of a layer that has states."""
    if depth > MAX_DEPTH:
        raise ResourceError(f"the space is deeper than {MAX_DEPTH:,} moves, the most that distances can hold")


def unit_for(depth: int) -> Unit:
    """The type of the distances of a map up to ``depth``; its greatest number means not reached."""
    return "uint8" if depth < UNREACHED["uint8"] else "uint16"


def typed(data: memoryview, unit: Unit) -> memoryview:
    """Distances, given as bytes, one by one."""
    return data if unit == "uint8" else data.cast("H")


def is_within(data: memoryview, unit: Unit, depth: int) -> bool:
    """Whether none of the distances, given as bytes, is greater than ``depth``."""
    if unit == "uint8":
        return not bytes(data).translate(None, bytes({*range(min(depth, 254) + 1), UNREACHED[unit]}))
    return all(distance <= depth or distance == UNREACHED[unit] for distance in typed(data, unit))


def reached(data: memoryview, unit: Unit) -> int:
    """How many of the distances, given as bytes, are those of states that were reached."""
    if unit == "uint8":
        return len(data) - bytes(data).count(UNREACHED[unit])
    return sum(map(UNREACHED[unit].__ne__, typed(data, unit)))


def is_unreached(data: memoryview) -> bool:
    """Whether none of the distances, given as bytes, is that of a state that was reached. Ten times as fast as
    counting: a checkpoint that was taken early has hardly anything else."""
    return bytes(data) == _unreached(len(data))


@lru_cache(maxsize=2)
def _unreached(size: int) -> bytes:
    """So many bytes of distances of states that were not reached, of either unit."""
    return b"\xff" * size
