"""The chunks of a map that were used last, decoded, up to a number of bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy
    from numpy.typing import NDArray

    from farthest.spaces.contract import Codes

    Distances = NDArray[numpy.uint8] | NDArray[numpy.uint16]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The distances of the keys ``first_key`` to ``last_key``, both included, in key order.

    ``codes``: in a sparse map, where keys are numbers of states, the codes of the states; else None.
    """

    first_key: int
    last_key: int
    distances: Distances
    codes: Codes | None = None

    @property
    def no_distance(self) -> int:
        """What stands for a key without a distance."""
        return 255 if self.distances.itemsize == 1 else 65535

    @property
    def nbytes(self) -> int:
        """The bytes that its arrays take."""
        return self.distances.nbytes + (0 if self.codes is None else self.codes.nbytes)


class ChunkCache:
    """Chunks by any of their keys; the least recently used chunk is dropped first when ``limit`` bytes are exceeded.

    At least one chunk is always kept, however large.
    """

    def __init__(self, read: Callable[[int], Chunk], limit: int) -> None:
        self._read = read
        self._limit = limit
        self._size = 0
        self._chunks: OrderedDict[int, Chunk] = OrderedDict()
        self._first_keys: list[int] = []  # sorted; the keys of _chunks

    def chunk_of(self, key: int) -> Chunk:
        """The chunk that holds ``key``."""
        place = bisect_right(self._first_keys, key) - 1
        if place >= 0:
            chunk = self._chunks[self._first_keys[place]]
            if key <= chunk.last_key:
                self._chunks.move_to_end(chunk.first_key)
                return chunk
        chunk = self._read(key)
        self._first_keys.insert(place + 1, chunk.first_key)
        self._chunks[chunk.first_key] = chunk
        self._size += chunk.nbytes
        while self._size > self._limit and len(self._chunks) > 1:
            _, oldest = self._chunks.popitem(last=False)
            self._first_keys.remove(oldest.first_key)
            self._size -= oldest.nbytes
        return chunk
