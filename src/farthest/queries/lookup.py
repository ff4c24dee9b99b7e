"""Distances of codes, read chunk by chunk: in a dense map by their place, in a sparse map by binary search."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING

import numpy

from farthest.models.chunks import UNREACHED, Chunk, Unit, code_array
from farthest.models.map_reader import MapReader
from farthest.models.sealing import damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from farthest.models.database import Database
    from farthest.spaces.contract import Codes


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
            if key <= chunk.last:
                self._chunks.move_to_end(chunk.first)
                return chunk
        chunk = self._read(key)
        self._first_keys.insert(place + 1, chunk.first)
        self._chunks[chunk.first] = chunk
        self._size += chunk.nbytes
        while self._size > self._limit and len(self._chunks) > 1:
            _, oldest = self._chunks.popitem(last=False)
            self._first_keys.remove(oldest.first)
            self._size -= oldest.nbytes
        return chunk


class FullReader:
    """Where the distances of a full map are looked up: in its chunks, decoded. ``cache_bytes`` bounds those that are
    kept in memory. ``ResidueReader`` has the same methods for a residue map."""

    def __init__(self, database: Database, job: int, keys: int | None, cache_bytes: int) -> None:
        """``keys``: those of a dense map; None: the map is sparse."""
        self._maps = MapReader(database)
        self._job = job
        self._keys = keys
        self._cache = ChunkCache(lambda key: self._maps.chunk_at(job, key), cache_bytes)

    @property
    def unit(self) -> Unit:
        """The type of the stored distances."""
        return self.chunk_of(0).unit

    def close(self) -> None:
        """Nothing is held but chunks."""

    def chunk_of(self, key: int) -> Chunk:
        """The chunk that holds a key, or a state's number."""
        return self._cache.chunk_of(key)

    def layer(self, depth: int, states_within: int) -> Codes | None:
        """The codes of a layer, ascending, if there is a quicker way than reading all chunks: here there is none.
        ``states_within``: how many states are no farther."""
        return None

    def chunks(self, depth: int | None = None) -> Iterator[Chunk]:
        """All distances, chunk by chunk in order; with ``depth`` those of other layers may be left out."""
        return self._maps.chunks(self._job)

    def chunks_once(self) -> Iterator[Chunk]:
        """The same of all distances, in the least memory: nothing is kept for other questions."""
        return self.chunks()

    def distances(self, codes: Codes) -> NDArray[numpy.int32]:
        """The distances of codes, int32, -1 where there is none."""
        found = numpy.full(len(codes), -1, dtype=numpy.int32)
        if not len(codes):
            return found
        order = numpy.argsort(codes)
        ascending = codes[order]
        if self._keys is None:
            self._read_sparse(ascending, order, found)
        else:
            self._read_dense(self._keys, ascending, order, found)
        return found

    def _read_dense(
        self, keys: int, ascending: Codes, order: NDArray[numpy.intp], found: NDArray[numpy.int32]
    ) -> None:
        at = 0
        end = int(numpy.searchsorted(ascending, numpy.uint64(keys)))
        while at < end:
            chunk = self.chunk_of(int(ascending[at]))
            last = numpy.uint64(chunk.last)
            after = int(numpy.searchsorted(ascending[at:end], last, side="right")) + at
            places = (ascending[at:after] - numpy.uint64(chunk.first)).astype(numpy.intp)
            distances = chunk.distance_array()[places].astype(numpy.int32)
            distances[distances == UNREACHED[chunk.unit]] = -1
            found[order[at:after]] = distances
            at = after

    def _read_sparse(self, ascending: Codes, order: NDArray[numpy.intp], found: NDArray[numpy.int32]) -> None:
        numbers, leads = self._leads
        chunk_of = numpy.searchsorted(leads, ascending, side="right") - 1
        for index in numpy.unique(chunk_of).tolist():
            if index < 0:
                continue
            chunk = self.chunk_of(numbers[index])
            codes = chunk.code_array()
            assert codes is not None
            here = slice(*numpy.searchsorted(chunk_of, (index, index + 1)))
            places = numpy.searchsorted(codes, ascending[here])
            places[places == len(codes)] = 0
            right = codes[places] == ascending[here]
            found[order[here][right]] = chunk.distance_array()[places[right]]

    @cached_property
    def _leads(self) -> tuple[list[int], Codes]:
        """The number and the code of the first state of each chunk of a sparse map."""
        leads = self._maps.leads(self._job)
        width = len(leads[0][1]) if leads else 0
        if not width or any(len(lead) != width for _, lead in leads):
            raise damaged("chunk", f"of job {self._job}", "column lead: not a code in each", self._job)
        # The written form is big endian.
        codes = b"".join(lead[::-1] if width == 8 else lead for _, lead in leads)
        return [number for number, _ in leads], code_array(codes, width)
