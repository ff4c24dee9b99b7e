"""What every shard store promises. A new store is one more line in STORES."""

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from blob_places import url_of
from farthest.errors import FarthestError
from farthest.stores.blobs.place import BlobPlace
from farthest.stores.blocks import Cut
from farthest.stores.contract import ShardStore, step
from farthest.stores.folder import plan
from farthest.stores.folder.gather_store import FolderStore
from farthest.stores.folder.journal import EnumerationFolder
from farthest.stores.folder.scatter_store import ScatterFolderStore
from farthest.stores.memory import line_store, scatter_store
from farthest.stores.memory.gather_store import LayersInMemory, MemoryStore
from farthest.stores.memory.line_store import store_in_memory
from farthest.stores.memory.scatter_store import ScatterMemoryStore
from farthest.stores.redis.attempts import new_attempt
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.places import place_of
from farthest.stores.redis.scatter_attempt import ScatterAttempt
from scatter_cases import NAMES as SCATTER_NAMES
from scatter_cases import ScatterCase, scatter_case
from store_cases import NAMES, Case, case

AnyCase = Case | ScatterCase
StoreFactory = Callable[[Any], ShardStore]


def memory_store(request: pytest.FixtureRequest) -> StoreFactory:
    return lambda of: MemoryStore(of.kernel, of.origins, distances=True)


def folder_store(request: pytest.FixtureRequest) -> StoreFactory:
    """Stores in files, of two or three shards a unit, with slots for the sources of one unit."""
    scratch: Path = request.getfixturevalue("tmp_path")
    made: list[FolderStore] = []

    def make(of: Case) -> FolderStore:
        in_place, orders = plan._orders(of.space, of.kernel)
        united = of.kernel.united
        roomy = [plan.Plan(of.kernel, order, 3, of.kernel.shards, united=united) for order in orders]
        slots = max(len(sources) for one in roomy for sources in one.sources)
        plans = [plan.Plan(of.kernel, order, 3, slots, united=united) for order in orders]
        folder = EnumerationFolder(scratch / str(len(made)), {}, 3)
        both = plans[0], plans[-1]
        store = FolderStore(of.kernel, of.origins, both, slots, folder, in_place=in_place, united=united)
        made.append(store)
        return made[-1]

    def drop() -> None:
        for store in made:
            store.drop()

    request.addfinalizer(drop)
    return make


def redis_store(
    per_block: int, databases: int, kind: str = "redis", *, memory: str = ""
) -> Callable[[pytest.FixtureRequest], StoreFactory]:
    """Stores in Redis, of so many shards a block, with the blobs on so many nodes, or in another kind of place.
    ``memory``: of a worker."""

    def factory(request: pytest.FixtureRequest) -> StoreFactory:
        url = request.getfixturevalue("redis_url").removesuffix("/0")
        nodes = RedisNodes([f"{url}/{database}" for database in range(databases)])
        place = place_for(kind, nodes, request)
        if memory:
            request.getfixturevalue("monkeypatch").setenv("FARTHEST_WORKER_MEMORY", memory)
        made: list[GatherAttempt] = []

        def make(of: Case) -> GatherAttempt:
            cut = Cut(of.kernel, of.shard_classes, min(per_block, of.kernel.shards))
            name = new_attempt("1")
            distances = not of.kernel.united  # their layers are united where no map is made
            made.append(GatherAttempt.create(nodes, name, of.space, cut, distances=distances, place=place))
            return made[-1]

        def drop() -> None:
            for store in made:
                store.drop()
            nodes.close()

        request.addfinalizer(drop)
        return make

    return factory


def scatter_memory(thin: int) -> Callable[[pytest.FixtureRequest], StoreFactory]:
    """Stores whose layers have more shards the wider they are; those of up to ``thin`` states are found together."""
    constants = {"SHARD_BYTES": 40, "SHARD_KEYS": 1, "SHARD_FOUND": 40, "FOUND_RUNS": 2, "THIN": thin}

    def factory(request: pytest.FixtureRequest) -> StoreFactory:
        for constant, value in constants.items():
            request.getfixturevalue("monkeypatch").setattr(scatter_store, constant, value)
        return lambda of: ScatterMemoryStore(of.space, distances=True)

    return factory


def lines(request: pytest.FixtureRequest) -> StoreFactory:
    return lambda of: store_in_memory(of.space, distances=True)


def lines_then_runs(request: pytest.FixtureRequest) -> StoreFactory:
    """Lines that have room for one layer."""
    request.getfixturevalue("monkeypatch").setattr(line_store, "LINE_BYTES", 0)
    return lines(request)


