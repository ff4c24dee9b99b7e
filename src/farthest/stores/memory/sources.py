"""Which shards a layer can reach, where moves send shards to shards."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from farthest import _kernel


class Sources:
    """The shards that moves lead from into each shard of a kernel's space."""

    def __init__(self, kernel: _kernel.Space) -> None:
        self._kernel = kernel

    @cached_property
    def _of(self) -> list[frozenset[int]]:
        return [frozenset(self._kernel.sources(shard)) for shard in range(self._kernel.shards)]

    def reached_from(self, shards: Iterable[int]) -> list[int]:
        """The shards that moves lead to from any of ``shards``, ascending."""
        before = frozenset(shards)
        return [shard for shard, sources in enumerate(self._of) if not sources.isdisjoint(before)]
