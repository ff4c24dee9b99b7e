"""What the main node says of a block: its record at a depth, and the pointer to the blobs of all its found states.

Both tell their block, so that one that was damaged or belongs elsewhere raises LostStateError.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from zlib import crc32

from farthest.errors import LostStateError


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
    def of(cls, text: bytes, depth: int, block: int) -> Record:
        """Inverse of ``text``. Raises LostStateError."""
        said = json.loads(checked(text, f"c:{depth}:{block}", f"block {block} at depth {depth}"))
        nonce, states, outbox = said
        return cls(nonce, dict(states), tuple(Part(*part) for part in outbox))


@dataclass(frozen=True, slots=True)
class Found:
    """A blob of states that were found up to ``depth``: its nonce, and how many they are."""

    depth: int
    nonce: str
    states: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where all found states of a block are: the depth of the layer that they were last added at, and the blobs that
    hold them together."""

    depth: int = 0
    blobs: tuple[Found, ...] = ()

    def text(self, block: int) -> str:
        """As stored."""
        blobs = [(found.depth, found.nonce, found.states) for found in self.blobs]
        return with_checksum(f"v:{block}", json.dumps([self.depth, blobs], separators=(",", ":")))

    @classmethod
    def of(cls, text: bytes, block: int) -> Pointer:
        """Inverse of ``text``. Raises LostStateError."""
        depth, blobs = json.loads(checked(text, f"v:{block}", f"what block {block} has visited"))
        return cls(depth, tuple(Found(*found) for found in blobs))


def new_nonce() -> str:
    """A part of a blob's name that no other has had."""
    return secrets.token_hex(4)


def with_checksum(place: str, said: str) -> str:
    """A text as it is stored at a place: what it says, and before it a checksum of place and text."""
    return f"{crc32(f'{place} {said}'.encode()):08x} {said}"


def checked(text: bytes, place: str, what: str) -> str:
    """Inverse of ``with_checksum``. Raises LostStateError, which calls it the record of ``what``."""
    said = text[9:].decode(errors="replace")
    if text != with_checksum(place, said).encode():
        raise LostStateError(f"the record of {what} is damaged")
    return said
