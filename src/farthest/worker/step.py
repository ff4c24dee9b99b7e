"""The step: what every executor calls to take shards from one depth to the next."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.worker.store import StepStore


def step(store: StepStore, depth: int, shards: Sequence[int], threads: int = 1) -> None:
    """Finds the states at ``depth`` in ``shards`` and commits them. Running it again changes nothing.

    Raises what the store raises when its input is missing or damaged.
    """
    views = store.open(depth, shards)
    if not views.shards:
        return
    store.commit(depth, views, views.run(threads))
