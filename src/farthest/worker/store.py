"""What a step needs of a store, whatever holds the data.

Invariants: a shard's commit carries the depth that it includes, so a step that is run twice, late or on two workers at
once changes nothing; the owner of a shard counts its states, once, when it commits; missing or damaged input raises, it
is never read as empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from farthest import _kernel


@dataclass(frozen=True, slots=True)
class LayerViews:
    """The layers that one call of the kernel's step reads and writes, as its arguments of the same names.

    Each list of layers holds together the shards that the step needs; ``shards`` are those still to be stepped.
    """

    shards: list[int]
    frontier: list[_kernel.Layer]
    fresh: list[_kernel.Layer]
    exclude: list[list[_kernel.Layer]]
    accumulate: list[list[_kernel.Layer]]


class ShardStore(Protocol):
    """Holds the frontier, and what has been found, of every shard of one job."""

    @property
    def kernel(self) -> _kernel.Space:
        """The space that the shards belong to."""

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        """Prepares the layer ``depth``, for which ``shards`` can have new states; returns the shards to step."""

    def open(self, depth: int, shards: Sequence[int]) -> LayerViews:
        """What is needed to step ``shards`` to ``depth``; shards that have been stepped are left out.

        Raises when the layer before is not complete.
        """

    def commit(self, depth: int, shards: Sequence[int], counts: Sequence[int]) -> None:
        """Makes the step of each shard, with its number of fresh states, part of the store, at once and once."""

    def counts(self, depth: int) -> dict[int, int]:
        """Number of states at ``depth`` in each shard committed at it; shards that are missing have none."""
