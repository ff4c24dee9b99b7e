"""Maps of attempts, put together part by part from the last checkpoint and the layers since then.

BitmapAssembly   distances, or the words of a residue map, one block at a time; of the gather engine (of the scatter
                 engine: stores/redis/run_parts.py)
PartMaker        a worker's side: reads what a part is made of, makes its chunks, commits its record
AttemptParts     the coordinator's side: says what is to be made, and gathers what was
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from farthest import _kernel
from farthest.errors import DamagedMapError, LateStepError, LostStateError, StorageError
from farthest.models.chunks import (
    CHUNK_KEYS,
    WIDTHS,
    Chunk,
    MadeChunk,
    StoredDraft,
    encode,
    kind_of,
    map_digest,
    open_chunk,
)
from farthest.models.records import ChunkRecord
from farthest.stores.blobs.blob import decode_blob
from farthest.stores.blobs.place import BlobName, new_nonce
from farthest.stores.blocks import Bitmap, Blocks, zeros
from farthest.stores.contract import Base, typed, unit_for
from farthest.stores.redis.assembly import Assembly, PartCut
from farthest.stores.redis.records import (
    DATABASE,
    FOLD,
    NO_BASE,
    NO_JOB,
    NOBODY_WAITS,
    OURS,
    PLACE,
    CutRecord,
    Fold,
    Part,
    PartChunk,
    PartRecord,
    Record,
    RecordTexts,
    Report,
    Stored,
    set_records,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.models.chunks import Unit
    from farthest.stores.redis.attempt_stores import AttemptLayers, AttemptSteps


class BitmapAssembly(Assembly):
    """The map that ``fold`` describes, of a space cut into blocks. One block at a time is spread over bit planes
    (kernel/include/farthest/planes.hpp): what the process needs is planes for one block, however large the space.

    ``blobs``: gives a block's (depth, blob), in any order, for the depths that ``fold`` wants; ``part_chunks``: of a
    part of distances.
    """

    def __init__(
        self,
        kernel: _kernel.Space,
        blocks: Blocks,
        fold: Fold,
        blobs: Callable[[int], Iterable[tuple[int, bytes]]],
        part_chunks: int = 1,
    ) -> None:
        words = kernel.words_per_shard * fold.planes
        of_block = blocks.per_block * words
        self.cut = (
            PartCut(kernel.shards * words, of_block, of_block)
            if fold.planes
            else PartCut(kernel.keys, part_chunks * CHUNK_KEYS, CHUNK_KEYS)
        )
        self._kernel = kernel
        self._blocks = blocks
        self.fold = fold
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
        unit = unit_for(self.fold.depth)
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

    def part(self, part: int, base: Base | None) -> Iterator[tuple[Chunk, int]]:
        for one in self.chunks(self.cut.chunk, 1, base, self.cut.range_of(part)):
            yield one, one.states_of(self._kernel)

    def words(self, block: int) -> tuple[NDArray[np.uint64], int]:
        fold = self.fold
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
                    f"the checkpoint does not fit a map up to depth {self.fold.depth}: {error}"
                ) from None

    def _planes(self, block: int) -> list[_kernel.Layer]:
        planes = ((self.fold.depth >> self._shift) + 1).bit_length()
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


FETCHED_AT_ONCE = 8
"""Blobs of a block that are in memory at a time."""


class PartMaker:
    """Makes parts of one attempt's maps."""

    def __init__(self, store: AttemptSteps[Any]) -> None:
        self._store = store
        self.shards = store.facts.shards
        self._last: Assembly | None = None

    def cut(self, fold: Fold) -> PartCut:
        """The parts of a map."""
        return self._assembly(fold).cut

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

    def made(self, key: str, item: int) -> bool:
        """Whether an item has its record in the hash with that key."""
        store = self._store
        return bool(store.nodes.call(lambda: store.nodes.main.hexists(key, str(item))))

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
            try:
                return open_chunk(
                    ChunkRecord(0, one.first, one.last, fold.base, one.codec, one.payload, one.checksum)
                )
            except StorageError as error:
                raise LostStateError(f"attempt {store.attempt}: {error}") from error

        return base

    def make(self, fold: Fold, part: int, base: Base | None) -> tuple[list[MadeChunk], int]:
        """The chunks of a part, and how many states they have. ``base``: finds those of the checkpoint."""
        assembly = self._assembly(fold)
        if fold.planes:
            words, states = assembly.words(part)
            payload, unit = words.tobytes(), unit_for(fold.depth)
            checksum = hashlib.sha256(payload).hexdigest()
            ((first, last),) = assembly.cut.chunks(part)
            return [MadeChunk(first, last, unit, unit, checksum, payload, None, checksum)], states
        made, states = [], 0
        for one, number in assembly.part(part, base):
            made.append(made_of(one))
            states += number
        return made, states

    def _assembly(self, fold: Fold) -> Assembly:
        if self._last is None or self._last.fold != fold:
            self._last = self._store.assembly(fold, partial(self._records, fold))
        return self._last

    def _records(self, fold: Fold, block: int) -> dict[int, Record]:
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
        return records

    def commit(
        self, fold: Fold, part: int, made: Sequence[MadeChunk], states: int, write: Callable[[str], bool]
    ) -> None:
        """Stores the chunks and the record of a part. ``write`` stores them as drafts under a nonce, or gives False:
        then they go to the place of blobs. Raises LateStepError where this map is not to be made now."""
        store, nonce, depth = self._store, new_nonce(), fold.depth
        where = DATABASE if write(nonce) else PLACE
        blobs = {}
        if where == PLACE:
            blobs[store.part_name(depth, part, nonce)] = b"".join(one.payload for one in made)
        record = PartRecord(nonce, where, states, tuple(map(part_chunk, made)))
        report = Report(depth, part, store.holder or "", kind="part")
        self._commit(fold, store.parts_key(depth), part, record, report, blobs)

    def cut_shard(self, fold: Fold, shard: int) -> None:
        """Cuts a shard for the parts of a sparse map. Raises LateStepError where this map is not to be made now."""
        store, depth = self._store, fold.depth
        ranges = self._assembly(fold).cut_shard(shard)
        outbox = tuple(Part(to, states, len(blob)) for to, states, blob in ranges)
        record = CutRecord(new_nonce(), {shard: sum(part.codes for part in outbox)}, outbox)
        blobs = {}
        if ranges:
            blobs[store.outbox_name(depth, shard, record.nonce)] = b"".join(blob for *_, blob in ranges)
        report = Report(depth, shard, store.holder or "", kind="cut")
        self._commit(fold, store.cuts_key(depth), shard, record, report, blobs)

    def _commit(
        self, fold: Fold, key: str, item: int, record: Stored, report: Report, blobs: dict[BlobName, bytes]
    ) -> None:
        """Stores blobs, and the record of an item in the hash with that key."""
        store = self._store
        store.send(blobs)
        texts = RecordTexts(record.text(fold.depth, item), report.text())
        (outcome,) = set_records(store.nodes, store, key, (FOLD, fold.text()), {item: texts})
        if outcome != OURS:
            store.discard(list(blobs))
        if outcome == NOBODY_WAITS:
            raise LateStepError(
                f"the map of attempt {store.attempt} up to depth {fold.depth} is made already"
            )


