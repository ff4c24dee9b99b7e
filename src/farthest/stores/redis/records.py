"""What the main node of an attempt says of blocks and maps, and what workers report, as it is stored.

    Record       what is committed of a block at a depth
    Pointer      where all found states of a block are
    Report       an entry of the done-list, for the coordinator that waits
    Fold         what map is to be made by workers
    CutRecord    of a sparse map: a shard that was cut by codes for its parts
    PartRecord   a part of it that was made

What is stored tells its place, with a checksum: what was damaged or belongs elsewhere raises LostStateError. The
checksum keeps nobody from writing what he likes: the values are checked as they are read.

A *map part* is an aligned run of chunks. Its record says where its chunks are: as drafts in the database
(models/maps.py), or their payloads, one after the other, as a blob in the place. A part of a residue map is the words
of a block, always a blob: like a chunk, whose payload they are, with the numbers of words for keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar
from zlib import crc32

import msgspec

from farthest.errors import LostStateError
from farthest.stores.blobs.place import new_nonce
from farthest.typed import decode
from farthest.wording import shown

if TYPE_CHECKING:
    from farthest.stores.redis.attempts import AttemptKeys
    from farthest.stores.redis.connections import RedisNodes

Made = TypeVar("Made")

Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
NumberOrNone = Annotated[int, msgspec.Meta(ge=-1, le=2**63 - 1)]
"""-1: none."""
NOT_COUNTED = -1
Nonce = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{8}\Z")]
"""It becomes a part of a path."""
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Stored(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What is stored as a JSON array of its fields, after a checksum. ``place``, ``what``: the place that it is stored
    at, and its name in messages, with the numbers of that place."""

    place: ClassVar[str]
    what: ClassVar[str]

    def text(self, *numbers: int) -> str:
        """As stored at the place with these numbers."""
        return with_checksum(self.place.format(*numbers), msgspec.json.encode(self).decode())

    @classmethod
    def of(cls, stored: bytes, *numbers: int) -> Self:
        """Inverse of ``text``. Raises LostStateError."""
        return recorded(stored, cls.place.format(*numbers), cls.what.format(*numbers), cls)

    @classmethod
    def all_of(cls, nodes: RedisNodes, key: str, depth: int) -> dict[int, Self]:
        """Those in a hash of the main node, by their fields: of what is stored with a depth and a number. Raises
        LostStateError, and as ``RedisNodes.call``."""
        stored: Any = nodes.call(lambda: nodes.main.hgetall(key))
        texts = zip(numbers(stored, key), stored.values(), strict=True)
        return {number: cls.of(text, depth, number) for number, text in texts}


class Part(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a block's outbox has for the block ``to``: so many ``codes`` in so many ``bytes``."""

    to: Number
    codes: Number
    bytes: Number


class Record(Stored, frozen=True):
    """What is committed at a depth of a block: the nonce of its blobs ('' when it has no states), states by shard, the
    parts of its outbox, one after the other (where states are scattered); the classes of its states by symmetries, or
    NOT_COUNTED. Where layers are united, shards without states at the depth are there too, if they have older ones."""

    place = "c:{}:{}"
    what = "block {1} at depth {0}"

    nonce: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{8})?\Z")]
    states: dict[Number, Number]
    outbox: tuple[Part, ...] = ()
    classes: NumberOrNone = NOT_COUNTED

    @classmethod
    def new(cls, states: dict[int, int], outbox: tuple[Part, ...] = (), classes: int = NOT_COUNTED) -> Record:
        """A record of blobs that are still to be written."""
        return cls(new_nonce() if states else "", states, outbox, classes)


