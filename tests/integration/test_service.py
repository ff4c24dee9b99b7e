"""Coordinators as processes of their own: what they do with jobs, with signals, and when one of them dies."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from cluster import Cluster, Service, until
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.puzzles.catalogue import load
from integration.conftest import COMMAND, Process, Run
from servers import PostgresServer

LONG = "sliding-2x4"
"""20,160 states at depths 0 to 36: with a pause before each step, some seconds."""
SMALL = "3-puzzle"
LATER_CHECKPOINT = r"checkpoint at depth [1-9]"
"""The first one is taken after the first layer; how many follow depends on how long they take."""


@pytest.fixture
def cluster(tmp_path: Path, redis_url: str, postgres_url: str) -> Iterator[Cluster]:
    """Nothing runs yet. Every layer goes to workers, which pause before each step; checkpoints as often as can be."""
    environment = {"SMALL_LAYER_STATES": 0, "CHECKPOINT_SECONDS": 0, "TEST_JOB_LEASE": 2}
    with Cluster(tmp_path, redis_url, postgres_url, environment, delay=0.03) as cluster:
        yield cluster


@pytest.fixture
def quick(tmp_path: Path, redis_url: str, postgres_url: str) -> Iterator[Cluster]:
    """Nothing runs yet. Coordinators take the steps of small puzzles themselves."""
    with Cluster(tmp_path, redis_url, postgres_url) as cluster:
        yield cluster


@cache
def digest(puzzle: str) -> str:
    return enumerate_puzzle(load(puzzle), None).digest


def says(service: Service, text: str, seconds: float = 60) -> re.Match[str]:
    """Waits until the log of a service has a line that matches."""
    return until(lambda: re.search(text, service.said()), seconds, f"{service.name} says {text}", 0.02)


@pytest.mark.slow
def test_the_log(quick: Cluster) -> None:
    coordinator = quick.add_coordinator()
    job = quick.submit("eight-kinds")
    quick.wait(job)
    assert coordinator.stop() == 0
    lines = coordinator.said().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARNING) \S", line) for line in lines)
    told = [line.split(" ", 2)[2] for line in lines]
    assert re.fullmatch(
        r"coordinator \S+: waiting for jobs in postgresql://postgres@127.0.0.1:\d+/\w+", told[0]
    )
    assert told[1:3] == [f"job {job} (eight-kinds): claimed", f"job {job}: at most 90,720 states"]
    assert any(line.startswith(f"job {job}: finished: 90,720 states, depth 30, in ") for line in told)
    assert told[-1] == "stopped"


@pytest.mark.slow
def test_each_job_is_run_once(quick: Cluster) -> None:
    names = ["eight-kinds", "8-puzzle", "two-blanks", "3-puzzle", "first-row", "8-puzzle"]
    jobs = [quick.submit(name) for name in names]
    coordinators = [quick.add_coordinator(), quick.add_coordinator()]
    results = [quick.wait(job) for job in jobs]
    assert [result.digest for result in results] == [digest(name) for name in names]
    for coordinator in coordinators:
        assert coordinator.stop() == 0
    said = "".join(coordinator.said() for coordinator in coordinators)
    assert sorted(map(int, re.findall(r"job (\d+) \(.*\): claimed", said))) == jobs
    assert len(re.findall("finished: ", said)) == len(jobs)


@pytest.mark.slow
def test_another_takes_over(cluster: Cluster) -> None:
    first = cluster.add_coordinator()
    cluster.add_worker()
    cluster.ready()
    job = cluster.submit(LONG)
    says(first, LATER_CHECKPOINT)
    second = cluster.add_coordinator()
    says(second, "waiting for jobs")
    assert "claimed" not in second.said()
    first.kill()
    says(second, f"job {job}: continues after depth", seconds=10)
    assert cluster.wait(job).digest == digest(LONG)


@pytest.mark.slow
def test_a_signal_hands_the_job_back(cluster: Cluster, process: Process) -> None:
    coordinator = cluster.add_coordinator()
    cluster.add_worker()
    cluster.ready()
    job = cluster.submit(LONG)
    says(coordinator, LATER_CHECKPOINT)
    assert coordinator.stop() == 0
    told = says(coordinator, r"handed back to the queue, with a checkpoint at depth (\d+)")
    record = cluster.job(job)
    assert (record.status, record.owner, record.error) == ("queued", None, None)
    assert record.depth == int(told[1])
    result = process("coordinator", "--once", env=cluster.environment)
    assert result.returncode == 0, result.stderr
    assert f"job {job}: continues after depth {told[1]}\n" in result.stderr
    assert cluster.wait(job).digest == digest(LONG)


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once(cluster: Cluster) -> None:
    coordinator = cluster.add_coordinator()
    cluster.add_worker()
    cluster.ready()
    job = cluster.submit(LONG)
    says(coordinator, LATER_CHECKPOINT)
    coordinator.process.send_signal(signal.SIGTERM)
    coordinator.process.send_signal(signal.SIGINT)
    assert coordinator.process.wait(10) == 0
    assert cluster.job(job).status == "queued"


@pytest.mark.slow
def test_cancel_and_resume(cluster: Cluster, run: Run) -> None:
    coordinator = cluster.add_coordinator()
    cluster.add_worker()
    cluster.ready()
    job = cluster.submit(LONG)
    says(coordinator, LATER_CHECKPOINT)
    result = run("cancel", str(job), "--database", cluster.database_url)
    assert re.fullmatch(rf"Job {job} \({LONG}\) is cancelled, with its layers up to \d+.\n", result.stdout)
    says(coordinator, f"job {job}: cancelled", seconds=10)
    assert "finished" not in coordinator.said()
    assert cluster.job(job).status == "cancelled"
    assert cluster.run("3-puzzle").digest == digest("3-puzzle")
    run("resume", str(job), "--database", cluster.database_url)
    assert cluster.wait(job).digest == digest(LONG)
    says(coordinator, f"job {job}: continues after depth")


@pytest.mark.slow
def test_a_job_that_fails_is_told_of_and_passed_over(quick: Cluster, process: Process) -> None:
    with open_database(quick.database_url, create=False) as database:
        parameters = {"direction": "to", "where": "goal", "max_depth": None, "histogram_only": False}
        job = Jobs(database).add('{"version": 99}', "0" * 64, "strange", parameters, {})
    other = quick.submit("3-puzzle")
    result = process("coordinator", "--once", env=quick.environment)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert f"ERROR job {job}: failed: stored puzzle: version 99, expected 1" in result.stderr
    assert quick.job(job).status == "failed"
    assert "version 99" in (quick.job(job).error or "")
    assert quick.job(other).status == "finished"
    watched = process("watch", str(job), "--json", env=quick.environment)
    assert watched.returncode == 1
    assert json.loads(watched.stdout)["status"] == "failed"


@pytest.mark.slow
def test_a_job_that_waits_for_room_is_told_by_one_that_runs_once(
    quick: Cluster, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthest.models.jobs.FIRST_SETBACK", 300.0)  # seconds: a busy machine starts slowly
    job = quick.submit("3-puzzle")
    with open_database(quick.database_url, create=False) as database:
        jobs = Jobs(database)
        assert jobs.claim(job, "elsewhere/1/0")
        assert jobs.set_back(job, "elsewhere/1/0", "Redis has no memory left") is not None
    result = process("coordinator", "--once", env=quick.environment)
    assert result.returncode == 1
    assert f"WARNING job {job} waits: Redis has no memory left" in result.stderr
    assert quick.job(job).status == "queued"


@pytest.mark.slow
def test_it_survives_a_restart_of_the_database(quick: Cluster, postgres_server: PostgresServer) -> None:
    coordinator = quick.add_coordinator()
    says(coordinator, "waiting for jobs")
    postgres_server.stop()
    says(coordinator, "WARNING postgresql://")
    postgres_server.start()
    says(coordinator, "the servers answer again")
    assert quick.run("3-puzzle").digest == digest("3-puzzle")


@pytest.mark.slow
def test_health(quick: Cluster, process: Process) -> None:
    assert process("coordinator", "--healthy", env=quick.environment).returncode == 1
    coordinator = quick.add_coordinator()
    says(coordinator, "waiting for jobs")
    assert process("coordinator", "--healthy", env=quick.environment).returncode == 0
    coordinator.kill()
    assert process("coordinator", "--healthy", env=quick.environment).returncode == 1
    another = quick.add_coordinator()
    says(another, "waiting for jobs")
    assert len(list(quick.folder.glob("farthest-coordinator-*"))) == 1
    assert another.stop() == 0
    assert not list(quick.folder.glob("farthest-coordinator-*"))


@pytest.mark.slow
def test_a_coordinator_that_stands_still_loses_its_job(cluster: Cluster) -> None:
    first = cluster.add_coordinator()
    cluster.add_worker()
    cluster.ready()
    job = cluster.submit(LONG)
    says(first, LATER_CHECKPOINT)
    first.freeze()
    second = cluster.add_coordinator()
    says(second, f"job {job}: continues after depth", seconds=25)
    first.thaw()
    assert cluster.wait(job).digest == digest(LONG)
    says(first, f"WARNING job {job}: ", seconds=10)
    assert "finished" not in first.said()
    assert cluster.run("3-puzzle").digest == digest("3-puzzle")


@pytest.mark.slow
def test_watching_survives_a_restart_of_the_database(quick: Cluster, postgres_server: PostgresServer) -> None:
    job = quick.submit("eight-kinds")
    command = [*COMMAND, "watch", str(job), "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=quick.environment
    ) as watching:
        try:
            assert watching.stderr is not None
            line = watching.stderr.readline()
            assert (
                line
                == f"Job {job} waits in the queue, but no coordinator is running: start `farthest coordinator`.\n"
            )
            postgres_server.stop()
            assert watching.stderr.readline().endswith("; waiting up to 300 s for it.\n")
            postgres_server.start()
            quick.add_coordinator()
            out, _ = watching.communicate(timeout=60)
        finally:
            watching.kill()
    assert watching.returncode == 0
    assert json.loads(out)["digest"] == digest("eight-kinds")


@pytest.mark.slow
def test_workers_of_a_run_in_the_foreground(cluster: Cluster, process: Process) -> None:
    cluster.add_worker()
    cluster.ready()
    result = process("enumerate", SMALL, "--workers", "celery", "--json", env=cluster.environment)
    assert json.loads(result.stdout)["digest"] == digest(SMALL)
    assert result.stderr == ""
    job = cluster.submit(SMALL)
    result = process("resume", str(job), "--here", "--workers", "celery", "--json", env=cluster.environment)
    assert json.loads(result.stdout)["digest"] == digest(SMALL)
    record = cluster.job(job)
    assert (record.status, (record.progress or {}).get("workers", 1)) == ("finished", 1)
