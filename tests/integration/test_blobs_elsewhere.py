"""Runs whose blobs are in a folder or an object store, taken by the coordinator itself: no worker is needed."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from blob_places import Contents
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.enumeration.plan import plan
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Outcome, Settings
from farthest.coordinator.workers import Servers
from farthest.errors import (
    FarthestError,
    LostStateError,
    NoRoomError,
    RedisTooSmallError,
    SettingError,
    UnavailableError,
)
from farthest.models.database import Database, open_database
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.stores.blobs.folder import FolderPlace
from farthest.stores.redis.connections import RedisNodes
from run_cases import keys

SMALL = ("roundabout", "hanoi-3-3")
"""One-way by the gather engine, undirected by the scatter engine."""
LARGER = ("8-puzzle", "hanoi-cyclic-3-4")


def slow(*names: str) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


def night(*names: str) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.night) for name in names]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(str(tmp_path / "maps.db"), create=True) as opened:
        yield opened


@pytest.fixture
def contents(outside_url: str, redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch) -> Contents:
    monkeypatch.setenv("FARTHEST_REDIS_WAIT_SECONDS", "0")
    monkeypatch.setenv("FARTHEST_BLOCK_SIZE", "2KiB")
    return Contents(outside_url, redis_nodes)


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


def run(
    puzzle: Puzzle, database: Database | None, reporter: Reporter | None = None, **settings: Any
) -> Outcome:
    return enumerate_puzzle(puzzle, database, Settings(workers="celery", **settings), reporter)


def same(found: Outcome, expected: Outcome) -> bool:
    return (found.digest, found.layers, found.farthest) == (
        expected.digest,
        expected.layers,
        expected.farthest,
    )


@pytest.mark.parametrize(
    "name", [*SMALL, *slow("8-puzzle"), *night("hanoi-cyclic-3-4", "hanoi-4-6", "rush-hour-60")]
)
def test_the_result_is_that_of_threads(
    contents: Contents, redis_nodes: RedisNodes, database: Database, name: str
) -> None:
    """Redis holds no blob meanwhile, and nothing is left anywhere."""
    puzzle, seen = load(name), list[int]()

    def look() -> None:
        assert not [key for key in keys(redis_nodes) if re.search(":[bovm]:", key)]
        seen.append(len(contents.names()))

    depths = {2, 4}
    found = run(puzzle, database, Meddler(depths, look), checkpoint_seconds=0.0)
    assert same(found, enumerate_puzzle(puzzle, None))
    assert len(seen) == 2
    assert min(seen) > 1
    assert contents.names() == []
    assert keys(redis_nodes) == set()


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "removed": lambda blob: None,
    "cut short": lambda blob: blob[: len(blob) // 2],
    "empty": lambda blob: b"",
    "altered": lambda blob: blob[:-1] + bytes([blob[-1] ^ 1]),
}


@pytest.mark.parametrize("damage", ["removed", *slow("cut short"), *night("empty"), "altered"])
@pytest.mark.parametrize("name", [*SMALL, *night(*LARGER)])
def test_damaged_blobs_cost_time_alone(
    contents: Contents, database: Database, name: str, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some layers all blobs are damaged but the mark; what the coordinator has in memory does not help it."""
    monkeypatch.setenv("FARTHEST_WORKER_MEMORY", "0")
    puzzle = load(name)

    def strike() -> None:
        for file in contents.names():
            # A thread of the coordinator removes older layers meanwhile.
            with suppress(FileNotFoundError):
                if "/m-" not in file:
                    contents.write(file, DAMAGE[damage](contents.read(file)))

    expected = enumerate_puzzle(puzzle, None)
    middle = len(expected.layers) // 2
    meddler = Meddler({1, middle}, strike)
    found = run(puzzle, database, meddler, checkpoint_seconds=0.0)
    assert same(found, expected)
    assert [notice.endswith("going back to the last checkpoint") for notice in meddler.notices] == [
        True,
        True,
    ]
    assert contents.names() == []


def test_a_place_that_loses_everything_again_and_again_is_given_up(contents: Contents) -> None:
    class Removing(Meddler):
        def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
            for name in contents.names():
                contents.write(name, None)

    with pytest.raises(LostStateError, match="lost 6 times since the last"):
        run(load("hanoi-3-3"), None, Removing(set(), print))


