"""A stored map that several threads ask, and that gives up a question that nobody waits for."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING

from farthest.queries.distance_map import DistanceMap
from farthest.web.asking import check_wanted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    import numpy
    from numpy.typing import NDArray

    from farthest.models.records import JobRecord
    from farthest.models.transactions import Database
    from farthest.queries.chunk_cache import Chunk
    from farthest.spaces.contract import Codes


class PatientMap(DistanceMap):
    """A DistanceMap whose caches one thread uses at a time. Raises ReaderLeftError between two looks at the map where
    the reader of the question has left."""

    def __init__(self, database: Database, record: JobRecord) -> None:
        super().__init__(database, record)
        self._lock = threading.RLock()
        # Made now, by one thread: the space, the layers, and the reader with its file.
        self.space  # noqa: B018
        self.layers  # noqa: B018
        self._reader  # noqa: B018

    def turn(self) -> AbstractContextManager[object]:
        """What a question holds while it is answered: where the moves are a user's class, which knows nothing of
        threads, one at a time."""
        return self._lock if self.puzzle.definition.module else nullcontext()

    def lookup(self, codes: Codes) -> NDArray[numpy.int32]:
        """See StoredMap."""
        check_wanted()
        with self._lock:
            return super().lookup(codes)

    def quick_layer(self, depth: int) -> Codes | None:
        """See StoredMap."""
        check_wanted()
        with self._lock:
            return super().quick_layer(depth)

    def chunks(self, depth: int | None = None) -> Iterator[Chunk]:
        """See StoredMap. Chunks of a full map are not those of the cache, but a residue map finds all distances at the
        first."""
        chunks = super().chunks(depth)
        while True:
            check_wanted()
            if not self.record.keeps_residues:
                chunk = next(chunks, None)
            else:
                with self._lock:
                    chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk
