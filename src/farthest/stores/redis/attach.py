"""Which store a worker makes of an attempt: that of the engine that the attempt says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.stores.redis.attempt_steps import facts_of
from farthest.stores.redis.gather_store import GatherStore
from farthest.stores.redis.scatter_store import ScatterStore

if TYPE_CHECKING:
    from farthest.stores.blobs.cache import BlobCache
    from farthest.stores.redis.connections import RedisNodes


def attach(nodes: RedisNodes, attempt: str, cache: BlobCache, holder: str) -> GatherStore | ScatterStore:
    """The store of an attempt that a coordinator has begun. Raises LateStepError when it has ended, VersionError when
    this process cannot work for it, and what compiling its space raises."""
    facts = facts_of(nodes, attempt)
    store = GatherStore if facts.engine == "gather" else ScatterStore
    return store.of(nodes, attempt, facts, cache, holder)
