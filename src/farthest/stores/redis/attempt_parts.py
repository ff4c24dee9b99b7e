"""The coordinator's side of a map that workers make: says what is to be made, and gathers what was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from farthest.errors import LostStateError
from farthest.models.chunks import chunk_digest, encode_chunk, map_digest
from farthest.models.drafts import MadeChunk, StoredDraft
from farthest.stores.blobs.place import new_nonce
from farthest.stores.distances import unit_for
from farthest.stores.redis.part_maker import payloads
from farthest.stores.redis.part_records import NO_BASE, PLACE, Fold, PartChunk, PartRecord
from farthest.stores.redis.records import numbers

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.stores.contract import Base
    from farthest.stores.redis.attempt_layers import AttemptLayers
    from farthest.stores.redis.part_records import PartCut, WordCut


class AttemptParts:
    """One map of an attempt, which is to be made as ``fold`` says. ``base``: finds the chunks of the checkpoint at its
    base, where there is one."""

    def __init__(
        self, store: AttemptLayers[Any], cut: PartCut | WordCut, fold: Fold, base: Base | None
    ) -> None:
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
            pipe.set(store.fold_key, fold.text())
            pipe.execute()

        store.touch()
        store.nodes.call(write)

    def committed(self) -> set[int]:
        """The parts that were made. Raises LostStateError where Redis knows nothing of the map."""
        store, key = self.store, self.store.parts_key(self.fold.depth)

        def read() -> tuple[bytes | None, list[bytes]]:
            pipe = store.nodes.main.pipeline()
            pipe.get(store.fold_key)
            pipe.hkeys(key)
            now, parts = pipe.execute()
            return now, parts

        store.touch()
        now, parts = store.nodes.call(read)
        if now != self.fold.text().encode():
            raise LostStateError(f"attempt {store.attempt}: Redis has lost what map is to be made")
        return set(numbers(parts, key))

    def give_base(self, part: int) -> None:
        """Puts the chunks of the base into the place of blobs, for workers that do not see the database."""
        store, fold = self.store, self.fold
        if self._base is None:
            return
        chunks, stored = [], []
        for first, _ in self._cut.chunks(part):
            chunk = self._base(first)
            payload = encode_chunk(chunk.distances, unit_for(fold.base))
            chunks.append(PartChunk(payload.checksum, chunk_digest(chunk.distances), len(payload.payload)))
            stored.append(payload.payload)
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
        store.nodes.call(lambda: store.nodes.main.delete(store.fold_key))
        self._remove(fold.depth, store.parts_key(fold.depth))
        if fold.base != NO_BASE:
            self._remove(fold.base, store.bases_key(fold.base))

    def _remove(self, depth: int, key: str) -> None:
        store = self.store
        stored: Any = store.nodes.call(lambda: store.nodes.main.hgetall(key))
        texts = zip(numbers(stored, key), stored.values(), strict=True)
        records = {part: PartRecord.of(text, depth, part) for part, text in texts}
        store.removals.blobs(
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
        """See MadeMap."""
        digests = (one.digest for record in self._records for one in record.chunks)
        return map_digest(layers, unit_for(self._parts.fold.depth), digests)

    def words(self) -> Iterator[tuple[int, Buffer]]:
        """See MadeMap."""
        for one in self.chunks():
            assert isinstance(one, MadeChunk), "words are in the place of blobs"
            yield one.first, one.payload

    def chunks(self) -> Iterator[MadeChunk | StoredDraft]:
        """See MadeMap."""
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
