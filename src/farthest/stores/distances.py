"""Distances as bytes: their type for a map up to a depth, and what an array of them holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.errors import ResourceError
from farthest.models.chunks import UNREACHED, Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    distances = _array(data, unit)
    return not ((distances > depth) & (distances != UNREACHED[unit])).any()


def reached(data: memoryview, unit: Unit) -> int:
    """How many of the distances, given as bytes, are those of states that were reached.

    With numpy 20 times as fast as ``bytes.count`` where many are not reached: 0.03 ms for 2**19 of them.
    """
    import numpy

    return int(numpy.count_nonzero(_array(data, unit) != UNREACHED[unit]))


def _array(data: memoryview, unit: Unit) -> NDArray[Any]:
    import numpy

    return numpy.frombuffer(data, dtype=numpy.uint8 if unit == "uint8" else numpy.dtype("<u2"))
