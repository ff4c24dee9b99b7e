"""Whole runs of scattered spaces over Redis, with losses, interruptions and limits; no worker is needed."""

from collections.abc import Callable
from typing import Any

import pytest

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Outcome, Settings
from farthest.models.database import Database
from farthest.puzzles.catalogue import load
from farthest.stores.redis.connections import RedisNodes
from run_cases import keys

PUZZLES = ("hanoi-3-4", "hanoi-cyclic-3-3", "rush-BBoooooooooCAAoooCooooooooDDoooooooo")
"""Dense, dense and one-way, sparse."""

puzzles = pytest.mark.parametrize("name", PUZZLES)


@pytest.fixture
def redis(redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch) -> RedisNodes:
    monkeypatch.setenv("FARTHEST_REDIS_WAIT_SECONDS", "0")
    monkeypatch.setenv("FARTHEST_BLOCK_SIZE", "256")
    return redis_nodes


class Meddler(Reporter):
    """Does something after each of the given layers, once."""

    def __init__(self, depths: set[int], act: Callable[[], Any]) -> None:
        self.depths = set(depths)
        self.act = act
        self.notices: list[str] = []

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth in self.depths:
            self.depths.remove(depth)
            self.act()

    def notice(self, text: str) -> None:
        self.notices.append(text)


def run(name: str, database: Database | None, reporter: Reporter | None = None, **settings: Any) -> Outcome:
    return enumerate_puzzle(load(name), database, Settings(**{"workers": "celery", **settings}), reporter)


def same(one: Outcome, other: Outcome) -> bool:
    return (one.digest, one.layers, one.farthest, one.complete) == (
        other.digest,
        other.layers,
        other.farthest,
        other.complete,
    )


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {}) for name in PUZZLES),
        (PUZZLES[2], {"max_depth": 3}),
        (PUZZLES[1], {"histogram_only": True}),
        ("cube-3x3x3", {"max_depth": 2}),
        ("24-puzzle", {"max_depth": 5, "histogram_only": True}),
    ],
)
def test_the_result_is_that_of_threads(
    redis: RedisNodes, database: Database, name: str, settings: dict[str, Any]
) -> None:
    """With checkpoints after each layer."""
    expected = run(name, None, workers="threads", **settings)
    assert same(run(name, database, checkpoint_seconds=0.0, **settings), expected)
    assert keys(redis) == set()


@pytest.mark.slow
@puzzles
def test_an_emptied_redis_costs_time_alone(redis: RedisNodes, database: Database, name: str) -> None:
    expected = run(name, None, workers="threads")
    meddler = Meddler({0, 3}, redis.main.flushall)
    assert same(run(name, None, meddler), expected)
    assert len(meddler.notices) == 2
    meddler = Meddler({2, 3}, redis.main.flushall)
    assert same(run(name, database, meddler, checkpoint_seconds=0.0), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUZZLES[1:])
@pytest.mark.parametrize("order", [("threads", "celery"), ("celery", "threads")])
def test_a_run_is_continued_by_either_executor(
    redis: RedisNodes,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    order: tuple[str, str],
) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    first, second = order
    with pytest.raises(KeyboardInterrupt):
        run(name, database, Meddler({3}, stop), checkpoint_seconds=0.0, workers=first)
    monkeypatch.setenv("FARTHEST_BLOCK_SIZE", "300")
    found = run(name, database, workers=second)
    assert found.resumed_from is not None
    assert same(found, run(name, None, workers="threads"))
