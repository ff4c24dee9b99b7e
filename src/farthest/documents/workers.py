"""The workers as Redis tells of them: `farthest workers`, and the web."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from farthest.stores.redis.connections import RedisNodes
from farthest.worker.app import queue_length
from farthest.worker.registry import NodeMemory, Work, WorkerRecord, list_workers, memory_of


@dataclass(frozen=True, slots=True)
class WorkersDocument:
    """The workers, their queue and their memory."""

    workers: Annotated[
        list[WorkerRecord],
        "objects with `name`, `host`, `pid`, `version`, `protocol`, `concurrency`, `started` (time), `memory` (bytes "
        "that it might use then), `pids` (of its processes), `silent` (seconds since its last sign of life) and "
        "`busy`, the steps under way: `process`, "
        "`attempt` (the coordinator's try at the job), `depth`, `block`, `seconds` (since when) and `kind`: `step`, or "
        "`search` for a batch of pieces of a search, where `depth` is the bound and `block` the number of the batch",
    ]
    queue: Annotated[int, "steps and pieces that no worker has begun"]
    redis: Annotated[
        list[NodeMemory],
        "of each server: `place`, bytes `used`, `peak` and `most` (what it may use; 0: no limit), and `evicted`, how "
        "many keys it has removed because it was full",
    ]


WORKER = ("worker", "version", "processes", "busy", "steps under way")
"""The headings of ``worker_rows``."""


def worker_rows(workers: Iterable[WorkerRecord]) -> list[tuple[str, ...]]:
    """A row of texts for each worker."""
    return [
        (
            record.name,
            record.version,
            str(record.concurrency),
            str(len(record.busy)),
            ", ".join(map(_work_text, record.busy)) or "idle",
        )
        for record in workers
    ]


def _work_text(work: Work) -> str:
    depth, block = ("bound", "piece") if work.kind == "search" else ("depth", "block")
    return f"attempt {work.attempt} {depth} {work.depth} {block} {work.block} ({work.seconds} s)"


def living_workers() -> WorkersDocument:
    """Raises StorageError where Redis cannot be reached."""
    nodes = RedisNodes.from_environment()
    return WorkersDocument(list_workers(nodes), queue_length(nodes), memory_of(nodes))
