"""Whole runs of spaces given by their successors, in this process: dense and sparse, stopped and resumed."""

import signal
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import pytest

import toy
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Settings
from farthest.errors import DamagedMapError, ResourceError, StorageError
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.queries.distance_map import DistanceMap
from farthest.spaces import compile_space
from farthest.spaces.contract import scatter
from farthest.stores.contract import step
from farthest.stores.memory import scatter_store
from farthest.stores.memory.scatter_store import ScatterMemoryStore

CODES = ["dense", "numbers", "strings"]
ONE = Settings(threads=1)
TWO = Settings(threads=2)


@pytest.fixture
def database(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    toy.install(monkeypatch)
    return database


@pytest.fixture(params=CODES)
def puzzle(request: pytest.FixtureRequest) -> Puzzle:
    return toy.toy(request.param, size=1000)


def layers_of(found: dict[int, int]) -> tuple[int, ...]:
    counts = Counter(found.values())
    return tuple(counts[depth] for depth in range(len(counts)))


def check_map(database: Database, puzzle: Puzzle, found: dict[int, int]) -> None:
    """The newest job's map has the distance of every state."""
    stored = DistanceMap(database, Jobs(database).list()[-1])
    definition = puzzle.definition
    assert isinstance(definition, toy.Toy)
    texts = [str(state) for state in range(definition.size_)]
    assert stored.distances(texts).tolist() == [found.get(state, -1) for state in range(definition.size_)]


@pytest.mark.parametrize(
    "origin", [Origin("from", "start"), Origin("to", "goal"), Origin("from", "77")], ids=str
)
def test_every_distance_is_right(database: Database, puzzle: Puzzle, origin: Origin) -> None:
    puzzle = replace(puzzle, origin=origin)
    found = toy.distances(puzzle)
    outcome = enumerate_puzzle(puzzle, database, TWO)
    assert outcome.complete
    assert outcome.layers == layers_of(found)
    last = {str(state) for state, distance in found.items() if distance == outcome.eccentricity}
    assert set(outcome.farthest) == last
    check_map(database, puzzle, found)
    assert enumerate_puzzle(puzzle, None, ONE).digest == outcome.digest


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_a_depth_limit(database: Database, puzzle: Puzzle, limit: int) -> None:
    found = toy.distances(puzzle, max_depth=limit)
    outcome = enumerate_puzzle(puzzle, database, replace(TWO, max_depth=limit))
    assert (outcome.layers, outcome.complete) == (layers_of(found), False)
    check_map(database, puzzle, found)


def test_a_histogram_alone(database: Database, puzzle: Puzzle) -> None:
    reference = enumerate_puzzle(puzzle, None)
    outcome = enumerate_puzzle(puzzle, database, replace(TWO, histogram_only=True))
    assert (outcome.layers, outcome.farthest) == (reference.layers, reference.farthest)
    assert not Jobs(database).list()[-1].has_map


class Stop(Exception):
    """Stands for whatever ends a run."""


@dataclass
class StopAt(Reporter):
    """Ends the run when it tells of layer ``depth``."""

    depth: int

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth == self.depth:
            raise Stop


def test_a_run_stopped_again_and_again_gives_the_same_map(database: Database, puzzle: Puzzle) -> None:
    reference = enumerate_puzzle(puzzle, None)
    for depth in range(2, len(reference.layers), 3):
        with pytest.raises(Stop):
            enumerate_puzzle(puzzle, database, replace(ONE, checkpoint_seconds=0), StopAt(depth))
        assert 1 <= (Jobs(database).list()[-1].depth or 0) < depth
    outcome = enumerate_puzzle(puzzle, database, TWO)
    assert outcome.resumed_from is not None
    assert (outcome.digest, outcome.farthest) == (reference.digest, reference.farthest)
    assert len(Jobs(database).list()) == 1


def test_ctrl_c_within_a_layer_gives_the_layer_up(
    database: Database, puzzle: Puzzle, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = enumerate_puzzle(puzzle, None)
    monkeypatch.setattr(scatter_store, "SLICE", 10)
    asked = []

    def successors(space: Any, codes: Any, threads: int) -> bytes:
        asked.append(len(codes))
        if len(asked) == 8:
            signal.raise_signal(signal.SIGINT)
        return plain(space, codes, threads)

    plain = toy.ToySpace.successors
    monkeypatch.setattr(toy.ToySpace, "successors", successors)
    with pytest.raises(Interrupted) as stopped:
        enumerate_puzzle(puzzle, database, ONE)
    assert stopped.value.depth is not None
    assert len(asked) == 8
    outcome = enumerate_puzzle(puzzle, database, TWO)
    assert outcome.resumed_from == stopped.value.depth
    assert outcome.digest == reference.digest


def test_a_layer_that_needs_too_much_memory_ends_the_run(database: Database, puzzle: Puzzle) -> None:
    with pytest.raises(
        ResourceError, match=r"need [\d,]+ bytes of memory, more than the 1,000 allowed; allow more"
    ):
        enumerate_puzzle(puzzle, database, replace(ONE, memory=1000))
    outcome = enumerate_puzzle(puzzle, database, ONE)
    assert outcome.layers == layers_of(toy.distances(puzzle))


@pytest.mark.parametrize("codes", CODES)
def test_what_is_restored_must_fit(database: Database, codes: str) -> None:
    puzzle = toy.toy(codes, size=2000)
    outcome = enumerate_puzzle(puzzle, database, replace(ONE, max_depth=4))
    space: Any = compile_space(puzzle)
    states = sum(outcome.layers)

    def chunks() -> list[Any]:
        return list(Maps(database).chunks(Jobs(database).list()[-1].id))

    def restored(depth: int, pieces: list[Any], count: int) -> ScatterMemoryStore:
        store = ScatterMemoryStore(space, distances=True)
        store.restore(depth, pieces, count)
        return store

    store = restored(4, chunks(), states)
    assert sum(store.counts(4).values()) == outcome.layers[-1]
    step(store, 5, store.begin(5, store.reachable(5)), 2)
    assert sum(store.counts(5).values()) == layers_of(toy.distances(puzzle))[5]
    with pytest.raises(StorageError, match="before its first step"):
        store.restore(4, chunks(), states)
    with pytest.raises(DamagedMapError, match="depth 3"):
        restored(3, chunks(), states)
    with pytest.raises(DamagedMapError, match=f"hold {states:,} distances"):
        restored(4, chunks(), states + 1)
    other = "numbers" if codes == "strings" else "strings"
    enumerate_puzzle(toy.toy(other), database, replace(ONE, max_depth=4))
    with pytest.raises(DamagedMapError):
        restored(4, chunks(), states)


def test_a_step_that_fails_leaves_no_successors_behind(database: Database, puzzle: Puzzle) -> None:
    """They would take memory from the checkpoint that is stored then."""
    del database

    def interrupt() -> None:
        raise KeyboardInterrupt

    held = []
    for look_around in (lambda: None, interrupt):
        store = ScatterMemoryStore(scatter(compile_space(puzzle)), distances=True)
        step(store, 1, store.begin(1, store.reachable(1)))
        store.poll = look_around
        if look_around is interrupt:
            with pytest.raises(KeyboardInterrupt):
                step(store, 2, store.begin(2, store.reachable(2)))
        list(store.chunks(1, 1000))
        held.append(store.held_bytes)
    assert held[0] == held[1]


def test_a_store_that_only_counts_has_no_map(database: Database, puzzle: Puzzle) -> None:
    store = ScatterMemoryStore(scatter(compile_space(puzzle)), distances=False)
    with pytest.raises(StorageError, match="only counts"):
        list(store.chunks(0, 10))
