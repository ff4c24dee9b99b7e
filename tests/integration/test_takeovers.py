"""A job that kills whichever coordinator runs it: it is taken over a few times, then it has failed."""

import multiprocessing
import signal
from pathlib import Path

import pytest

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.service import TAKEOVERS_ALLOWED, Service
from farthest.coordinator.settings import Settings
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.records import JobRecord, Takeovers
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.stores.redis.connections import RedisNodes

DEADLY = """
name = "deadly"
family = "python"
[python]
class = "python_spaces:Deadly"
options = {{ slow = 64, n = 256, armed = "{armed}" }}
"""


def serve(database: str) -> None:
    with open_database(database, create=False) as opened:
        Service(opened, RedisNodes.from_environment()).run(once=True)


def coordinator(database: str) -> int | None:
    """Runs what is to be done in a process of its own; its exit status."""
    process = multiprocessing.get_context("fork").Process(target=serve, args=(database,))
    process.start()
    process.join()
    return process.exitcode


@pytest.fixture
def armed(redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """While this file is there, the puzzle kills."""
    monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", "python_spaces")
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    monkeypatch.setenv("FARTHEST_CHECKPOINT_SECONDS", "1000")
    file = tmp_path / "armed"
    file.touch()
    return file


@pytest.fixture
def deadly(armed: Path, tmp_path: Path) -> Puzzle:
    (tmp_path / "deadly.toml").write_text(DEADLY.format(armed=armed))
    return load(str(tmp_path / "deadly.toml"))


def test_a_deeper_checkpoint_begins_anew() -> None:
    assert Takeovers(3, 4).one_more(4) == Takeovers(4, 4)
    assert Takeovers(3, 4).one_more(5) == Takeovers(1, 5)


@pytest.mark.slow
def test_a_job_that_kills_its_coordinators_ends(armed: Path, deadly: Puzzle, tmp_path: Path) -> None:
    place = str(tmp_path / "jobs.db")
    with open_database(place, create=True) as database:
        space = compile_space(deadly)
        jobs = Jobs(database)
        parameters = Settings().parameters(space.origin)
        number = jobs.add(deadly.to_json(), deadly.digest, deadly.name, parameters, space.layout_fields())

        def after(times: int) -> JobRecord:
            for _ in range(times):
                assert coordinator(place) == -signal.SIGKILL
            return jobs.get(number)

        assert Takeovers.of(after(1).progress) == Takeovers(0)
        assert Takeovers.of(after(2).progress) == Takeovers(2)
        last = after(TAKEOVERS_ALLOWED - 2)
        assert (last.status, Takeovers.of(last.progress)) == ("running", Takeovers(TAKEOVERS_ALLOWED))
        assert coordinator(place) == 0
        failed = jobs.get(number)
        assert failed.status == "failed"
        assert "ended 6 times in a row" in (failed.error or "")
        assert f"farthest resume {number}" in (failed.error or "")

        armed.unlink()
        jobs.requeue(number)
        assert coordinator(place) == 0
        finished = jobs.get(number)
        assert (finished.status, finished.digest) == ("finished", enumerate_puzzle(deadly, None).digest)