class FoundBlob(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A blob of states that were found up to ``depth``: its nonce, and how many they are."""

    depth: Number
    nonce: Nonce
    states: Number


class Pointer(Stored, frozen=True):
    """Where all found states of a block are: the depth of the layer that they were last added at, and the blobs that
    hold them together."""

    place = "v:{}"
    what = "what block {} has visited"

    depth: Number
    blobs: tuple[FoundBlob, ...]


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


def recorded(stored: bytes, place: str, what: str, kind: type[Made]) -> Made:
    """The value of a type whose JSON was stored at a place by ``with_checksum``. Raises LostStateError, which calls it
    the record of ``what``."""
    said = stored[9:].decode(errors="replace")
    if stored != with_checksum(place, said).encode():
        raise LostStateError(f"the record of {what} is damaged")
    try:
        return decode(said, kind)
    except (ValueError, RecursionError) as error:
        raise LostStateError(f"the record of {what} is not one of farthest's: {error}") from error


MOST_BYTES = 2**16
"""The size of a report."""
MOST_OF_A_MESSAGE = 4000
"""Characters; what is longer is cut."""

Error = Literal["", "lost", "full", "no room", "no base", "busy", "failed"]


class Report(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An item of work (worker/work.py): done ``by`` a holder, or with an ``error`` (and its ``message``): "lost" means
    that the attempt's working state is, "full" that Redis had no memory left, "no room" that the place of blobs or the
    database was full, "no base" that the worker does not see the checkpoint that a part is made from, "busy" that this
    process cannot do the work now, "failed" that it cannot be done. ``block``: the item's number, which is a block's
    number in steps. A report holds no count of states: whoever waits reads that in the item's record."""

    depth: Number
    block: Number
    by: str
    error: Error = ""
    message: str = ""
    kind: str = "step"

    def text(self) -> str:
        """As stored."""
        short = msgspec.structs.replace(self, message=self.message[:MOST_OF_A_MESSAGE])
        return msgspec.json.encode(short).decode()

    @classmethod
    def of(cls, entry: bytes) -> Report:
        """Inverse of ``text``. Raises ValueError for an entry that is not a report."""
        if len(entry) > MOST_BYTES:
            raise ValueError(f"it has {len(entry)} bytes, expected {MOST_BYTES} at most")
        try:
            return decode(entry, cls)
        except (ValueError, RecursionError) as error:
            raise ValueError(str(error)) from None


_SET_RECORDS = """
-- KEYS: what says which work is under way; the records; the done-list; pointers to blobs; perhaps what is still to do
-- ARGV: a field of the first and its wanted value; then for each item: item, record, entry of the done-list, pointer
local outcomes = {}
for i = 3, #ARGV, 4 do
  local item, record = ARGV[i], ARGV[i + 1]
  local wanted = redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2]
  wanted = wanted and (not KEYS[5] or redis.call('HEXISTS', KEYS[5], item) == 1)
  if wanted and redis.call('HSETNX', KEYS[2], item, record) == 1 then
    if ARGV[i + 2] ~= '' then redis.call('RPUSH', KEYS[3], ARGV[i + 2]) end
    if ARGV[i + 3] ~= '' then redis.call('HSET', KEYS[4], item, ARGV[i + 3]) end
  end
  outcomes[#outcomes + 1] = redis.call('HGET', KEYS[2], item) == record and 2 or wanted and 1 or 0
end
return outcomes
"""

NOBODY_WAITS, ANOTHERS, OURS = range(3)
"""What ``set_records`` gives for an item: its work is not under way and its record is not this one; it has another's
record; its record is this one, now or since the command was sent before."""


class RecordTexts(NamedTuple):
    """What is set for an item, as it is stored: its record, an entry of the done-list or '', a pointer or ''."""

    record: str
    report: str
    pointer: str = ""


def set_records(
    nodes: RedisNodes,
    keys: AttemptKeys,
    records_key: str,
    under_way: tuple[str, str],
    items: Mapping[int, RecordTexts],
    *wanted_in: str,
) -> list[int]:
    """Sets the records of items of work (worker/work.py) at once, each where there is none, if the work is under way,
    and reports those that it sets. Gives for each item what has become of it.

    ``under_way``: a field of meta, and what it says while the work is under way; ``wanted_in``: the key of a hash in
    which an item must be, too."""
    script = nodes.main.register_script(_SET_RECORDS)
    names = [keys.meta_key, records_key, keys.done_key, keys.visited_key, *wanted_in]
    arguments = [*under_way, *(text for item, texts in items.items() for text in (str(item), *texts))]
    return [int(outcome) for outcome in nodes.call(lambda: script(keys=names, args=arguments))]


LEAST_CHUNKS = 16
"""The least number of chunks of a part, except the last one: so that it is worth its message."""

DATABASE: Literal["database"] = "database"
PLACE: Literal["place"] = "place"

FOLD = "fold"
"""The field of ``meta`` that says what map is to be made."""

NO_JOB = -1
"""The job of a fold whose chunks are not to be stored by workers."""
NO_BASE = -1
"""The base of a fold without a checkpoint."""


class Fold(Stored, frozen=True):
    """What a map is made of: the map up to depth ``base``, or NO_BASE, and the layers after it, up to ``depth``.

    ``records``: how many records each of these layers has. ``colour``: of the shards with the origins, where distances
    are even there and odd in the shards of the other colour; else -1. ``job``: in whose database workers may store
    drafts while ``owner`` runs it, or NO_JOB. ``planes``: of a residue map, and ``numbers`` there of the states of each
    of these layers (map_files/form.py); of layers with the number 0 nothing is read. Of other maps 0 and none.
    ``states``: of a sparse map, else 0; ``bounds``: the codes that its shards are cut at, one after the other, as a
    chunk has codes, in hexadecimal. ``nonce``: another one each time that workers make a map, also of the same depth;
    '' where none do."""

    place = FOLD
    what = "the map that is to be made"

    depth: Number
    base: NumberOrNone
    records: tuple[Number, ...]
    colour: Annotated[int, msgspec.Meta(ge=-1, le=1)]
    job: NumberOrNone
    owner: str
    planes: Annotated[int, msgspec.Meta(ge=0, le=2)] = 0
    numbers: tuple[Number, ...] = ()
    states: Number = 0
    bounds: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{2})*\Z")] = ""
    nonce: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{8})?\Z")] = ""

    def __post_init__(self) -> None:
        if len(self.records) != max(self.depth - self.base, 0):
            raise ValueError(f"{len(self.records)} layers from depth {self.base} to {self.depth}")
        of_layers = len(self.records) if self.planes else 0
        if len(self.numbers) != of_layers or max(self.numbers, default=0) >> self.planes:
            raise ValueError(f"{self.planes} planes, numbers {shown(list(self.numbers))}")

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


class CutRecord(Record, frozen=True):
    """The states of a shard at all depths, cut by codes for the parts of a sparse map: a blob like an outbox, whose
    parts are for ranges of codes."""

    place = "cut:{}:{}"
    what = "shard {1}, cut for the map up to depth {0},"


class PartChunk(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A chunk of a part: the SHA-256 of its payload, its digest (models/chunks.py), the bytes of its payload; in a
    sparse map its lead in hexadecimal."""

    checksum: Sha256
    digest: Sha256
    size: Number
    lead: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{2})*\Z")] = ""


class PartRecord(Stored, frozen=True):
    """A part that was made: how many ``states`` it has, and its chunks, ``where`` they are, under ``nonce``."""

    place = "part:{}:{}"
    what = "map part {1} at depth {0}"

    nonce: Nonce
    where: Literal["database", "place"]
    states: Number
    chunks: tuple[PartChunk, ...]

    @property
    def size(self) -> int:
        """Bytes of all payloads."""
        return sum(one.size for one in self.chunks)
