"""A scatter attempt whose number of shards grows with the states that it has found.

How many states a space has is often not known before, and far fewer than there could be. Every step reads a part of
the outbox of each shard that sends it any: a layer of a hundred states in 64 shards is a thousand parts of a state or
two, and takes a hundred times as long as in one. So an attempt begins in one shard, and goes over to an attempt in more
of them before its states outgrow these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from farthest.models.chunks import CHUNK_KEYS
from farthest.models.sparse import SparsePiece

if TYPE_CHECKING:
    from farthest.models.pieces import Piece
    from farthest.stores.contract import Base
    from farthest.stores.redis.scatter_attempt import ScatterAttempt

OUTGROWN = 2
"""A shard has at most so many times the bytes that it should have."""
AHEAD = 4
"""So many times the shards that the states fill are made at once, or as many times as the last layer grows: going over
reads and writes all states found."""
DEEP = 2**15
"""An attempt that keeps its layers only to go over to more shards does so at this depth at the latest: a map has a
limit."""


class GrowingAttempt:
    """``JobStore`` of a coordinator. ``of``: the job, as in the names of its attempts; ``make``: a new attempt with
    that many shards, which keeps all layers if told so; ``most``: shards, at the end; ``shard_states``: how many states
    fill one; ``distances``: keep all layers for the map, not only to count."""

    def __init__(
        self,
        of: str,
        make: Callable[[int, bool], ScatterAttempt],
        most: int,
        shard_states: int,
        *,
        distances: bool,
    ) -> None:
        self.of = of
        self._make = make
        self._most = most
        self._shard_states = shard_states
        self._distances = distances
        self.current = self._begin(1)
        self._found = sum(self.current.counts(0).values())
        self._counted = 0  # depth

    def _begin(self, shards: int) -> ScatterAttempt:
        # What goes over to more shards is read from all layers.
        return self._make(shards, self._distances or shards < self._most)

    def _fitting(self, states: int, ahead: int = AHEAD) -> int:
        """The number of shards for an attempt that has so many states; ``ahead``: times those that they fill."""
        if states <= OUTGROWN * self._shard_states * self.current.shards:
            return self.current.shards
        return min(self._most, ahead * states // self._shard_states)

    # ShardStore

    @property
    def shards(self) -> int:
        """See ShardStore."""
        return self.current.shards

    def reachable(self, depth: int) -> Sequence[int]:
        """See ShardStore. Before, the attempt goes over to more shards where its own will not do for the layer, if that
        grows as the one before did."""
        if depth - 1 > self._counted:
            self._counted = depth - 1
            self._found += sum(self.current.counts(depth - 1).values())
            self._grow(depth - 1)
        return self.current.reachable(depth)

    def _grow(self, depth: int) -> None:
        if depth + 1 == self.current.facts.max_depth:
            return  # what is found there is sent to no shard
        expected = self.current.expected(depth + 1)
        growth = expected // sum(self.current.counts(depth).values()) if expected else 1
        shards = self._fitting(self._found + expected, max(AHEAD, growth))
        if not self._distances and depth >= DEEP:
            shards = self._most
        if shards == self.current.shards:
            return
        larger = self._begin(shards)
        try:
            larger.restore(depth, _restorable(self.current.chunks(depth, CHUNK_KEYS)), self._found)
        except BaseException:
            larger.drop()
            raise
        self.current.drop()
        self.current = larger

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        """See ShardStore."""
        return self.current.begin(depth, shards)

    def counts(self, depth: int) -> dict[int, int]:
        """See ShardStore."""
        return self.current.counts(depth)

    # StepStore

    def open(self, depth: int, shards: Sequence[int]) -> Any:
        """See StepStore."""
        return self.current.open(depth, shards)

    def commit(self, depth: int, step_input: Any, counts: Sequence[int]) -> None:
        """See StepStore."""
        self.current.commit(depth, step_input, counts)

    # JobStore

    def keys(self, depth: int, limit: int) -> list[int] | list[bytes]:
        """See JobStore."""
        return self.current.keys(depth, limit)

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Piece]:
        """See JobStore."""
        return self.current.chunks(depth, size, threads)

    def restore(self, depth: int, chunks: Iterable[Any], states: int, threads: int = 1) -> None:
        """See JobStore."""
        shards = self._fitting(states)
        if shards != self.current.shards:
            self.current.drop()
            self.current = self._begin(shards)
        self.current.restore(depth, chunks, states, threads)
        self._found, self._counted = states, depth

    def stored(self, depth: int, base: Base) -> None:
        """See JobStore."""
        self.current.stored(depth, base)

    def give_up(self, depth: int) -> None:
        """Removes what was found of a layer for which there was no room."""
        self.current.give_up(depth)

    def drop(self) -> None:
        """See JobStore."""
        self.current.drop()


def _restorable(pieces: Iterable[Piece]) -> Iterator[Any]:
    """What ``JobStore.restore`` takes, of what ``JobStore.chunks`` gives."""
    for piece in pieces:
        if isinstance(piece, SparsePiece):
            yield piece
        else:
            first, _, unit, distances = piece
            yield first, unit, distances
