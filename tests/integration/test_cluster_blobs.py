"""Workers and a coordinator as processes, with blobs in a folder or an object store, killed and cut off meanwhile."""

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from urllib.parse import unquote, urlsplit

import obstore
import pytest

from blob_places import Contents, url_of
from cluster import ENDS, Cluster, Service, until
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.documents.jobs import enumeration_document
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from farthest.stores.redis.connections import RedisNodes
from object_server import ObjectServer
from run_cases import keys
from servers import RedisServer

pytestmark = pytest.mark.slow

PUZZLES = {"gather": "8-puzzle", "scatter": "hanoi-cyclic-3-4"}
KINDS = ("folder", "objects")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest) -> str:
    return url_of(kind, request)


@pytest.fixture
def contents(url: str, redis_nodes: RedisNodes) -> Contents:
    return Contents(url, redis_nodes)


@pytest.fixture
def cluster(
    url: str, redis_nodes: RedisNodes, redis_server: RedisServer, tmp_path: Path
) -> Iterator[Cluster]:
    """Two workers and a coordinator; every layer is sent to workers, in some ten blocks, and slowly."""
    environment = {"BLOBS": url, "SMALL_LAYER_STATES": 0, "BLOCK_SIZE": "2KiB", "LEASE_SECONDS": 1}
    database = f"sqlite:///{tmp_path / 'maps.db'}"
    with Cluster(tmp_path / "cluster", redis_server.url, database, environment, delay=0.002) as cluster:
        for _ in range(2):
            cluster.add_worker()
        cluster.add_coordinator()
        cluster.ready()
        yield cluster


def expected(name: str) -> str:
    return enumerate_puzzle(load(name), None).digest


def reaches(cluster: Cluster, depth: int) -> None:
    until(lambda: True if cluster.depth() >= depth else None, 60, f"depth {depth}", 0.005)


def nothing_is_left(contents: Contents) -> None:
    limit = time.monotonic() + 10
    while left := contents.names():
        assert time.monotonic() < limit, f"left after 10 s: {left[:10]}"
        time.sleep(0.1)


def _parts(cluster: Cluster, job: int) -> bool | None:
    """Whether parts of a map are being made; False where the job has ended without any being seen."""
    if list(cluster.redis.scan_iter("farthest:attempt:*:parts:*")):
        return True
    return False if cluster.job(job).status in ENDS else None


@pytest.mark.parametrize(
    ("kind", "puzzle"),
    [
        ("folder", "8-puzzle"),
        ("folder", "hanoi-4-5"),
        pytest.param("redis", "pancake-7", marks=pytest.mark.night),
    ],
    indirect=["kind"],
)
def test_a_residue_map_is_that_of_one_process(
    cluster: Cluster, contents: Contents, tmp_path: Path, puzzle: str
) -> None:
    seen = False
    while not seen:  # parts are made in milliseconds: a busy machine may not see them
        job = cluster.submit(puzzle, "--map", "residues")
        seen = until(partial(_parts, cluster, job), 60, "a part is made", 0.001)
    cluster.remove(cluster.workers[0])
    assert cluster.add_worker().alive
    digest = cluster.wait(job).digest
    with open_database(tmp_path / "here.db", create=True) as database:
        outcome = enumerate_puzzle(load(puzzle), database, Settings(residues=True))
    assert digest == outcome.digest
    said = cluster.start("verify", str(job))
    assert said.process.wait(60) == 0
    nothing_is_left(contents)


@pytest.mark.parametrize("kind", ["folder"], indirect=True)
def test_a_residue_map_of_representatives(cluster: Cluster, contents: Contents) -> None:
    job = cluster.submit("pyraminx@edges", "--map", "residues", "--symmetry", "24")
    assert sum(cluster.wait(job).layers) == 11520
    said = cluster.start("verify", str(job))
    assert said.process.wait(60) == 0
    nothing_is_left(contents)


@pytest.mark.parametrize(
    ("kind", "engine"),
    [
        ("folder", "scatter"),
        ("objects", "gather"),
        pytest.param("folder", "gather", marks=pytest.mark.night),
        pytest.param("objects", "scatter", marks=pytest.mark.night),
    ],
    indirect=["kind"],
)
def test_kill_9_of_a_worker_and_of_the_coordinator(
    cluster: Cluster, contents: Contents, redis_nodes: RedisNodes, engine: str
) -> None:
    job = cluster.submit(PUZZLES[engine])
    until(
        lambda: True if cluster.depth() and len(contents.names()) > 3 else None,
        60,
        "blobs are written",
        0.005,
    )
    assert not [key for key in keys(redis_nodes) if ":b:" in key]
    rng = random.Random()
    for kill, depth in (("worker", 4), ("coordinator", 8), ("worker", 12)):
        reaches(cluster, depth)
        time.sleep(rng.uniform(0, 0.1))
        services = cluster.workers if kill == "worker" else cluster.coordinators
        cluster.remove(services[0])
        started: Service = cluster.add_worker() if kill == "worker" else cluster.add_coordinator()
        assert started.alive
    assert cluster.wait(job).digest == expected(PUZZLES[engine])
    # Of the attempt whose coordinator was killed, too: the next one has removed it.
    nothing_is_left(contents)


