"""Blobs of sorted runs: of the states of a shard at a depth or up to it, and of what is sent to a shard.

The blob of very many states at a depth begins with the least of them, for the coordinator, which asks for no others of
the last layer: uint32 bytes of that blob, little endian; that blob; then the blob of all.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from farthest.stores.blobs.blob import FOUND, VISITED, damaged, longest_blob, seal, unseal
from farthest.stores.scattering import LEAST_KEPT, SortedRun, least_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.stores.blobs.place import BlobName


def most_bytes(width: int, states: int) -> int:
    """A run of so many states has no more bytes."""
    return 64 + states * (width + 3)


LEAST = struct.Struct("<I")

MANY = 64 * LEAST_KEPT
"""So many states are very many."""


def with_least(width: int, depth: int, shard: int, run: SortedRun) -> bytes:
    """The blob of the states of a shard at a depth."""
    blob = seal(FOUND, depth, shard, run.states, run.data)
    if run.states <= MANY:
        return blob
    few = least_of(width, run)
    least = seal(FOUND, depth, shard, few.states, few.data)
    return b"".join((LEAST.pack(len(least)), least, blob))


def least_bytes(width: int) -> int:
    """The least of very many states are in so many bytes at the beginning of a blob, at most."""
    return LEAST.size + longest_blob(most_bytes(width, LEAST_KEPT))


def least_in(blob: Buffer, width: int, name: BlobName) -> SortedRun:
    """The least LEAST_KEPT of very many states, from the beginning of their blob. Raises LostStateError."""
    end = _least_end(blob, name)
    return run_in(memoryview(blob)[LEAST.size : end], width, name, LEAST_KEPT)


def _least_end(blob: Buffer, name: BlobName) -> int:
    view = memoryview(blob)
    if len(view) < LEAST.size:
        raise damaged(name.depth, name.block, "it is cut off")
    return LEAST.size + int(LEAST.unpack_from(view)[0])


def run_in(blob: Buffer, width: int, name: BlobName, states: int) -> SortedRun:
    """The run in the blob of a layer or of all states found, which is to have so many states, with codes of ``width``
    bytes. Raises LostStateError."""
    kind = VISITED if name.kind == "v" else FOUND
    if kind == FOUND and states > MANY:
        blob = memoryview(blob)[_least_end(blob, name) :]
    said, data = unseal(kind, name.depth, name.block, blob, most_bytes(width, states))
    if said != states:
        raise damaged(name.depth, name.block, f"it holds {said} states, expected {states}")
    return SortedRun(states, data)


SENDER = struct.Struct("<I")
"""What a part of an outbox begins with, before its run: the shard that sends it, little endian."""
