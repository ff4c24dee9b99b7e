"""Workers on other hosts than the servers: a link is cut and restored while a job runs."""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import Cluster, until
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.puzzles.catalogue import load
from hosts import SERVER, Network, NoHostsError, network
from servers import PostgresServer, RedisServer

PUZZLE = "sliding-2x5"


@pytest.fixture
def hosts() -> Iterator[Network]:
    """A host with the servers, which this test is on, and two others."""
    try:
        with network(2) as made, made.server.inside():
            yield made
    except NoHostsError as error:
        pytest.skip(str(error))


@pytest.fixture
def redis(hosts: Network, tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path / "redis", settings={"bind": "0.0.0.0", "protected-mode": "no"})
    server.start()
    yield server
    server.close()


@pytest.fixture
def database(hosts: Network, tmp_path: Path) -> Iterator[str]:
    server = PostgresServer(tmp_path / "postgres")
    server.start()
    yield server.create_database("hosts")
    server.close()


@pytest.mark.parametrize(
    ("cuts", "seconds", "lease"),
    [
        pytest.param([0], 1.5, 1, id="one link for a lease and a half", marks=pytest.mark.night),
        pytest.param([0, 1], 2.5, 1, id="both links for longer than a lease", marks=pytest.mark.slow),
        pytest.param([0], 5.0, 5, id="one link for five seconds", marks=pytest.mark.night),
        pytest.param([0, 1], 5.0, 5, id="both links for five seconds", marks=pytest.mark.night),
        pytest.param([1], 12.0, 5, id="one link for twelve seconds", marks=pytest.mark.night),
        pytest.param([0, 1], 12.0, 5, id="both links for twelve seconds", marks=pytest.mark.night),
    ],
)
def test_a_link_is_cut_and_restored(
    hosts: Network,
    redis: RedisServer,
    database: str,
    tmp_path: Path,
    cuts: list[int],
    seconds: float,
    lease: int,
) -> None:
    expected = enumerate_puzzle(load(PUZZLE), None)
    url = f"redis://{SERVER}:{redis.port}/0"
    settings = {"SMALL_LAYER_STATES": 0, "BLOCK_SIZE": "32KiB", "LEASE_SECONDS": lease}
    with Cluster(
        tmp_path / "cluster", url, database, settings, delay=0.02, seen_from_here=redis.url
    ) as cluster:
        cluster.add_coordinator()
        for host in hosts.others:
            with host.inside():
                cluster.add_worker()
        cluster.ready()
        job = cluster.submit(PUZZLE)
        target = random.SystemRandom().randrange(5, 40)
        until(lambda: True if cluster.depth() >= target else None, 60, f"layer {target} is under way")
        for number in cuts:
            hosts.cut(number)
        at_cut = cluster.depth()
        assert cluster.job(job).status == "running"
        time.sleep(seconds)
        moved = cluster.depth() - at_cut
        for number in cuts:
            hosts.restore(number)
        result = cluster.wait(job)
    assert (result.digest, result.layers) == (expected.digest, expected.layers)
    if len(cuts) == len(hosts.others):
        assert moved <= 1  # nobody could step
