"""What every executor promises. A new executor is one more line in EXECUTORS."""

from collections.abc import Callable

import pytest

from farthest.coordinator.executors import Executor, ThreadsExecutor
from farthest.coordinator.layers import LayerSearch
from farthest.errors import FarthestError
from farthest.worker.memory import MemoryStore
from store_cases import NAMES, Case, case

EXECUTORS: dict[str, Callable[[], Executor]] = {
    "one thread": lambda: ThreadsExecutor(1),
    "two threads": lambda: ThreadsExecutor(2),
    "five threads": lambda: ThreadsExecutor(5),
}


@pytest.fixture(params=EXECUTORS.values(), ids=list(EXECUTORS))
def executor(request: pytest.FixtureRequest) -> Executor:
    made: Executor = request.param()
    return made


@pytest.fixture(
    params=[(name, classes) for name in NAMES for classes in (1, 3)], ids=lambda p: f"{p[0]}-{p[1]}"
)
def one_case(request: pytest.FixtureRequest) -> Case:
    return case(*request.param)


def memory_store(of: Case) -> MemoryStore:
    return MemoryStore(of.kernel, of.origins, distances=True)


def test_a_layer_is_complete_when_it_returns(executor: Executor, one_case: Case) -> None:
    store = memory_store(one_case)
    for depth in range(1, len(one_case.layers) + 1):
        executor.run_layer(store, depth, store.begin(depth, range(one_case.kernel.shards)))
        assert store.counts(depth) == one_case.counts(depth)


def test_running_a_layer_again_changes_nothing(executor: Executor, one_case: Case) -> None:
    store = memory_store(one_case)
    shards = store.begin(1, range(one_case.kernel.shards))
    for part in (shards[::2], shards, shards):
        executor.run_layer(store, 1, part)
    assert store.counts(1) == one_case.counts(1)


def test_no_shards_are_no_work(executor: Executor) -> None:
    of = case("two colours")
    store = memory_store(of)
    store.begin(1, [])
    executor.run_layer(store, 1, [])
    assert store.counts(1) == {}


def test_a_layer_that_cannot_be_stepped_is_an_error(executor: Executor) -> None:
    of = case("two colours")
    with pytest.raises(FarthestError):
        executor.run_layer(memory_store(of), 3, [0])


def test_a_search_finds_all_layers(executor: Executor, one_case: Case) -> None:
    search = LayerSearch(memory_store(one_case), executor)
    sizes = [search.next_layer(depth) for depth in range(1, len(one_case.layers) + 1)]
    assert sizes == [len(layer) for layer in one_case.layers[1:]] + [0]
