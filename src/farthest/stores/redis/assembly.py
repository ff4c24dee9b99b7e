"""The parts of a map, whichever engine makes them: how the map is cut, and what makes a part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.errors import LateStepError
from farthest.models.chunks import CHUNK_KEYS, Chunk
from farthest.stores.redis.records import LEAST_CHUNKS, Fold, Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.stores.contract import Base

RecordsOf = Callable[[int], Mapping[int, Record]]
"""Gives the records of a block by depth."""


@dataclass(frozen=True, slots=True)
class PartCut:
    """The parts of a map and their chunks. ``items``: keys, words of a residue map, or states of a sparse one; a part
    has ``each`` of them, its chunks ``chunk``. The last ones may be smaller."""

    items: int
    each: int
    chunk: int

    @property
    def count(self) -> int:
        """The number of parts."""
        return -(-self.items // self.each)

    def range_of(self, part: int) -> range:
        """The items of a part."""
        return range(part * self.each, min((part + 1) * self.each, self.items))

    def chunks(self, part: int) -> list[tuple[int, int]]:
        """The first and the last item of each chunk of a part."""
        here = self.range_of(part)
        firsts = range(here.start, here.stop, self.chunk)
        return [(first, min(first + self.chunk, here.stop) - 1) for first in firsts]


def chunks_of_part(keys: int) -> int:
    """Chunks of a map part: about those of a block's ``keys``, for its blobs are read whole."""
    return max(LEAST_CHUNKS, -(-keys // CHUNK_KEYS))


class Assembly(ABC):
    """Makes the parts of the map that ``fold`` describes. ``cut``: which parts there are."""

    fold: Fold
    cut: PartCut

    @abstractmethod
    def part(self, part: int, base: Base | None) -> Iterator[tuple[Chunk, int]]:
        """The chunks of a part of distances, each with the number of its states; ``base``: finds the chunks of the
        checkpoint. Raises LostStateError and what ``base`` raises."""

    @abstractmethod
    def words(self, part: int) -> tuple[NDArray[np.uint64], int]:
        """The words of a part of a residue map (map_files/form.py), and how many states have a number there that is
        not 0. Raises LostStateError."""

    def cut_shard(self, shard: int) -> list[tuple[int, int, bytes]]:
        """Of a sparse map: what a shard has for the parts, as (range of codes, states, blob)."""
        raise LateStepError("the map is not sparse")
