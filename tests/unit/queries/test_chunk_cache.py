"""The cache of decoded chunks: right, bounded, and the chunk used longest ago goes first."""

from hypothesis import given
from hypothesis import strategies as st

from farthest.models.chunks import Chunk
from farthest.queries.lookup import ChunkCache

SIZE = 10


class Source:
    """Chunks of ten keys; notes which are read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __call__(self, key: int) -> Chunk:
        first = key - key % SIZE
        self.read.append(first)
        return Chunk(first, first + SIZE - 1, "uint8", bytes(range(first, first + SIZE)))


@given(keys=st.lists(st.integers(0, 99)), limit=st.integers(0, 60))
def test_any_order_of_keys(keys: list[int], limit: int) -> None:
    source = Source()
    cache = ChunkCache(source, limit)
    kept: list[int] = []  # what a plain list of first keys says, the one used last at the end
    reads = 0
    for key in keys:
        chunk = cache.chunk_of(key)
        assert chunk.distance_array()[key - chunk.first] == key
        first = key - key % SIZE
        if first in kept:
            kept.remove(first)
        else:
            reads += 1
        kept.append(first)
        del kept[: max(0, len(kept) - max(1, limit // SIZE))]
        assert len(source.read) == reads
