"""What the main node says of a map that workers make: what is to be made (``Fold``), and what was (``PartRecord``).

A *map part* is an aligned run of chunks. Its record says where its chunks are: as drafts in the database
(models/drafts.py), or their payloads, one after the other, as a blob in the place. A part of a residue map is the words
of a block, always a blob: like a chunk, whose payload they are, with the numbers of words for keys.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from farthest.json_fields import count, counts, items, text
from farthest.models.chunks import CHUNK_KEYS
from farthest.stores.redis.records import nonce_of, recorded, with_checksum
from farthest.wording import shown

LEAST_CHUNKS = 16
"""Of a part, but for the last: so that it is worth its message."""

DATABASE, PLACE = "database", "place"

NO_JOB = -1
"""The job of a fold whose chunks are not to be stored by workers."""
NO_BASE = -1
"""The base of a fold without a checkpoint."""


class PartCut:
    """A map of ``keys`` keys in parts of ``chunks_each`` chunks; the last may be smaller."""

    def __init__(self, keys: int, chunks_each: int) -> None:
        self.keys = keys
        self._each = chunks_each * CHUNK_KEYS
        self.count = -(-keys // self._each)

    def range_of(self, part: int) -> range:
        """The keys of a part."""
        return range(part * self._each, min((part + 1) * self._each, self.keys))

    def chunks(self, part: int) -> list[tuple[int, int]]:
        """First and last key of each chunk of a part."""
        keys = self.range_of(part)
        return [
            (first, min(first + CHUNK_KEYS, self.keys) - 1)
            for first in range(keys.start, keys.stop, CHUNK_KEYS)
        ]


class WordCut:
    """The words of a residue map in parts, one a block; all but the last have ``each``."""

    def __init__(self, words: int, each: int) -> None:
        self._words = words
        self._each = each
        self.count = -(-words // each)

    def chunks(self, part: int) -> list[tuple[int, int]]:
        """The first and the last word of a part."""
        return [(part * self._each, min((part + 1) * self._each, self._words) - 1)]


@dataclass(frozen=True, slots=True)
class Fold:
    """What a map is made of: the map up to depth ``base``, or NO_BASE, and the layers after it, up to ``depth``.

    ``records``: how many records each of these layers has. ``colour``: of the shards with the origins, where distances
    are even there and odd in the shards of the other colour; else -1. ``job``: in whose database workers may store
    drafts while ``owner`` runs it, or NO_JOB. ``planes``: of a residue map, and ``numbers`` there of the states of each
    of these layers (map_files/form.py); of layers with the number 0 nothing is read. Of other maps 0 and none."""

    depth: int
    base: int
    records: tuple[int, ...]
    colour: int
    job: int
    owner: str
    planes: int = 0
    numbers: tuple[int, ...] = ()

    @property
    def wanted(self) -> dict[int, int]:
        """How many records each layer has that the map is made of, by depth."""
        numbers = self.numbers or (1,) * len(self.records)
        layers = zip(self.depths, self.records, numbers, strict=True)
        return {depth: records for depth, records, number in layers if number}

    @property
    def depths(self) -> range:
        """The depths of the layers."""
        return range(self.base + 1, self.depth + 1)

    def text(self) -> str:
        """As stored."""
        fields = [
            self.depth,
            self.base,
            self.records,
            self.colour,
            self.job,
            self.owner,
            self.planes,
            self.numbers,
        ]
        return with_checksum("fold", json.dumps(fields, separators=(",", ":")))

    @classmethod
    def of(cls, stored: bytes) -> Fold:
        """Inverse of ``text``. Raises LostStateError."""
        return recorded(stored, "fold", "the map that is to be made", cls._of_fields)

    @classmethod
    def _of_fields(cls, fields: Any) -> Fold:
        depth, base, records, colour, job, owner, planes, numbers = items(fields)
        for name, value in (("base", base), ("colour", colour), ("job", job)):
            if type(value) is not int or value < -1:
                raise ValueError(f"{name} is {shown(value)}")
        fold = cls(
            count(depth), base, counts(records), colour, job, text(owner), count(planes), counts(numbers)
        )
        if len(fold.records) != len(fold.depths) or colour > 1:
            raise ValueError(f"{len(fold.records)} layers from depth {base} to {depth}, colour {colour}")
        of_layers = len(fold.records) if fold.planes else 0
        if fold.planes > 2 or len(fold.numbers) != of_layers or max(fold.numbers, default=0) >> fold.planes:
            raise ValueError(f"{fold.planes} planes, numbers {shown(numbers)}")
        return fold


@dataclass(frozen=True, slots=True)
class PartChunk:
    """A chunk of a part: the SHA-256 of its payload, that of its distances, and the bytes of its payload."""

    checksum: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class PartRecord:
    """A part that was made: how many ``states`` it has, and its chunks, ``where`` they are, under ``nonce``."""

    nonce: str
    where: str
    states: int
    chunks: tuple[PartChunk, ...]

    @property
    def size(self) -> int:
        """Bytes of all payloads."""
        return sum(one.size for one in self.chunks)

    def text(self, depth: int, part: int) -> str:
        """As stored."""
        chunks = [(one.checksum, one.digest, one.size) for one in self.chunks]
        fields = [self.nonce, self.where, self.states, chunks]
        return with_checksum(f"part:{depth}:{part}", json.dumps(fields, separators=(",", ":")))

    @classmethod
    def of(cls, stored: bytes, depth: int, part: int) -> PartRecord:
        """Inverse of ``text``. Raises LostStateError."""
        return recorded(stored, f"part:{depth}:{part}", f"map part {part} at depth {depth}", cls._of_fields)

    @classmethod
    def _of_fields(cls, fields: Any) -> PartRecord:
        nonce, where, states, chunks = items(fields)
        if where not in (DATABASE, PLACE):
            raise ValueError(f"its chunks are in {shown(where)}")
        return cls(nonce_of(nonce), where, count(states), tuple(_chunk(one) for one in items(chunks)))


def _chunk(fields: Any) -> PartChunk:
    checksum, digest, size = items(fields)
    return PartChunk(_sha256(checksum), _sha256(digest), count(size))


def _sha256(field: Any) -> str:
    said = text(field)
    if len(said) != 64 or not set(said) <= set("0123456789abcdef"):
        raise ValueError(f"a SHA-256 is {shown(said)}")
    return said