def made_of(one: Chunk) -> MadeChunk:
    """A chunk, encoded."""
    made = encode(one)
    return MadeChunk(
        one.first, one.last, one.unit, made.codec, made.checksum, made.payload, made.lead, one.digest()
    )


def part_chunk(one: MadeChunk) -> PartChunk:
    """What the record of a part says of a chunk."""
    return PartChunk(one.checksum, one.digest, len(one.payload), (one.lead or b"").hex())


def block_blobs(
    store: AttemptSteps[Any], block: int, records: Mapping[int, Record]
) -> Iterator[tuple[int, bytes]]:
    """(depth, blob) of a block at each depth of which it has states. Raises LostStateError where one is missing."""
    wanted = [(depth, record) for depth, record in records.items() if record.nonce]
    for start in range(0, len(wanted), FETCHED_AT_ONCE):
        some = wanted[start : start + FETCHED_AT_ONCE]
        names = [store.found_name(depth, block, record.nonce) for depth, record in some]
        most = store.longest_blob(max(sum(record.states.values()) for _, record in some))
        for (depth, _), blob in zip(some, store.fetch(names, most), strict=True):
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
    begin = 0
    for head, one in zip(heads(depth, record, keys), record.chunks, strict=True):
        payload = blob[begin : begin + one.size]
        begin += one.size
        yield MadeChunk(*head, one.checksum, payload, bytes.fromhex(one.lead) or None, one.digest)


def heads(
    depth: int, record: PartRecord, keys: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, Unit, str]]:
    """Of the chunks of a part the first and the last key, unit and codec."""
    unit = unit_for(depth)
    for (first, last), one in zip(keys, record.chunks, strict=True):
        yield first, last, unit, f"zstd:{kind_of(len(one.lead) // 2, unit)}"


