"""The step of one shard by sorted runs: what it reads, and what comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from farthest.stores.blobs.blob import damaged, unseal

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.stores.redis.records import FoundBlob, Part, Record


@dataclass(frozen=True, slots=True)
class SortedRun:
    """A run as the kernel codes it (kernel/include/farthest/run_blob.hpp) and its number of states."""

    states: int
    data: Buffer

    @property
    def bytes(self) -> int:
        """Bytes of memory that it takes."""
        return memoryview(self.data).nbytes


EMPTY = SortedRun(0, b"")


@dataclass(slots=True)
class ShardStep:
    """The step of one shard. What it reads: what was sent to it, what is not new, its blobs of all states found. What
    comes out: its fresh states, what they lead to by shard, and where all are kept the run that takes the place of the
    last of these blobs, ``replaced`` of them."""

    incoming: list[SortedRun] = field(default_factory=list)
    exclude: list[SortedRun] = field(default_factory=list)
    visited: tuple[FoundBlob, ...] = ()
    fresh: SortedRun = EMPTY
    outbox: dict[int, SortedRun] = field(default_factory=dict)
    united: SortedRun = EMPTY
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """A part of the outbox of the shard ``by``, from its byte ``first`` on."""

    by: int
    nonce: str
    first: int
    part: Part


def sent_parts(records: Iterable[tuple[int, Record]]) -> dict[int, list[Sent]]:
    """What is for each shard in the outboxes of a layer, whose records are given with their shards."""
    of: dict[int, list[Sent]] = {}
    for by, record in records:
        first = 0
        for part in record.outbox:
            of.setdefault(part.to, []).append(Sent(by, record.nonce, first, part))
            first += part.bytes
    return of


def most_bytes(width: int, states: int) -> int:
    """A run of so many states has no more bytes."""
    return 64 + states * (width + 3)


def run_in(blob: Buffer, width: int, kind: bytes, depth: int, shard: int, states: int) -> SortedRun:
    """The run in a blob, which is to have so many states, with codes of ``width`` bytes. Raises LostStateError."""
    said, data = unseal(kind, depth, shard, blob, most_bytes(width, states))
    if said != states:
        raise damaged(depth, shard, f"it holds {said} states, expected {states}")
    return SortedRun(states, data)
