"""An empty database for each test, and a job in it: the same tests on SQLite and PostgreSQL.

Modules of tests about files alone have a ``database_url`` of their own, with ``place``.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps

OWNER = "elsewhere/1/0"  # a process of another host: alive until its lease runs out


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "maps.db"


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with open_database(database_url, create=True) as opened:
        yield opened


@pytest.fixture
def jobs(database: Database) -> Jobs:
    return Jobs(database)


@pytest.fixture
def maps(database: Database) -> Maps:
    return Maps(database)


@pytest.fixture
def job_id(jobs: Jobs) -> int:
    return jobs.add('{"name":"tiny"}', "d" * 64, "tiny", {"origin": "goal"}, {"version": 1}, OWNER)
