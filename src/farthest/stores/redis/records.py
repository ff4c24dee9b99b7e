"""What the main node says of a block: its record at a depth, and the pointer to the blobs of all its found states.

Both tell their block, so that one that was damaged or belongs elsewhere raises LostStateError.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar, get_args
from zlib import crc32

from farthest.errors import LostStateError
from farthest.models.chunks import CHUNK_KEYS
from farthest.stores.blobs.place import NONCE, new_nonce
from farthest.untrusted_json import count, counts, items, read_json, read_json_object, text
from farthest.wording import shown

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Part:
    """What a block's outbox has for the block ``to``: so many ``codes`` in so many ``bytes``."""

    to: int
    codes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Record:
    """What is committed of a block at a depth: the nonce of its blobs ('' when it has no states), states by shard, the
    parts of its outbox, one after the other (where states are scattered)."""

    nonce: str
    states: dict[int, int]
    outbox: tuple[Part, ...] = ()

    @classmethod
    def new(cls, states: dict[int, int], outbox: tuple[Part, ...] = ()) -> Record:
        """A record of blobs that are still to be written."""
        return cls(new_nonce() if states else "", states, outbox)

    def text(self, depth: int, block: int) -> str:
        """As stored."""
        outbox = [(part.to, part.codes, part.bytes) for part in self.outbox]
        said = json.dumps([self.nonce, list(self.states.items()), outbox], separators=(",", ":"))
        return with_checksum(f"c:{depth}:{block}", said)

    @classmethod
    def of(cls, stored: bytes, depth: int, block: int) -> Record:
        """Inverse of ``text``. Raises LostStateError."""
        return recorded(stored, f"c:{depth}:{block}", f"block {block} at depth {depth}", cls._of_fields)

    @classmethod
    def _of_fields(cls, fields: Any) -> Record:
        nonce, states, outbox = items(fields)
        by_shard: dict[int, int] = dict(map(_pair, items(states)))
        return cls(
            "" if nonce == "" else nonce_of(nonce),
            by_shard,
            tuple(Part(*counts(part, 3)) for part in items(outbox)),
        )


@dataclass(frozen=True, slots=True)
class FoundBlob:
    """A blob of states that were found up to ``depth``: its nonce, and how many they are."""

    depth: int
    nonce: str
    states: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where all found states of a block are: the depth of the layer that they were last added at, and the blobs that
    hold them together."""

    depth: int = 0
    blobs: tuple[FoundBlob, ...] = ()

    def text(self, block: int) -> str:
        """As stored."""
        blobs = [(found.depth, found.nonce, found.states) for found in self.blobs]
        return with_checksum(f"v:{block}", json.dumps([self.depth, blobs], separators=(",", ":")))

    @classmethod
    def of(cls, stored: bytes, block: int) -> Pointer:
        """Inverse of ``text``. Raises LostStateError."""
        return recorded(stored, f"v:{block}", f"what block {block} has visited", cls._of_fields)

    @classmethod
    def _of_fields(cls, fields: Any) -> Pointer:
        depth, blobs = items(fields)
        return cls(count(depth), tuple(_found(blob) for blob in items(blobs)))


def _found(fields: Any) -> FoundBlob:
    depth, nonce, states = items(fields)
    return FoundBlob(count(depth), nonce_of(nonce), count(states))


def nonce_of(field: Any) -> str:
    """A nonce as stored. Raises ValueError, TypeError."""
    nonce = text(field)
    if not NONCE.fullmatch(nonce):  # it becomes a part of a path
        raise ValueError(f"a nonce is {shown(nonce)}, expected eight hexadecimal digits")
    return nonce


def _pair(fields: Any) -> tuple[int, int]:
    a, b = counts(fields)
    return a, b


def numbers(fields: Iterable[bytes], key: str) -> list[int]:
    """The names of a hash's fields, which are to be whole numbers. Raises LostStateError."""
    found = list(fields)
    for field in found:
        if not (field.isdigit() and len(field) <= 18):
            raise LostStateError(
                f"{key}: it holds {shown(field.decode(errors='replace'))}, expected numbers alone"
            )
    return [int(field) for field in found]


