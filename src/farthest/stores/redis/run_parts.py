"""Parts of the maps of attempts by the scatter engine, from the sorted runs of all layers.

dense    a part is a range of keys, as shards are: it is made of the runs of those shards
sparse   a hash says which shard a state is in, and a part is a range of states' numbers. First each shard is *cut*: its
         states at all depths go by ranges of codes, which the fold's bounds say, into one blob with a sealed piece for
         each range. The records of these blobs tell the number of states in each range, so which ranges a part needs,
         and how many of their states come before it

A piece: uint32 shard; then for each depth with states uint32 depth, uint32 bytes of the run, and the run.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.errors import LostStateError
from farthest.models.chunks import CHUNK_KEYS, Chunk, code_array, descent, line_keys
from farthest.stores.blobs.blob import SENT, damaged, seal, unseal
from farthest.stores.blobs.place import BlobPart
from farthest.stores.redis.assembly import Assembly, PartCut, RecordsOf
from farthest.stores.redis.map_parts import block_blobs
from farthest.stores.redis.records import LEAST_CHUNKS, CutRecord, Fold, Part
from farthest.stores.redis.run_blobs import SENDER, most_bytes, run_in
from farthest.stores.residues import marks_of
from farthest.stores.scattering import dense_map, map_reader, sparse_map

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.spaces.contract import ScatterSpace
    from farthest.stores.contract import Base
    from farthest.stores.redis.attempt_stores import AttemptSteps

PIECE = struct.Struct("<II")
WORD_BITS = 64

RANGES_PER_PART = 4
"""Ranges of codes that have the states of a part. A part also reads what else is in its first and last range."""


def states_of_part(width: int) -> int:
    """States of a part of a sparse map."""
    return LEAST_CHUNKS * line_keys(width)


class RunAssembly(Assembly):
    """See the module. ``records``: gives those of a shard, by depth."""

    def __init__(self, store: AttemptSteps[Any], space: ScatterSpace, fold: Fold, records: RecordsOf) -> None:
        self.fold = fold
        self._store = store
        self._space = space
        self._width = space.code_bytes
        self._records = records
        each, keys = store.facts.part_chunks * CHUNK_KEYS, space.keys
        if keys is None:
            self.cut = PartCut(fold.states, states_of_part(self._width), line_keys(self._width))
        elif fold.planes:
            words = each // WORD_BITS * fold.planes
            self.cut = PartCut(-(-keys // WORD_BITS) * fold.planes, words, words)
        else:
            self.cut = PartCut(keys, each, CHUNK_KEYS)

    def part(self, part: int, base: Base | None) -> Iterator[tuple[Chunk, int]]:
        items = self.cut.range_of(part)
        chunks = self._sparse(items) if self._space.keys is None else self._dense(items)
        return ((one, one.states) for one in chunks)

    def words(self, part: int) -> tuple[NDArray[np.uint64], int]:
        import numpy as np

        planes, words = self.fold.planes, self.cut.range_of(part)
        keys = range(
            words.start // planes * WORD_BITS, min(words.stop // planes * WORD_BITS, self._space.keys or 0)
        )
        number = dict(zip(self.fold.depths, self.fold.numbers, strict=True)).__getitem__
        marks = [marks_of(one, planes, number) for one in self._dense(keys)]
        return np.concatenate([some for _, some in marks]), sum(states for states, _ in marks)

    def _dense(self, keys: range) -> Iterator[Chunk]:
        return dense_map(self._space, self._store.facts.shards, self.fold.depth, self._runs, CHUNK_KEYS, keys)

    def _runs(self, shard: int) -> Iterator[tuple[int, Buffer]]:
        """(depth, run) of a shard at each depth where it has states."""
        records = self._records(shard)
        for depth, blob in block_blobs(self._store, shard, records):
            name = self._store.found_name(depth, shard, records[depth].nonce)
            yield depth, run_in(blob, self._width, name, records[depth].states[shard]).data

    # Sparse maps

    def cut_shard(self, shard: int) -> list[tuple[int, int, bytes]]:
        depth, width = self.fold.depth, self._width
        bounds = code_array(bytes.fromhex(self.fold.bounds), width)
        if descent(bounds) is not None:
            raise LostStateError(f"attempt {self._store.attempt}: the bounds of its map do not ascend")
        states = [0] * (len(bounds) + 1)
        pieces: list[list[Buffer]] = [[SENDER.pack(shard)] for _ in states]
        for at, run in self._runs(shard):
            try:
                codes = code_array(_kernel.run_codes(width, run), width)
            except ValueError as error:
                raise damaged(at, shard, error) from error
            places = [0, *codes.searchsorted(bounds).tolist(), len(codes)]
            for to, (begin, end) in enumerate(pairwise(places)):
                if begin < end:
                    number, piece = _kernel.run_of(width, codes[begin:end].tobytes())
                    states[to] += number
                    pieces[to] += PIECE.pack(at, len(piece)), piece
        return [
            (to, number, seal(SENT, depth, to, number, b"".join(pieces[to])))
            for to, number in enumerate(states)
            if number
        ]

    @cached_property
    def _cuts(self) -> dict[int, CutRecord]:
        """Of all shards."""
        store, depth = self._store, self.fold.depth
        cuts = CutRecord.all_of(store.nodes, store.cuts_key(depth), depth)
        if sorted(cuts) != list(range(store.facts.shards)):
            raise LostStateError(
                f"attempt {store.attempt}: {len(cuts)} of {store.facts.shards} shards are cut for its map"
            )
        return cuts

    @cached_property
    def _starts(self) -> list[int]:
        """The number of the first state of each range, and behind the last one that of all states."""
        states: dict[int, int] = {}
        for record in self._cuts.values():
            for piece in record.outbox:
                states[piece.to] = states.get(piece.to, 0) + piece.codes
        return list(accumulate((states.get(to, 0) for to in range(max(states, default=0) + 1)), initial=0))

    def _sparse(self, numbers: range) -> Iterator[Chunk]:
        first = bisect_right(self._starts, numbers.start) - 1
        ranges = range(first, bisect_left(self._starts, numbers.stop))
        reader = map_reader(self._width, self._pieces(ranges))
        skipped = numbers.start - self._starts[first]
        return sparse_map(self._space, self.fold.depth, reader, CHUNK_KEYS, 1, numbers, skipped)

    def _pieces(self, ranges: range) -> Iterator[tuple[int, Buffer]]:
        """(depth, run) of what all shards have in some ranges of codes."""
        store, depth = self._store, self.fold.depth
        wanted: list[tuple[int, Part, BlobPart]] = []
        for shard, record in self._cuts.items():
            name, begin = store.outbox_name(depth, shard, record.nonce), 0
            for piece in record.outbox:
                if piece.to in ranges:
                    wanted.append((shard, piece, BlobPart(name, begin, piece.bytes)))
                begin += piece.bytes
        blobs = store.fetch_parts([where for *_, where in wanted])
        for (shard, piece, _), blob in zip(wanted, blobs, strict=True):
            if not blob:
                raise LostStateError(f"attempt {store.attempt}: shard {shard}, cut for its map, is missing")
            most = SENDER.size + (depth + 1) * (PIECE.size + most_bytes(self._width, piece.codes))
            codes, data = unseal(SENT, depth, piece.to, blob, most)
            if codes != piece.codes or bytes(data[: SENDER.size]) != SENDER.pack(shard):
                raise damaged(depth, shard, "a piece of it for its map is another's")
            at = SENDER.size
            while at < len(data):
                layer, size = PIECE.unpack_from(data, at)
                at += PIECE.size + size
                yield layer, data[at - size : at]
