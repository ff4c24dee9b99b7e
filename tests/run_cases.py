"""Runs in Redis for tests: made from the cases of store_cases, stepped as workers do, and hit in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from farthest.map_files.form import ResidueForm
from farthest.stores.blobs.blob import BlobCache
from farthest.stores.blocks import Cut
from farthest.stores.contract import Base, step
from farthest.stores.redis.attempt_stores import Access
from farthest.stores.redis.attempts import new_attempt
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.gather_store import GatherStepInput, GatherStore
from store_cases import Case

NAMES_BY_RULE = {"before": "two colours", "two": "slides", "all": "one-way"}
"""A case for each way to tell what is new in a block by earlier layers (stores/redis/gather_store.py)."""


class Nodes(RedisNodes):
    """Every operation is done as often as ``times`` says; ``between`` is called after each but the last, ``before``
    before all.

    This is what a lost connection does: what it had asked for was done, and is asked for again.
    """

    def __init__(self, urls: list[str], times: int = 1) -> None:
        super().__init__(urls)
        self.times = times
        self.before: Callable[[], None] = lambda: None
        self.between: Callable[[], None] = lambda: None

    def call(self, operation: Callable[[], Any]) -> Any:
        self.before()
        for _ in range(self.times - 1):
            super().call(operation)
            self.between()
        return super().call(operation)


def begin_run(
    of: Case,
    nodes: RedisNodes,
    *,
    per_block: int = 2,
    distances: bool = True,
    residues: ResidueForm | None = None,
) -> GatherAttempt:
    """A new run of a case, at depth 0."""
    cut = Cut(of.kernel, of.shard_classes, min(per_block, of.kernel.shards))
    return GatherAttempt.create(
        nodes, new_attempt("1"), of.space, cut, distances=distances, residues=residues
    )


def worker_store(run: GatherAttempt, nodes: RedisNodes | None = None, cache: int = 0) -> GatherStore:
    """What a worker makes of the run, with a cache of so many bytes."""
    return GatherStore.attach(Access.found(nodes or run.nodes, run.attempt, BlobCache(cache), "worker"))


def advance(run: GatherAttempt, first: int, last: int, worker: GatherStore | None = None) -> None:
    """Steps the layers ``first`` to ``last``, block by block."""
    stepper = worker or run
    for depth in range(first, last + 1):
        shards = run.begin(depth, range(run.kernel.shards))
        for block in run.blocks.of(shards):
            step(stepper, depth, run.blocks.shards(block))
        run.counts(depth)


def stepped(store: GatherStore, depth: int, block: int) -> tuple[GatherStepInput, list[int]]:
    """A step that is not committed: its views and counts."""
    step_input = store.open(depth, store.blocks.shards(block))
    return step_input, step_input.run()


def keys(nodes: RedisNodes) -> set[str]:
    """The names of all keys on all nodes."""
    return {name for client in nodes.clients for name in names_of(client)}


def names_of(client: Any, pattern: str = "*") -> list[str]:
    """The names of the keys of one node, in order."""
    return sorted(name.decode() for name in client.scan_iter(pattern, 1000))


def distances_of(of: Case, depth: int) -> bytes:
    """The map up to a depth."""
    out = bytearray(b"\xff" * of.kernel.keys)
    for distance, layer in enumerate(of.layers[: depth + 1]):
        for key in layer:
            out[key] = distance
    return bytes(out)


def base_of(of: Case, depth: int, size: int) -> Base:
    """A checkpoint with chunks of ``size`` keys."""
    from farthest.models.chunks import Chunk

    whole = distances_of(of, depth)

    def chunk(key: int) -> Chunk:
        first = key - key % size
        part = whole[first : first + size]
        return Chunk(first, first + len(part) - 1, "uint8", part, depth=depth)

    return chunk
