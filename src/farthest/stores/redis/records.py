"""What the main node says of a block: its record at a depth, and the pointer to the blobs of all its found states.

Both tell their block, so that one that was damaged or belongs elsewhere raises LostStateError.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar
from zlib import crc32

from farthest.errors import LostStateError
from farthest.json_fields import count, counts, items, text
from farthest.stores.blobs.place import NONCE, new_nonce
from farthest.untrusted_json import read_json
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
