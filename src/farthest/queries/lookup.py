"""Distances of codes, read chunk by chunk: in a dense map by their place, in a sparse map by binary search."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy

from farthest.models.maps import Maps
from farthest.models.sparse import code_array
from farthest.models.stored_values import damaged
from farthest.queries.chunk_cache import Chunk, ChunkCache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from farthest.models.chunks import Chunk as StoredChunk
    from farthest.models.transactions import Database
    from farthest.spaces.contract import Codes


class MapReader:
    """The chunks of one job's map, decoded; ``cache_bytes`` bounds those that are kept in memory."""

    def __init__(self, database: Database, job: int, keys: int | None, cache_bytes: int) -> None:
        """``keys``: those of a dense map; None: the map is sparse."""
        self._maps = Maps(database)
        self._job = job
        self._keys = keys
        self._cache = ChunkCache(lambda key: _opened(self._maps.chunk_at(job, key)), cache_bytes)

    @property
    def unit(self) -> numpy.dtype[numpy.uint8] | numpy.dtype[numpy.uint16]:
        """The type of the stored distances."""
        return self.chunk_of(0).distances.dtype

    def close(self) -> None:
        """Nothing is held but chunks."""

    def chunk_of(self, key: int) -> Chunk:
        """The chunk that holds a key, or a state's number."""
        return self._cache.chunk_of(key)

    def layer(self, depth: int, states_within: int) -> Codes | None:
        """None: the states of a layer are found by reading the chunks."""
        return None

    def chunks(self, depth: int | None = None) -> Iterator[Chunk]:
        """All chunks in order, whole; see ``Reader``."""
        return map(_opened, self._maps.chunks(self._job))

    def chunks_once(self) -> Iterator[Chunk]:
        """See ``Reader``."""
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
            last = numpy.uint64(chunk.last_key)
            after = int(numpy.searchsorted(ascending[at:end], last, side="right")) + at
            places = (ascending[at:after] - numpy.uint64(chunk.first_key)).astype(numpy.intp)
            distances = chunk.distances[places].astype(numpy.int32)
            distances[distances == chunk.no_distance] = -1
            found[order[at:after]] = distances
            at = after

    def _read_sparse(self, ascending: Codes, order: NDArray[numpy.intp], found: NDArray[numpy.int32]) -> None:
        numbers, leads = self._leads
        chunk_of = numpy.searchsorted(leads, ascending, side="right") - 1
        for index in numpy.unique(chunk_of).tolist():
            if index < 0:
                continue
            chunk = self.chunk_of(numbers[index])
            assert chunk.codes is not None
            here = slice(*numpy.searchsorted(chunk_of, (index, index + 1)))
            places = numpy.searchsorted(chunk.codes, ascending[here])
            places[places == len(chunk.codes)] = 0
            right = chunk.codes[places] == ascending[here]
            found[order[here][right]] = chunk.distances[places[right]]

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


def _opened(stored: StoredChunk) -> Chunk:
    unit = numpy.dtype(stored.unit).newbyteorder("<")
    distances = numpy.frombuffer(stored.distances, dtype=unit)
    codes = code_array(stored.codes, stored.width) if stored.width else None
    return Chunk(stored.first_key, stored.last_key, distances, codes)
