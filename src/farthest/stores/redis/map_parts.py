"""Maps of attempts by the gather engine, put together part by part from the last checkpoint and the layers since then.

Assembly       distances, one block at a time
block_words    the words of a block of a residue map
PartMaker      a worker's side: reads what a part is made of, makes its chunks, commits its record
AttemptParts   the coordinator's side: says what is to be made, and gathers what was
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from farthest.stores.contract import Base, reached, typed, unit_for
from farthest.stores.redis.records import (
    DATABASE,
    FOLD,
    NO_BASE,
    NOBODY_WAITS,
    OURS,
    PLACE,
    Fold,
    PartChunk,
    PartCut,
    PartRecord,
    Record,
    RecordTexts,
    Report,
    numbers,
    set_records,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.stores.blocks import Blocks
    from farthest.stores.redis.attempt_stores import AttemptLayers, AttemptSteps
    from farthest.stores.redis.gather_store import GatherStore


class Assembly:
    """Distances up to ``depth`` of a space cut into blocks. One block at a time is spread over bit planes
    (kernel/include/farthest/planes.hpp): what the process needs is planes for one block, however large the space.

    ``blobs``: gives a block's (depth, blob), in any order, for the depths that ``base`` does not have; ``base`` None:
    there is no checkpoint. ``colour``: of the shards with even distances, where the others have odd ones; else -1.
    """

    def __init__(
        self,
        kernel: _kernel.Space,
        blocks: Blocks,
        depth: int,
        *,
        blobs: Callable[[int], Iterable[tuple[int, bytes]]],
        base: Base | None,
        colour: int,
    ) -> None:
        self._kernel = kernel
        self._blocks = blocks
        self._depth = depth
        self._blobs = blobs
        self._base = base
        self._shift = 0 if colour < 0 else 1
        self._parity = [] if colour < 0 else [of_shard ^ colour for of_shard in kernel.colours]
        self._keys_per_block = kernel.keys // kernel.shards * blocks.per_block
        self._block = -1
        # Planes of that block, for the next range of keys begins where one ended.
        self._layers: list[_kernel.Layer] = []

    def chunks(self, size: int, threads: int, keys: range | None = None) -> Iterator[Chunk]:
        """The distances, ``size`` keys a chunk, in key order; ``keys``: None for all. Raises
        LostStateError and what ``base`` raises."""
        unit = unit_for(self._depth)
        width = WIDTHS[unit]
        wanted = range(self._kernel.keys) if keys is None else keys
        for first in range(wanted.start, wanted.stop, size):
            end = min(first + size, wanted.stop)
            out = zeros((end - first) * width)
            key = first
            while key < end:
                block = key // self._keys_per_block
                if block != self._block:
                    self._layers, self._block = self._planes(block, threads), block
                until = min(end, (block + 1) * self._keys_per_block)
                self._add_base(key, until, threads)
                part = out[(key - first) * width : (until - first) * width]
                distances = typed(part, unit)
                _kernel.expand(self._kernel, self._layers, self._shift, self._parity, key, distances, threads)
                key = until
            yield Chunk(first, end - 1, unit, out)

    def _add_base(self, first: int, end: int, threads: int) -> None:
        """Adds the checkpoint's distances of these keys to the planes of the block that they are in."""
        if self._base is None:
            return
        for key, part in parts(self._base, first, end):
            try:
                _kernel.collect(self._kernel, self._layers, self._shift, key, part, threads)
            except ValueError as error:
                raise DamagedMapError(
                    f"the checkpoint does not fit a map up to depth {self._depth}: {error}"
                ) from None

    def _planes(self, block: int, threads: int) -> list[_kernel.Layer]:
        shards = self._blocks.shards(block)
        number = ((self._depth >> self._shift) + 1).bit_length()
        planes = [Bitmap(self._kernel, shards) for _ in range(number)]
        layers = [plane.layer for plane in planes]
        for depth, blob in self._blobs(block):
            chosen = [plane for bit, plane in enumerate(planes) if ((depth >> self._shift) + 1) >> bit & 1]
            decode_blob(self._kernel, depth, block, blob, chosen)
        return layers