def with_checksum(place: str, said: str) -> str:
    """A text as it is stored at a place: what it says, and before it a checksum of place and text."""
    return f"{crc32(f'{place} {said}'.encode()):08x} {said}"


def recorded(stored: bytes, place: str, what: str, made: Callable[[Any], Made]) -> Made:
    """What ``made`` makes of the JSON that was stored at a place by ``with_checksum``; it raises TypeError or
    ValueError for other values. Raises LostStateError, which calls it the record of ``what``.

    The checksum shows damage. It keeps nobody from writing what he likes: the values are looked at all the same.
    """
    said = stored[9:].decode(errors="replace")
    if stored != with_checksum(place, said).encode():
        raise LostStateError(f"the record of {what} is damaged")
    try:
        return made(read_json(said))
    except (TypeError, ValueError) as error:
        raise LostStateError(f"the record of {what} is not one of farthest's: {error}") from error


# --- What workers tell the coordinator that waits: the entries of an attempt's done-list.

MOST_BYTES = 2**16
"""Of an entry."""
MOST_OF_A_MESSAGE = 4000
"""Characters; what is longer is cut."""


Error = Literal["", "lost", "full", "no room", "no base", "failed"]
ERRORS: tuple[Error, ...] = get_args(Error)


@dataclass(frozen=True, slots=True)
class Report:
    """An item of work (worker/work.py): done ``by`` a holder, or with an ``error`` (and its ``message``): "lost" means
    that the attempt's working state is, "full" that Redis had no memory left, "no room" that the place of blobs or the
    database was full, "no base" that the worker does not see the checkpoint that a part is made from, "failed" that the
    work cannot be done. ``block``: the item's number."""

    depth: int
    block: int
    by: str
    error: Error = ""
    message: str = ""
    kind: str = "step"

    def text(self) -> str:
        """As stored."""
        fields = {**asdict(self), "message": self.message[:MOST_OF_A_MESSAGE]}
        defaults = {"error": "", "message": "", "kind": "step"}
        return json.dumps({name: value for name, value in fields.items() if value != defaults.get(name)})

    @classmethod
    def of(cls, entry: bytes) -> Report:
        """Inverse of ``text``. Raises ValueError for an entry that is not a report."""
        fields = {"error": "", "message": "", "kind": "step", **read_json_object(entry, MOST_BYTES)}
        try:
            if set(fields) != set(cls.__match_args__) or fields["error"] not in ERRORS:
                raise ValueError("it has other fields")
            depth, block = counts([fields["depth"], fields["block"]])
            said = text(fields["by"]), fields["error"], text(fields["message"]), text(fields["kind"])
            return cls(depth, block, *said)
        except TypeError as error:
            raise ValueError(str(error)) from None


SET_RECORD = """
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if KEYS[4] and redis.call('HEXISTS', KEYS[4], ARGV[3]) == 0 then return 0 end
if redis.call('HSETNX', KEYS[2], ARGV[3], ARGV[4]) == 1 then redis.call('RPUSH', KEYS[3], ARGV[5]) end
return redis.call('HGET', KEYS[2], ARGV[3]) == ARGV[4] and 2 or 1
"""
"""Sets the record of an item where there is none, if its work is under way. KEYS: meta, records, done, and perhaps a
hash in which the item must be. ARGV: the field of meta, what it says while the work is under way, the item, its record,
the report. Gives 0 where the work is not under way, 2 where the record is now this one (it may be since the command was
sent before), else 1."""


# --- What the main node says of a map that workers make: what is to be made (``Fold``), and what was
# (``PartRecord``).
#
# A *map part* is an aligned run of chunks. Its record says where its chunks are: as drafts in the database
# (models/maps.py), or their payloads, one after the other, as a blob in the place. A part of a residue map is the
# words of a block, always a blob: like a chunk, whose payload they are, with the numbers of words for keys.

LEAST_CHUNKS = 16
"""Of a part, but for the last: so that it is worth its message."""

DATABASE, PLACE = "database", "place"

FOLD = "fold"
"""The field of ``meta`` that says what map is to be made."""

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
