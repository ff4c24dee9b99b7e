"""Maps of attempts by the gather engine, put together part by part from the last checkpoint and the layers since then.

Assembly       distances, or the words of a residue map, one block at a time
PartMaker      a worker's side: reads what a part is made of, makes its chunks, commits its record
AttemptParts   the coordinator's side: says what is to be made, and gathers what was
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from farthest import _kernel
from farthest.errors import DamagedMapError, LateStepError, LostStateError, StorageError
from farthest.models.chunks import (
    CHUNK_KEYS,
    WIDTHS,
    Chunk,
    MadeChunk,
    StoredDraft,
    chunk_digest,
    encode,
    map_digest,
    open_chunk,
)
from farthest.models.records import ChunkRecord
from farthest.stores.blobs.blob import decode_blob
from farthest.stores.blobs.place import new_nonce
from farthest.stores.blocks import Bitmap, zeros
from farthest.stores.contract import Base, typed, unit_for
from farthest.stores.redis.records import (
    DATABASE,
    FOLD,
    NO_BASE,
    NOBODY_WAITS,
    OURS,
    PLACE,
    Fold,
    PartChunk,
    PartRecord,
    Record,
    RecordTexts,
    Report,
    set_records,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.stores.blocks import Blocks
    from farthest.stores.redis.attempt_stores import AttemptLayers, AttemptSteps
    from farthest.stores.redis.gather_store import GatherStore


class Assembly:
    """The map that ``fold`` describes, of a space cut into blocks. One block at a time is spread over bit planes
    (kernel/include/farthest/planes.hpp): what the process needs is planes for one block, however large the space.

    ``blobs``: gives a block's (depth, blob), in any order, for the depths that ``fold`` wants.
    """

    def __init__(
        self,
        kernel: _kernel.Space,
        blocks: Blocks,
        fold: Fold,
        blobs: Callable[[int], Iterable[tuple[int, bytes]]],
    ) -> None:
        self._kernel = kernel
        self._blocks = blocks
        self._fold = fold
        self._blobs = blobs
        self._shift = 0 if fold.colour < 0 else 1
        self._parity = [] if fold.colour < 0 else [of_shard ^ fold.colour for of_shard in kernel.colours]
        self._keys_per_block = kernel.keys // kernel.shards * blocks.per_block
        self._block = -1
        # Planes of that block, for the next range of keys begins where one ended.
        self._layers: list[_kernel.Layer] = []

    def chunks(
        self, size: int, threads: int, base: Base | None, keys: range | None = None
    ) -> Iterator[Chunk]:
        """The distances, ``size`` keys a chunk, in key order; ``base``: finds the chunks of the checkpoint; ``keys``:
        None for all. Raises LostStateError and what ``base`` raises."""
        unit = unit_for(self._fold.depth)
        width = WIDTHS[unit]
        wanted = range(self._kernel.keys) if keys is None else keys
        for first in range(wanted.start, wanted.stop, size):
            end = min(first + size, wanted.stop)
            out = zeros((end - first) * width)
            key = first
            while key < end:
                block = key // self._keys_per_block
                if block != self._block:
                    self._layers, self._block = self._planes(block), block
                until = min(end, (block + 1) * self._keys_per_block)
                if base is not None:
                    self._add_base(base, key, until, threads)
                part = out[(key - first) * width : (until - first) * width]
                distances = typed(part, unit)
                _kernel.expand(self._kernel, self._layers, self._shift, self._parity, key, distances, threads)
                key = until
            yield Chunk(first, end - 1, unit, out)

    def words(self, block: int) -> tuple[NDArray[np.uint64], int]:
        """The words of a block of a residue map (map_files/form.py), and how many states have a number there that is
        not 0. Raises LostStateError."""
        fold = self._fold
        numbers = dict(zip(fold.depths, fold.numbers, strict=True))
        bitmaps = self._bitmaps(block, fold.planes, numbers.__getitem__)
        words = np.stack([np.asarray(bitmap.words, dtype=np.uint64) for bitmap in bitmaps], axis=1)
        shards = self._blocks.shards(block)
        numbered = np.bitwise_count(np.bitwise_or.reduce(words, axis=1)).reshape(len(shards), -1)
        weights = np.array([self._kernel.weight(shard) for shard in shards], dtype=np.int64)
        return words.reshape(-1), int(numbered.sum(axis=1, dtype=np.int64) @ weights)

    def _add_base(self, base: Base, first: int, end: int, threads: int) -> None:
        """Adds the checkpoint's distances of these keys to the planes of the block that they are in."""
        for key, part in parts(base, first, end):
            try:
                _kernel.collect(self._kernel, self._layers, self._shift, key, part, threads)
            except ValueError as error:
                raise DamagedMapError(
                    f"the checkpoint does not fit a map up to depth {self._fold.depth}: {error}"
                ) from None

    def _planes(self, block: int) -> list[_kernel.Layer]:
        planes = ((self._fold.depth >> self._shift) + 1).bit_length()
        return [one.layer for one in self._bitmaps(block, planes, lambda depth: (depth >> self._shift) + 1)]

    def _bitmaps(self, block: int, planes: int, number: Callable[[int], int]) -> list[Bitmap]:
        """The bits of the number of each state of a block; ``number``: by depth."""
        bitmaps = [Bitmap(self._kernel, self._blocks.shards(block)) for _ in range(planes)]
        for depth, blob in self._blobs(block):
            chosen = [bitmap for bit, bitmap in enumerate(bitmaps) if number(depth) >> bit & 1]
            decode_blob(self._kernel, depth, block, blob, chosen)
        return bitmaps