def parts(base: Base, first: int, end: int) -> Iterator[tuple[int, memoryview]]:
    """The distances of keys ``first`` to ``end`` - 1, chunk by chunk: first key of the part, its distances."""
    key = first
    while key < end:
        chunk = base(key)
        distances = typed(memoryview(chunk.distances), chunk.unit)
        until = min(end, chunk.last + 1)
        yield key, distances[key - chunk.first : until - chunk.first]
        key = until


def cut_in_parts(store: GatherStore, planes: int) -> PartCut:
    """The parts of a map: some chunks of a full one (``planes`` 0), or the words of a block each, of so many bits a
    key."""
    if not planes:
        return PartCut(store.kernel.keys, store.facts.part_chunks * CHUNK_KEYS, CHUNK_KEYS)
    words = store.kernel.words_per_shard * planes
    each = store.blocks.per_block * words
    return PartCut(store.kernel.shards * words, each, each)


def block_words(
    store: GatherStore,
    block: int,
    blobs: Iterable[tuple[int, bytes]],
    numbers: Mapping[int, int],
    planes: int,
) -> tuple[NDArray[np.uint64], int]:
    """The words of a block (map_files/form.py), and how many states have a number there that is not 0. ``blobs``:
    (depth, blob), of the block; ``numbers``: by depth. Raises LostStateError where one is damaged."""
    bitmaps = [Bitmap(store.kernel, store.blocks.shards(block)) for _ in range(planes)]
    for depth, blob in blobs:
        chosen = [bitmap for plane, bitmap in enumerate(bitmaps) if numbers[depth] >> plane & 1]
        decode_blob(store.kernel, depth, block, blob, chosen)
    words = np.stack([np.asarray(bitmap.words, dtype=np.uint64) for bitmap in bitmaps], axis=1)
    states = int(np.bitwise_count(np.bitwise_or.reduce(words, axis=1)).sum(dtype=np.int64))
    return words.reshape(-1), states


FETCHED_AT_ONCE = 8
"""Blobs of a block that are in memory at a time."""


