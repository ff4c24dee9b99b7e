"""Redis or the database full for some seconds: the job goes on by itself, and nothing else ends."""

import contextlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from cluster import Cluster, Service, until
from farthest.cli.app import cli
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.submission import submit_puzzle
from farthest.coordinator.service import SETBACKS_ALONE
from farthest.coordinator.service import Service as CoordinatorService
from farthest.coordinator.settings import Settings
from farthest.models.chunks import Chunk
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.records import LayerRecord, Setbacks
from farthest.models.tables import job as table
from farthest.puzzles.catalogue import load
from farthest.stores.redis.connections import RedisNodes

pytestmark = pytest.mark.slow

LONG = "sliding-2x4"
"""20,160 states at depths 0 to 36: with a pause before each step, some seconds."""

EVERY_LAYER = {"SMALL_LAYER_STATES": 0, "CHECKPOINT_SECONDS": 0}


@pytest.fixture(scope="module")
def digest() -> str:
    return enumerate_puzzle(load(LONG), None).digest


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of some megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def started(cluster: Cluster) -> list[Service]:
    services = [cluster.add_worker(2), cluster.add_coordinator()]
    cluster.ready()
    return services


def waits(cluster: Cluster, job: int, pattern: str) -> str:
    """Waits until the job is back in the queue, with a reason that matches."""

    def reason() -> str | None:
        record = cluster.job(job)
        return record.error if record.status == "queued" and record.error else None

    told = until(reason, 30, "the job is handed back", 0.02)
    assert re.search(pattern, told), told
    return told


def shown(cluster: Cluster, *words: str) -> str:
    result = CliRunner().invoke(cli, [*words, "--database", cluster.database_url])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def at_layer(cluster: Cluster, depth: int) -> None:
    until(lambda: True if cluster.depth() > depth else None, 30, f"layer {depth} is over")


def test_redis_is_full(tmp_path: Path, redis_url: str, digest: str) -> None:
    """While workers wait and lose their connections, and then while a job runs."""
    database = f"sqlite:///{tmp_path / 'jobs.db'}"
    with Cluster(tmp_path, redis_url, database, EVERY_LAYER, delay=0.05) as cluster:
        services = started(cluster)
        try:
            cluster.redis.config_set("maxmemory", "1")
            cluster.redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            worker = services[0]
            until(lambda: "no memory left" in worker.said() or None, 10, "the worker tells of it")
            time.sleep(1)
            cluster.redis.config_set("maxmemory", "0")
            job = cluster.submit(LONG)
            at_layer(cluster, 5)
            cluster.redis.config_set("maxmemory", "1")
            told = waits(cluster, job, "Redis has no memory left .*raise its maxmemory .*REDIS_MAXMEMORY")
            record = cluster.job(job)
            assert record.not_before is not None
            again = f"is queued and waits: {told}; tried again at {record.not_before:%H:%M:%S} UTC"
            assert f"Job {job} {again}." in shown(cluster, "jobs")
            assert f"status {again}" in shown(cluster, "show", str(job))
            watch = cluster.start("watch", str(job))
            until(lambda: "no memory left" in watch.said() or None, 10, "watch tells of it")
            assert cluster.redis.zcard("farthest:attempts") == 0, "nothing of the job is left in Redis"
        finally:
            cluster.redis.config_set("maxmemory", "0")
        assert cluster.wait(job).digest == digest
        goes_on = re.search(rf"job {job}: continues after depth (\d+)", services[1].said())
        assert goes_on is not None, "it went on from a checkpoint"
        assert int(goes_on[1]) >= 5
        assert all(service.alive for service in services)


def test_a_job_that_does_not_fit_fails_in_the_end(tmp_path: Path, redis_url: str) -> None:
    database = f"sqlite:///{tmp_path / 'jobs.db'}"
    with Cluster(
        tmp_path, redis_url, database, {**EVERY_LAYER, "CHECKPOINT_SECONDS": 60}, delay=0.05
    ) as cluster:
        started(cluster)
        job = cluster.submit(LONG, "--histogram-only")  # which keeps no checkpoint
        at_layer(cluster, 3)
        try:
            cluster.redis.config_set("maxmemory", "1")
            waits(cluster, job, "no memory left")
            cluster.redis.config_set("maxmemory", "0")
            # As if it had been so some times already.
            with open_database(database, create=False) as opened, opened.write() as connection:
                setbacks = json.dumps(Setbacks(SETBACKS_ALONE).progress())
                connection.execute(update(table).values(progress=setbacks, lease_until=None))
            at_layer(cluster, 3)
            cluster.redis.config_set("maxmemory", "1")
            record = until(
                lambda: one if (one := cluster.job(job)).status == "failed" else None, 30, "it fails"
            )
        finally:
            cluster.redis.config_set("maxmemory", "0")
    assert "that happened 6 times with no other job in Redis" in (record.error or "")


def test_a_redis_that_has_shrunk_is_want_of_room(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a job that has run; a new one does not fit."""
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    nodes = RedisNodes([redis_url])
    nodes.main.config_set("maxmemory", "8mb")
    try:
        with open_database(str(tmp_path / "jobs.db"), create=True) as database:
            jobs = Jobs(database)
            new, waited, stored = (
                submit_puzzle(load("sliding-3x4"), database, Settings())[0].id for _ in range(3)
            )
            with database.write() as connection:
                progress = json.dumps(Setbacks(1).progress())
                connection.execute(update(table).where(table.c.id == waited).values(progress=progress))
            Maps(database).checkpoint(stored, 0, [Chunk(0, 0, "uint8", b"\0")], [LayerRecord(0, 1)], None)
            assert CoordinatorService(database, nodes).run(once=True) == 3
            assert [jobs.get(job).status for job in (new, waited, stored)] == ["failed", "queued", "queued"]
            for job in (new, waited, stored):
                assert "of Redis, more than the 8.0 MiB of its servers" in (jobs.get(job).error or "")
            assert jobs.get(waited).not_before is not None
    finally:
        nodes.main.config_set("maxmemory", "0")
        nodes.close()


def test_the_disk_of_the_database_is_full(
    tmp_path: Path, small_disk: Path, redis_url: str, digest: str
) -> None:
    database = f"sqlite:///{small_disk / 'jobs.db'}"
    with Cluster(tmp_path, redis_url, database, EVERY_LAYER, delay=0.05) as cluster:
        services = started(cluster)
        job = cluster.submit(LONG)
        at_layer(cluster, 5)
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        coordinator = services[1]
        until(lambda: "no room left for the database" in coordinator.said() or None, 20, "it is told")
        time.sleep(1)
        filler.unlink()
        waits(cluster, job, "no room left for the database")
        assert cluster.wait(job).digest == digest
        assert coordinator.alive
