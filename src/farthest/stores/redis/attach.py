"""Which store a worker makes of an attempt: that of the engine that the attempt says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.stores.redis.attempt_steps import facts_of
from farthest.stores.redis.gather_store import GatherStore
from farthest.stores.redis.scatter_store import ScatterStore

if TYPE_CHECKING:
    from farthest.stores.blobs.cache import BlobCache
    from farthest.stores.blobs.place import BlobPlace
    from farthest.stores.redis.connections import RedisNodes


def attach(
    nodes: RedisNodes, attempt: str, cache: BlobCache, holder: str, place: BlobPlace | None = None
) -> GatherStore | ScatterStore:
    """The store of an attempt that a coordinator has begun. Raises LateStepError when it has ended, VersionError when
    this process cannot work for it, SettingError where it sees another place for blobs, and what compiling its space
    raises."""
    facts = facts_of(nodes, attempt)
    kind = GatherStore if facts.engine == "gather" else ScatterStore
    store = kind.of(nodes, attempt, facts, cache, holder, place)
    store.look_for_mark()
    return store
