"""A worker's side of a map that is being made: reads what a part is made of, makes its chunks, commits its record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from farthest.errors import LateStepError, LostStateError, StorageError
from farthest.models.chunk_reader import open_chunk
from farthest.models.chunks import CHUNK_KEYS, Chunk, ChunkRecord, chunk_digest, encode_chunk
from farthest.models.drafts import MadeChunk
from farthest.stores.blobs.place import new_nonce
from farthest.stores.distances import reached, unit_for
from farthest.stores.redis.assembly import Assembly
from farthest.stores.redis.part_records import (
    DATABASE,
    NO_BASE,
    PLACE,
    Fold,
    PartChunk,
    PartCut,
    PartRecord,
    WordCut,
)
from farthest.stores.redis.records import Record
from farthest.stores.redis.reports import Report
from farthest.stores.redis.residue_words import block_words, word_cut

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.stores.contract import Base
    from farthest.stores.redis.attempt_blobs import AttemptBlobs
    from farthest.stores.redis.gather_store import GatherStore

FETCHED_AT_ONCE = 8
"""Blobs of a block that are in memory at a time."""

COMMIT_PART = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[3]) == 1 then redis.call('RPUSH', KEYS[3], ARGV[4]) end
return redis.call('HGET', KEYS[2], ARGV[2]) == ARGV[3] and 2 or 1
"""
"""Sets the record of a part where there is none, if this is the map that is to be made. KEYS: fold, parts, done. ARGV:
the fold, the part, its record, the entry of the done-list. Gives 2 where the record is now this one."""


class PartMaker:
    """Makes parts of one attempt's maps."""

    def __init__(self, store: GatherStore) -> None:
        self._store = store
        self._commit = store.nodes.main.register_script(COMMIT_PART)
        self._assembly: tuple[str, Assembly] | None = None
        self._base: Base | None = None
        self._cut = PartCut(store.kernel.keys, store.facts.part_chunks)

    def cut(self, fold: Fold) -> PartCut | WordCut:
        """The parts of a map."""
        return word_cut(self._store.kernel, self._store.blocks, fold.planes) if fold.planes else self._cut

    def fold(self, depth: int) -> Fold:
        """What is to be made. Raises LateStepError where the map up to ``depth`` is not."""
        store = self._store
        stored: Any = store.nodes.call(lambda: store.nodes.main.get(store.fold_key))
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
        chunks = {one.first: one for one in payloads(store, fold.base, part, record, self._cut.chunks(part))}

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
        for first, last, unit, data in self._assembly[1].chunks(CHUNK_KEYS, 1, self._cut.range_of(part)):
            payload = encode_chunk(data, unit)
            made.append(MadeChunk(first, last, unit, payload.checksum, chunk_digest(data), payload.payload))
            states += reached(data, unit)
        return made, states

    def _words(self, fold: Fold, part: int) -> tuple[list[MadeChunk], int]:
        store, numbers = self._store, dict(zip(fold.depths, fold.numbers, strict=True))
        words, states = block_words(
            store.kernel, store.blocks, part, self._blobs(fold, part), numbers, fold.planes
        )
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
            shift=0 if fold.colour < 0 else 1,
            parity=[] if fold.colour < 0 else [colour ^ fold.colour for colour in store.kernel.colours],
        )

    def _blobs(self, fold: Fold, block: int) -> Iterator[tuple[int, bytes]]:
        store = self._store

        def read() -> list[Any]:
            pipe = store.nodes.main.pipeline()
            pipe.get(store.fold_key)
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
        report = Report(fold.depth, part, store.holder or "", kind="part").text()
        keys = [store.fold_key, store.parts_key(fold.depth), store.done_key]
        arguments = [fold.text(), str(part), text, report]
        outcome = store.nodes.call(lambda: self._commit(keys=keys, args=arguments))
        if outcome != 2 and where == PLACE:
            store.discard([name])
        if not outcome:
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
    store: AttemptBlobs, depth: int, part: int, record: PartRecord, keys: Sequence[tuple[int, int]]
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
