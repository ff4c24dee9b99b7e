"""Whole enumerations against the naive model: layers, every distance, digests, limits, checkpoints and resuming."""

import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import naive
from arrangements import arrangement_space, sliding_names
from cases import for_each
from farthest import _kernel
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import STATE_ROWS, Outcome, Settings
from farthest.errors import ResourceError, StorageError
from farthest.families.sliding.definition import sliding
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Direction, Origin, Puzzle
from kernels import compiled
from servers import PostgresServer
from strategies import grid_rows, make_puzzle, puzzles

ISAS = ("", *_kernel.available_isas())
QUICK_STATES = 20_000
LARGER = ("eight-kinds", "to")
"""A puzzle of some 100,000 states; larger ones of the other kinds of graph are for a night."""
SMALL = (
    "sliding-1x5",
    "sliding-2x2",
    "sliding-2x2-slide",
    "sliding-2x3",
    "sliding-3x2-slide",
    "sliding-2x4-slide",
)


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with open_database(str(tmp_path_factory.mktemp("enumeration") / "maps.db"), create=True) as opened:
        yield opened


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest) -> Iterator[Database]:
    """The same tests on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        yield request.getfixturevalue("database")
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    # A fresh one: where tests are taken from another process, this fixture is made more than once.
    with server.fresh_database() as url, open_database(url, create=True) as opened:
        yield opened


def stored_distances(database: Database, job_id: int) -> dict[naive.Board, int]:
    """Every board of a job's map that has a distance, with it; the boards of its rows must agree."""
    job = Jobs(database).get(job_id)
    chunks = list(Maps(database).chunks(job_id))
    dtype = np.dtype("u1" if chunks[0].unit == "uint8" else "<u2")
    distances = np.frombuffer(b"".join(chunk.distances for chunk in chunks), dtype=dtype)
    keys = np.flatnonzero(distances != np.iinfo(dtype).max).astype(np.uint64)
    origin = Origin(job.parameters["direction"], job.parameters["where"])
    space = arrangement_space(Puzzle.from_json(job.puzzle_json), origin, job.layout)
    boards = space.decode(keys).tolist()
    found = {tuple(board): int(d) for board, d in zip(boards, distances[keys], strict=True)}
    rows = list(Maps(database).states(job_id))
    for row in rows[:: 1 + len(rows) // 2000]:
        assert row.distance == distances[row.key]
        assert found[sliding(space.puzzle).parse_board(row.board)] == row.distance
    return found


def check_outcome(outcome: Outcome, expected: dict[naive.Board, int], puzzle: Puzzle) -> None:
    assert list(outcome.layers) == naive.layers(expected)
    assert outcome.states == len(expected)
    last = max(expected.values())
    farthest = {
        sliding(puzzle).format_board(board) for board, distance in expected.items() if distance == last
    }
    assert len(outcome.farthest) == min(len(farthest), 1000)
    assert set(outcome.farthest) <= farthest
    if outcome.complete:
        assert outcome.eccentricity == last


def catalogue() -> list[Any]:
    """All puzzles that Python can enumerate; those that take it seconds are slow, and many are for a night."""
    marked = []
    for name in (*sliding_names(), *SMALL):
        states = arrangement_space(load(name)).arrangements
        for direction in ("to", "from"):
            if states <= QUICK_STATES:
                marks = []
            else:
                marks = [pytest.mark.slow if (name, direction) == LARGER else pytest.mark.night]
            if states < 1_000_000:
                marked.append(pytest.param(name, direction, marks=marks))
    return marked


@pytest.mark.parametrize(("name", "direction"), catalogue())
def test_catalogue_equals_the_naive_model(database: Database, name: str, direction: Direction) -> None:
    puzzle = load(name)
    origin = Origin(direction, puzzle.origin.where)
    expected = naive.distances(puzzle, origin)
    outcome = enumerate_puzzle(puzzle, database, Settings(origin=origin))
    check_outcome(outcome, expected, puzzle)
    assert outcome.job is not None
    assert stored_distances(database, outcome.job) == expected


@dataclass(frozen=True)
class Way:
    """Settings, and what is patched."""

    settings: Settings
    isa: str = ""
    shard_classes: int = 1
    state_rows: int = STATE_ROWS

    def enumerate(
        self, puzzle: Puzzle, database: Database | None, reporter: Reporter | None = None, **more: Any
    ) -> Outcome:
        with (
            compiled(self.isa, self.shard_classes),
            patch("farthest.coordinator.enumeration.record.STATE_ROWS", self.state_rows),
        ):
            return enumerate_puzzle(puzzle, database, replace(self.settings, **more), reporter)


ways = st.builds(
    Way,
    settings=st.builds(
        Settings, threads=st.sampled_from([1, 2, 5]), checkpoint_seconds=st.sampled_from([0.0, 60.0])
    ),
    isa=st.sampled_from(ISAS),
    shard_classes=st.integers(1, 3),
    state_rows=st.sampled_from([0, 10, STATE_ROWS]),
)


@pytest.mark.slow
@given(puzzles(most=5000), ways)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_puzzle_equals_the_naive_model(either: Database, puzzle: Puzzle, way: Way) -> None:
    expected = naive.distances(puzzle)
    outcome = way.enumerate(puzzle, either)
    check_outcome(outcome, expected, puzzle)
    assert outcome.complete
    assert outcome.job is not None
    assert stored_distances(either, outcome.job) == expected
    Jobs(either).delete(outcome.job)


@pytest.mark.slow
@given(puzzles(most=5000), ways)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_digests_do_not_depend_on_the_way(database: Database, puzzle: Puzzle, way: Way) -> None:
    plain = Way(Settings(threads=1), isa="portable")
    reference = plain.enumerate(puzzle, None)
    stored = way.enumerate(puzzle, database)
    assert stored.job is not None
    assert stored.digest == way.enumerate(puzzle, None).digest == reference.digest
    assert Jobs(database).get(stored.job).digest == reference.digest
    Jobs(database).delete(stored.job)
    counted = way.enumerate(puzzle, None, histogram_only=True)
    assert counted.layers == reference.layers
    assert sorted(counted.farthest) == sorted(reference.farthest)
    assert counted.digest == plain.enumerate(puzzle, None, histogram_only=True).digest


@pytest.mark.slow
@given(puzzles(most=5000), ways, st.integers(0, 12), st.booleans())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_depth_limit_cuts_the_same_layers_off(
    database: Database, puzzle: Puzzle, way: Way, limit: int, histogram_only: bool
) -> None:
    expected = naive.distances(puzzle, max_depth=limit)
    outcome = way.enumerate(puzzle, database, max_depth=limit, histogram_only=histogram_only)
    check_outcome(outcome, expected, puzzle)
    assert outcome.job is not None
    if not histogram_only:
        assert stored_distances(database, outcome.job) == expected
    for row in Maps(database).states(outcome.job):
        assert expected[sliding(puzzle).parse_board(row.board)] == row.distance
    Jobs(database).delete(outcome.job)


@for_each("histogram_only", [False, True])
@for_each("limit", [1, 4, 7])
def test_farthest_boards_under_a_depth_limit_are_those_of_the_last_layer(
    limit: int, histogram_only: bool
) -> None:
    puzzle = load("8-puzzle")
    expected = naive.distances(puzzle, max_depth=limit)
    outcome = enumerate_puzzle(puzzle, None, Settings(max_depth=limit, histogram_only=histogram_only))
    check_outcome(outcome, expected, puzzle)
    assert not outcome.complete
    assert outcome.eccentricity is None


class Stop(Exception):
    """Stands for whatever ends a run."""


@dataclass
class StopAt(Reporter):
    """Ends the run when it tells of layer ``depth``."""

    depth: int

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth == self.depth:
            raise Stop


@pytest.mark.slow
@given(puzzles(most=5000), ways, ways, st.integers(0, 1000))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_stopped_run_goes_on_in_any_way(
    either: Database, puzzle: Puzzle, way: Way, other: Way, rng: int
) -> None:
    reference = enumerate_puzzle(puzzle, None)
    assume(len(reference.layers) > 1)
    depth = 1 + rng % (len(reference.layers) - 1)
    with pytest.raises(Stop):
        way.enumerate(puzzle, either, StopAt(depth), checkpoint_seconds=0)
    begun = Jobs(either).list()[-1]
    assert begun.status == "interrupted"
    outcome = other.enumerate(puzzle, either)
    assert outcome.job == begun.id
    assert outcome.resumed_from == (begun.depth if depth > 1 else None)
    assert outcome.resumed_from is None or 1 <= outcome.resumed_from < depth
    assert (outcome.digest, outcome.layers) == (reference.digest, reference.layers)
    assert outcome.farthest == reference.farthest
    assert Jobs(either).get(begun.id).status == "finished"
    Jobs(either).delete(begun.id)


def test_a_run_stopped_again_and_again_still_ends(either: Database) -> None:
    puzzle = load("sliding-3x3")
    reference = enumerate_puzzle(puzzle, None)
    resumed = []
    for depth in range(2, reference.eccentricity or 0, 3):
        way = Way(Settings(checkpoint_seconds=0, threads=1 + depth % 3), shard_classes=1 + depth % 2)
        with pytest.raises(Stop):
            way.enumerate(puzzle, either, StopAt(depth))
        resumed.append(Jobs(either).list()[-1].depth)
    assert None not in resumed
    assert resumed == sorted(depth for depth in resumed if depth is not None)
    outcome = enumerate_puzzle(puzzle, either)
    assert outcome.digest == reference.digest
    assert outcome.resumed_from == resumed[-1]
    assert len({job.id for job in Jobs(either).list() if job.name == "sliding-3x3"}) == 1


class Reading(Reporter):
    """What a run tells of the checkpoint that it reads; sends Ctrl-C meanwhile if told so."""

    def __init__(self, *, stop: bool = False) -> None:
        self.told: list[tuple[float, ...]] = []
        self._stop = stop

    def resuming(self, job: int, depth: int, share: float) -> None:
        self.told.append((depth, share))
        if self._stop:
            signal.raise_signal(signal.SIGINT)

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        self.told.append((depth, states, total))


def test_it_is_told_what_a_run_goes_on_from(either: Database) -> None:
    puzzle = load("sliding-2x5")  # of four chunks
    with pytest.raises(Stop):
        enumerate_puzzle(puzzle, either, Settings(checkpoint_seconds=0), StopAt(4))
    depth = Jobs(either).list()[-1].depth
    assert depth is not None
    stopped, reading = Reading(stop=True), Reading()
    with pytest.raises(Interrupted) as interrupted:
        enumerate_puzzle(puzzle, either, Settings(), stopped)
    assert interrupted.value.depth == depth
    assert stopped.told == [(depth, 0.0)], "a signal ends the reading"
    layers = enumerate_puzzle(puzzle, either, Settings(max_depth=None), reading).layers
    *shares, last = reading.told
    assert [one for one, _ in shares] == [depth] * 4
    assert [share for _, share in shares] == sorted({share for _, share in shares})
    assert last == (depth, layers[depth], sum(layers[: depth + 1]))


def test_a_run_with_other_parameters_is_another_job(either: Database) -> None:
    puzzle = load("sliding-2x3")
    with pytest.raises(Stop):
        enumerate_puzzle(puzzle, either, Settings(checkpoint_seconds=0), StopAt(5))
    begun = Jobs(either).list()[-1].id
    start = Origin("from", "5 4 3 / 2 1 0")
    for other in (Settings(max_depth=3), Settings(histogram_only=True), Settings(origin=start)):
        outcome = enumerate_puzzle(puzzle, either, other)
        assert outcome.resumed_from is None
        assert outcome.job != begun
    assert enumerate_puzzle(puzzle, either).job == begun
    assert enumerate_puzzle(puzzle, either).job != begun  # it is finished: this is a new one


def test_too_little_memory_is_refused_before_anything_is_stored(database: Database) -> None:
    before = len(Jobs(database).list())
    with pytest.raises(
        ResourceError, match=r"more than the 1.0 GiB allowed; use --map residues, .* in files"
    ):
        enumerate_puzzle(load("sliding-4x4"), database, Settings(memory=2**30, residues=False))
    with pytest.raises(ResourceError, match=r"allow more with --memory \d+MiB, or use --map residues"):
        enumerate_puzzle(load("sliding-3x4"), database, Settings(memory=150 * 2**20))
    assert len(Jobs(database).list()) == before


def test_many_blanks_have_many_shards() -> None:
    # 924 states, one shard each.
    puzzle = make_puzzle(rows=grid_rows(3, 4), goals=[[0] * 6 + [1] * 6])
    outcome = enumerate_puzzle(puzzle, None)
    assert outcome.states == 924
    assert list(outcome.layers) == naive.layers(naive.distances(puzzle))


@pytest.mark.slow
def test_few_states_of_many_keys_are_stored_at_once(database: Database) -> None:
    # 239,500,800 keys, of which 37 are reached: rows are made for states, not for keys.
    outcome = enumerate_puzzle(load("sliding-3x4"), database, Settings(max_depth=4))
    assert outcome.layers == (1, 2, 4, 9, 20)
    assert outcome.job is not None
    rows = list(Maps(database).states(outcome.job))
    assert [row.distance for row in rows].count(4) == 20
    assert len(rows) == 36
    assert [row.board for row in rows if row.distance == 0] == ["0 1 2 3 / 4 5 6 7 / 8 9 10 11"]


def test_a_damaged_checkpoint_is_told_so(tmp_path: Path) -> None:
    puzzle = load("8-puzzle")
    with open_database(str(tmp_path / "damaged.db"), create=True) as database:
        with pytest.raises(Interrupted) as stopped:
            enumerate_puzzle(puzzle, database, Settings(), Stopping(5))
        assert stopped.value.depth == 5
        with database.write() as connection:
            connection.exec_driver_sql("DELETE FROM layer WHERE depth = 5")
        message = "job 1: what is stored is damaged: table layer, .* remove the job"
        with pytest.raises(StorageError, match=message):
            enumerate_puzzle(puzzle, database, Settings())


class Stopping(Reporter):
    """Sends Ctrl-C to the run after a layer."""

    def __init__(self, depth: int) -> None:
        self.depth = depth

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth == self.depth:
            signal.raise_signal(signal.SIGINT)
