"""Jobs that begin anew, as finding their layers again takes less than reading their checkpoint."""

from typing import Any

import pytest

from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration import record as checkpoint
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Outcome, Settings
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.stores.redis.connections import RedisNodes
from stopping import StoppedAt

DENSE, ONE_WAY, HANOI, BLOCKS = (
    "8-puzzle",
    "roundabout",
    "hanoi-3-4",
    "rush-BBoooooooooCAAoooCooooooooDDoooooooo",
)


class Told(Reporter):
    """How the run began, and its layers."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def begun_anew(self, job: int, depth: int, seconds: float) -> None:
        self.events.append(("anew", depth))

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        self.events.append(("resumed", depth))

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        self.events.append(("layer", depth))


def stopped(puzzle: Puzzle, database: Database, depth: int, settings: Settings) -> int | None:
    with pytest.raises(Interrupted) as interrupted:
        enumerate_puzzle(puzzle, database, settings, StoppedAt(depth))
    assert Jobs(database).list()[-1].depth == interrupted.value.depth
    return interrupted.value.depth


def same(one: Outcome, other: Outcome) -> bool:
    return (one.digest, one.layers, one.farthest) == (other.digest, other.layers, other.farthest)


@pytest.mark.parametrize(
    ("workers", "name"),
    [("threads", DENSE), ("threads", ONE_WAY), ("threads", BLOCKS), ("celery", HANOI), ("celery", BLOCKS)],
)
def test_of_each_kind_of_space_and_store(
    redis_nodes: RedisNodes, database: Database, monkeypatch: pytest.MonkeyPatch, name: str, workers: Any
) -> None:
    """A checkpoint is only replaced by a deeper one."""
    del redis_nodes
    monkeypatch.setenv("FARTHEST_BLOCK_SIZE", "4KiB")
    puzzle, settings = load(name), Settings(workers=workers, max_depth=8)
    expected = enumerate_puzzle(puzzle, None, Settings(max_depth=8))
    assert stopped(puzzle, database, 2, settings) == 2
    with monkeypatch.context() as slow:
        slow.setattr(checkpoint, "READ_BYTES", 1e-9)
        assert stopped(puzzle, database, 1, settings) == 2
        assert stopped(puzzle, database, 3, settings) == 3
        told = Told()
        outcome = enumerate_puzzle(puzzle, database, settings, told)
    assert told.events == [("anew", 3), *(("layer", depth) for depth in range(len(expected.layers)))]
    assert (outcome.job, outcome.resumed_from) == (1, 0)
    assert same(outcome, expected)


@pytest.mark.night
def test_a_large_checkpoint_of_quick_layers(database: Database) -> None:
    """40 MB of distances, of which hardly any is of a state."""
    puzzle, settings = load("pancake-11"), Settings(max_depth=3)
    assert stopped(puzzle, database, 2, settings) == 2
    told = Told()
    outcome = enumerate_puzzle(puzzle, database, settings, told)
    assert told.events == [("anew", 2), *(("layer", depth) for depth in range(4))]
    assert outcome.resumed_from == 0
    assert outcome.layers == (1, 10, 90, 809)