@pytest.mark.parametrize("kind", ["folder"], indirect=True)
def test_kill_9_where_layers_are_united(cluster: Cluster, contents: Contents) -> None:
    """Blobs of all states so far, by representatives. Without a map the next coordinator begins anew."""
    name = "cube-2x2x2-qtm"
    job = cluster.submit(name, "--map", "none", "--symmetry", "6")
    rng = random.Random()
    for kill, depth in (("worker", 4), ("coordinator", 8), ("worker", 11)):
        reaches(cluster, depth)
        runs = [run.decode() for run in cluster.redis.zrange("farthest:attempts", 0, -1)]
        assert [cluster.redis.hget(f"farthest:attempt:{run}:meta", "exclude") for run in runs] == [b"united"]
        time.sleep(rng.uniform(0, 0.1))
        cluster.remove((cluster.workers if kill == "worker" else cluster.coordinators)[0])
        assert (cluster.add_worker() if kill == "worker" else cluster.add_coordinator()).alive
    result = cluster.wait(job)
    by_one = enumerate_puzzle(load(name), None, Settings(histogram_only=True, symmetry=6))
    assert (result.digest, result.layers) == (by_one.digest, by_one.layers)
    layers = cluster.asked(lambda jobs: jobs.layers(job))
    assert enumeration_document(cluster.job(job), layers)["classes"] == list(by_one.classes or ())
    nothing_is_left(contents)


@pytest.mark.night
@pytest.mark.parametrize("kind", ["objects"], indirect=True)
@pytest.mark.parametrize("how", ["frozen", "ended"])
@pytest.mark.parametrize("engine", PUZZLES)
def test_an_object_store_that_is_away_for_ten_seconds(
    cluster: Cluster, contents: Contents, object_server: ObjectServer, engine: str, how: str
) -> None:
    job = cluster.submit(PUZZLES[engine])
    reaches(cluster, 5)
    if how == "frozen":
        object_server.freeze()
        time.sleep(10)
        object_server.thaw()
    else:
        object_server.kill()
        time.sleep(10)
        object_server.start()
    assert cluster.wait(job).digest == expected(PUZZLES[engine])
    assert all(service.alive for service in (*cluster.workers, *cluster.coordinators))
    nothing_is_left(contents)


# Spaces whose shards are large enough to be stepped coded, cut into many blocks

LARGE = {"sliding-3x4": 54, "sliding-2x6": 81}
"""With the number of their layers."""

Strike = Callable[["Large"], None]


@dataclass
class Large:
    """A job under way, and what may be done to it."""

    cluster: Cluster
    contents: Contents
    url: str
    servers: ObjectServer | None
    rng: random.Random
    job: int

    def kill_workers(self) -> None:
        for worker in list(self.cluster.workers):
            self.cluster.remove(worker)
            self.cluster.add_worker()

    def kill_coordinator(self) -> None:
        self.cluster.remove(self.cluster.coordinators[0])
        self.cluster.add_coordinator()

    def take_over(self) -> None:
        """A coordinator that stands still loses its job to another, and finds that when it goes on."""
        first = self.cluster.coordinators[0]
        self.cluster.add_coordinator()
        self.cluster.ready()
        first.freeze()
        time.sleep(4)
        first.thaw()

    def away(self) -> None:
        """The place of blobs is away for ten seconds."""
        if self.servers is not None:
            self.servers.kill()
            time.sleep(10)
            self.servers.start()
            return
        folder = Path(unquote(urlsplit(self.url).path))
        folder.rename(folder.with_name("away"))
        time.sleep(10)
        folder.with_name("away").rename(folder)

    def damage(self, how: Callable[[bytes], bytes | None]) -> None:
        """Damages some blobs that the layer under way is stepped from."""
        depth = self.cluster.depth() - 1
        names = [name for name in self.contents.names() if f"/b-{depth}-" in name]
        for name in self.rng.sample(names, min(20, len(names))):
            with contextlib.suppress(FileNotFoundError, obstore.exceptions.NotFoundError):
                self.contents.write(name, how(self.contents.read(name)))


