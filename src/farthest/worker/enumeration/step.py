"""The step: the function that every executor calls to take shards from one depth to the next."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.stores.contract import StepStore


def step(store: StepStore, depth: int, shards: Sequence[int], threads: int = 1) -> None:
    """Finds the states at ``depth`` in ``shards`` and commits them. Running it again changes nothing.

    Raises what the store raises when its input is missing or damaged.
    """
    step_input = store.open(depth, shards)
    if not step_input.shards:
        return
    store.commit(depth, step_input, step_input.run(threads))
