"""The store in memory beyond the contract of stores: distances, keys of layers, restoring, limits."""

from collections.abc import Callable
from itertools import pairwise
from time import process_time

import pytest

from cases import for_each
from farthest.errors import ResourceError, StorageError
from farthest.models.chunks import Chunk
from farthest.stores import contract
from farthest.stores.blocks import searches_in_place
from farthest.stores.contract import step, unit_for
from farthest.stores.memory.gather_store import MemoryStore
from kernel_samples import make_space
from store_cases import NAMES, Case, case


def new_store(of: Case, *, distances: bool = True, memory: int | None = None) -> MemoryStore:
    return MemoryStore(of.kernel, of.origins, distances=distances, memory=memory)


def advance(store: MemoryStore, of: Case, first: int, last: int) -> None:
    for depth in range(first, last + 1):
        step(store, depth, store.begin(depth, range(of.kernel.shards)))


def expected(of: Case, depth: int) -> bytes:
    out = bytearray(b"\xff" * of.kernel.keys)
    for distance, keys in enumerate(of.layers[: depth + 1]):
        for key in keys:
            out[key] = distance
    return bytes(out)


@pytest.fixture(params=[(name, 1 + i % 2) for i, name in enumerate(NAMES)], ids=lambda p: f"{p[0]}-{p[1]}")
def one_case(request: pytest.FixtureRequest) -> Case:
    return case(*request.param)


def test_distances_after_every_layer(one_case: Case) -> None:
    store = new_store(one_case)
    assert bytes(store.distances(0)) == expected(one_case, 0)
    for depth, layer in enumerate(one_case.layers[1:], 1):
        advance(store, one_case, depth, depth)
        assert bytes(store.distances(depth, threads=3)) == expected(one_case, depth)
        assert store.keys(depth, 10**6) == list(layer)
        assert store.keys(depth, 2) == list(layer[:2])


def test_chunks_follow_each_other(one_case: Case) -> None:
    store = new_store(one_case)
    last = len(one_case.layers) - 1
    advance(store, one_case, 1, last)
    for size in (1, 7, one_case.kernel.keys, 10**9):
        chunks = list(store.chunks(last, size))
        assert [chunks[0].first, chunks[-1].last] == [0, one_case.kernel.keys - 1]
        assert all(here.last + 1 == there.first for here, there in pairwise(chunks))
        assert {one.unit for one in chunks} == {"uint8"}
        assert b"".join(memoryview(one.distances) for one in chunks) == expected(one_case, last)


def test_a_restored_store_goes_on_as_if_nothing_had_happened(one_case: Case) -> None:
    last = len(one_case.layers) - 1
    for depth in range(last + 1):
        old, new = new_store(one_case), new_store(one_case)
        advance(old, one_case, 1, depth)
        new.restore(depth, old.chunks(depth, 101), sum(map(one_case.states, range(depth + 1))), threads=2)
        assert new.counts(depth) == one_case.counts(depth)
        assert new.keys(depth, 10**6) == list(one_case.layers[depth])
        advance(new, one_case, depth + 1, last + 1)
        assert new.counts(last) == one_case.counts(last)
        assert new.counts(last + 1) == {}
        assert bytes(new.distances(last)) == expected(one_case, last)


def test_a_store_that_has_stepped_is_not_restored() -> None:
    of = case("two colours")
    store = new_store(of)
    advance(store, of, 1, 1)
    with pytest.raises(StorageError, match="before its first step"):
        store.restore(0, [], 0)


def test_without_distances_the_same_layers_in_less_memory(one_case: Case) -> None:
    full, counting = new_store(one_case), new_store(one_case, distances=False)
    for depth in range(1, len(one_case.layers) + 1):
        advance(full, one_case, depth, depth)
        advance(counting, one_case, depth, depth)
        assert counting.counts(depth) == full.counts(depth)
    assert counting.bytes < full.bytes


@for_each(
    ("name", "in_place"),
    [
        ("two colours", True),
        ("halved", True),
        ("two blanks", True),
        ("origins of both colours", False),
        ("not bipartite", False),
        ("slides", False),
        ("one-way", False),
    ],
)
def test_one_array_is_enough_where_the_graph_has_two_colours(name: str, in_place: bool) -> None:
    of = case(name)
    assert searches_in_place(of.kernel, of.origins) == in_place


