"""The workers as Redis tells of them: `farthest workers`, and the web."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from farthest.stores.redis.connections import RedisNodes
from farthest.worker.app import queue_length
from farthest.worker.registry import list_workers, memory_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.worker.registry import NodeMemory, WorkerRecord


@dataclass(frozen=True, slots=True)
class LivingWorkers:
    """``waiting``: steps that no worker has begun. ``memory``: of each Redis server."""

    records: Sequence[WorkerRecord]
    waiting: int
    memory: Sequence[NodeMemory]

    def document(self) -> dict[str, Any]:
        """The object of `farthest workers --json`."""
        return {
            "workers": [asdict(record) for record in self.records],
            "queue": self.waiting,
            "redis": [asdict(node) for node in self.memory],
        }


def living_workers() -> LivingWorkers:
    """Raises StorageError where Redis cannot be reached."""
    nodes = RedisNodes.from_environment()
    return LivingWorkers(list_workers(nodes), queue_length(nodes), memory_of(nodes))
