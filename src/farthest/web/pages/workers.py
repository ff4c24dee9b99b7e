"""The workers that are alive, what each does, and what Redis holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htpy import p

from farthest.sizes import bytes_text
from farthest.web.page import page, rows_of

if TYPE_CHECKING:
    from farthest.documents.workers import LivingWorkers


def workers(found: LivingWorkers) -> str:
    """What Redis tells of them."""
    rows = [
        (
            record.name,
            record.version,
            str(record.concurrency),
            str(len(record.busy)),
            ", ".join(f"attempt {work.attempt} depth {work.depth} block {work.block}" for work in record.busy)
            or "idle",
        )
        for record in found.records
    ]
    return page(
        "Workers",
        rows_of(("worker", "version", "processes", "busy", "steps under way"), rows, numbers=(2, 3))
        if rows
        else p["No worker is alive; `farthest worker` starts one."],
        p[f"Queue: {found.waiting:,} {'step' if found.waiting == 1 else 'steps'} that no worker has begun."],
        [
            p[f"Redis: {bytes_text(node.used)} used, {bytes_text(node.peak)} at most."]
            for node in found.memory
        ],
        scripts=["renew.js"],
    )


def no_redis() -> str:
    """What the page says where the server was given no Redis."""
    return page(
        "Workers", p["This server was started without FARTHEST_REDIS_URL, so it knows of no workers."]
    )