class PartMaker:
    """Makes parts of one attempt's maps."""

    def __init__(self, store: GatherStore) -> None:
        self._store = store
        self._assembly: tuple[str, Assembly] | None = None
        self._base: Base | None = None

    def cut(self, fold: Fold) -> PartCut:
        """The parts of a map."""
        return cut_in_parts(self._store, fold.planes)

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
        """The chunks of a part, and how many states they have."""
        if fold.planes:
            return self._words(fold, part)
        self._base = base
        text = fold.text()
        if self._assembly is None or self._assembly[0] != text:
            self._assembly = text, self._new_assembly(fold)
        made, states = [], 0
        for one in self._assembly[1].chunks(CHUNK_KEYS, 1, self.cut(fold).range_of(part)):
            stored, digest = encode(one), chunk_digest(one.distances)
            made.append(MadeChunk(one.first, one.last, one.unit, stored.checksum, digest, stored.payload))
            states += reached(memoryview(one.distances), one.unit)
        return made, states

    def _words(self, fold: Fold, part: int) -> tuple[list[MadeChunk], int]:
        store, numbers = self._store, dict(zip(fold.depths, fold.numbers, strict=True))
        words, states = block_words(store, part, self._blobs(fold, part), numbers, fold.planes)
        payload = words.tobytes()
        checksum = hashlib.sha256(payload).hexdigest()
        (keys,) = self.cut(fold).chunks(part)
        return [MadeChunk(*keys, unit_for(fold.depth), checksum, checksum, payload)], states

    def _new_assembly(self, fold: Fold) -> Assembly:
        store = self._store
        based: Base | None = None
        if fold.base != NO_BASE:

            def based(key: int) -> Chunk:
                assert self._base is not None
                return self._base(key)

        return Assembly(
            store.kernel,
            store.blocks,
            fold.depth,
            blobs=lambda block: self._blobs(fold, block),
            base=based,
            colour=fold.colour,
        )

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
    """One map of an attempt, which is to be made as ``fold`` says. ``base``: finds the chunks of the checkpoint at its
    base, where there is one."""

    def __init__(self, store: AttemptLayers[Any], cut: PartCut, fold: Fold, base: Base | None) -> None:
        self.store = store
        self.fold = fold
        self._base = base
        self._cut = cut
        self.parts = range(self._cut.count)

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

    def made(self, states: int) -> MadeParts:
        """The map, of ``states`` states; of a residue map those whose number is not 0 are counted. Raises
        LostStateError where it is not that."""
        store, depth = self.store, self.fold.depth
        if self.fold.planes:
            states = sum(sum(store.counts(known).values()) for known in self.fold.wanted)
        parts_key = store.parts_key(depth)
        stored: Any = store.nodes.call(lambda: store.nodes.main.hgetall(parts_key))
        texts = dict(zip(numbers(stored, parts_key), stored.values(), strict=True))
        if sorted(texts) != list(self.parts):
            raise LostStateError(
                f"attempt {store.attempt}: {len(texts)} of the {len(self.parts)} map parts are known"
            )
        records = [PartRecord.of(texts[part], depth, part) for part in self.parts]
        keys = [self._cut.chunks(part) for part in self.parts]
        if any(len(record.chunks) != len(some) for record, some in zip(records, keys, strict=True)):
            raise LostStateError(f"attempt {store.attempt}: a map part has another number of chunks")
        if sum(record.states for record in records) != states:
            raise LostStateError(
                f"attempt {store.attempt}: the map that workers made has {sum(one.states for one in records):,} "
                f"states, the layers up to depth {depth} {states:,}"
            )
        return MadeParts(self, records, keys)

    def end(self) -> None:
        """Removes what was needed to make it."""
        store, fold = self.store, self.fold
        store.nodes.call(lambda: store.nodes.main.hdel(store.meta_key, FOLD))
        self._remove(fold.depth, store.parts_key(fold.depth))
        if fold.base != NO_BASE:
            self._remove(fold.base, store.bases_key(fold.base))

    def _remove(self, depth: int, key: str) -> None:
        store = self.store
        stored: Any = store.nodes.call(lambda: store.nodes.main.hgetall(key))
        texts = zip(numbers(stored, key), stored.values(), strict=True)
        records = {part: PartRecord.of(text, depth, part) for part, text in texts}
        store.removals.begin(
            [
                store.part_name(depth, part, record.nonce)
                for part, record in records.items()
                if record.where == PLACE
            ]
        )
        store.nodes.call(lambda: store.nodes.main.delete(key))


class MadeParts:
    """``MadeMap`` of the parts that workers made. ``chunks`` reads those that are in the place of blobs."""

    def __init__(
        self, parts: AttemptParts, records: Sequence[PartRecord], keys: Sequence[list[tuple[int, int]]]
    ) -> None:
        self._parts = parts
        self._records = records
        self._keys = keys

    def digest(self, layers: Sequence[int]) -> str:
        digests = (one.digest for record in self._records for one in record.chunks)
        return map_digest(layers, unit_for(self._parts.fold.depth), digests)

    def words(self) -> Iterator[tuple[int, Buffer]]:
        for one in self.chunks():
            assert isinstance(one, MadeChunk), "words are in the place of blobs"
            yield one.first, one.payload

    def chunks(self) -> Iterator[MadeChunk | StoredDraft]:
        store, depth = self._parts.store, self._parts.fold.depth
        unit = unit_for(depth)
        for part, (record, keys) in enumerate(zip(self._records, self._keys, strict=True)):
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
                    yield StoredDraft(first, last, unit, chunk.checksum, record.nonce)
