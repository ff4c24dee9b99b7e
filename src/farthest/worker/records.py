"""What the main node says of a block: its record at a depth, and the pointer to the blob of all its found states.

Both tell their block, so that one that was damaged or belongs elsewhere raises LostStateError.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from zlib import crc32

from farthest.errors import LostStateError


@dataclass(frozen=True, slots=True)
class Record:
    """What is committed of a block at a depth: the nonce of its blob ('' when it has no states), states by shard."""

    nonce: str
    states: dict[int, int]

    @classmethod
    def new(cls, states: dict[int, int]) -> Record:
        """A record of a blob that is still to be written."""
        return cls(new_nonce() if states else "", states)

    def text(self, depth: int, block: int) -> str:
        """As stored."""
        return _with_checksum(
            f"c:{depth}:{block}", json.dumps([self.nonce, list(self.states.items())], separators=(",", ":"))
        )

    @classmethod
    def of(cls, text: bytes, depth: int, block: int) -> Record:
        """Inverse of ``text``. Raises LostStateError."""
        nonce, states = json.loads(_checked(text, f"c:{depth}:{block}", f"block {block} at depth {depth}"))
        return cls(nonce, dict(states))


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where the blob of all found states of a block is: the depth of the layer that they were last added at, the
    blob's nonce ('' when there are none)."""

    depth: int = 0
    nonce: str = ""

    def text(self, block: int) -> str:
        """As stored."""
        return _with_checksum(f"v:{block}", f"{self.depth}:{self.nonce}")

    @classmethod
    def of(cls, text: bytes, block: int) -> Pointer:
        """Inverse of ``text``. Raises LostStateError."""
        depth, _, nonce = _checked(text, f"v:{block}", f"what block {block} has visited").partition(":")
        return cls(int(depth), nonce)


def new_nonce() -> str:
    """A part of a blob's name that no other has had."""
    return secrets.token_hex(4)


def _with_checksum(place: str, said: str) -> str:
    return f"{crc32(f'{place} {said}'.encode()):08x} {said}"


def _checked(text: bytes, place: str, what: str) -> str:
    said = text[9:].decode(errors="replace")
    if text != _with_checksum(place, said).encode():
        raise LostStateError(f"the record of {what} is damaged")
    return said
