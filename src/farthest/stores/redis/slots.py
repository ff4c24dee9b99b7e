"""Decoded shards that stay in a process from step to step, in the slots of a stepper."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from farthest import _kernel

BLOBS_SHARE = 4
"""This part of a cache's memory is for blobs as they were read or written; the rest is for slots."""

EMPTY = 0
"""The slot of shards without states."""

ShardName = tuple[int, str, int]
"""A shard of a layer: its depth, the nonce of its block's blob, its number."""


class Slots:
    """Slots for the shards of one attempt; that of the shard that was used longest ago is taken for another.

    To be used while ``lock`` is held. Contents of a BlobCache, of whose ``memory`` they take a share, and more where
    that is not enough for ``least`` shards: those that one shard is stepped from."""

    def __init__(self, kernel: _kernel.Space, memory: int, least: int) -> None:
        each = _kernel.UnitStepper.slot_bytes(kernel)
        self.room = max(least, min(kernel.shards, (memory - memory // BLOBS_SHARE) // each))
        self.bytes = self.room * each
        self.stepper = _kernel.UnitStepper(kernel, 1 + self.room)
        self.stepper.load([(EMPTY, b"")])
        self.lock = threading.Lock()
        self._free = list(range(self.room, EMPTY, -1))
        self._held: OrderedDict[ShardName, int] = OrderedDict()

    def missing(self, wanted: Iterable[ShardName]) -> list[ShardName]:
        """Those of the shards that are in no slot. The others will stay until so many as there is room for were
        taken."""
        missing = []
        for name in wanted:
            if name in self._held:
                self._held.move_to_end(name)
            else:
                missing.append(name)
        return missing

    def load(self, blobs: Iterable[tuple[ShardName, memoryview]], threads: int) -> None:
        """Decodes shards into slots. Raises ValueError where a blob is damaged."""
        loads = []
        for name, blob in blobs:
            slot = self._free.pop() if self._free else self._held.popitem(last=False)[1]
            self._held[name] = slot
            loads.append((slot, blob))
        try:
            self.stepper.load(loads, threads)
        except ValueError:
            self._free += self._held.values()
            self._held.clear()
            raise

    def slot(self, name: ShardName) -> int:
        """The slot of a shard that has been loaded."""
        return self._held[name]