STRIKES: dict[str, tuple[int, Strike | None]] = {
    "1 process": (1, None),
    "2 processes": (2, None),
    "4 processes": (4, None),
    "workers killed": (2, Large.kill_workers),
    "coordinator killed": (2, Large.kill_coordinator),
    "second coordinator": (2, Large.take_over),
    "place away": (2, Large.away),
    "deleted": (2, lambda large: large.damage(lambda blob: None)),
    "cut short": (2, lambda large: large.damage(lambda blob: blob[: len(blob) // 2])),
    "altered": (2, lambda large: large.damage(lambda blob: blob[:-1] + bytes([blob[-1] ^ 1]))),
}
"""Processes of workers, and what is done in the middle of the job."""


@cache
def expected_of_large(name: str) -> str:
    return expected(name)


@pytest.mark.night
@pytest.mark.parametrize("strike", STRIKES)
@pytest.mark.parametrize("name", LARGE)
def test_large_shards_have_the_digest_of_one_process(
    kind: str,
    url: str,
    contents: Contents,
    redis_server: RedisServer,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    name: str,
    strike: str,
) -> None:
    processes, act = STRIKES[strike]
    environment = {
        "BLOBS": url,
        "BLOCK_SIZE": "256KiB",
        "LEASE_SECONDS": 1,
        "WORKER_MEMORY": "0" if "damage" in (act.__code__.co_names if act else ()) else "32MiB",
        "TEST_JOB_LEASE": 2,
    }
    database = f"sqlite:///{tmp_path / 'maps.db'}"
    servers = request.getfixturevalue("object_server") if kind == "objects" else None
    with Cluster(tmp_path / "cluster", redis_server.url, database, environment) as cluster:
        for _ in range(processes):
            cluster.add_worker()
        cluster.add_coordinator()
        cluster.ready()
        job = cluster.submit(name)
        if act is not None:
            rng = random.Random()
            middle = LARGE[name] // 2
            reaches(cluster, rng.randint(middle - 5, middle + 5))
            assert cluster.job(job).status == "running"
            act(Large(cluster, contents, url, servers, rng, job))
        result = cluster.wait(job, 300)
        assert result.digest == expected_of_large(name)
        assert len(result.layers) == LARGE[name]
        print(f"{name}, {kind}, {strike}: {result.seconds:.1f} s")
        if act is not None and "damage" in act.__code__.co_names:
            assert any("going back to the last checkpoint" in one.said() for one in cluster.services)
        nothing_is_left(contents)


@pytest.mark.parametrize("kind", ["folder"], indirect=True)
def test_a_folder_that_is_away_for_a_while(cluster: Cluster, url: str, scratch: Path) -> None:
    """Longer than a worker waits, so that it loses its steps."""
    folder = scratch / "the blobs"
    job = cluster.submit(PUZZLES["gather"])
    reaches(cluster, 5)
    folder.rename(scratch / "away")
    time.sleep(8)
    assert cluster.job(job).status == "running"
    (scratch / "away").rename(folder)
    assert cluster.wait(job).digest == expected(PUZZLES["gather"])


@pytest.mark.parametrize("kind", ["folder"], indirect=True)
def test_a_worker_with_another_place_ends_the_job_with_a_message(cluster: Cluster, url: str) -> None:
    for worker in list(cluster.workers):
        cluster.remove(worker)
    cluster.environment["FARTHEST_BLOBS"] = "redis"
    cluster.add_worker()
    job = cluster.submit(PUZZLES["gather"])
    ended = until(
        lambda: one if (one := cluster.job(job)).status == "failed" else None, 60, "the job fails", 0.05
    )
    assert f"keeps its blobs in '{url}', this process in redis: give all workers" in (ended.error or "")


@pytest.mark.parametrize("kind", ["folder"], indirect=True)
def test_services_say_at_the_start_what_is_wrong(
    cluster: Cluster, object_server: ObjectServer, tmp_path: Path
) -> None:
    variables = object_server.variables()
    cases = {
        "no folder": (
            {"FARTHEST_BLOBS": "file:///no/such"},
            "there is no folder /no/such; make it, or mount it",
        ),
        "no bucket": (
            {**variables, "FARTHEST_BLOBS": "s3://missing-bucket/x"},
            "there is no such bucket",
        ),
        "refused": (
            {**variables, "AWS_SECRET_ACCESS_KEY": "wrong", "FARTHEST_BLOBS": "s3://farthest-tests/x"},
            "the object store refuses the credentials, or this user",
        ),
        "no url": (
            {**variables, "AWS_ENDPOINT_URL": "nonsense", "FARTHEST_BLOBS": "s3://farthest-tests/x"},
            "AWS_ENDPOINT_URL is 'nonsense'; expected the URL of an object store",
        ),
    }
    for command, (environment, message) in zip(
        cycle(("worker", "coordinator")), cases.values(), strict=False
    ):
        kept = dict(cluster.environment)
        cluster.environment |= environment
        service = cluster.start(command)
        cluster.environment.clear()
        cluster.environment |= kept
        assert service.process.wait(60) == 2, (command, service.said())
        assert message in " ".join(service.said().split()), command
        assert "Traceback" not in service.said()