class AttemptParts:
    """One map of an attempt, which is to be made as ``fold`` says; when it is ``made``, a ``MadeMap``. ``base``: finds
    the chunks of the checkpoint at its base, where there is one. ``shards``: those that are to be cut before."""

    def __init__(self, store: AttemptLayers[Any], cut: PartCut, fold: Fold, base: Base | None) -> None:
        self.store = store
        self.fold = fold
        self._base = base
        self.cut = cut
        self.parts = range(cut.count)
        self.shards = range(store.shards if fold.states else 0)
        self._records: list[PartRecord] = []

    @classmethod
    def of(cls, store: AttemptLayers[Any], depth: int, job: int, owner: str) -> AttemptParts:
        """The map up to ``depth``, for workers to make. ``job``: in whose database they may store it while ``owner``
        runs it, or NO_JOB."""
        fold = msgspec.structs.replace(
            store.fold(depth, store.residues, NO_JOB if store.residues else job, owner), nonce=new_nonce()
        )
        parts = cls(store, store.whole_assembly(fold).cut, fold, store.base)
        if store.residues is None:
            store.end_folding = parts.end
        return parts

    def begin(self) -> None:
        """Lets workers begin. What they made of another map is forgotten."""
        store, fold = self.store, self.fold

        def write() -> None:
            pipe = store.nodes.main.pipeline()
            pipe.delete(store.parts_key(fold.depth), store.cuts_key(fold.depth), store.done_key)
            pipe.hset(store.meta_key, FOLD, fold.text())
            pipe.execute()

        store.touch()
        store.nodes.call(write)

    def give_base(self, part: int) -> None:
        """Puts the chunks of the base into the place of blobs, for workers that do not see the database."""
        store, fold = self.store, self.fold
        if self._base is None:
            return
        made = [made_of(self._base(first)) for first, _ in self.cut.chunks(part)]
        record = PartRecord(new_nonce(), PLACE, 0, tuple(map(part_chunk, made)))
        payload = b"".join(one.payload for one in made)
        store.send({store.part_name(fold.base, part, record.nonce): payload})
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
        if any(len(record.chunks) != len(self.cut.chunks(part)) for part, record in records.items()):
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
        cuts = CutRecord.all_of(store.nodes, store.cuts_key(fold.depth), fold.depth)
        names = [store.outbox_name(fold.depth, shard, cut.nonce) for shard, cut in cuts.items() if cut.outbox]
        store.removals.begin(names)
        store.nodes.call(lambda: store.nodes.main.delete(store.cuts_key(fold.depth)))
        if fold.base != NO_BASE:
            self._remove(fold.base, store.bases_key(fold.base))

    def _remove(self, depth: int, key: str) -> None:
        records = PartRecord.all_of(self.store.nodes, key, depth).items()
        names = [
            self.store.part_name(depth, part, record.nonce)
            for part, record in records
            if record.where == PLACE
        ]
        self.store.removals.begin(names)
        self.store.nodes.call(lambda: self.store.nodes.main.delete(key))

    # MadeMap

    def digest(self, layers: Sequence[int]) -> str:
        chunks = [one for record in self._records for one in record.chunks]
        digests, width = (one.digest for one in chunks), len(chunks[0].lead) // 2
        return map_digest(layers, unit_for(self.fold.depth), digests, width)

    def words(self) -> Iterator[tuple[int, Buffer]]:
        for one in self.chunks():
            assert isinstance(one, MadeChunk), "words are in the place of blobs"
            yield one.first, one.payload

    def chunks(self) -> Iterator[MadeChunk | StoredDraft]:
        """Reads those that are in the place of blobs."""
        store, depth = self.store, self.fold.depth
        for part, record in enumerate(self._records):
            keys = self.cut.chunks(part)
            if record.where == PLACE:
                store.touch_if_room()
                for one in payloads(store, depth, part, record, keys):
                    if hashlib.sha256(one.payload).hexdigest() != one.checksum:
                        raise LostStateError(
                            f"attempt {store.attempt}: the blob of map part {part} at depth {depth} is damaged"
                        )
                    yield one
            else:
                for head, chunk in zip(heads(depth, record, keys), record.chunks, strict=True):
                    yield StoredDraft(*head, chunk.checksum, record.nonce, bytes.fromhex(chunk.lead) or None)
