"""Lines of sliding blocks in memory: the same layers, maps and last boards as sorted runs."""

import pytest

from cases import for_each
from farthest import _kernel
from farthest.coordinator.enumeration.executors import ThreadsExecutor, next_layer
from farthest.errors import MemoryUsedUpError, StorageError
from farthest.models.chunks import digest_of
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin
from farthest.spaces import compile_space
from farthest.spaces.contract import PACKED, ScatterSpace, scatter
from farthest.stores.memory import line_store
from farthest.stores.memory.line_store import LineStore, lines_of, store_in_memory
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


def lines_of_all(space: ScatterSpace) -> _kernel.BlockLines:
    """A search that is over."""
    lines = lines_of(space)
    assert lines is not None
    lines.add(space.origin_codes())
    while lines.step(1):
        pass
    return lines


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
    assert 200_000 < lines_of_all(space).bytes > store.held_bytes
    assert store.keys(len(layers), 10) == runs.keys(len(layers), 10)
    if distances:
        assert told(store, layers) == told(runs, layers)


def test_memory_that_is_used_up() -> None:
    store = store_in_memory(space_of("hakoiri-musume-move"), distances=True, memory=30_000)
    with pytest.raises(MemoryUsedUpError, match="more than the 30,000 allowed"):
        searched(store)


def test_lines_go_on_from_a_checkpoint() -> None:
    space = space_of("hakoiri-musume-slide")
    whole, begun = store_in_memory(space, distances=True), store_in_memory(space, distances=True)
    layers, first = searched(whole), searched(begun, last=40)
    again = store_in_memory(space, distances=True)
    again.restore(40, begun.chunks(40, 700), 1 + sum(first))
    assert first + searched(again, first=41) == layers
    assert told(again, layers) == told(whole, layers)


def test_packed_boards_have_no_lines_nor_have_pieces_that_all_differ() -> None:
    assert not isinstance(store_in_memory(space_of("rush-hour-60"), distances=False), LineStore)
    puzzle = load("hakoiri-musume-move")
    packed = scatter(compile_space(puzzle, layout=dict(PACKED)))
    assert not isinstance(store_in_memory(packed, distances=False), LineStore)
