"""Coordinators and workers as processes, on real servers: the same digests as in one process, however many work."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import Cluster
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Outcome, Settings
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin
from servers import PostgresServer, RedisServer
from signature.workload import DIGESTS

COMMITTED: dict[str, str] = json.loads(DIGESTS.read_text(encoding="utf-8"))

FROGS = """
name = "frogs"
family = "python"
[python]
class = "python_spaces:Frogs"
"""

WORKERS = {1: (1,), 2: (1, 1), 4: (1, 1, 2)}
"""The concurrency of each worker, by the number of processes that step."""

CATALOGUE = ("two-blanks", "first-row", "cuboid-2x2x3", "rush-hour-60")
LARGER = ("lozenge", "hanoi-4-6", "8-puzzle", "8-puzzle-slide", "hanoi-cyclic-3-4", "sliding-2x5")

TWO_BLANKS = """
name = "two-blanks-2x4"
title = "Six tiles and two blanks"
source = "made for this test"
family = "sliding"
[sliding]
goal = ["1 2 3 4", "5 6 0 0"]
"""
TWO_TILES = """
name = "two-tiles-2x4"
title = "Bring 1 and 2 to their places"
source = "made for this test"
family = "sliding"
[sliding]
goal = ["1 2 * *", "* * * 0"]
pieces = "1 2 3 4 5 6 7"
"""


@pytest.fixture(scope="module")
def cluster(
    redis_server: RedisServer, postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """A coordinator that sends every layer to workers, in as many blocks as there are shards."""
    redis_server.flush()
    environment = {"SMALL_LAYER_STATES": 0, "BLOCK_SIZE": "2KiB", "PUZZLE_MODULES": "python_spaces"}
    folder = tmp_path_factory.mktemp("cluster")
    with (
        postgres_server.fresh_database() as database,
        Cluster(folder, redis_server.url, database, environment) as cluster,
    ):
        cluster.add_coordinator()
        yield cluster


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(n, marks=pytest.mark.slow if n == 2 else pytest.mark.night) for n in sorted(WORKERS)
    ],
    ids="{}-processes".format,
)
def workers(cluster: Cluster, request: pytest.FixtureRequest) -> Cluster:
    """The cluster with so many processes that step."""
    wanted = WORKERS[request.param]
    for worker in cluster.workers[len(wanted) :]:
        cluster.remove(worker)
    for concurrency in wanted[len(cluster.workers) :]:
        cluster.add_worker(concurrency)
    cluster.ready()
    return cluster


def embedded(name: str) -> Outcome:
    """The result of a work in this process; its digest is the committed one, if there is one."""
    puzzle, origin = parts(name)
    outcome = enumerate_puzzle(load(puzzle), None, Settings(origin=origin))
    assert outcome.digest == COMMITTED.get(name, outcome.digest)
    return outcome


def parts(name: str) -> tuple[str, Origin | None]:
    puzzle, _, direction = name.partition(" ")
    return puzzle, Origin("to") if direction else None


def compare(cluster: Cluster, *names: str) -> None:
    """Runs a job for each name; they wait for each other in the queue."""
    jobs = []
    for name in names:
        puzzle, origin = parts(name)
        jobs.append(cluster.submit(puzzle, *(["--to", "goal"] if origin else [])))
    for name, job in zip(names, jobs, strict=True):
        expected, result = embedded(name), cluster.wait(job)
        assert result.layers == expected.layers
        assert result.digest == expected.digest


def test_same_digests_of_small_spaces(workers: Cluster, tmp_path: Path) -> None:
    files = {"blanks.toml": TWO_BLANKS, "tiles.toml": TWO_TILES}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    own = [str(tmp_path / name) for name in files]
    edges = "pyraminx@UL=UR=UB.turns:edges"
    compare(workers, "roundabout", "roundabout to goal", "wilson-theta", *own, "eight-kinds", edges)


@pytest.mark.night
def test_same_layers_by_representatives(workers: Cluster) -> None:
    """93 million states, 17 million keys, of which a block holds a tenth."""
    name = "cube-3x3x3-urf-edges"
    result = workers.run(name, "--map", "none", "--symmetry", "6")
    expected = enumerate_puzzle(load(name), None, Settings(histogram_only=True, symmetry=1))
    assert (result.layers, result.digest) == (expected.layers, expected.digest)


def test_same_maps_by_representatives(workers: Cluster) -> None:
    name = "cube-3x3x3-urf-edges"
    result = workers.run(name, "--map", "full", "--symmetry", "6")
    expected = enumerate_puzzle(load(name), None, Settings(symmetry=6))
    assert (result.layers, result.digest) == (expected.layers, expected.digest)


def test_same_digests_where_states_are_scattered(workers: Cluster, tmp_path: Path) -> None:
    """Dense, where moves go both ways and one way, sparse, and a class of the user's whose codes are byte strings."""
    own = tmp_path / "frogs.toml"
    own.write_text(FROGS)
    compare(workers, "hanoi-4-5", "jugs-8-5-3", "rush-BBoooooooooCAAoooCooooooooDDoooooooo", str(own))


def test_same_digests_in_many_blocks(workers: Cluster) -> None:
    compare(workers, *CATALOGUE)


@pytest.mark.night
def test_same_digests_in_very_many_blocks(workers: Cluster) -> None:
    compare(workers, *LARGER)


@pytest.mark.parametrize("processes", [pytest.param(n, marks=pytest.mark.night) for n in WORKERS])
def test_same_digests_of_large_spaces_with_default_settings(
    redis_url: str, postgres_url: str, tmp_path: Path, processes: int
) -> None:
    with Cluster(tmp_path, redis_url, postgres_url) as cluster:
        cluster.add_coordinator()
        for concurrency in WORKERS[processes]:
            cluster.add_worker(concurrency)
        cluster.ready()
        compare(cluster, "sliding-2x5", "sliding-3x4")