def scatter_folder(memory: int) -> Callable[[pytest.FixtureRequest], StoreFactory]:
    """Stores of sorted runs in files, of five shards."""

    def factory(request: pytest.FixtureRequest) -> StoreFactory:
        scratch: Path = request.getfixturevalue("tmp_path")
        made: list[ScatterFolderStore] = []

        def make(of: ScatterCase) -> ScatterFolderStore:
            folder = EnumerationFolder(scratch / str(len(made)), {}, 5)
            made.append(ScatterFolderStore(of.space, folder, memory))
            return made[-1]

        def drop() -> None:
            for store in made:
                store.drop()

        request.addfinalizer(drop)
        return make

    return factory


def scatter_redis(kind: str = "redis") -> Callable[[pytest.FixtureRequest], StoreFactory]:
    def factory(request: pytest.FixtureRequest) -> StoreFactory:
        url = request.getfixturevalue("redis_url").removesuffix("/0")
        nodes = RedisNodes([f"{url}/{database}" for database in range(2)])
        place = place_for(kind, nodes, request)
        made: list[ScatterAttempt] = []

        def make(of: ScatterCase) -> ScatterAttempt:
            name = new_attempt("1")
            made.append(ScatterAttempt.create(nodes, name, of.space, 5, distances=True, place=place))
            return made[-1]

        def drop() -> None:
            for store in made:
                store.drop()
            nodes.close()

        request.addfinalizer(drop)
        return make

    return factory


def place_for(kind: str, nodes: RedisNodes, request: pytest.FixtureRequest) -> BlobPlace:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FARTHEST_BLOBS", url_of(kind, request))
        return place_of(nodes)


STORES = {
    "memory": memory_store,
    "folder": folder_store,
    "redis": redis_store(1, 1),
    "redis blocks": redis_store(3, 2),
    "redis without a cache": redis_store(3, 2, memory="0"),
    "scatter memory": scatter_memory(0),
    "scatter memory ahead": scatter_memory(12),
    "lines": lines,
    "lines, then runs": lines_then_runs,
    "scatter folder": scatter_folder(2**20),
    "scatter outboxes": scatter_folder(60_000),  # too little for the successors of a layer
    "scatter redis": scatter_redis(),
    "redis and a folder": redis_store(2, 1, "folder"),
    "scatter redis and a folder": scatter_redis("folder"),
    "redis and objects": redis_store(2, 1, "objects"),
    "scatter redis and objects": scatter_redis("objects"),
}


