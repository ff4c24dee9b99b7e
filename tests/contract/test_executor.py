"""What every executor promises, each with the store that it needs. A new executor is one more line in EXECUTORS."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cluster import Service, until
from farthest.coordinator.enumeration.celery_backend import CeleryExecutor
from farthest.coordinator.enumeration.executors import Executor, ThreadsExecutor, next_layer
from farthest.environment import SMALL_LAYER_STATES
from farthest.errors import FarthestError
from farthest.stores.blocks import Cut
from farthest.stores.contract import ShardStore
from farthest.stores.memory.gather_store import MemoryStore
from farthest.stores.memory.scatter_store import ScatterMemoryStore
from farthest.stores.redis.attempts import new_attempt
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.scatter_attempt import ScatterAttempt
from farthest.worker.registry import list_workers
from scatter_cases import PUZZLES, ScatterCase, scatter_case
from servers import RedisServer
from store_cases import Case, case
from store_cases import cuts as every_cut

AnyCase = Case | ScatterCase
Pair = tuple[Executor, Callable[[Any], ShardStore]]


def threads(number: int) -> Callable[[pytest.FixtureRequest], Pair]:
    def make(request: pytest.FixtureRequest) -> Pair:
        return ThreadsExecutor(number), lambda of: MemoryStore(of.kernel, of.origins, distances=True)

    return make


def scattering_threads(request: pytest.FixtureRequest) -> Pair:
    return ThreadsExecutor(2), lambda of: ScatterMemoryStore(of.space, distances=True)


def celery_executor(nodes: RedisNodes, small_states: int) -> CeleryExecutor:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SMALL_LAYER_STATES.name, str(small_states))
        return CeleryExecutor(nodes)


def scattering_celery(request: pytest.FixtureRequest) -> Pair:
    nodes: RedisNodes = request.getfixturevalue("nodes_with_worker")
    executor = celery_executor(nodes, 0)
    request.addfinalizer(executor.close)

    def store(of: ScatterCase) -> ScatterAttempt:
        made = ScatterAttempt.create(nodes, new_attempt("1"), of.space, 3, distances=False)
        request.addfinalizer(made.drop)
        return made

    return executor, store


def celery(small_states: int) -> Callable[[pytest.FixtureRequest], Pair]:
    """An executor with a real worker; layers of more than ``small_states`` states are sent to it."""

    def make(request: pytest.FixtureRequest) -> Pair:
        nodes: RedisNodes = request.getfixturevalue("nodes_with_worker")
        executor = celery_executor(nodes, small_states)
        request.addfinalizer(executor.close)

        def store(of: Case) -> GatherAttempt:
            cut = Cut(of.kernel, of.shard_classes, min(2, of.kernel.shards))
            made = GatherAttempt.create(nodes, new_attempt("1"), of.space, cut, distances=False)
            request.addfinalizer(made.drop)
            return made

        return executor, store

    return make


FEW = ("origins of both colours", "not bipartite", "one-way", "graded", "one state")

EXECUTORS = {
    "one thread": threads(1),
    "two threads": threads(2),
    "five threads": threads(5),
    "celery": celery(0),
    "celery, small layers here": celery(20),
    "two threads, scattered": scattering_threads,
    "celery, scattered": scattering_celery,
}


@pytest.fixture(scope="module")
def nodes_with_worker(
    redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RedisNodes]:
    """The nodes of a worker with two processes, which no other test uses meanwhile."""
    redis_server.flush()
    nodes = RedisNodes([redis_server.url])
    environment = {**os.environ, "FARTHEST_REDIS_URL": redis_server.url}
    words = ["worker", "--concurrency", "2"]
    worker = Service(tmp_path_factory.mktemp("worker"), "worker", words, environment, 0.0)

    def there() -> object:
        assert worker.alive, worker.said()
        return list_workers(nodes) or None

    until(there, 30, "the worker is there", 0.02)
    yield nodes
    nodes.close()
    worker.kill()


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> Pair:
    return EXECUTORS[request.param](request)


@pytest.fixture
def one_case(request: pytest.FixtureRequest) -> AnyCase:
    return scatter_case(*request.param) if request.param[0] in PUZZLES else case(*request.param)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every kind of graph with shards of two sizes, by five threads; the other executors with a few."""
    cuts = {"one thread": 1, "two threads": 3, "celery": 3, "celery, small layers here": 1}
    if "one_case" in metafunc.fixturenames:
        pairs: list[tuple[str, tuple[Any, ...]]] = []
        for pair in EXECUTORS:
            if "scattered" in pair:
                pairs += [(pair, (name,)) for name in PUZZLES]
            elif pair in cuts:
                pairs += [(pair, (name, cuts[pair])) for name in FEW]
            elif metafunc.function is test_a_layer_that_cannot_be_stepped_is_an_error:
                pairs += [(pair, (name, 1)) for name in FEW]
            else:
                pairs += [(pair, one) for one in every_cut(1, 3)]
        ids = ["-".join(map(str, (pair, *one))) for pair, one in pairs]
        metafunc.parametrize(("pair", "one_case"), pairs, indirect=True, ids=ids)


@pytest.mark.slow
def test_running_a_layer_again_changes_nothing(pair: Pair, one_case: AnyCase) -> None:
    executor, make_store = pair
    store = make_store(one_case)
    shards = store.begin(1, range(store.shards))
    for part in (shards[::2], shards, shards):
        executor.run_layer(store, 1, part)
    assert store.counts(1) == one_case.counts(1, store.shards)


def test_a_layer_that_cannot_be_stepped_is_an_error(pair: Pair, one_case: AnyCase) -> None:
    executor, make_store = pair
    with pytest.raises(FarthestError):
        executor.run_layer(make_store(one_case), 3, [0])


def test_a_search_finds_all_layers(pair: Pair, one_case: AnyCase) -> None:
    executor, make_store = pair
    store = make_store(one_case)
    sizes = []
    for depth in range(1, len(one_case.layers) + 1):
        sizes.append(next_layer(store, executor, depth))
        assert store.counts(depth) == one_case.counts(depth, store.shards)
    assert sizes == [one_case.states(depth) for depth in range(1, len(one_case.layers))] + [0]
    without = make_store(one_case)
    without.begin(1, [])
    executor.run_layer(without, 1, [])
    assert without.counts(1) == {}