def test_planes_beyond_the_memory_are_refused_only_for_layers_that_have_states() -> None:
    of = case("two colours")
    last = len(of.layers) - 1
    whole = new_store(of)
    advance(whole, of, 1, last)
    enough = whole.bytes
    store = new_store(of, memory=enough)
    advance(store, of, 1, last + 1)  # the layer beyond the last is empty, whatever planes it would need
    assert store.counts(last + 1) == {}
    with pytest.raises(ResourceError, match=f"more than the {enough - 1:,} allowed"):
        advance(new_store(of, memory=enough - 1), of, 1, last)


@for_each(
    ("change", "message"),
    [
        (
            lambda depth, data: data[:-1] + bytes([depth + 1 if data[-1] != depth + 1 else 255]),
            "hold|does not fit",
        ),
        (lambda depth, data: b"\xff" * len(data), "hold 0 distances"),
        (lambda depth, data: bytes(200 if d != 255 else d for d in data), "does not fit"),
    ],
)
def test_distances_that_are_not_those_of_the_layers_are_refused(
    change: Callable[[int, bytes], bytes], message: str
) -> None:
    of = case("halved")
    old, new = new_store(of), new_store(of)
    advance(old, of, 1, 2)
    wrong = change(2, bytes(old.distances(2)))
    with pytest.raises(StorageError, match=message):
        new.restore(2, [Chunk(0, len(wrong) - 1, "uint8", wrong)], sum(map(len, of.layers[:3])))


def test_a_store_that_only_counts_has_no_distances_to_give() -> None:
    with pytest.raises(StorageError, match="no distances"):
        new_store(case("halved"), distances=False).distances(0)


@for_each(("depth", "unit"), [(0, "uint8"), (254, "uint8"), (255, "uint16"), (65534, "uint16")])
def test_units_leave_a_number_for_not_reached(depth: int, unit: str) -> None:
    assert unit_for(depth) == unit


def test_deep_spaces_have_distances_of_two_bytes() -> None:
    # A piece alone on a ring of 62 cells that can be passed one way only, and a blank: the blank goes round.
    slots = 62
    moves = []
    for blank in range(slots):
        piece = (blank - 1) % slots
        to = list(range(slots))
        to[blank], to[piece] = piece, blank
        moves.append((to, 1 << blank, 1 << piece))
    kernel = make_space([1, 1, slots - 2], moves)
    store = MemoryStore(kernel, [0], distances=True)
    depth, states = 0, 1
    while True:
        step(store, depth + 1, store.begin(depth + 1, range(kernel.shards)))
        if not store.counts(depth + 1):
            break
        depth += 1
        states += sum(store.counts(depth).values())
    assert depth > 254
    distances = store.distances(depth).cast("H")
    reached = [distance for distance in distances if distance != 65535]
    assert len(reached) == states
    assert max(reached) == depth
    again = MemoryStore(kernel, [0], distances=True)
    again.restore(depth, store.chunks(depth, 1000), states)
    assert bytes(again.distances(depth)) == bytes(store.distances(depth))


def test_layers_beyond_the_greatest_distance_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    of = case("two colours")
    last = len(of.layers) - 1
    monkeypatch.setattr(contract, "MAX_DEPTH", last)
    advance(new_store(of), of, 1, last + 1)  # an empty layer needs no number
    monkeypatch.setattr(contract, "MAX_DEPTH", last - 1)
    advance(new_store(of, distances=False), of, 1, last + 1)
    with pytest.raises(ResourceError, match="deeper"):
        advance(new_store(of), of, 1, last)


def test_chunks_without_states_are_restored_at_the_speed_of_memory() -> None:
    """As a checkpoint that was taken early has them: reading it must not take longer than what it skips."""
    space = make_space([1] * 9)
    store = MemoryStore(space, [0], distances=True)
    unreached = memoryview(b"\xff" * 2**18)
    begun = process_time()
    for _ in range(500):
        bytes(unreached)
    copied = process_time()
    store.restore(1, [Chunk(0, 2**18 - 1, "uint8", unreached)] * 500, 0)
    assert process_time() - copied < 30 * (copied - begun)
