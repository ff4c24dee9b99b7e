"""The query by which KEDA sets the number of workers, on a real PostgreSQL."""

from __future__ import annotations

import math
import re
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import update

from cluster import Cluster, until
from deployment.compose import ROOT
from deployment.manifests import KEDA, named, written
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.models.records import now
from farthest.models.tables import job as table
from servers import RedisServer

OWNER = "elsewhere/1/0"
TRIGGER = named(list(written("keda")), "ScaledObject", "worker")["spec"]["triggers"][0]["metadata"]
BOARD = "13 14 15 7 11 12 9 5 6 0 2 1 4 8 10 3"


@pytest.fixture
def wanted(postgres_empty_url: str) -> Iterator[Callable[[], int]]:
    """How many jobs want workers now, asked as KEDA does: one row, one value, which is a number."""
    with psycopg.connect(postgres_empty_url, autocommit=True) as connection:
        connection.execute("SET TIME ZONE 'Asia/Tokyo'")  # the server's may be any

        def ask() -> int:
            ((number,),) = connection.execute(TRIGGER["query"]).fetchall()
            assert isinstance(number, int)
            return number

        yield ask


@pytest.fixture
def database(postgres_empty_url: str) -> Iterator[Database]:
    with open_database(postgres_empty_url, create=False) as opened:
        yield opened


def submit(jobs: Jobs) -> int:
    return jobs.add("{}", "d" * 64, "tiny", {}, {"version": 1})


@pytest.mark.slow
def test_jobs(wanted: Callable[[], int], database: Database) -> None:
    jobs = Jobs(database)
    assert wanted() == 0
    first, second = submit(jobs), submit(jobs)
    assert wanted() == 1  # as many as a coordinator that is free could begin
    assert jobs.claim(first, OWNER)
    assert wanted() == 1
    assert jobs.claim(second, OWNER)
    assert wanted() == 2
    assert jobs.release(first, OWNER)
    assert wanted() == 1
    jobs.cancel(first)
    jobs.interrupt(second, owner=OWNER)
    assert wanted() == 0
    jobs.requeue(second)
    assert wanted() == 1
    assert jobs.claim(second, OWNER)
    jobs.fail(second, "an error", owner=OWNER)
    assert wanted() == 0
    third = submit(jobs)
    assert jobs.claim(third, OWNER)
    jobs.finish(
        third,
        states=1,
        eccentricity=0,
        depth=0,
        complete=True,
        has_map=False,
        digest="e" * 64,
        seconds=0.5,
        owner=OWNER,
    )
    assert wanted() == 0


def test_a_job_without_room(wanted: Callable[[], int], database: Database) -> None:
    """It wants workers when it may be tried again; as for coordinators, a wrong clock's time does not count."""
    jobs = Jobs(database)
    number = submit(jobs)
    assert jobs.claim(number, OWNER)
    assert jobs.set_back(number, OWNER, "Redis is full")
    assert wanted() == 0
    for seconds, tried in ((-1, True), (300, False), (3600, True)):
        with database.write() as connection:
            connection.execute(update(table).values(lease_until=now() + timedelta(seconds=seconds)))
        assert wanted() == int(tried)
        assert (jobs.claim_next(OWNER) is not None) is tried
        jobs.release(number, OWNER)


def test_owners_that_are_gone(wanted: Callable[[], int], database: Database) -> None:
    """A submitted job is taken over; the job of a command waits for its user."""
    jobs = Jobs(database)
    by_workers, by_threads = (jobs.add("{}", "d" * 64, "tiny", {}, {"version": 1}, OWNER) for _ in range(2))
    jobs.renew(by_threads, OWNER, progress={"states": 7})
    assert wanted() == 0
    jobs.renew(by_workers, OWNER, progress={"bound": 41, "workers": 0, "resent": 0})
    assert wanted() == 1
    jobs.renew(by_workers, OWNER, lease_seconds=-1.0)
    assert wanted() == 0
    number = submit(jobs)
    assert jobs.claim(number, OWNER, lease_seconds=-1.0)
    assert wanted() == 1
    assert jobs.claim(number, owner_token())
    assert wanted() == 1


def test_the_right_to_ask(postgres_empty_url: str, database: Database) -> None:
    """The rights of the page are enough for KEDA."""
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    create, grant = re.findall(r"^    ((?:CREATE ROLE|GRANT) .*;)$", page, flags=re.MULTILINE)
    submit(Jobs(database))
    with psycopg.connect(postgres_empty_url) as connection:
        connection.execute(create)
        connection.execute("SET ROLE keda")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute(TRIGGER["query"])
        connection.execute("RESET ROLE")
        connection.execute(grant)
        connection.execute("SET ROLE keda")
        assert connection.execute(TRIGGER["query"]).fetchall() == [(1,)]
        connection.rollback()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_from_none_and_back(
    wanted: Callable[[], int],
    postgres_empty_url: str,
    redis_server: RedisServer,
    redis_url: str,
    tmp_path: Path,
) -> None:
    """Real coordinators, workers and searches."""
    with Cluster(tmp_path, redis_url, postgres_empty_url, {"SMALL_LAYER_STATES": 0}) as cluster:
        commands = [
            cluster.start("solve", "15-puzzle", BOARD, "--heuristic", "manhattan", "--workers", "celery"),
            cluster.start("enumerate", "sliding-2x5", "--workers", "celery"),
        ]
        until(lambda: wanted() == 2 or None, 60, "both commands want workers", 0.05)
        for command in commands:
            command.process.send_signal(signal.SIGINT)
            command.process.wait(60)
        assert wanted() == 0
        number = cluster.submit("eight-kinds")
        assert wanted() == 1
        cluster.add_coordinator()
        until(lambda: cluster.job(number).progress or None, 60, "the coordinator waits for workers")
        assert (cluster.job(number).status, wanted()) == ("running", 1)
        cluster.add_worker()
        cluster.wait(number)
        assert wanted() == 0


def test_workers_of_a_job() -> None:
    """What the horizontal pod autoscaler makes of the query and its target: both in thousandths, rounded up."""
    target = float(TRIGGER["targetQueryValue"])
    assert [math.ceil(jobs * 1000 / int(target * 1000)) for jobs in (0, 1, 2)] == [0, 8, 16]
    comment = (ROOT / "kubernetes/keda/workers.yaml").read_text(encoding="utf-8")
    for text, workers in re.findall(r"(0\.\d+) is (\d+)", comment):
        assert math.ceil(1000 / int(float(text) * 1000)) == int(workers)
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    (workers,), (text,) = (
        re.findall(r"For (\d+) workers a job", page),
        re.findall(r'Value, value: "([\d.]+)"', page),
    )
    assert math.ceil(1000 / int(float(text) * 1000)) == int(workers)
    assert named(list(written("keda")), "TriggerAuthentication", "database")["apiVersion"] == KEDA