def parts(base: Base, first: int, end: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """The distances of keys ``first`` to ``end`` - 1, chunk by chunk: first key of the part, its distances."""
    key = first
    while key < end:
        chunk = base(key)
        distances = chunk.distance_array()
        until = min(end, chunk.last + 1)
        yield key, distances[key - chunk.first : until - chunk.first]
        key = until


class PartCut:
    """The parts of a map and their chunks: some chunks of a full one (``planes`` 0), or the words of a block each, one
    chunk, of so many bits a key. The last ones may be smaller."""

    def __init__(self, store: GatherStore, planes: int) -> None:
        if planes:
            words = store.kernel.words_per_shard * planes
            self._items = store.kernel.shards * words
            self._each = self._chunk = store.blocks.per_block * words
        else:
            self._items = store.kernel.keys
            self._each, self._chunk = store.facts.part_chunks * CHUNK_KEYS, CHUNK_KEYS
        self.count = -(-self._items // self._each)

    def range_of(self, part: int) -> range:
        """The keys, or words, of a part."""
        return range(part * self._each, min((part + 1) * self._each, self._items))

    def chunks(self, part: int) -> list[tuple[int, int]]:
        """The first and the last key, or word, of each chunk of a part."""
        here = self.range_of(part)
        firsts = range(here.start, here.stop, self._chunk)
        return [(first, min(first + self._chunk, here.stop) - 1) for first in firsts]


FETCHED_AT_ONCE = 8
"""Blobs of a block that are in memory at a time."""


class PartMaker:
    """Makes parts of one attempt's maps."""

    def __init__(self, store: GatherStore) -> None:
        self._store = store
        self._last: tuple[Fold, Assembly] | None = None

    def cut(self, fold: Fold) -> PartCut:
        """The parts of a map."""
        return PartCut(self._store, fold.planes)

    def fold(self, depth: int) -> Fold:
        """What is to be made. Raises LateStepError where the map up to ``depth`` is not."""
        store = self._store
        stored: Any = store.nodes.call(lambda: store.nodes.main.hget(store.meta_key, FOLD))
        fold = None if stored is None else Fold.of(stored)
        if fold is None or fold.depth != depth:
            raise LateStepError(
                f"the map of attempt {store.attempt} up to depth {depth} is not to be made now"
            )
        return fold

    def made(self, fold: Fold, part: int) -> bool:
        """Whether a part has its record."""
        store = self._store
        return bool(
            store.nodes.call(lambda: store.nodes.main.hexists(store.parts_key(fold.depth), str(part)))
        )

    def base_in_place(self, fold: Fold, part: int) -> Base | None:
        """The part's chunks of the checkpoint that the map is made from, where they are in the place of blobs. Raises
        LostStateError."""
        store = self._store
        stored: Any = store.nodes.call(lambda: store.nodes.main.hget(store.bases_key(fold.base), str(part)))
        if stored is None:
            return None
        record = PartRecord.of(stored, fold.base, part)
        chunks = {
            one.first: one for one in payloads(store, fold.base, part, record, self.cut(fold).chunks(part))
        }

        def base(key: int) -> Chunk:
            one = chunks[key // CHUNK_KEYS * CHUNK_KEYS]
            codec = f"zstd:{one.unit}"
            try:
                return open_chunk(
                    ChunkRecord(0, one.first, one.last, fold.base, codec, one.payload, one.checksum)
                )
            except StorageError as error:
                raise LostStateError(f"attempt {store.attempt}: {error}") from error

        return base

    def make(self, fold: Fold, part: int, base: Base | None) -> tuple[list[MadeChunk], int]:
        """The chunks of a part, and how many states they have. ``base``: finds those of the checkpoint."""
        store, cut, assembly = self._store, self.cut(fold), self._assembly(fold)
        if fold.planes:
            words, states = assembly.words(part)
            payload = words.tobytes()
            checksum = hashlib.sha256(payload).hexdigest()
            (keys,) = cut.chunks(part)
            return [MadeChunk(*keys, unit_for(fold.depth), checksum, checksum, payload)], states
        made, states = [], 0
        for one in assembly.chunks(CHUNK_KEYS, 1, base, cut.range_of(part)):
            stored, digest = encode(one), chunk_digest(one.distances)
            made.append(MadeChunk(one.first, one.last, one.unit, stored.checksum, digest, stored.payload))
            states += one.states_of(store.kernel)
        return made, states

    def _assembly(self, fold: Fold) -> Assembly:
        if self._last is None or self._last[0] != fold:
            store = self._store
            self._last = fold, Assembly(store.kernel, store.blocks, fold, partial(self._blobs, fold))
        return self._last[1]

    def _blobs(self, fold: Fold, block: int) -> Iterator[tuple[int, bytes]]:
        store = self._store

        def read() -> list[Any]:
            pipe = store.nodes.main.pipeline()
            pipe.hget(store.meta_key, FOLD)
            for depth in fold.wanted:
                pipe.hlen(store.records_key(depth))
                pipe.hget(store.records_key(depth), str(block))
            return list(pipe.execute())

        now, *found = store.nodes.call(read)
        if now != fold.text().encode():
            raise LateStepError(f"another map of attempt {store.attempt} is to be made now")
        records = {}
        for (depth, expected), number, text in zip(fold.wanted.items(), found[::2], found[1::2], strict=True):
            if number != expected:
                raise LostStateError(
                    f"attempt {store.attempt}: layer {depth} has {number} records, expected {expected}"
                )
            if text is not None:
                records[depth] = Record.of(text, depth, block)
        yield from block_blobs(store, block, records)

    def commit(
        self, fold: Fold, part: int, made: Sequence[MadeChunk], states: int, write: Callable[[str], bool]
    ) -> None:
        """Stores the chunks and the record of a part. ``write`` stores them as drafts under a nonce, or gives False:
        then they go to the place of blobs. Raises LateStepError where this map is not to be made now."""
        store, nonce = self._store, new_nonce()
        where = DATABASE if write(nonce) else PLACE
        name = store.part_name(fold.depth, part, nonce)
        if where == PLACE:
            store.send({name: b"".join(one.payload for one in made)})
        chunks = tuple(PartChunk(one.checksum, one.digest, len(one.payload)) for one in made)
        text = PartRecord(nonce, where, states, chunks).text(fold.depth, part)
        texts = RecordTexts(text, Report(fold.depth, part, store.holder or "", kind="part").text())
        records_key, under_way = store.parts_key(fold.depth), (FOLD, fold.text())
        (outcome,) = set_records(store.nodes, store, records_key, under_way, {part: texts})
        if outcome != OURS and where == PLACE:
            store.discard([name])
        if outcome == NOBODY_WAITS:
            raise LateStepError(
                f"the map of attempt {store.attempt} up to depth {fold.depth} is made already"
            )


def block_blobs(store: GatherStore, block: int, records: dict[int, Record]) -> Iterator[tuple[int, bytes]]:
    """(depth, blob) of a block at each depth of which it has states. Raises LostStateError where one is missing."""
    wanted = [(depth, record) for depth, record in records.items() if record.nonce]
    for start in range(0, len(wanted), FETCHED_AT_ONCE):
        some = wanted[start : start + FETCHED_AT_ONCE]
        names = [store.found_name(depth, block, record.nonce) for depth, record in some]
        for (depth, _), blob in zip(some, store.fetch(names, store.longest_blob(0)), strict=True):
            if blob is None:
                raise LostStateError(
                    f"attempt {store.attempt}: the blob of block {block} at depth {depth} is missing"
                )
            yield depth, blob


def payloads(
    store: AttemptSteps[Any], depth: int, part: int, record: PartRecord, keys: Sequence[tuple[int, int]]
) -> Iterator[MadeChunk]:
    """The chunks of a part that are in the place of blobs; their checksums are to be compared by the reader. Raises
    LostStateError."""
    blob = store.fetch([store.part_name(depth, part, record.nonce)], record.size)[0]
    if blob is None or len(blob) != record.size or len(record.chunks) != len(keys):
        raise LostStateError(
            f"attempt {store.attempt}: the blob of map part {part} at depth {depth} is missing or damaged"
        )
    begin, unit = 0, unit_for(depth)
    for (first, last), one in zip(keys, record.chunks, strict=True):
        payload = blob[begin : begin + one.size]
        begin += one.size
        yield MadeChunk(first, last, unit, one.checksum, one.digest, payload)


class AttemptParts:
    """One map of an attempt, which is to be made as ``fold`` says; when it is ``made``, a ``MadeMap``. ``base``: finds
    the chunks of the checkpoint at its base, where there is one."""

    def __init__(self, store: AttemptLayers[Any], cut: PartCut, fold: Fold, base: Base | None) -> None:
        self.store = store
        self.fold = fold
        self._base = base
        self._cut = cut
        self.parts = range(cut.count)
        self._records: list[PartRecord] = []

    def begin(self) -> None:
        """Lets workers begin. What they made of another map is forgotten."""
        store, fold = self.store, self.fold

        def write() -> None:
            pipe = store.nodes.main.pipeline()
            pipe.delete(store.parts_key(fold.depth), store.done_key)
            pipe.hset(store.meta_key, FOLD, fold.text())
            pipe.execute()

        store.touch()
        store.nodes.call(write)

    def give_base(self, part: int) -> None:
        """Puts the chunks of the base into the place of blobs, for workers that do not see the database."""
        store, fold = self.store, self.fold
        if self._base is None:
            return
        chunks, stored = [], []
        for first, _ in self._cut.chunks(part):
            chunk = self._base(first)
            made = encode(chunk)
            chunks.append(PartChunk(made.checksum, chunk_digest(chunk.distances), len(made.payload)))
            stored.append(made.payload)
        record = PartRecord(new_nonce(), PLACE, 0, tuple(chunks))
        store.send({store.part_name(fold.base, part, record.nonce): b"".join(stored)})
        text, key = record.text(fold.base, part), store.bases_key(fold.base)
        store.nodes.call(lambda: store.nodes.main.hset(key, str(part), text))

    def made(self, states: int) -> AttemptParts:
        """The map, of ``states`` states; of a residue map those whose number is not 0 are counted. Raises
        LostStateError where it is not that."""
        store, depth = self.store, self.fold.depth
        if self.fold.planes:
            states = sum(sum(store.counts(layer).values()) for layer in self.fold.wanted)
        records = PartRecord.all_of(store.nodes, store.parts_key(depth), depth)
        if sorted(records) != list(self.parts):
            raise LostStateError(
                f"attempt {store.attempt}: {len(records)} of the {len(self.parts)} map parts are known"
            )
        self._records = [records[part] for part in self.parts]
        if any(len(record.chunks) != len(self._cut.chunks(part)) for part, record in records.items()):
            raise LostStateError(f"attempt {store.attempt}: a map part has another number of chunks")
        found = sum(record.states for record in self._records)
        if found != states:
            raise LostStateError(
                f"attempt {store.attempt}: the map that workers made has {found:,} states, the layers up to depth "
                f"{depth} {states:,}"
            )
        return self

    def end(self) -> None:
        """Removes what was needed to make it."""
        store, fold = self.store, self.fold
        store.nodes.call(lambda: store.nodes.main.hdel(store.meta_key, FOLD))
        self._remove(fold.depth, store.parts_key(fold.depth))
        if fold.base != NO_BASE:
            self._remove(fold.base, store.bases_key(fold.base))

    def _remove(self, depth: int, key: str) -> None:
        records = PartRecord.all_of(self.store.nodes, key, depth).items()
        self.store.removals.begin(
            [
                self.store.part_name(depth, part, record.nonce)
                for part, record in records
                if record.where == PLACE
            ]
        )
        self.store.nodes.call(lambda: self.store.nodes.main.delete(key))

    # MadeMap

    def digest(self, layers: Sequence[int]) -> str:
        digests = (one.digest for record in self._records for one in record.chunks)
        return map_digest(layers, unit_for(self.fold.depth), digests)

    def words(self) -> Iterator[tuple[int, Buffer]]:
        for one in self.chunks():
            assert isinstance(one, MadeChunk), "words are in the place of blobs"
            yield one.first, one.payload

    def chunks(self) -> Iterator[MadeChunk | StoredDraft]:
        """Reads those that are in the place of blobs."""
        store, depth = self.store, self.fold.depth
        for part, record in enumerate(self._records):
            keys = self._cut.chunks(part)
            if record.where == PLACE:
                store.touch_if_room()
                for one in payloads(store, depth, part, record, keys):
                    if hashlib.sha256(one.payload).hexdigest() != one.checksum:
                        raise LostStateError(
                            f"attempt {store.attempt}: the blob of map part {part} at depth {depth} is damaged"
                        )
                    yield one
            else:
                for (first, last), chunk in zip(keys, record.chunks, strict=True):
                    yield StoredDraft(first, last, unit_for(depth), chunk.checksum, record.nonce)
