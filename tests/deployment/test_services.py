"""The services of docker-compose.yml, started as processes: they find each other, run a job, and end when told to."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import farthest
from deployment.compose import PASSWORDS, services
from deployment.processes import Processes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux", reason="looks at processes in /proc, as Docker's are on Linux"
    ),
]

WORKERS = ("worker-1", "worker-2")
SOON = 20.0
"""Seconds in which idle services end. Their grace periods are longer: they may have something to finish."""


SETTINGS = {"FARTHEST_SMALL_LAYER_STATES": "0"}
"""As the user might write into .env: every layer is for workers, so that nothing ends without them."""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    started = Processes(tmp_path, services(variables=PASSWORDS | SETTINGS))
    yield started
    started.close()


def embedded_digest(folder: Path, puzzle: str) -> str:
    with farthest.enumerate(puzzle, database=str(folder / "embedded.db")) as found:
        digest = found.record.digest
    assert digest is not None
    return digest


def test_up_a_job_down_and_up_again(processes: Processes, tmp_path: Path) -> None:
    """`docker compose down` and `up` while a job waits for workers: it goes on, with the result of one process."""
    for name in ("redis", "postgres", "migrate", "coordinator"):
        processes.start(name)
    processes.wait_until_healthy("coordinator")
    submitted = processes.run("coordinator", "farthest", "submit", "eight-kinds", "--json")
    assert submitted.returncode == 0, submitted.stderr
    job = json.loads(submitted.stdout)["job"]
    processes.wait_for_log("coordinator", f"job {job} (eight-kinds): claimed")
    down(processes, "coordinator", "redis", "postgres")
    assert f"job {job}: handed back to the queue" in processes.log("coordinator")

    for name in ("redis", "postgres", "migrate", "coordinator"):
        processes.start(name)
    for instance in WORKERS:
        processes.start("worker", instance=instance)
    for instance in WORKERS:
        processes.wait_until_healthy("worker", instance)
    watched = processes.run("coordinator", "farthest", "watch", str(job), "--json", seconds=120)
    assert watched.returncode == 0, watched.stderr + processes.log("coordinator")
    result = json.loads(watched.stdout)
    assert result["states"] == 90720
    assert result["digest"] == embedded_digest(tmp_path, "eight-kinds")
    asked = processes.run("coordinator", "farthest", "distance", str(job), "┘│└/─□─/┐│┌")
    assert asked.stdout == "30\n", asked.stderr
    alive = json.loads(processes.run("worker", "farthest", "workers", "--json").stdout)
    assert len(alive["workers"]) == len(WORKERS)
    secrets = tuple(PASSWORDS.values())
    assert not any(secret in processes.command_lines() for secret in secrets)
    down(processes, *WORKERS, "coordinator", "redis", "postgres")
    for instance in ("redis", "postgres", "migrate", "coordinator", *WORKERS):
        log = processes.log(instance)
        assert not any(secret in log for secret in secrets), instance
        assert "Traceback" not in log
    assert processes.left_behind() == []


def down(processes: Processes, *instances: str) -> None:
    """Ends services one after another, each soon and by itself."""
    for instance in instances:
        name = "worker" if instance in WORKERS else instance
        status, seconds = processes.stop(name, instance=instance)
        assert status == 0, processes.log(instance)
        assert seconds < min(SOON, processes.services[name].grace)