def test_two_runs_in_one_place_leave_each_other_alone(contents: Contents, redis_nodes: RedisNodes) -> None:
    inner: list[Outcome] = []
    one_way, puzzle = load("roundabout"), load("hanoi-3-3")
    meddler = Meddler({3}, lambda: inner.append(run(one_way, None)))
    assert same(run(puzzle, None, meddler), enumerate_puzzle(puzzle, None))
    assert same(inner[0], enumerate_puzzle(one_way, None))
    assert not meddler.notices
    assert contents.names() == []


def test_two_installations_may_share_a_place(
    contents: Contents, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A coordinator of another Redis, which knows nothing of the first run, begins and ends meanwhile."""
    other: list[Outcome] = []

    def begin() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FARTHEST_REDIS_URL", f"{redis_url.removesuffix('/0')}/5")
            other.append(run(load("roundabout"), None))

    meddler = Meddler({3}, begin)
    assert same(run(load("hanoi-3-3"), None, meddler), enumerate_puzzle(load("hanoi-3-3"), None))
    assert len(other) == 1
    assert not meddler.notices
    assert contents.names() == []


# Full, or not what it should be


@pytest.fixture
def place(scratch: Path, redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = scratch / "blobs"
    folder.mkdir()
    monkeypatch.setenv("FARTHEST_BLOBS", folder.as_uri())
    return folder


@pytest.mark.parametrize("patience", [0, 30])
def test_a_place_that_is_away_is_waited_for(
    place: Path, monkeypatch: pytest.MonkeyPatch, patience: int
) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_WAIT_SECONDS", str(patience))
    away = place.with_name("away")
    back = threading.Timer(0.3, away.rename, (place,))

    def unmount() -> None:
        place.rename(away)
        back.start()

    meddler = Meddler({2}, unmount)
    try:
        if patience:
            assert same(run(load("hanoi-3-3"), None, meddler), enumerate_puzzle(load("hanoi-3-3"), None))
            assert "check that it is mounted" in meddler.notices[0]
            assert "waiting up to 30 s for it" in meddler.notices[0]
        else:
            with pytest.raises(UnavailableError, match="check that it is mounted"):
                run(load("hanoi-3-3"), None, meddler)
    finally:
        back.join()


def test_a_folder_without_room_is_told_before(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FolderPlace, "free", lambda self: 2**20)
    for puzzle in ("sliding-3x4", "pancake-12"):
        with pytest.raises(
            NoRoomError, match=r"need .* of blobs at a time or more, but file:///.* has 1\.0 MiB free"
        ):
            run(load(puzzle), None, histogram_only=True)
    run(load("3-puzzle"), None)


def test_redis_needs_room_for_records_alone(
    place: Path, redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of blocks as they are usually, and of many small ones; and without the folder."""
    puzzle = load("sliding-3x4")
    redis_nodes.main.config_set("maxmemory", "8mb")
    try:
        settings = Settings(workers="celery", histogram_only=True)

        def refusal() -> FarthestError | None:
            machine = Machine(settings, stored=False, servers=Servers.open(lambda text: None))
            return plan(puzzle, settings, machine).refusal

        assert refusal() is None
        for name, value in (("FARTHEST_BLOCK_SIZE", "1KiB"), ("FARTHEST_BLOBS", "redis")):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv(name, value)
                found = refusal()
                assert isinstance(found, RedisTooSmallError)
                assert "of Redis, more than the 8.0 MiB of its servers" in str(found)
    finally:
        redis_nodes.main.config_set("maxmemory", "0")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("/scratch", r"'/scratch'; expected redis, a folder by its full path as file:///scratch"),
        ("file://scratch/blobs", r"expected redis, a folder by its full path"),
        ("file:scratch", r"expected redis, a folder by its full path"),
        ("file:///scratch?mode=fast", r"expected redis, a folder"),
        ("s3:///prefix", r"an object store as s3://bucket/prefix"),
        ("gs://bucket/prefix", r"an object store as s3://bucket/prefix"),
        ("memory:///", r"expected redis, a folder"),
        ("s3://user:secret@bucket", r"expected a bucket|an object store as"),
        ("s3://bucket/a/../b", r"expected a bucket and a prefix"),
        ("s3://bucket/a b", r"expected a bucket and a prefix"),
        ("file:///no/such/folder", r"there is no folder /no/such/folder; make it, or mount it"),
        ("file://[", r"expected redis, a folder"),
    ],
)
def test_settings_that_are_no_place(
    redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch, said: str, told: str
) -> None:
    monkeypatch.setenv("FARTHEST_BLOBS", said)
    with pytest.raises(SettingError, match=told) as error:
        run(load("3-puzzle"), None)
    assert str(error.value).startswith("FARTHEST_BLOBS is ")
    assert "secret" not in str(error.value)
