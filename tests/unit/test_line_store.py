"""Lines of sliding blocks in memory: the same layers, maps and last boards as sorted runs."""

from threading import Thread
from typing import cast

import pytest

from cases import for_each
from farthest.coordinator.enumeration.executors import ThreadsExecutor, next_layer
from farthest.errors import MemoryUsedUpError, StorageError
from farthest.families.blocks.space import BlockSpace
from farthest.models.chunks import digest_of
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import PACKED, ScatterSpace, scatter
from farthest.stores.memory import line_store
from farthest.stores.memory.line_store import LineStore, store_in_memory
from farthest.stores.memory.scatter_store import ScatterMemoryStore


def space_of(name: str, origin: Origin | None = None) -> ScatterSpace:
    puzzle = load(name)
    return scatter(compile_space(puzzle, origin or puzzle.origin))


def searched(store: ScatterMemoryStore, first: int = 1, last: int = 1000, threads: int = 2) -> list[int]:
    """The states of the layers from the first to the last one."""
    executor, layers = ThreadsExecutor(threads), list[int]()
    while first + len(layers) <= last and (states := next_layer(store, executor, first + len(layers))):
        layers.append(states)
    return layers


def told(store: ScatterMemoryStore, layers: list[int]) -> tuple[str, list[int] | list[bytes]]:
    """The digest of the map, and the last layer's least codes."""
    return digest_of([1, *layers], store.chunks(len(layers), 5000)), store.keys(len(layers), 10)


@for_each("name", ["hakoiri-musume-step", "hakoiri-musume-slide", "hakoiri-musume-move"])
def test_maps_are_those_of_runs(name: str) -> None:
    space = space_of(name, Origin("from", "start"))
    runs, lines = ScatterMemoryStore(space, distances=True), store_in_memory(space, distances=True)
    assert isinstance(lines, LineStore)
    layers = searched(runs)
    assert searched(lines) == layers
    assert told(lines, layers) == told(runs, layers)
    counting = store_in_memory(space, distances=False)
    assert searched(counting, threads=1) == layers
    assert counting.keys(len(layers), 10) == runs.keys(len(layers), 10)
    with pytest.raises(StorageError, match="only counts"):
        list(counting.chunks(1, 10))


def test_many_origins() -> None:
    space = space_of("century", Origin("to", "goal"))
    runs, lines = ScatterMemoryStore(space, distances=False), store_in_memory(space, distances=False)
    assert sum(lines.counts(0).values()) == sum(runs.counts(0).values()) > 1
    assert searched(lines, last=8) == searched(runs, last=8)


@for_each("distances", [True, False])
def test_runs_take_over_where_lines_have_no_room(monkeypatch: pytest.MonkeyPatch, distances: bool) -> None:
    space = space_of("hakoiri-musume-move")
    runs = ScatterMemoryStore(space, distances=distances)
    layers = searched(runs)
    monkeypatch.setattr(line_store, "LINE_BYTES", 200_000)
    store = store_in_memory(space, distances=distances)
    assert searched(store) == layers
    assert store.keys(len(layers), 10) == runs.keys(len(layers), 10)
    if distances:
        assert told(store, layers) == told(runs, layers)


def test_memory_that_is_used_up() -> None:
    store = store_in_memory(space_of("hakoiri-musume-move"), distances=True, memory=30_000)
    with pytest.raises(MemoryUsedUpError, match="more than the 30,000 allowed"):
        searched(store)


@for_each("distances", [True, False])
def test_runs_take_over_within_a_layer(monkeypatch: pytest.MonkeyPatch, distances: bool) -> None:
    space = space_of("century-slide")
    layers = searched(ScatterMemoryStore(space, distances=False), last=60)
    monkeypatch.setattr(line_store, "LINE_BYTES", 200_000)
    monkeypatch.setattr(line_store, "LEAST_LINES", 3)
    assert searched(store_in_memory(space, distances=distances), last=60) == layers


def test_lines_that_meet_many_frames_keep_to_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 787 states has a frame of its own, which leads to dozens of others."""
    rows, distinct = ["ABCD.", "EFGH.", "IJKx.", "x...."], list("ABCDEFGHIJK")
    text = f"""name="sparse"
        title="Sparse"
        source="A test"
        family="blocks"
        metric="move"
        [blocks]
        start={rows}
        distinct={distinct}"""
    puzzle = parse_puzzle(text, "sparse.toml")
    monkeypatch.setattr(line_store, "LINE_BYTES", 2**20)
    store = store_in_memory(scatter(compile_space(puzzle, Origin("from", "start"))), distances=False)
    held = list[int]()
    store.poll = lambda: held.append(store.held_bytes)
    assert searched(store, last=3) == [42, 787, 11106]
    assert 2**20 < max(held) < 1.2 * 2**20


def test_a_stop_is_seen_within_a_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    space = space_of("hakoiri-musume-move")
    runs = ScatterMemoryStore(space, distances=True)
    layers = searched(runs, last=28)
    monkeypatch.setattr(line_store, "BYTES_OF_LINE", line_store.LINE_BYTES)
    monkeypatch.setattr(line_store, "LEAST_LINES", 10)
    store = store_in_memory(space, distances=True)
    assert searched(store, last=28) == layers
    polls = 0

    def poll() -> None:
        nonlocal polls
        polls += 1
        if polls == 3:
            raise KeyboardInterrupt

    store.poll = poll
    with pytest.raises(KeyboardInterrupt):
        searched(store, first=29, last=29)
    store.give_up(29)
    assert told(store, layers) == told(runs, layers)


def test_a_checkpoint_goes_on_by_runs() -> None:
    """Any threads find the same, in the memory that runs have."""
    space = space_of("hakoiri-musume-slide")
    whole, begun = store_in_memory(space, distances=True), store_in_memory(space, distances=True)
    layers, first = searched(whole), searched(begun, last=40)
    again, runs = (
        make(space, distances=True, memory=10**6) for make in (store_in_memory, ScatterMemoryStore)
    )
    for store in (again, runs):
        store.restore(40, begun.chunks(40, 700), 1 + sum(first))
    assert again.held_bytes == runs.held_bytes
    assert first + searched(again, first=41, threads=8) == layers
    assert told(again, layers) == told(whole, layers)


def test_threads_take_turns() -> None:
    space = space_of("century")
    layers = searched(ScatterMemoryStore(space, distances=False), last=60)
    lines = cast(BlockSpace, space).lines()
    assert lines is not None
    found = list[int]()

    def expand() -> None:
        while lines.expand(5, 2):
            pass

    for _ in layers:
        threads = [Thread(target=expand) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found.append(lines.settle())
    assert found == layers


def test_packed_boards_have_no_lines_nor_have_pieces_that_all_differ() -> None:
    assert not isinstance(store_in_memory(space_of("rush-hour-60"), distances=False), LineStore)
    puzzle = load("hakoiri-musume-move")
    packed = scatter(compile_space(puzzle, layout=dict(PACKED)))
    assert not isinstance(store_in_memory(packed, distances=False), LineStore)
