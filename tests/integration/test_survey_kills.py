"""Surveys that are disturbed, of boards and of cosets: nothing that was stored is done again, and the result is that of
a survey which nobody disturbs."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import select

from cluster import Cluster, until
from farthest.coordinator.survey import survey_by_threads
from farthest.cosets import Drawn, cosets_named
from farthest.models.database import Database, open_database
from farthest.models.surveys import Surveys
from farthest.models.tables import survey_part
from farthest.starts import RushHour, Starts
from integration.conftest import COMMAND, RunJson

pytestmark = pytest.mark.slow

PARTS = 40


@pytest.fixture
def words(name: str) -> list[str]:
    if name == "boards":
        return ["survey", "rush-hour-5x5", "--pieces", "8", "--parts", str(PARTS)]
    return ["cosets", "skewb", "--subgroup", "<UBR,DFR>", "--depth", "9", "--random", str(PARTS)]


def starts(name: str) -> Starts:
    if name == "boards":
        return RushHour(5, 3, 8, "minimal")
    return cosets_named("skewb", "<UBR,DFR>", 9, Drawn(PARTS, 0))


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The digest of a survey that nobody disturbs."""

    @cache
    def digest(name: str) -> str:
        with open_database(tmp_path_factory.mktemp(name) / "f.db", create=True) as opened:
            stored = survey_by_threads(starts(name), opened, threads=1, parts=PARTS, watch=lambda _: None)
            return Surveys(opened).digest(stored.id)

    return digest


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "disturbed.db"


@pytest.fixture
def opened(place: Path) -> Iterator[Database]:
    with open_database(place, create=True) as opened:
        yield opened


def done(opened: Database) -> set[tuple[int, float]]:
    """The parts that are stored, and the seconds that each took."""
    with opened.read() as connection:
        return {(row.part, row.seconds) for row in connection.execute(select(survey_part))}


def reaches(opened: Database, parts: int) -> None:
    until(lambda: len(done(opened)) >= parts or None, 60, f"{parts} parts are stored")


@pytest.mark.parametrize(("name", "sign"), [("boards", signal.SIGKILL), ("cosets", signal.SIGINT)])
def test_by_threads(
    words: list[str],
    place: Path,
    opened: Database,
    run_json: RunJson,
    expected: Callable[[str], str],
    name: str,
    sign: signal.Signals,
) -> None:
    """Another coordinator has done a part meanwhile."""
    asked = [*words, "--threads", "1", "--database", str(place)]
    with subprocess.Popen([*COMMAND, *asked], stdout=-1, stderr=-1, text=True) as process:
        reaches(opened, 3)
        process.send_signal(sign)
        _, said = process.communicate(timeout=60)
    surveys = Surveys(opened)
    (stopped,) = surveys.all()
    assert 3 <= stopped.done < PARTS
    if sign == signal.SIGINT:
        assert process.returncode == 130
        assert f"keeps {stopped.done} of {PARTS} parts. The same command continues from there." in said
    (first, *_) = surveys.missing(stopped.id)
    assert surveys.store(stopped.id, [(first, starts(name).survey(first, PARTS), 0.0)]) == {first}
    kept = done(opened)
    ended = run_json(*asked)
    assert (ended["done"], ended["digest"]) == (PARTS, expected(name))
    assert kept < done(opened)


@pytest.mark.parametrize("name", ["boards", "cosets"])
def test_by_workers(
    words: list[str],
    place: Path,
    opened: Database,
    redis_url: str,
    tmp_path: Path,
    expected: Callable[[str], str],
    name: str,
) -> None:
    """One worker stands still beyond its leases: others do its parts, and what it finds later is left out. A process of
    another is killed, and then the coordinator; or that is asked to end, and leaves nothing that workers would do."""
    with Cluster(tmp_path / "cluster", redis_url, str(place), {"LEASE_SECONDS": 1}) as cluster:
        cluster.add_worker(2)
        cluster.add_worker(2)
        cluster.ready()
        first = cluster.start(*words, "--workers", "celery")
        reaches(opened, 3)
        still, killed = cluster.workers
        still.freeze()
        killed.kill_child()
        reaches(opened, 10)
        if name == "boards":
            first.kill()
        else:
            (attempt,) = cluster.redis.zrange("farthest:attempts", 0, -1)
            found = f"farthest:attempt:{attempt.decode()}:found:0"
            with opened.write():  # the signal comes while the coordinator waits to store what was found
                until(lambda: cluster.redis.hlen(found) or None, 60, "a part is found")
                time.sleep(0.5)
                first.process.send_signal(signal.SIGTERM)
                time.sleep(0.5)
            assert first.process.wait(60) == 130
            assert f"keeps {len(done(opened))} of {PARTS} parts" in first.said()
            assert cluster.redis.zrange("farthest:attempts", 0, -1) == []
        time.sleep(1)  # longer than leases
        kept = done(opened)
        assert len(kept) < PARTS
        second = cluster.start(*words, "--workers", "celery")
        reaches(opened, PARTS // 2)
        still.thaw()
        assert second.process.wait(120) == 0
    assert kept < done(opened)
    (ended,) = Surveys(opened).all()
    assert ended.finished
    assert Surveys(opened).digest(ended.id) == expected(name)
