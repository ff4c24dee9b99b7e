"""The executor of this process: layers whose steps take long are stepped part by part."""

import time
from collections.abc import Sequence
from typing import Any

import pytest

from farthest.coordinator.enumeration import executors
from farthest.coordinator.enumeration.executors import ThreadsExecutor, next_layer
from farthest.stores.contract import step
from farthest.stores.memory.gather_store import MemoryStore
from store_cases import case


def slowly(store: Any, depth: int, shards: Sequence[int], threads: int) -> None:
    time.sleep(0.002 * len(shards))
    step(store, depth, shards, threads)


def test_slow_layers_are_stepped_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    of = case("halved", 2)
    looks: list[int] = []

    def layers(seconds: float) -> list[int]:
        store = MemoryStore(of.kernel, of.origins, distances=True)
        executor = ThreadsExecutor(2, lambda: looks.append(1), seconds=seconds)
        return [next_layer(store, executor, depth) for depth in range(1, len(of.layers))]

    expected = [len(layer) for layer in of.layers[1:]]
    assert layers(1.0) == expected
    assert len(looks) == len(expected), "layers that are stepped soon are stepped at once"
    looks.clear()
    monkeypatch.setattr(executors, "step", slowly)
    assert layers(0.004) == expected
    assert len(looks) > 2 * len(expected)


def test_a_slow_layer_can_be_ended() -> None:
    class Ended(Exception):
        pass

    def end() -> None:
        raise Ended

    of = case("halved", 2)
    store = MemoryStore(of.kernel, of.origins, distances=True)
    with pytest.raises(Ended):
        next_layer(store, ThreadsExecutor(1, end), 1)