@pytest.fixture
def make_store(request: pytest.FixtureRequest) -> StoreFactory:
    """Makes a store that is at depth 0 of a case."""
    return STORES[request.param](request)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every store with every kind of graph. Shards that gather are cut by one to three labels: those in Redis by one
    number each."""
    kinds = ("two colours", "not bipartite", "one-way", "graded")  # one for each way to tell what is new
    cases: dict[str, list[tuple[Any, ...]]] = {
        "memory": [(name, 1 + i % 3) for i, name in enumerate(NAMES)],
        "folder": [
            (name, 1 + i % 3)
            for i, name in enumerate((*kinds, "origins of both colours", "representatives, united"))
        ],
        "redis": [(name, 2) for name in kinds] + [("representatives, united", 1)],
        "redis blocks": [("representatives, united", 1)]
        + [(name, 3) for name in ("not bipartite", "one-way", "graded", "origins of both colours")],
        "redis without a cache": [(name, 2) for name in ("two colours", "not bipartite", "graded")],
        "scatter memory": [(name,) for name in SCATTER_NAMES],
        "scatter memory ahead": [(name,) for name in SCATTER_NAMES],
        "lines": [("sparse",)],
        "lines, then runs": [("sparse",)],
        "scatter folder": [("dense one-way",), ("byte strings, graded",)],
        "scatter outboxes": [("dense",), ("byte strings",)],
        "scatter redis": [(name,) for name in ("dense", "byte strings", "byte strings, graded")],
        "redis and a folder": [("one-way", 2)],
        "scatter redis and a folder": [("byte strings",)],
        "redis and objects": [("one-way", 2)],
        "scatter redis and objects": [("byte strings",)],
    }
    if "one_case" in metafunc.fixturenames:
        name = metafunc.function.__name__
        if "threads" in name:  # what they share is the store's, whatever the graph
            cases = {store: ones[:1] for store, ones in cases.items()}
        elif "change_nothing" in name or "refused" in name or "changes_nothing" in name:
            cases = {store: ones[::2] for store, ones in cases.items()}
        pairs = [
            pytest.param(store, one, marks=pytest.mark.slow if "objects" in store else ())
            for store, ones in cases.items()
            for one in ones
        ]
        ids = ["-".join(map(str, (store, *one))) for store, ones in cases.items() for one in ones]
        metafunc.parametrize(("make_store", "one_case"), pairs, indirect=True, ids=ids)


@pytest.fixture
def one_case(request: pytest.FixtureRequest) -> AnyCase:
    return scatter_case(*request.param) if request.param[0] in SCATTER_NAMES else case(*request.param)


def all_shards(store: ShardStore) -> range:
    return range(store.shards)


def layers_of(
    of: AnyCase, store: ShardStore, take: Callable[[ShardStore, int, list[int]], None]
) -> Iterator[int]:
    """Steps layer after layer with ``take`` and checks each; yields the depths."""
    for depth in range(1, len(of.layers) + 1):
        take(store, depth, store.begin(depth, all_shards(store)))
        assert store.counts(depth) == of.counts(depth, store.shards)
        assert store.classes(depth) == of.classes(depth)
        yield depth


def test_whole_layers_from_the_origins_to_the_last(make_store: StoreFactory, one_case: AnyCase) -> None:
    store = make_store(one_case)
    assert store.counts(0) == one_case.counts(0, store.shards)
    assert store.classes(0) == one_case.classes(0)
    last = max(layers_of(one_case, store, step))
    assert last == len(one_case.layers)
    for depth in (last + 1, last + 2):
        step(store, depth, store.begin(depth, all_shards(store)))
        assert store.counts(depth) == {}


def test_shards_that_moves_lead_to_in_any_order(make_store: StoreFactory, one_case: AnyCase) -> None:
    store, order = make_store(one_case), random.Random(1)
    for depth in range(1, len(one_case.layers) + 1):
        shards = store.begin(depth, store.reachable(depth))
        for shard in order.sample(shards, len(shards)):
            step(store, depth, [shard])
        assert store.counts(depth) == one_case.counts(depth, store.shards)


def test_whatever_is_done_again_changes_nothing(make_store: StoreFactory, one_case: AnyCase) -> None:
    """Steps that are lost, begun again after a part, taken by two workers at once, and taken again."""
    order = random.Random(2)

    def take(store: ShardStore, depth: int, shards: list[int]) -> None:
        if not isinstance(store, LayersInMemory):  # its steps overwrite, or take away, what they read
            for _ in range(2):
                store.open(depth, shards).run()
        if depth % 2:
            one, other = store.open(depth, shards), store.open(depth, shards)
            store.commit(depth, one, one.run())
            store.commit(depth, other, other.run())
        else:
            assert store.begin(depth, all_shards(store)) == shards
            step(store, depth, shards[: len(shards) // 2])
            step(store, depth, sorted({*store.begin(depth, all_shards(store)), *shards}))
        for shard in order.choices(shards, k=len(shards)):
            step(store, depth, [shard])
        step(store, depth, shards[::-1], 2)
        store.begin(depth, all_shards(store))

    assert list(layers_of(one_case, make_store(one_case), take))


def test_steps_that_come_late_change_nothing(make_store: StoreFactory, one_case: AnyCase) -> None:
    store = make_store(one_case)
    for depth in layers_of(one_case, store, step):
        store.begin(depth + 1, all_shards(store))
        for late in range(1, depth + 1):
            try:
                step(store, late, all_shards(store))
            except FarthestError:
                continue
        assert store.counts(depth) == one_case.counts(depth, store.shards)


@pytest.mark.slow
def test_many_threads_step_shards_of_one_layer(make_store: StoreFactory, one_case: AnyCase) -> None:
    def take(store: ShardStore, depth: int, shards: list[int]) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda shard: step(store, depth, [shard]), shards))

    assert list(layers_of(one_case, make_store(one_case), take))


def test_layers_that_are_not_under_way_are_refused(make_store: StoreFactory, one_case: AnyCase) -> None:
    """Also the one after a layer that is not complete."""
    store = make_store(one_case)
    fresh = one_case.counts(1, store.shards) if len(one_case.layers) > 1 else {}
    shards = store.begin(1, all_shards(store))
    for depth in (-1, 0, 2, 5):
        with pytest.raises(FarthestError):
            store.open(depth, [0])
    step(store, 1, [shard for shard in shards if fresh.keys().isdisjoint(together(store, shard))])
    if fresh:
        with pytest.raises(FarthestError):
            step(store, 2, store.begin(2, all_shards(store)))


def together(store: ShardStore, shard: int) -> Sequence[int]:
    """The shards that are stepped and stored with a shard, itself among them."""
    if isinstance(store, GatherAttempt):
        return store.blocks.shards(store.blocks.of([shard])[0])
    return store.units(1, [shard])[0] if isinstance(store, FolderStore) else [shard]


def test_bitmaps_in_memory_forget_older_counts() -> None:
    """A space of 65,534 layers and many shards would need more memory for them than for its states."""
    of = case("two colours", 1)
    store = MemoryStore(of.kernel, of.origins, distances=True)
    for depth in layers_of(of, store, step):
        for known in range(depth + 1):
            if known > depth - 3:
                assert store.counts(known) == of.counts(known, store.shards)
            else:
                with pytest.raises(KeyError):
                    store.counts(known)
